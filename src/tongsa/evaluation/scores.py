"""BLEU, chrF and TER by sacrebleu, each with its signature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from tongsa.base.errors import UsageError

METRICS = ("bleu", "chrf", "ter")

TOKENIZERS = {"zh": "zh", "ja": "char", "th": "char"}
"""BLEU counts words; languages that write none are cut by sacrebleu's tokenizer for them, or into characters. Korean
does write words, so its scores compare with everyone's; chrF beside them looks inside the words."""


class Score(TypedDict):
    score: float
    signature: str


def score(
    hypotheses: Sequence[str], references: Sequence[str], target: str, metrics: Sequence[str] = METRICS
) -> dict[str, Score]:
    """Corpus scores by name; BLEU is cased, with 13a tokens unless the target language needs others."""
    from sacrebleu.metrics import BLEU, CHRF, TER

    check_metrics(metrics)
    makers = {"bleu": lambda: BLEU(tokenize=tokenizer(target)), "chrf": CHRF, "ter": TER}
    scores: dict[str, Score] = {}
    for name in metrics:
        metric = makers[name]()
        value = metric.corpus_score(list(hypotheses), [list(references)]).score
        scores[name] = {"score": round(float(value), 3), "signature": str(metric.get_signature())}
    return scores


def tokenizer(target: str) -> str:
    """Sacrebleu's name for how BLEU cuts this language."""
    language = target.lower().replace("_", "-").split("-")[0]  # zh-TW and zh_Hans are cut as zh is
    return TOKENIZERS.get(language, "13a")


def check_metrics(names: Sequence[str]) -> None:
    unknown = [name for name in names if name not in METRICS]
    if unknown or not names:
        raise UsageError(f"{', '.join(unknown) or 'nothing'} is no metric", f"Metrics: {', '.join(METRICS)}")


def bleu(hypotheses: Sequence[str], references: Sequence[str], target: str) -> float:
    return score(hypotheses, references, target, ["bleu"])["bleu"]["score"]
