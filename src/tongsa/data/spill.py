"""A corpus is read, decoded, filtered and tidied once, into a temporary file that later passes read.

A line of the file is a pair: the tidy source, the tidy target and its place, separated by tabs, which tidy text cannot
contain; then, if tidying changed anything, the two original texts. A pair that a filter left out has an empty source,
and the reason instead of a target. A second file has the digests of the sources, eight bytes each, which decide what
is held out.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import repeat
from pathlib import Path
from typing import IO, Protocol

import numpy as np

from tongsa.base.errors import CorpusError
from tongsa.base.files import cannot_write
from tongsa.base.progress import Show
from tongsa.config import CorpusSection
from tongsa.data.selection import EMPTY, SmallestDigests, Split, first_reason, mask, usual_filters
from tongsa.formats.pairs import Pair, Place, Tally
from tongsa.text.lines import tidy

FOLDER = "text.tmp"
BLOCK = 4096
"""Pairs written and read at a time."""
BLOCK_CHARACTERS = 1 << 24
"""Fewer pairs are written at a time if they have more characters than this."""

MOST_HELD_OUT = 2000
"""Source sentences held out by default; fewer if the corpus is small."""

FEWEST = 20
"""Fewest pairs that a training accepts."""


class Pairs(Protocol):
    """A corpus, or a mix of several; it is read again on each iteration."""

    @property
    def name(self) -> str: ...

    def __iter__(self) -> Iterator[Pair]: ...


@dataclass(frozen=True)
class Survey:
    """Size of a corpus, and a digest of its text."""

    pairs: int
    """Pairs with text on both sides."""
    characters: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class Spill:
    """The tidied text of a corpus on disk, with what was found while it was read."""

    name: str
    folder: Path
    section: CorpusSection
    seed: int
    survey: Survey
    files: list[Path]
    """Files that the pairs come from; places refer to them by index."""
    smallest: SmallestDigests

    def hold_out(self, count: int) -> Split:
        """Return the split that holds out exactly `count` source sentences."""
        return Split(self.seed, self.smallest.threshold(count))

    def texts(self, split: Split) -> Iterator[tuple[str, str]]:
        """Yield source and target of the training pairs."""
        for held_out, line in self._lines(split):
            if not held_out:
                source, target, _ = line.split("\t", 2)
                if source:
                    yield source, target

    def pairs(self, split: Split, tally: Tally) -> Iterator[Pair]:
        """Yield the training pairs; those that were left out are counted."""
        for held_out, line in self._lines(split):
            if not held_out and (fields := self._kept(line, tally)):
                yield Pair(fields[0], fields[1], self._place(fields[2]))

    def held_out(self, split: Split, tally: Tally) -> Iterator[Pair]:
        """Yield the held-out pairs as they were before tidying."""
        for held_out, line in self._lines(split):
            if held_out and (fields := self._kept(line, tally)):
                source, target = json.loads(fields[3]) if len(fields) > 3 else fields[:2]
                yield Pair(source, target, self._place(fields[2]))

    def _kept(self, line: str, tally: Tally) -> list[str] | None:
        tally.seen += 1
        fields = line[:-1].split("\t")
        if fields[0]:
            return fields
        tally.drop(fields[1], self._place(fields[2]))
        return None

    def _place(self, text: str) -> Place:
        file, _, line = text.partition(":")
        return Place(self.files[int(file)], int(line) if line.isdecimal() else json.loads(line))

    def _lines(self, split: Split) -> Iterator[tuple[bool, str]]:
        """Yield every line with True if its pair is held out."""
        assert split.seed == self.seed, "digests depend on the seed"
        with (
            (self.folder / "pairs").open(encoding="utf-8", newline="\n") as lines,
            (self.folder / "digests").open("rb") as digests,
        ):
            while block := digests.read(8 * BLOCK):
                if split.threshold:  # at most 2**64, so one less fits into 64 bits
                    held_out = (np.frombuffer(block, ">u8") <= np.uint64(split.threshold - 1)).tolist()
                    yield from zip(held_out, lines, strict=False)  # never a line more than there are digests
                else:
                    yield from zip(repeat(False, len(block) // 8), lines, strict=False)


@contextmanager
def spilled(corpus: Pairs, section: CorpusSection, *, seed: int, folder: Path, show: Show) -> Iterator[Spill]:
    """Read a corpus once into a temporary file, which exists until the block ends.

    Bad input is reported here, before anything else is written into `folder`.
    """
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    spill = folder / FOLDER
    try:
        _remove(spill)  # left by a killed process
        yield _Writer(spill, section, seed).write(corpus, show)
    finally:
        _remove(spill)
        for each in made:  # only if nothing else was written there
            with suppress(OSError):
                each.rmdir()


class _Writer:
    """Tidies, filters, counts and writes each pair."""

    def __init__(self, folder: Path, section: CorpusSection, seed: int) -> None:
        self.folder, self.section, self.seed = folder, section, seed
        self.split = Split(seed)
        self.smallest = SmallestDigests(section.held_out or MOST_HELD_OUT)
        self.filters = usual_filters(section)
        del self.filters[EMPTY]  # both sides are tidied here anyway
        self.pairs = self.characters = 0
        self._numbers: dict[Path, int] = {}
        self._file: Path | None = None
        self._number = 0
        self._lines: list[str] = []
        self._digests: list[bytes] = []
        self._texts: list[str] = []
        self._held = 0

    def write(self, corpus: Pairs, show: Show) -> Spill:
        whole = blake2b(digest_size=16)
        try:
            self.folder.mkdir(parents=True)
            with (
                (self.folder / "pairs").open("w", encoding="utf-8", newline="\n") as lines,
                (self.folder / "digests").open("wb") as digests,
                show.bar("reading", None, "pairs") as bar,
            ):
                for pair in corpus:
                    self._add(pair)
                    if len(self._lines) == BLOCK or self._held > BLOCK_CHARACTERS:
                        bar.advance(self._flush(lines, digests, whole))
                bar.advance(self._flush(lines, digests, whole))
        except OSError as error:  # readers report their own errors
            raise cannot_write(self.folder, error) from error
        if self.pairs < FEWEST:
            raise CorpusError(
                f"{corpus.name} has {self.pairs:,} pairs with text on both sides: too few to learn from",
                f"At least {FEWEST} are needed; useful models need a few thousand.",
            )
        return Spill(
            name=corpus.name,
            folder=self.folder,
            section=self.section,
            seed=self.seed,
            survey=Survey(self.pairs, self.characters, whole.hexdigest()),
            files=list(self._numbers),
            smallest=self.smallest,
        )

    def _add(self, pair: Pair) -> None:
        texts = source, target = pair.source, pair.target
        self._texts += (source, "\n", target, "\n")
        self._held += len(source) + len(target)
        digest = self.split.digest(source)
        self._digests.append(digest)
        tidied = tidy(source), tidy(target)
        reason: str | None = EMPTY
        if tidied[0] and tidied[1]:
            self.pairs += 1
            self.characters += len(source) + len(target)
            reason = first_reason(pair, self.filters)
        if reason:
            self._lines.append(f"\t{reason}\t{self._place(pair.where)}\n")
            return
        if self.section.mask:
            texts = mask(pair)[:2]
            if texts != (source, target):
                tidied = tidy(texts[0]), tidy(texts[1])
        self.smallest.add(digest)
        line = f"{tidied[0]}\t{tidied[1]}\t{self._place(pair.where)}"
        self._lines.append(f"{line}\n" if tidied == texts else f"{line}\t{json.dumps(texts)}\n")

    def _place(self, place: Place) -> str:
        if place.file is not self._file:
            self._file, self._number = place.file, self._numbers.setdefault(place.file, len(self._numbers))
        line = place.line
        return f"{self._number}:{line if isinstance(line, int) else json.dumps(line)}"

    def _flush(self, lines: IO[str], digests: IO[bytes], whole: blake2b) -> int:
        count = len(self._lines)
        lines.write("".join(self._lines))
        digests.write(b"".join(self._digests))
        whole.update("".join(self._texts).encode())
        for each in (self._lines, self._digests, self._texts):
            each.clear()
        self._held = 0
        return count


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
