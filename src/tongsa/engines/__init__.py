"""Engines: ids in, hypotheses out. PyTorch (`native`), CTranslate2, and models of other programs.

    base         the contract of engines
    loading      choose and load the engine of a translator directory
    native       the reference: PyTorch, every architecture, attention weights
    ctranslate2  the fast engine, which runs compiled weights (`compiled`, `ctranslate2_export`, `shortlist`)
    forks        objects that a forked process makes again
    inspection   what a model attends to, as data
    marian/      import and export of MarianMT models

May import decoding, models, runs and the rooms below.
"""

from tongsa.engines.base import ENGINES, PRECISIONS, Engine

__all__ = ["ENGINES", "PRECISIONS", "Engine"]
