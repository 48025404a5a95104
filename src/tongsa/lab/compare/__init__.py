"""Compare several architectures, trained on the same ids with the same budget."""

from __future__ import annotations

from pathlib import Path

from tongsa.base.progress import Show
from tongsa.lab.compare.plan import CompareOptions
from tongsa.lab.experiment import Experiment


def _run(options: CompareOptions, out: Path, show: Show) -> str:
    from tongsa.lab.compare.running import compare
    from tongsa.lab.compare.table import terminal

    found = compare(options, out, show)
    return "" if found is None else terminal(found)


COMPARE = Experiment(
    question="Which architecture translates best after the same training on the same text?",
    options=CompareOptions,
    run=_run,
)
