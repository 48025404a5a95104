"""The metrics: BLEU, chrF and TER by sacrebleu, COMET, losses and accuracy; and plug-ins of other packages."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tongsa.base.errors import UsageError
from tongsa.base.registry import Registry
from tongsa.evaluation.comet import Comet
from tongsa.evaluation.contracts import MeanMetric, Metric, TextMetric
from tongsa.runs.card import Score

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as SacrebleuMetric

TOKENIZERS = {"zh": "zh", "ja": "char", "th": "char"}
"""BLEU tokenizers for languages without spaces between words: sacrebleu's own, or characters. Korean has spaces; the
default keeps its scores comparable with published ones, and chrF works on characters anyway."""


@dataclass(frozen=True)
class Sacrebleu(TextMetric):
    """A metric of sacrebleu with its default settings."""

    name: str
    title: str
    unit: str
    make: Callable[[str, bool], SacrebleuMetric]
    """Builds the sacrebleu metric from a language, and True for single sentences."""
    higher_is_better: bool = True
    digits: int = 2

    def sentence(self, hypothesis: str, reference: str, *, language: str, source: str = "") -> float:
        return float(self.make(language, True).sentence_score(hypothesis, [reference]).score)

    def corpus(
        self, hypotheses: Sequence[str], references: Sequence[str], *, language: str, sources: Sequence[str] = ()
    ) -> Score:
        metric = self.make(language, False)
        value = metric.corpus_score(list(hypotheses), [list(references)]).score
        return Score(round(float(value), 3), str(metric.get_signature()))


def _bleu(language: str, sentence: bool) -> SacrebleuMetric:
    from sacrebleu.metrics import BLEU

    return BLEU(tokenize=tokenizer(language), effective_order=sentence)  # one sentence may have no 4-gram at all


COMPOUND = re.compile(r"(\S)-(\S)")


def _tokenised_bleu(language: str, sentence: bool) -> SacrebleuMetric:
    """BLEU on tokens with compounds split, as the paper's authors and those before them computed it for WMT 2014.

    Theirs (get_ende_bleu.sh of tensor2tensor) are Moses' tokens, these are sacrebleu's: close to it, but not equal.
    """
    from sacrebleu.metrics import BLEU

    metric: Any = BLEU(tokenize=tokenizer(language), effective_order=sentence)
    tokens = metric.tokenizer
    metric.tokenizer = lambda line: COMPOUND.sub(r"\1 ##AT##-##AT## \2", tokens(line))
    metric.tokenizer_signature += "+compounds"
    found: SacrebleuMetric = metric
    return found


def _lowercased_bleu(language: str, sentence: bool) -> SacrebleuMetric:
    """BLEU on lower-cased tokens, as papers about Multi30k compute it.

    Theirs are Moses' tokens, these are sacrebleu's: 12,103 and 12,106 in the German of test_2016_flickr.
    """
    from sacrebleu.metrics import BLEU

    return BLEU(lowercase=True, tokenize=tokenizer(language), effective_order=sentence)


def _chrf(language: str, sentence: bool) -> SacrebleuMetric:
    from sacrebleu.metrics import CHRF

    return CHRF()


def _ter(language: str, sentence: bool) -> SacrebleuMetric:
    from sacrebleu.metrics import TER

    return TER()


def tokenizer(language: str) -> str:
    """Return the name of sacrebleu's BLEU tokenizer for this language."""
    code = language.lower().replace("_", "-").split("-")[0]  # zh-TW and zh_Hans are split as zh is
    return TOKENIZERS.get(code, "13a")


def _exponential(mean: float) -> float:
    return math.exp(min(mean, 100.0))


def _percent(mean: float) -> float:
    return 100 * mean


METRICS: Registry[Metric] = Registry(
    "tongsa.metrics",
    {
        "bleu": Sacrebleu("bleu", "BLEU", "0 to 100", _bleu),
        "chrf": Sacrebleu("chrf", "chrF", "0 to 100", _chrf),
        "ter": Sacrebleu("ter", "TER", "edits per 100 words", _ter, higher_is_better=False),
        "tokenised_bleu": Sacrebleu("tokenised_bleu", "tokenised BLEU", "0 to 100", _tokenised_bleu),
        "lowercased_bleu": Sacrebleu("lowercased_bleu", "lower-cased BLEU", "0 to 100", _lowercased_bleu),
        "comet": Comet(),
        "log_loss": MeanMetric("log_loss", "loss", "cross-entropy in nats per token", float, digits=3),
        "perplexity": MeanMetric("perplexity", "perplexity", "e to the loss", _exponential),
        "word_perplexity": MeanMetric(
            "word_perplexity", "perplexity per word", "e to the loss of a word", _exponential
        ),
        "accuracy": MeanMetric("accuracy", "accuracy", "right answers in percent", _percent, higher_is_better=True),
        "f1": MeanMetric("f1", "labelled F1", "PARSEVAL, brackets in percent", _percent, higher_is_better=True),
        "complete_match": MeanMetric(
            "complete_match",
            "complete match",
            "trees without a wrong bracket in percent",
            _percent,
            higher_is_better=True,
        ),
        "error": MeanMetric("error", "error", "wrong answers in percent", _percent),
    },
    kind="metric",
)

TRANSLATION_METRICS = ("bleu", "chrf", "ter")
"""Default metrics of translation."""
SENTENCE_METRIC = "chrf"
"""The metric for single sentences."""


def text_metrics(names: Sequence[str]) -> list[TextMetric]:
    """Return the text metrics with these names; all unknown names are reported together."""
    found = {name: METRICS[name] for name in names if name in METRICS}
    usable = {name: metric for name, metric in found.items() if isinstance(metric, TextMetric)}
    unknown = [name for name in names if name not in usable]
    if unknown or not names:
        known = ", ".join(name for name, metric in METRICS.items() if isinstance(metric, TextMetric))
        raise UsageError(f"unknown metric: {', '.join(unknown)}" if names else "no metric is named", f"Known: {known}")
    return [usable[name] for name in names]


def text_metric(name: str) -> TextMetric:
    return text_metrics([name])[0]


def mean_metric(name: str) -> MeanMetric:
    """Return a metric of losses or answers, for tasks whose output is not compared with reference texts."""
    metric = METRICS.find(name)
    if not isinstance(metric, MeanMetric):
        known = ", ".join(name for name, metric in METRICS.items() if isinstance(metric, MeanMetric))
        raise UsageError(f"{name} is not a metric of losses or answers", f"Known: {known}")
    return metric


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    language: str,
    metrics: Sequence[str] = TRANSLATION_METRICS,
    sources: Sequence[str] = (),
) -> dict[str, Score]:
    """Score a corpus with each metric; `language` is the language of the references."""
    return {
        metric.name: metric.corpus(hypotheses, references, language=language, sources=sources)
        for metric in text_metrics(metrics)
    }


def named(names: Iterable[str]) -> list[Metric]:
    """Return the known metrics among these keys of a log or a card, in the order of METRICS."""
    wanted = set(names)
    return [METRICS[name] for name in METRICS if name in wanted]
