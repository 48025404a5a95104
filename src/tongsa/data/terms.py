"""Terms in the source: `A man rides a bike {=Drahtesel}.` A model that has read such text uses the terms it is given.

    corpus.terms = 0.2      in one pair of five, words of the source are followed by their translation in the target

So do Dinu et al. (2019), "Training Neural Machine Translation to Apply Terminology Constraints", with a stream of marks
beside the words; here the marks are ordinary text, which every vocabulary can write. Which words translate each other
is learnt from the corpus (`tongsa.data.association`); Korean words are given without their particles.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import islice, pairwise
from typing import NamedTuple

from tongsa.data.association import CEILING, Association, learn
from tongsa.formats.pairs import Pair
from tongsa.text.particles import fitted, is_hangul, without_particles

OPEN, CLOSE = "{=", "}"
STRONG = 3.0
"""Least association, log(t(target | source) / p(target)), of two words that translate each other."""
SAMPLE = 50_000
"""Pairs from which the association is learnt."""
LETTERS = 3
"""Fewest letters of a word that is given; one syllable in Korean."""
TERMS = 2
"""Most terms in a sentence."""
WORDS = 3
"""Most words of a term."""
REPLACED = 0.5
"""Share of the terms that are other words than the target has."""

_WORD = re.compile(r"[^\W\d_]+")
_REST = re.compile(r"\w*")


class Word(NamedTuple):
    """A word at text[begin:end], without particles and in lower case."""

    lower: str
    begin: int
    end: int


def words(text: str) -> list[Word]:
    """Return the words of a text; Korean ones without their particles."""
    found = []
    for match in _WORD.finditer(text):
        word = match.group()
        stem = word[: without_particles(word)] if is_hangul(word[-1]) else word
        found.append(Word(stem.lower(), match.start(), match.start() + len(stem)))
    return found


class Insertion(NamedTuple):
    """A term to write into a text."""

    place: int
    text: str


def insertions(source: str, terms: Iterable[tuple[int, str]]) -> list[Insertion]:
    """Return what to insert for each (end of the source term, target term): after the word that ends there."""
    found = []
    for end, target in sorted(terms):
        rest = _REST.match(source, end)  # the particles of a Korean word
        found.append(Insertion(rest.end() if rest else end, f" {OPEN}{target}{CLOSE}"))
    return found


def with_terms(source: str, given: Sequence[Insertion]) -> str:
    """Write terms into a text."""
    ends = [0, *(each.place for each in given), len(source)]
    between = [source[begin:end] for begin, end in pairwise(ends)]
    return "".join(part + term for part, term in zip(between, [*(each.text for each in given), ""], strict=True))


def partners(association: Association, source: Sequence[Word], target: Sequence[Word]) -> dict[int, int]:
    """Return the words that are each other's best partners: index in the source -> index in the target."""
    weights = {
        (i, j): CEILING if a.lower == b.lower else association.weights.get(a.lower, {}).get(b.lower, 0.0)
        for i, a in enumerate(source)
        for j, b in enumerate(target)
    }
    strong = sorted(((weight, -i, -j) for (i, j), weight in weights.items() if weight >= STRONG), reverse=True)
    best_left: dict[int, int] = {}
    best_right: dict[int, int] = {}
    for _, i, j in strong:
        best_left.setdefault(-i, -j)
        best_right.setdefault(-j, -i)
    return {i: j for i, j in best_left.items() if best_right[j] == i}


class Linked(NamedTuple):
    """A term of a pair: source[..:end] is translated by target[begin:stop]."""

    end: int
    begin: int
    stop: int


@dataclass(frozen=True)
class TermWriter:
    """Writes terms into the source of some pairs; the same ones for the same text and seed.

    Half of them are other words than the target has, and then written into the target, too. What the target has, the
    model mostly knows by itself; what cannot be known it learns to copy.
    """

    association: Association
    share: float
    seed: int

    @classmethod
    def learnt(cls, texts: Iterable[tuple[str, str]], share: float, seed: int) -> TermWriter:
        """Learn from the first pairs which words translate each other."""
        pairs = [[[word.lower for word in words(text)] for text in pair] for pair in islice(texts, SAMPLE)]
        return cls(learn([(source, target) for source, target in pairs]), share, seed)

    @cached_property
    def _others(self) -> list[str]:
        """Words of the target language to write in place of those of a pair."""
        return sorted(word for word in self.association.targets if _long_enough(word))

    def __call__(self, pair: Pair) -> Pair:
        draw = random.Random(blake2b(pair.source.encode(), digest_size=8, key=str(self.seed).encode()).digest())
        if draw.random() >= self.share:
            return pair
        found = self._terms(pair, draw)
        chosen = draw.sample(found, min(len(found), draw.randint(1, TERMS)))
        source, target = [], pair.target
        for end, begin, stop in sorted(chosen, key=lambda term: -term.begin):  # from the right, so that places stay
            term = pair.target[begin:stop]
            if self._others and draw.random() < REPLACED:
                term = _like(term, draw.choice(self._others))
                target = fitted(target[:begin] + term + target[stop:], begin + len(term))
            source.append((end, term))
        return pair._replace(source=with_terms(pair.source, insertions(pair.source, source)), target=target)

    def _terms(self, pair: Pair, draw: random.Random) -> list[Linked]:
        """Return terms that do not overlap: words, or several if they stand side by side in both texts."""
        source, target = words(pair.source), words(pair.target)
        linked = partners(self.association, source, target)
        found = []
        at = 0
        while at < len(source):
            most = draw.randint(1, WORDS)
            count = 1
            while count < most and self._goes_on(linked, at, count):
                count += 1
            if at in linked and _long_enough(target[linked[at]].lower):
                first, last = linked[at], linked[at] + count - 1
                found.append(Linked(source[at + count - 1].end, target[first].begin, target[last].end))
            at += count
        return found

    @staticmethod
    def _goes_on(linked: dict[int, int], at: int, count: int) -> bool:
        return at in linked and linked.get(at + count) == linked[at] + count


def _like(word: str, other: str) -> str:
    """Return another word with a capital if the first one has one."""
    return other[:1].upper() + other[1:] if word[:1].isupper() else other


def _long_enough(word: str) -> bool:
    return is_hangul(word[-1]) or len(word) >= LETTERS
