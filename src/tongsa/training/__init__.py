"""The one trainer, for every task of tasks/: prepare -> fit -> publish (run.py), the loop, workers, checkpoints, log.

`python -m tongsa.training` is an additional worker process of a training; `tongsa train` starts it.
"""
