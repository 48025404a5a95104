"""The tables of the paper, made again at the scale and on the text of the user, with the paper's figures beside.

published.py    what the paper prints
table1.py       layers measured: operations, time, longest chain, path length
table2.py       systems compared: BLEU and training cost
table3.py       variations of the Transformer: perplexity, BLEU, parameters
table4.py       parsers: labelled F1
document.py     a table as text, Markdown and HTML
"""
