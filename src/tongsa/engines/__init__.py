"""Engines: ids in, hypotheses out. PyTorch (`native`), CTranslate2, and models of other programs.

    base         what every engine does
    loading      choose and load the engine of a translator directory
    native       the reference: PyTorch, every architecture, attention weights
    ctranslate2  the fast one, from weights that are compiled (`compiled`, `ctranslate2_export`, `shortlist`)
    inspection   what a model attends to, as data
    marian/      MarianMT models, both ways

May import decoding, models, runs and the rooms below.
"""

from tongsa.engines.base import ENGINES, PRECISIONS, Engine

__all__ = ["ENGINES", "PRECISIONS", "Engine"]
