"""CSV and TSV: the cells of chosen columns; every other cell keeps its very bytes, quotes included.

`--columns title,text` (or numbers from 1) are translated in place. Without it the header must name the languages, as
that of a CSV corpus does: the cells under the target's code are filled from those under the source's, where they are
empty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tongsa.base.errors import CorpusError, UsageError
from tongsa.formats.csv import named_columns
from tongsa.formats.pairs import Reading
from tongsa.formats.segments import Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Slot, SpanDocument


@dataclass(frozen=True)
class Cell:
    start: int
    end: int
    text: str
    quoted: bool


def read_csv(data: bytes, path: Path, options: Options) -> SpanDocument:
    encoded = Encoded.read(data, path, options.encoding)
    separator = "\t" if path.suffix.lower() == ".tsv" else _separator(encoded.text)
    rows = _rows(encoded.text, separator, path)
    document = SpanDocument(path, data, encoded)
    if not rows:
        return document
    names = [cell.text.strip() for cell in rows[0]]
    if options.columns:
        first, columns = _chosen(options.columns, names, path)
        pairs = [(column, column) for column in columns]
    else:
        first, pairs = 1, [_language_columns(names, options, path)]
    for number, row in enumerate(rows[first:], first + 1):
        for source, target in pairs:
            if max(source, target) < len(row) and (source == target or not row[target].text.strip()):
                document.slots.append(
                    _slot(row, source, target, f"row {number}, {names[source] or source + 1}", separator)
                )
    return document


def _slot(row: list[Cell], source: int, target: int, name: str, separator: str) -> Slot:
    cell = row[target]
    quoted = cell.quoted or (source != target and row[source].quoted)
    segment = Segment(id=name, content=(row[source].text,))
    return Slot(start=cell.start, end=cell.end, segment=segment, render=lambda o: _cell(o, quoted, separator))


def _cell(outcome: Outcome, quoted: bool, separator: str) -> str:
    text = outcome.text
    if quoted or any(c in text for c in (separator, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _separator(text: str) -> str:
    """The one that the first line has most of."""
    line = re.sub(r'"[^"]*"', "", text.split("\n", 1)[0])
    return max(",;\t|", key=line.count)


def _rows(text: str, separator: str, path: Path) -> list[list[Cell]]:
    cell = re.compile(rf'"(?:[^"]|"")*+"|[^{re.escape(separator)}\r\n]*+')
    rows: list[list[Cell]] = []
    at = 0
    while at < len(text):
        row: list[Cell] = []
        while True:
            match = cell.match(text, at)
            assert match, "the empty cell matches anywhere"
            raw = match.group()
            quoted = len(raw) > 1 and raw[0] == raw[-1] == '"'
            if raw.startswith('"') and not quoted:
                raise CorpusError(f"{path}, row {len(rows) + 1:,}: a quote that never closes: {raw[:30]!r}")
            row.append(Cell(match.start(), match.end(), raw[1:-1].replace('""', '"') if quoted else raw, quoted))
            at = match.end()
            if not text.startswith(separator, at):
                break
            at += len(separator)
        if at < len(text) and text[at] not in "\r\n":
            raise CorpusError(
                f"{path}, row {len(rows) + 1:,}: text after a closing quote: {text[at : at + 30]!r}",
                "Inside of quotes a quote is written twice.",
            )
        at += 2 if text.startswith("\r\n", at) else 1
        rows.append(row)
    return rows


def _chosen(columns: tuple[str, ...], names: list[str], path: Path) -> tuple[int, list[int]]:
    """The first row of data, and the columns by index: names need a header, numbers need none."""
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
