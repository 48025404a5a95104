"""A race that others can join: how long a training takes until its translator is this good, on stated hardware.

races.py      what is raced on: the text, the targets
running.py    one race: prepare, train, score every checkpoint afterwards, write the record
records.py    a record as JSON, and the records that are shipped
machine.py    the hardware, and a probe of its speed
published.py  what others have published for the same test sets
table.py      all records side by side
"""
