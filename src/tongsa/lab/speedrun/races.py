"""What is raced on: the files of a corpus, the scores to reach, and where the text can be had."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tongsa.base.errors import CorpusError, UsageError
from tongsa.formats.pairs import Reading, aligned_files, open_corpus

DIGITS = 16
"""Hexadecimal digits of a text's digest."""


@dataclass(frozen=True, kw_only=True)
class RaceText:
    """A part of the corpus, read completely."""

    path: Path
    """Prefix of its two files."""
    sources: Sequence[str]
    references: Sequence[str]

    def every(self, step: int) -> RaceText:
        """A sample: one pair in `step`."""
        return RaceText(path=self.path, sources=self.sources[::step], references=self.references[::step])

    @property
    def digest(self) -> str:
        """The same for the same pairs, whether or not the files are compressed."""
        found = hashlib.sha256()
        for source, reference in zip(self.sources, self.references, strict=True):
            found.update(f"{source}\t{reference}\n".encode())
        return found.hexdigest()[:DIGITS]


@dataclass(frozen=True, kw_only=True)
class Race:
    """A corpus with its protocol. Targets are BLEU on the validation set; the test sets are scored once, at the end."""

    name: str
    source: str
    target: str
    train: str
    valid: str
    tests: tuple[str, ...]
    """Test sets; the first one must be there."""
    targets: tuple[float, ...]
    recipe: str
    """The recipe unless another one is named."""
    minutes: float
    """The budget unless another one is given."""
    obtain: str
    """Where the text can be had."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Digests of the parts as they are published, where known: a race on other text is told apart."""

    def texts(self, folder: Path) -> dict[str, RaceText]:
        """Read all parts that are there, by name; report all missing files together."""
        needed = (self.train, self.valid, self.tests[0])
        reading = Reading(source=self.source, target=self.target)
        missing = []
        found = {}
        for name in (self.train, self.valid, *self.tests):
            files = aligned_files(folder / name, reading)
            lacking = [
                f"{name}.{code}" for file, code in zip(files, (self.source, self.target), strict=True) if not file
            ]
            if not lacking:
                found[name] = self._read(folder / name, reading)
            elif name in needed or len(lacking) == 1:
                missing += lacking
        if missing:
            raise CorpusError(f"{folder} has no {', '.join(missing)}, which the race needs", self.obtain)
        return found

    def _read(self, prefix: Path, reading: Reading) -> RaceText:
        pairs = list(open_corpus([str(prefix)], reading))
        if not pairs:
            raise CorpusError(f"{prefix} has no pairs", self.obtain)
        return RaceText(
            path=prefix, sources=[pair.source for pair in pairs], references=[pair.target for pair in pairs]
        )

    def other_text(self, digests: Mapping[str, str]) -> list[str]:
        """The parts whose text is not the published one."""
        return [name for name, digest in self.digests.items() if digests.get(name, digest) != digest]


RACES = {
    "multi30k": Race(
        name="multi30k",
        source="en",
        target="de",
        train="train",
        valid="valid",
        tests=("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco"),
        targets=(35.0, 38.0, 40.0),
        recipe="multi30k-hour",
        minutes=60.0,
        obtain="The text is in data/task1/raw of github.com/multi30k/dataset; its val is called valid here.",
        digests={"train": "c1a00bc02ecdb46c", "valid": "2da4aa9f2f00e8aa", "test_2016_flickr": "5a087b0b6254fc8d"},
    ),
}


def find_race(name: str) -> Race:
    if name not in RACES:
        raise UsageError(
            f"unknown race: {name}",
            f"Known: {', '.join(RACES)}. For example:  tongsa speedrun {next(iter(RACES))} FOLDER",
        )
    return RACES[name]
