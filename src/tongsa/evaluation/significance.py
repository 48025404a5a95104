"""Whether one system is better than another, or only luckier: paired bootstrap resampling, by sacrebleu.

The test set is drawn anew a thousand times, sentence by sentence with replacement; a difference that such draws make
by chance is no difference (Koehn 2004).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tongsa.base.errors import UsageError
from tongsa.evaluation.scores import tokenizer

SAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A score, how far a new draw of the test set would move it, and what the paired test says against the best."""

    score: float
    interval: float
    """Half the width of the 95% interval."""
    p: float | None
    """How likely a difference like this one to the best is by chance; None for the best itself."""
    signature: str


def judge(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    target: str,
    *,
    best: str,
    samples: int = SAMPLES,
) -> dict[str, dict[str, Judged]]:
    """BLEU and chrF of each system, tested against `best`: {system: {"bleu": ..., "chrf": ...}}."""
    from sacrebleu.metrics import BLEU, CHRF
    from sacrebleu.significance import PairedTest

    if best not in systems:
        raise UsageError(f"{best} is none of the systems {', '.join(systems)}")
    if not references or any(len(lines) != len(references) for lines in systems.values()):
        raise UsageError("each system must have a translation for every reference, and there must be one at least")
    order = [best, *(name for name in systems if name != best)]
    metrics = {"BLEU": BLEU(tokenize=tokenizer(target)), "chrF2": CHRF()}
    with _quiet():
        test = PairedTest(
            [(name, list(systems[name])) for name in order],
            metrics,
            [list(references)],
            test_type="bs",
            n_samples=samples,
        )
        signatures, found = test()
    names = {"bleu": "BLEU", "chrf": "chrF2"}
    return {
        name: {
            key: Judged(
                score=round(float(found[metric][place].score), 3),
                interval=round(float(found[metric][place].ci), 3),
                p=None if name == best else round(float(found[metric][place].p_value), 4),
                signature=str(signatures[metric]),
            )
            for key, metric in names.items()
        }
        for place, name in enumerate(order)
    }


@contextmanager
def _quiet() -> Iterator[None]:
    """sacrebleu tells of each step on standard error."""
    log = logging.getLogger("sacrebleu")
    before = log.level
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(before)
