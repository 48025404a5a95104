"""COMET (Rei et al. 2022): quality as a neural model predicts it, from source, translation and reference.

Needs the package unbabel-comet (the extra `comet`) and a model on this machine: nothing is ever downloaded here. The
model is a checkpoint file that TONGSA_COMET names, or else wmt22-comet-da, if it has been downloaded before.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from tongsa.base.errors import MissingExtraError, UsageError
from tongsa.evaluation.contracts import TextMetric

MODEL = "Unbabel/wmt22-comet-da"
VARIABLE = "TONGSA_COMET"
BATCH = 8
"""Sentences scored at once."""


class Comet(TextMetric):
    name = "comet"
    title = "COMET"
    unit = "0 to 100"
    needs_source = True

    def sentence(self, hypothesis: str, reference: str, *, language: str, source: str = "") -> float:
        return self.statistics([hypothesis], [reference], language=language, sources=[source])[0][0]

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str], *, language: str, sources: Sequence[str] = ()
    ) -> list[list[float]]:
        if len(sources) != len(references):
            raise UsageError("the metric comet needs the source of every sentence")
        rows = [
            {"src": source, "mt": hypothesis, "ref": reference}
            for source, hypothesis, reference in zip(sources, hypotheses, references, strict=True)
        ]
        found = self._model.predict(rows, batch_size=BATCH, gpus=_gpus(), progress_bar=False)
        return [[100 * float(score), 1.0] for score in found.scores]

    def signature(self, language: str) -> str:
        import importlib.metadata

        try:
            version = importlib.metadata.version("unbabel-comet")
        except importlib.metadata.PackageNotFoundError:
            version = "unknown"
        return f"comet|model:{Path(_named()).name}|unbabel-comet:{version}"

    @cached_property
    def _model(self) -> Any:
        try:
            import comet
        except ImportError as error:
            raise MissingExtraError("unbabel-comet", "comet", needed_by="the metric comet") from error
        return comet.load_from_checkpoint(_checkpoint(comet))


def _named() -> str:
    return os.getenv(VARIABLE) or MODEL


def _checkpoint(comet: Any) -> str:
    """Return the path of the model, if it is on this machine."""
    named = _named()
    if Path(named).is_file():
        return named
    try:
        return str(comet.download_model(named, local_files_only=True))
    except Exception as error:  # the hub's client has many errors for "not here"
        raise UsageError(
            f"COMET's model {named} is not on this machine",
            f"Name a checkpoint file:  {VARIABLE}=model.ckpt",
            f"Or download it once:  python -c \"import comet; comet.download_model('{named}')\"",
        ) from error


def _gpus() -> int:
    import torch

    return int(torch.cuda.is_available())
