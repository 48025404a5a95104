"""Fine-tuning: train a translator further on new text, with some old text mixed in to prevent forgetting."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tongsa.base.errors import UsageError
from tongsa.base.files import write_atomically
from tongsa.config import Recipe, merge, parse_settings
from tongsa.data.selection import Split
from tongsa.data.spill import Pairs
from tongsa.evaluation.metrics import text_metric
from tongsa.formats.pairs import Corpus, Pair
from tongsa.runs.directory import Run
from tongsa.translation.translator import Translator

OLD_PAIRS_SCORED = 500
"""Number of pairs of old text held out to measure forgetting."""

SETTINGS: dict[str, Any] = {
    "schedule": "cosine",
    "peak": 0.0005,
    "warmup": 100,
    "updates": 2000,
    "optimizer": "adam",
    "chunk_tokens": 0,
    "processes": 0,
    "precision": "auto",
}
"""Changes to the recipe's [training]: few and small steps, since the weights are already good."""


def fine_tuning_recipe(init: Run, settings: dict[str, str], source: str, target: str) -> Recipe:
    """The recipe of the translator to start from, changed by the settings for fine-tuning and then by the user's."""
    card = init.read_card()
    if (card.source, card.target) != (source, target):
        raise UsageError(
            f"{init.path} translates {card.source} to {card.target}, not {source} to {target}",
            "Fine-tuning keeps the direction.",
        )
    values = merge(card.recipe.to_values(), {"training": SETTINGS})
    recipe = Recipe.from_values(merge(values, parse_settings(settings)), "the settings for fine-tuning")
    if dataclasses.replace(recipe.model, dropout=card.recipe.model.dropout) != card.recipe.model:
        raise UsageError(
            f"fine-tuning keeps the model of {init.path}", "In the section [model] only the dropout can be changed."
        )
    return recipe


@dataclass(frozen=True)
class Mixture:
    """New pairs, followed by old pairs drawn with a seed. Without fine-tuning, the old ones are any further text."""

    new: Pairs
    old: Corpus
    share: float
    """Fraction of the old pairs to use."""
    aside: Split
    """Holds out old pairs for scoring."""

    @classmethod
    def of(cls, new: Pairs, old: Corpus, ratio: float, seed: int, *, hold_out: bool = True) -> Mixture:
        """Mix in `ratio` old pairs for each new one, or all old pairs if there are fewer.

        With `hold_out`, some old pairs are kept aside to measure forgetting.
        """
        new_pairs, old_pairs = sum(1 for _ in new), sum(1 for _ in old)
        aside = Split(seed)
        if hold_out:
            aside = Split.holding_out(min(OLD_PAIRS_SCORED, old_pairs // 10), old, seed)
        return cls(new, old, min(1.0, ratio * new_pairs / max(1, old_pairs)), aside)

    @property
    def name(self) -> str:
        return f"{self.new.name} with {self.share:.0%} of {self.old.name}"

    def __iter__(self) -> Iterator[Pair]:
        yield from self.new
        draw = random.Random(self.aside.seed)
        for pair in self.old:
            drawn = draw.random() < self.share
            if drawn and not self.aside.holds_out(pair):
                yield pair

    def save_old_to_score(self, run: Run) -> None:
        pairs = [[pair.source, pair.target] for pair in self.old if self.aside.holds_out(pair)][:OLD_PAIRS_SCORED]
        write_atomically(run.old_domain_file, json.dumps(pairs, ensure_ascii=False))


def scores_before_and_after(
    before: Translator, after: Translator, run: Run, new: list[tuple[str, str]]
) -> dict[str, dict[str, float]]:
    """Scores of both translators on the new domain's validation set, and on the held-out old text, if there is any."""
    domains = {"new": new}
    old = run.old_domain_file
    if old.is_file():
        domains["old"] = [(source, target) for source, target in json.loads(old.read_text(encoding="utf-8"))]
    return {
        name: {when: _score(translator, pairs) for when, translator in (("before", before), ("after", after))}
        for name, pairs in domains.items()
    }


def _score(translator: Translator, pairs: list[tuple[str, str]], metric: str = "bleu") -> float:
    translations = translator.translate([source for source, _ in pairs])
    texts, references = [each.text for each in translations], [target for _, target in pairs]
    return text_metric(metric).corpus(texts, references, language=translator.card.target).score
