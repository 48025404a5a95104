"""Random segmentation of words into subwords: BPE-dropout, or sampling from the unigram model.

SentencePiece can sample too, but seeds its generator differently in every process, so a resumed training would see
other segmentations than an uninterrupted one. Here a segmentation depends on the seed alone. Words recur, so each has
a few dozen segmentations, computed when first drawn and then cached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from random import Random

VARIANTS = 32
"""Segmentations of a word to draw from."""

SPACE = "▁"
"""SentencePiece's mark for the beginning of a word."""


class Resegmenter:
    def __init__(self, pieces: dict[str, tuple[int, float]]) -> None:
        """`pieces` maps every text piece to its id and score; byte pieces and `<unk>` are not among them."""
        self._pieces = pieces
        self._text = {id: piece for piece, (id, _) in pieces.items()}
        self._beginnings = {id for id, piece in self._text.items() if piece.startswith(SPACE)}
        self._longest = max(map(len, pieces))
        # The scores of BPE are the ranks of its merges, those of a unigram model log-probabilities.
        ranks = all(score == int(score) for _, score in pieces.values())
        self._cut: Callable[[str, float, Random], list[int] | None] = self._drop_merges if ranks else self._draw_path
        self._variant = lru_cache(maxsize=1 << 18)(self._make_variant)

    def __call__(self, sentences: Sequence[Sequence[int]], amount: float, seed: int) -> list[list[int]]:
        """Segment the sentences at random, as a function of the seed."""
        draw, variant = Random(seed).random, self._variant
        return [
            [id for word in self._words(ids) for id in variant(word, amount, int(draw() * VARIANTS))]
            for ids in sentences
        ]

    def _words(self, ids: Sequence[int]) -> Iterator[tuple[int, ...]]:
        begins = [place for place, id in enumerate(ids) if id in self._beginnings and place]
        for begin, end in pairwise([0, *begins, len(ids)]):
            yield tuple(ids[begin:end])

    def _make_variant(self, word: tuple[int, ...], amount: float, number: int) -> tuple[int, ...]:
        if any(id not in self._text for id in word):  # bytes stay as they are
            return word
        text = "".join(self._text[id] for id in word)
        return tuple(self._cut(text, amount, Random(f"{number} {text}")) or word)

    def _drop_merges(self, text: str, p: float, draw: Random) -> list[int] | None:
        """BPE-dropout (Provilkov et al. 2020, Algorithm 1): before each merge, every possible one is dropped with p."""
        symbols = list(text)
        while True:
            merges = [
                (-self._pieces[left + right][1], place)
                for place, (left, right) in enumerate(pairwise(symbols))
                if left + right in self._pieces and draw.random() >= p
            ]
            if not merges:
                break
            _, place = min(merges)
            symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
        if any(symbol not in self._pieces for symbol in symbols):
            return None  # a character without a piece
        return [self._pieces[symbol][0] for symbol in symbols]

    def _draw_path(self, text: str, alpha: float, draw: Random) -> list[int] | None:
        """Draw one in proportion to P(segmentation)^alpha (Kudo 2018, Eq. 8): filter forward, draw backward."""
        total = [0.0] + [-math.inf] * len(text)  # log of the sum over all cuts up to here
        ways: list[list[tuple[float, int, int]]] = [
            [] for _ in total
        ]  # (log weight, where the last piece begins, its id)
        for end in range(1, len(text) + 1):
            for begin in range(max(0, end - self._longest), end):
                if text[begin:end] in self._pieces and total[begin] > -math.inf:
                    id, score = self._pieces[text[begin:end]]
                    ways[end].append((total[begin] + alpha * score, begin, id))
            if ways[end]:
                top = max(weight for weight, _, _ in ways[end])
                total[end] = top + math.log(sum(math.exp(weight - top) for weight, _, _ in ways[end]))
        if not ways[-1]:
            return None
        ids: list[int] = []
        end = len(text)
        while end:
            weights = [math.exp(weight - total[end]) for weight, _, _ in ways[end]]
            _, end, id = draw.choices(ways[end], weights)[0]
            ids.append(id)
        return ids[::-1]
