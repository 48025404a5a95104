"""Tab-separated pairs: source and target in the first two columns, or under a header with the languages' codes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.text.lines import read_lines


def read_tsv(path: Path, reading: Reading) -> Iterator[Pair]:
    source, target = 0, 1
    for number, line in enumerate(read_lines(path, reading.encoding), 1):
        columns = line.split("\t")
        if number == 1 and {reading.source, reading.target} <= set(columns):
            source, target = columns.index(reading.source), columns.index(reading.target)
            continue
        if not line.strip():
            continue
        if len(columns) <= max(source, target):
            raise CorpusError(
                f"{path}, line {number:,}: {len(columns)} column{'s' if len(columns) > 1 else ''},"
                f" {max(source, target) + 1} are needed",
                f"The line is {line[:60]!r}",
                "A pair is SOURCE, a tab, TARGET; a first line with the languages' codes may name the columns.",
            )
        yield Pair(columns[source], columns[target], Place(path, number))
