"""Writing corpora: the format is chosen by the suffix, packed where the name ends in .gz, .xz or .bz2.

What the format cannot hold is changed as little as possible and counted: in line-based formats, line ends become
spaces; control characters that XML forbids are dropped. The file gets its final name only when it is complete.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from tongsa.base.containers import PACKED, kind
from tongsa.base.errors import UsageError
from tongsa.base.files import replacing, replacing_together
from tongsa.formats.pairs import Pair, Reading
from tongsa.formats.registry import ALIGNED, find_format, suffixes_with

WritePair = Callable[[Pair], None]

_LINE_ENDS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_NOT_A_PREFIX = (".zip", ".xlsx")
"""Suffixes, besides those of formats, that cannot be part of the prefix of two aligned files."""


@contextmanager
def writing(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[WritePair]:
    """Yield a function that writes a pair; a path without a known suffix is the prefix of two aligned files."""
    known = find_format(kind(path))
    write_pairs = known.write_pairs if known else ALIGNED.write_pairs
    if write_pairs is None or path.suffix.lower() in _NOT_A_PREFIX:
        raise UsageError(
            f"pairs cannot be written to {path}: unknown kind of file",
            f"Writable: {', '.join(suffixes_with('write_pairs'))}, packed with {', '.join(PACKED)},"
            " or a prefix for two aligned files.",
        )
    with replacing_together(), write_pairs(path, reading, changed) as write:
        yield write


def write_corpus(pairs: Iterable[Pair], path: Path, reading: Reading) -> Counter[str]:
    """Write all pairs; return counts of the pairs `written` and of the changes that were necessary."""
    changed: Counter[str] = Counter()
    with writing(path, reading, changed) as write:
        for pair in pairs:
            write(pair)
            changed["written"] += 1
    return changed


@contextmanager
def text_file(path: Path) -> Iterator[TextIO]:
    """Open a temporary file that replaces `path` once it is complete."""
    openers: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
    with replacing(path) as temporary:
        opener = openers.get(path.suffix.lower(), open)
        with opener(temporary, "wt", encoding="utf-8", newline="\n") as file:
            yield file


def one_line(text: str, changed: Counter[str]) -> str:
    """Replace line ends and tabs by spaces, for formats in which they end a text."""
    if _LINE_ENDS.search(text):
        changed["texts with line ends or tabs, which became blanks"] += 1
        return _LINE_ENDS.sub(" ", text)
    return text
