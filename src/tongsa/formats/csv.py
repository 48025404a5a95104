"""Comma-separated and tab-separated values.

As a corpus, the first two columns are source and target, unless a first line names the columns: by the languages'
codes, or `source` and `target`. CSV has quotes, as spreadsheets write them, and may have semicolons; TSV has neither.

As a document, `--columns title,text` (or numbers from 1) are translated in place. Without it the header must name the
languages, as that of a corpus does: the cells under the target's code are filled from those under the source's, where
they are empty. Every other cell is kept byte for byte, quotes included.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from tongsa.base.containers import kind
from tongsa.base.errors import CorpusError, UsageError
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.formats.segments import Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Slot, SpanDocument
from tongsa.formats.writers import WritePair, one_line, text_file
from tongsa.text.languages import plain_code
from tongsa.text.lines import LONGEST_LINE, read_lines


def read_pairs(path: Path, reading: Reading) -> Iterator[Pair]:
    return _read_tsv(path, reading) if kind(path) == ".tsv" else _read_csv(path, reading)


def write_pairs(path: Path, reading: Reading, changed: Counter[str]) -> AbstractContextManager[WritePair]:
    return (_write_tsv if kind(path) == ".tsv" else _write_csv)(path, reading, changed)


def _read_tsv(path: Path, reading: Reading) -> Iterator[Pair]:
    source, target = 0, 1
    for number, line in enumerate(read_lines(path, reading.encoding), 1):
        columns = line.split("\t")
        if number == 1 and (named := named_columns(columns, reading)):
            source, target = named
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


def _read_csv(path: Path, reading: Reading) -> Iterator[Pair]:
    lines = read_lines(path, reading.encoding)
    first = next(lines, None)
    if first is None:
        return
    delimiter = ";" if first.count(";") > first.count(",") else ","
    text = _RowText(path, chain([first], lines))
    rows = csv.reader(text, delimiter=delimiter, strict=True)
    source, target = 0, 1
    line = 1
    try:
        for row in rows:
            where, line = Place(path, line), rows.line_num + 1
            text.length = 0
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
            f"{path}, line {line:,}: not CSV: {error}", "A quote opened there may not be closed."
        ) from error


def named_columns(names: Sequence[str], reading: Reading) -> tuple[int, int] | None:
    """Find the columns named by the language codes, or by `source` and `target`."""
    plain = [plain_code(name) for name in names]
    for wanted in ((plain_code(reading.source), plain_code(reading.target)), ("source", "target")):
        if all(name in plain for name in wanted):
            return plain.index(wanted[0]), plain.index(wanted[1])
    return None


class _RowText:
    """Lines with their ends; a row whose quoted cells span lines has a limit, as a line has."""

    def __init__(self, path: Path, lines: Iterator[str]) -> None:
        self.path, self.lines = path, lines
        self.length = 0
        """Characters of the row so far; the reader of rows sets it back."""

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(self.lines, 1):
            self.length += len(line)
            if self.length > LONGEST_LINE:
                raise CorpusError(
                    f"{self.path}, line {number:,}: a row of more than {LONGEST_LINE >> 20} MB ends nowhere",
                    "A quote that was opened above may not be closed.",
                )
            yield line + "\n"


@contextmanager
def _write_tsv(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[WritePair]:
    with text_file(path) as file:
        file.write(f"{reading.source}\t{reading.target}\n")
        yield lambda pair: print(*(one_line(text, changed) for text in pair[:2]), sep="\t", file=file)


@contextmanager
def _write_csv(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[WritePair]:
    with text_file(path) as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([reading.source, reading.target])
        yield lambda pair: rows.writerow([text.replace("\r", "\n") for text in pair[:2]])


MOST_COLUMNS = 16_384
"""Most columns of a row of a document, as in spreadsheets."""
LONGEST_NAME = 60
"""Characters of a column's name that are shown in the name of a place."""


class Cell(NamedTuple):
    start: int
    end: int
    text: str
    quoted: bool


def open_document(data: bytes, path: Path, options: Options) -> SpanDocument:
    encoded = Encoded.read(data, path, options.encoding)
    separator = "\t" if path.suffix.lower() == ".tsv" else _separator(encoded.text)
    rows = _rows(encoded.text, separator, path)
    document = SpanDocument(path, data, encoded)
    head = next(rows, None)
    if head is None:
        return document
    names = [cell.text.strip() for cell in head]
    if options.columns:
        first, columns = _chosen(options.columns, names, path)
        pairs = [(column, column) for column in columns]
    else:
        first, pairs = 1, [_language_columns(names, options, path)]
    for number, row in enumerate(rows if first else chain([head], rows), first + 1):
        for source, target in pairs:
            if max(source, target) < len(row) and (source == target or not row[target].text.strip()):
                name = f"row {number}, {names[source][:LONGEST_NAME] or source + 1}"
                document.slots.append(_slot(row, source, target, name, separator))
    return document


def _slot(row: list[Cell], source: int, target: int, name: str, separator: str) -> Slot:
    cell = row[target]
    quoted = cell.quoted or (source != target and row[source].quoted)
    segment = Segment(id=name, content=(row[source].text,))
    return Slot(start=cell.start, end=cell.end, segment=segment, render=lambda o, _: _cell(o, quoted, separator))


def _cell(outcome: Outcome, quoted: bool, separator: str) -> str:
    text = outcome.text
    if quoted or any(c in text for c in (separator, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _separator(text: str) -> str:
    """Choose the delimiter that is most frequent in the first line."""
    line = re.sub(r'"[^"]*"', "", re.split(r"[\r\n]", text, maxsplit=1)[0])
    return max(",;\t|", key=line.count)


def _rows(text: str, separator: str, path: Path) -> Iterator[list[Cell]]:
    cell = re.compile(rf'("(?:[^"]++|"")*+")|[^{re.escape(separator)}\r\n]*+')
    number = at = 0
    while at < len(text):
        row: list[Cell] = []
        number += 1
        while True:
            match = cell.match(text, at)
            assert match, "the empty cell matches anywhere"
            raw = match.group()
            quoted = match[1] is not None
            if raw.startswith('"') and not quoted:
                raise CorpusError(f"{path}, row {number:,}: a quote that never closes: {raw[:30]!r}")
            if len(row) == MOST_COLUMNS:
                raise CorpusError(f"{path}, row {number:,}: more than {MOST_COLUMNS:,} columns")
            row.append(Cell(match.start(), match.end(), raw[1:-1].replace('""', '"') if quoted else raw, quoted))
            at = match.end()
            if not text.startswith(separator, at):
                break
            at += len(separator)
        if at < len(text) and text[at] not in "\r\n":
            raise CorpusError(
                f"{path}, row {number:,}: text after a closing quote: {text[at : at + 30]!r}",
                "Inside quotes, a quote is written twice.",
            )
        at += 2 if text.startswith("\r\n", at) else 1
        yield row


def _chosen(columns: tuple[str, ...], names: list[str], path: Path) -> tuple[int, list[int]]:
    """Return the first row of data and the column indices; names need a header, numbers do not."""
    if all(column in names for column in columns):
        return 1, [names.index(column) for column in columns]
    if all(column.isdigit() and 1 <= int(column) <= len(names) for column in columns):
        return 0, [int(column) - 1 for column in columns]
    unknown = [column for column in columns if column not in names]
    raise UsageError(
        f"{path} has no column {', '.join(unknown)}", f"Its columns: {', '.join(names)} (or 1 to {len(names)})"
    )


def _language_columns(names: list[str], options: Options, path: Path) -> tuple[int, int]:
    source, target = options.languages.source, options.languages.target
    if found := named_columns(names, Reading(source=source, target=target)):
        return found
    raise UsageError(
        f"{path}: which columns?",
        f"Its columns: {', '.join(names)}",
        "To translate some in place:  --columns NAME,NAME  (or their numbers from 1)",
        f"To fill one from another, the header names the languages: {source} and {target} (or source and target).",
    )
