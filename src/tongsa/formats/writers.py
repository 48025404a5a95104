"""Writing pairs in any of the formats that are read: chosen by the suffix, packed where it ends in .gz, .xz or .bz2.

What the format cannot hold is changed as little as possible and counted: line ends in formats of lines become blanks,
control characters that XML forbids are dropped. Nothing appears under the final name before all of it is written.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO
from xml.sax.saxutils import escape, quoteattr

from tongsa.base.containers import kind
from tongsa.base.errors import UsageError
from tongsa.base.files import replacing
from tongsa.formats.pairs import Pair, Reading
from tongsa.text.placeholders import find

Write = Callable[[Pair], None]
_LINE_ENDS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@contextmanager
def writing(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[Write]:
    """A function that writes a pair; a path without a known suffix is the prefix of two aligned files."""
    with ExitStack() as stack:
        writer = writers().get(kind(path))
        if writer:
            yield stack.enter_context(writer(path, reading, changed))
        elif path.suffix and path.suffix.lower() in (".zip", ".xlsx", ".json", ".txt", ".html", ".docx"):
            raise UsageError(
                f"{path} is of no kind that can be written",
                f"Writable: {', '.join(writers())}, packed with .gz, .xz or .bz2, or a prefix for two aligned files.",
            )
        else:
            yield stack.enter_context(_aligned(path, reading, changed))


def write_corpus(pairs: Iterable[Pair], path: Path, reading: Reading) -> Counter[str]:
    """Write all pairs; returns how many were `written`, and what had to be changed."""
    changed: Counter[str] = Counter()
    with writing(path, reading, changed) as write:
        for pair in pairs:
            write(pair)
            changed["written"] += 1
    return changed


def writers() -> dict[str, Callable[[Path, Reading, Counter[str]], Any]]:
    from tongsa.formats.po_writing import write_mo, write_po

    return {
        ".tsv": _tsv,
        ".csv": _csv,
        ".jsonl": _jsonl,
        ".parquet": _parquet,
        ".tmx": _tmx,
        ".xliff": _xliff,
        ".xlf": _xliff,
        ".po": write_po,
        ".mo": write_mo,
    }


@contextmanager
def text_file(path: Path) -> Iterator[TextIO]:
    """A file that takes the place of `path` once all is written."""
    openers: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
    with replacing(path) as temporary:
        opener = openers.get(path.suffix.lower(), open)
        with opener(temporary, "wt", encoding="utf-8", newline="\n") as file:
            yield file


@contextmanager
def _aligned(prefix: Path, reading: Reading, changed: Counter[str]) -> Iterator[Write]:
    packed = prefix.suffix if prefix.suffix.lower() in (".gz", ".xz", ".bz2") else ""
    name = prefix.name.removesuffix(packed)
    with ExitStack() as stack:
        left, right = (
            stack.enter_context(text_file(prefix.with_name(f"{name}.{language}{packed}")))
            for language in (reading.source, reading.target)
        )

        def write(pair: Pair) -> None:
            left.write(_one_line(pair.source, changed) + "\n")
            right.write(_one_line(pair.target, changed) + "\n")

        yield write


@contextmanager
def _tsv(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[Write]:
    with text_file(path) as file:
        file.write(f"{reading.source}\t{reading.target}\n")
        yield lambda pair: print(*(_one_line(text, changed) for text in pair[:2]), sep="\t", file=file)


@contextmanager
def _csv(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[Write]:
    with text_file(path) as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([reading.source, reading.target])
        yield lambda pair: rows.writerow([text.replace("\r", "\n") for text in pair[:2]])


@contextmanager
def _jsonl(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[Write]:
    with text_file(path) as file:

        def write(pair: Pair) -> None:
            texts = {reading.source: pair.source, reading.target: pair.target}
            file.write(json.dumps({"translation": texts}, ensure_ascii=False) + "\n")

        yield write


@contextmanager
def _parquet(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[Write]:
    from tongsa.formats.parquet import ROWS, arrow

    pyarrow = arrow()
    names = [reading.source, reading.target]
    schema = pyarrow.schema([(name, pyarrow.string()) for name in names])
    rows: list[Pair] = []
    with replacing(path) as temporary, pyarrow.parquet.ParquetWriter(str(temporary), schema) as file:

        def flush() -> None:
            columns = [[pair[side] for pair in rows] for side in (0, 1)]
            file.write_table(pyarrow.table(dict(zip(names, columns, strict=True)), schema=schema))
            rows.clear()

        def write(pair: Pair) -> None:
            rows.append(pair)
            if len(rows) == ROWS:
                flush()

        yield write
        if rows:
            flush()


@contextmanager
def _tmx(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[Write]:
    with text_file(path) as file:
        file.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
            '<header creationtool="tongsa" creationtoolversion="1" segtype="sentence" o-tmf="tongsa" adminlang="en"'
            f' srclang={quoteattr(reading.source)} datatype="plaintext"/>\n<body>\n'
        )

        def write(pair: Pair) -> None:
            file.write("<tu>")
            for language, text in zip((reading.source, reading.target), pair[:2], strict=True):
                file.write(f"<tuv xml:lang={quoteattr(language)}><seg>{_segment(text, 'x', changed)}</seg></tuv>")
            file.write("</tu>\n")

        yield write
        file.write("</body>\n</tmx>\n")


@contextmanager
def _xliff(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[Write]:
    numbers = iter(range(1, 1 << 62))
    with text_file(path) as file:
        file.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
            f"<file original={quoteattr(path.name)} source-language={quoteattr(reading.source)}"
            f' target-language={quoteattr(reading.target)} datatype="plaintext">\n<body>\n'
        )

        def write(pair: Pair) -> None:
            source, target = (_segment(text, "id", changed) for text in pair[:2])
            file.write(f'<trans-unit id="{next(numbers)}" xml:space="preserve"><source>{source}</source>')
            file.write(f'<target state="translated">{target}</target></trans-unit>\n')

        yield write
        file.write("</body>\n</file>\n</xliff>\n")


def _segment(text: str, number: str, changed: Counter[str]) -> str:
    """Tags inside of the text become <ph> that hold them, as other tools expect; reading gives the same text again."""
    clean = _NOT_XML.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    if clean != text:
        changed["texts with control characters that XML forbids, which were left out"] += 1
    parts, end = [], 0
    for count, tag in enumerate((each for each in find(clean) if each.kind == "tag"), 1):
        parts.append(f'{escape(clean[end : tag.start])}<ph {number}="{count}">{escape(tag.text)}</ph>')
        end = tag.end
    return "".join([*parts, escape(clean[end:])])


def _one_line(text: str, changed: Counter[str]) -> str:
    if _LINE_ENDS.search(text):
        changed["texts with line ends or tabs, which became blanks"] += 1
        return _LINE_ENDS.sub(" ", text)
    return text
