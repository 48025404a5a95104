"""Text as a stream of words: the same for every language model that is compared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tongsa.base.errors import CorpusError, UsageError
from tongsa.text.lines import read_lines, tidy

UNKNOWN, END = "<unk>", "<end>"
"""A word outside the vocabulary; the end of a line. Both are words like any other, and are counted."""

_WORD = re.compile(r"\w+(?:['’.-]\w+)*|[^\w\s]")


def split(line: str) -> list[str]:
    """Lower-case words, and punctuation by itself."""
    return _WORD.findall(line.lower())


def read_text(path: Path, lines: int | None = None, encoding: str = "utf-8") -> list[list[str]]:
    """The lines of a file, or so many from its beginning, as words; empty ones are left out."""
    found = [split(tidy(line)) for line in islice(read_lines(path, encoding), lines)]
    kept = [line for line in found if line]
    if not kept:
        raise CorpusError(f"{path} holds no words")
    return kept


@dataclass(frozen=True)
class Words:
    """The words that a model knows, the most frequent first; the rest is <unk>."""

    words: list[str]

    @classmethod
    def of(cls, lines: Iterable[Sequence[str]], size: int) -> Words:
        if size < 3:
            raise UsageError(f"a vocabulary of {size} words holds nothing but {UNKNOWN} and {END}")
        counts = Counter(word for line in lines for word in line)
        # By frequency, then by letters: the order of equals must not hang on the order of the text.
        ordered = sorted(counts, key=lambda word: (-counts[word], word))
        return cls([UNKNOWN, END, *ordered[: size - 2]])

    def __len__(self) -> int:
        return len(self.words)

    def stream(self, lines: Iterable[Sequence[str]]) -> NDArray[np.int64]:
        """One line after the other, each with its <end>, beginning with one: what comes first follows an end too."""
        return np.fromiter(self._ids(lines), dtype=np.int64)

    def _ids(self, lines: Iterable[Sequence[str]]) -> Iterator[int]:
        places = {word: place for place, word in enumerate(self.words)}
        unknown, end = places[UNKNOWN], places[END]
        yield end
        for line in lines:
            yield from (places.get(word, unknown) for word in line)
            yield end
