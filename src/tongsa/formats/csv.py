"""Comma-separated pairs with quotes, as spreadsheets write them; semicolons too.

The columns are the first two, unless a first line names them: by the languages' codes, or `source` and `target`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.text.languages import plain_code
from tongsa.text.lines import read_lines


def read_csv(path: Path, reading: Reading) -> Iterator[Pair]:
    lines = read_lines(path, reading.encoding)
    first = next(lines, None)
    if first is None:
        return
    delimiter = ";" if first.count(";") > first.count(",") else ","
    rows = csv.reader(_with_ends(first, lines), delimiter=delimiter, strict=True)
    source, target = 0, 1
    line = 1
    try:
        for row in rows:
            where, line = Place(path, line), rows.line_num + 1
            if where.line == 1 and (named := named_columns(row, reading)):
                source, target = named
            elif len(row) > max(source, target):
                yield Pair(row[source], row[target], where)
            elif row:
                raise CorpusError(
                    f"{where}: {len(row)} column{'s' * (len(row) != 1)}, {max(source, target) + 1} are needed",
                    f"The line begins: {delimiter.join(row)[:60]!r}",
                )
    except csv.Error as error:
        raise CorpusError(
            f"{path}, line {line:,}: not CSV: {error}", "A quote that is opened there may never be closed."
        ) from error


def named_columns(names: Sequence[str], reading: Reading) -> tuple[int, int] | None:
    """The columns under the languages' codes, or under `source` and `target`."""
    plain = [plain_code(name) for name in names]
    for wanted in ((plain_code(reading.source), plain_code(reading.target)), ("source", "target")):
        if all(name in plain for name in wanted):
            return plain.index(wanted[0]), plain.index(wanted[1])
    return None


def _with_ends(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first + "\n"
    for line in rest:
        yield line + "\n"
