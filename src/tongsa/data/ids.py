"""Ids on disk, memory-mapped, so that memory use does not grow with the corpus.

A folder holds one split of a corpus:
    source.ids  target.ids          all sentences, concatenated, uint16 or uint32
    source.offsets  target.offsets  where each begins, int64
    about.json                      the number of pairs, and a key (hash) of the text and settings they were made from
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tongsa.base.files import replacing
from tongsa.config import CorpusSection
from tongsa.formats.pairs import Pair, Tally
from tongsa.text.bulk import BulkEncoder
from tongsa.text.lines import tidy
from tongsa.text.subwords import Subwords

ABOUT = "about.json"

BLOCK = 8192
"""Pairs encoded at a time."""

Ids = NDArray[np.integer]


@dataclass(frozen=True)
class Sentences:
    """The sentences of one side, as arrays of ids."""

    ids: Ids
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Ids:
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    @property
    def lengths(self) -> NDArray[np.int32]:
        return np.diff(self.offsets).astype(np.int32)

    @classmethod
    def open(cls, folder: Path, side: str, dtype: str) -> Sentences:
        offsets = np.memmap(folder / f"{side}.offsets", dtype=np.int64, mode="r")
        # an empty file cannot be mapped
        ids = np.memmap(folder / f"{side}.ids", dtype=dtype, mode="r") if offsets[-1] else np.empty(0, dtype)
        return cls(ids, offsets)

    @classmethod
    def joined(cls, parts: Sequence[Sentences]) -> Sentences:
        """The sentences of several, one after the other, in memory."""
        lengths = np.concatenate([part.lengths for part in parts])
        ids = np.concatenate([part.ids for part in parts])
        return cls(ids, np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)]))


@dataclass(frozen=True)
class PairIds:
    """The pairs of one split."""

    source: Sentences
    target: Sentences

    def __len__(self) -> int:
        return len(self.source)

    @property
    def swapped(self) -> PairIds:
        """The pairs of the other direction."""
        return PairIds(self.target, self.source)

    @classmethod
    def joined(cls, parts: Sequence[PairIds]) -> PairIds:
        """The pairs of several splits in the same vocabulary, one after the other, in memory."""
        sides = ([part.source for part in parts], [part.target for part in parts])
        return cls(*map(Sentences.joined, sides))

    def store(self, folder: Path, key: str) -> None:
        """Write the pairs as `open` reads them."""
        sides = {"source": self.source, "target": self.target}
        about = {"key": key, "pairs": len(self), "dtype": {side: str(each.ids.dtype) for side, each in sides.items()}}
        with replacing(folder) as temporary:
            temporary.mkdir()
            for side, sentences in sides.items():
                sentences.ids.tofile(temporary / f"{side}.ids")
                sentences.offsets.tofile(temporary / f"{side}.offsets")
            (temporary / ABOUT).write_text(json.dumps(about))

    @classmethod
    def open(cls, folder: Path) -> PairIds:
        about = json.loads((folder / ABOUT).read_text())
        return cls(*(Sentences.open(folder, side, about["dtype"][side]) for side in ("source", "target")))


def stored_key(about: Path) -> str | None:
    """Read the key of complete ids or subwords; it is written last."""
    try:
        return str(json.loads(about.read_text())["key"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_ids(
    folder: Path,
    pairs: Iterable[Pair],
    subwords: Subwords,
    section: CorpusSection,
    *,
    key: str,
    threads: int,
    tally: Tally,
    advance: Callable[[int], None],
) -> PairIds:
    """Encode the pairs block by block; leave out and count pairs that are too long or too different in length."""
    left = BulkEncoder(subwords.source, threads)
    right = left if subwords.target is subwords.source else BulkEncoder(subwords.target, threads)
    with replacing(folder) as temporary:
        temporary.mkdir()
        with ExitStack() as stack:
            source, target = (
                _Writer(
                    stack.enter_context((temporary / f"{side}.ids").open("wb")),
                    stack.enter_context((temporary / f"{side}.offsets").open("wb")),
                    encoder.width,
                )
                for side, encoder in (("source", left), ("target", right))
            )
            for block in _blocks(pairs):
                rows = zip(
                    left.encode([tidy(pair.source) for pair in block]),
                    right.encode([tidy(pair.target) for pair in block]),
                    strict=True,
                )
                kept = [
                    (a, b)
                    for pair, (a, b) in zip(block, rows, strict=True)
                    if _usable(pair, len(a) // left.width, len(b) // right.width, section, tally)
                ]
                source.write([a for a, _ in kept])
                target.write([b for _, b in kept])
                advance(len(block))
        about = {"key": key, "pairs": source.count, "dtype": {"source": left.dtype, "target": right.dtype}}
        (temporary / ABOUT).write_text(json.dumps(about))
    return PairIds.open(folder)


def _usable(pair: Pair, source: int, target: int, section: CorpusSection, tally: Tally) -> bool:
    """Check the numbers of subwords on the two sides, and count the pair if it is left out."""
    longer, shorter = max(source, target), min(source, target)
    if shorter == 0:
        tally.drop("with an empty side", pair.where)
    elif longer > section.max_tokens:
        tally.drop(f"longer than {section.max_tokens} subwords (corpus.max_tokens)", pair.where)
    # short sentences often differ by a large factor: "No." and "Das kommt gar nicht in Frage."
    elif section.max_ratio and longer > section.max_ratio * shorter and longer > 20:
        tally.drop(f"with sides that differ in length by {section.max_ratio:g} times (corpus.max_ratio)", pair.where)
    else:
        return True
    return False


class _Writer:
    """Appends sentences to a file of ids, and their ends to a file of offsets."""

    def __init__(self, ids: IO[bytes], offsets: IO[bytes], width: int) -> None:
        self._ids, self._offsets, self._width = ids, offsets, width
        self.count = 0
        self._end = 0
        self._offsets.write(np.zeros(1, np.int64).tobytes())

    def write(self, sentences: list[bytes]) -> None:
        self.count += len(sentences)
        ends = self._end + np.cumsum([len(ids) // self._width for ids in sentences], dtype=np.int64)
        self._end = int(ends[-1]) if len(ends) else self._end
        self._offsets.write(ends.tobytes())
        self._ids.write(b"".join(sentences))


def _blocks(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    iterator = iter(pairs)
    while block := list(islice(iterator, BLOCK)):
        yield block
