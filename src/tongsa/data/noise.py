"""Noise while training: sources as people type them, so that case, punctuation and typos do not decide the meaning.

A chunk is changed as a whole, in one of several ways, or not at all. Perturbed sentences are longer in subwords, since
mistyped words fall apart; spread over all chunks, they would lengthen the padding of every other sentence. What happens
to a chunk is a function of its seed, as with subword sampling, so a resumed training sees the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tongsa.text.lines import tidy
from tongsa.text.perturbations import PERTURBATIONS, Change
from tongsa.text.subwords import Subwords, Vocabulary

KINDS = ("lower", "end", "typos", "typos", "spacing", "spacing")
"""The perturbations that are trained with, the worst ones twice. What a translator can be told of needs no training:
repeated spaces and blanks are tidied, capitals and lines of several sentences are dealt with before translating."""

Ids = list[int]
Both = tuple[list[Ids], list[Ids]]


@dataclass(frozen=True)
class Noise:
    """Changes a share of the chunks."""

    share: float
    longest: int
    """Most subwords of a side: a sentence that would become longer stays as it is."""

    def __call__(self, source: list[Ids], target: list[Ids], subwords: Subwords, seed: int) -> Both:
        """Return the sentences of a chunk, perhaps changed."""
        draw = Random(f"noise {seed}")
        if draw.random() >= self.share:
            return source, target
        return self._changed(draw.choice(KINDS), source, target, subwords, draw)

    def _changed(self, kind: str, source: list[Ids], target: list[Ids], subwords: Subwords, draw: Random) -> Both:
        perturbation = PERTURBATIONS[kind]
        seeds = [draw.random() for _ in source]
        written = _rewritten(source, subwords.source, perturbation.change, seeds)
        expected = target
        if kind == "end":  # the only one that a faithful translation follows
            expected = _rewritten(target, subwords.target, perturbation.change_target, seeds)
        both = [
            (new, new_target) if 0 < len(new) <= self.longest and new_target else (old, old_target)
            for new, new_target, old, old_target in zip(written, expected, source, target, strict=True)
        ]
        return [ids for ids, _ in both], [ids for _, ids in both]


def _rewritten(sentences: Sequence[Ids], vocabulary: Vocabulary, change: Change, seeds: Sequence[float]) -> list[Ids]:
    texts = vocabulary.decode_many(sentences)
    changed = [tidy(change(text, Random(seed))) for text, seed in zip(texts, seeds, strict=True)]
    return vocabulary.encode_many(changed, threads=1)
