"""How far perturbed sources move the scores of a translator, and how often its output breaks.

Each perturbation is compared with the translations of the unchanged sources, scored in the same way: without regard to
case where the case of the source was changed, joined where sentences were joined. So a change of 0 means that the
translator does not mind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tongsa.evaluation.metrics import METRICS, score
from tongsa.evaluation.significance import aligned
from tongsa.text.breakage import BREAKAGES, breakage
from tongsa.text.perturbations import PERTURBATIONS, Perturbation, perturbed

UNCHANGED = "unchanged"

NOTED = {"repetition cut": "loop", "length limit": "long", "copied": "copy"}
"""Breakages by the note that a translator adds when it has seen them itself."""


class Output(NamedTuple):
    """A translation, and the notes of the translator about it."""

    text: str
    notes: tuple[str, ...] = ()


Translate = Callable[[Sequence[str]], Sequence[Output]]


@dataclass(frozen=True, kw_only=True)
class StressRow:
    """The result of one perturbation."""

    name: str
    title: str
    sentences: int
    scores: dict[str, float] = field(default_factory=dict)
    """By metric; empty if there are no references for the changed sources."""
    changes: dict[str, float] = field(default_factory=dict)
    """Each score less that of the unchanged sources."""
    broken: dict[str, int] = field(default_factory=dict)
    """Number of broken translations, by BREAKAGES."""

    @property
    def breakages(self) -> int:
        return sum(self.broken.values())


@dataclass(frozen=True)
class StressTest:
    """What is translated, and how it is scored."""

    pairs: Sequence[tuple[str, str]]
    source: str
    """The languages."""
    target: str
    metrics: Sequence[str]
    seed: int = 1

    def run(self, translate: Translate) -> list[StressRow]:
        """Translate all perturbations; the first row is that of the unchanged sources."""
        clean = translate([source for source, _ in self.pairs])
        rows = [
            StressRow(
                name=UNCHANGED,
                title=UNCHANGED,
                sentences=len(self.pairs),
                scores=self._scores([each.text for each in clean], [target for _, target in self.pairs], False),
                broken=self._broken([source for source, _ in self.pairs], clean),
            )
        ]
        return rows + [self._row(name, kind, clean, translate) for name, kind in PERTURBATIONS.items()]

    def _row(self, name: str, kind: Perturbation, clean: Sequence[Output], translate: Translate) -> StressRow:
        changed = perturbed(name, self.pairs, self.seed)
        sources, references = [source for source, _ in changed], [target for _, target in changed]
        found = translate(sources)
        row = StressRow(name=name, title=kind.title, sentences=len(changed), broken=self._broken(sources, found))
        if not kind.has_reference:
            return row
        plain = [(source, each.text) for (source, _), each in zip(self.pairs, clean, strict=True)]
        expected = [text for _, text in perturbed(name, plain, self.seed)]
        before = self._scores(expected, references, kind.ignore_case)
        after = self._scores([each.text for each in found], references, kind.ignore_case)
        row.scores.update(after)
        row.changes.update({metric: after[metric] - before[metric] for metric in after})
        return row

    def _scores(self, hypotheses: list[str], references: list[str], ignore_case: bool) -> dict[str, float]:
        if ignore_case:
            hypotheses, references = ([text.lower() for text in texts] for texts in (hypotheses, references))
        found = score(hypotheses, references, self.target, self.metrics)
        return {name: each.score for name, each in found.items()}

    def _broken(self, sources: Sequence[str], found: Sequence[Output]) -> dict[str, int]:
        counts = Counter(
            next((NOTED[note] for note in each.notes if note in NOTED), None)
            or breakage(source, each.text, self.source, self.target)
            for source, each in zip(sources, found, strict=True)
        )
        return {name: counts[name] for name in BREAKAGES}


def mean_changes(rows: Sequence[StressRow]) -> dict[str, float]:
    """The mean change of each metric over the perturbations that have references."""
    scored = [row.changes for row in rows if row.changes]
    return {name: sum(changes[name] for changes in scored) / len(scored) for name in (scored[0] if scored else {})}


def as_table(rows: Sequence[StressRow]) -> list[str]:
    """Lines for a terminal: scores, changes, broken translations in percent and by kind."""
    metrics = list(rows[0].scores)
    head = ["source", *(cell for name in metrics for cell in (METRICS[name].title, "change")), "broken", *BREAKAGES]
    table = [head]
    for row in rows:
        scores = [
            cell
            for name in metrics
            for cell in (
                f"{row.scores[name]:.2f}" if name in row.scores else "–",
                f"{row.changes[name]:+.2f}" if name in row.changes else "",
            )
        ]
        counts = [str(row.broken[name] or "") for name in BREAKAGES]
        table.append([row.title, *scores, f"{100 * row.breakages / max(1, row.sentences):.1f}%", *counts])
    return aligned(table)
