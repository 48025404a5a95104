"""Lines of a text file, also of a packed one: split at '\\n' only; errors give the position of undecodable bytes."""

from __future__ import annotations

import codecs
import io
import re
import unicodedata
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

from tongsa.base.containers import DamagedFileError
from tongsa.base.containers import open_bytes as open_bytes
from tongsa.base.errors import CorpusError

LONGEST_LINE = 16 << 20
"""Longest line in bytes (UTF-16 and UTF-32: in characters). A packed file of a few KB may hold a line of some GB."""


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[str]:
    """Yield the lines without their ends, in NFC; a '\\r' before the '\\n' and a byte order mark are dropped."""
    with open_bytes(path) as file:
        number = 0
        try:
            for number, line in enumerate(_decoded(file, path, encoding), 1):
                text = line.removesuffix("\n").removesuffix("\r")
                yield nfc(text.removeprefix("\ufeff") if number == 1 else text)
        except DamagedFileError as error:
            raise error.after(f"line {number:,}") from error
        except OSError as error:
            raise CorpusError(f"{path} cannot be read after line {number:,}: {error.strerror or error}") from error


def _decoded(file: IO[bytes], path: Path, encoding: str) -> Iterator[str]:
    """Yield the lines with their ends, as bytes."""
    if _newline_is_a_byte(encoding):
        for number, raw in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b""), 1):
            if len(raw) > LONGEST_LINE:
                raise too_long(path, number)
            yield decode(raw, path, number, encoding)
        return
    number = 0
    try:  # UTF-16 and UTF-32: line ends can be found only after decoding
        with io.TextIOWrapper(file, encoding, newline="\n") as text:
            for line in iter(partial(text.readline, LONGEST_LINE + 1), ""):
                if len(line) > LONGEST_LINE:
                    raise too_long(path, number + 1)
                number += 1
                yield line
    except UnicodeError as error:
        raise CorpusError(f"{path}, after line {number:,}: not {encoding} ({error})", ANOTHER_ENCODING) from error


def too_long(path: Path, number: int) -> CorpusError:
    return CorpusError(
        f"{path}, line {number:,}: longer than {LONGEST_LINE >> 20} MB",
        "This is not a text of sentences, one per line, or its line ends are missing.",
    )


def _newline_is_a_byte(encoding: str) -> bool:
    name = encoding_name(encoding)
    return len("\n\n".encode(name)) - len("\n".encode(name)) == 1


ANOTHER_ENCODING = "If the file has another encoding, name it:  --encoding cp1252  (Korean: --encoding cp949)"


_NOT_CHARSETS = ("idna", "punycode", "raw_unicode_escape", "unicode_escape", "undefined")
"""Codecs of Python that turn bytes into text, but are not encodings of text files."""


def encoding_name(name: str) -> str:
    """Return Python's name of an encoding of text: `utf-8` for `UTF8`."""
    try:
        "".encode(name)  # fails for codecs that do not give text, such as base64
        found = codecs.lookup(name).name
    except (LookupError, ValueError) as error:
        raise unknown_encoding(name) from error
    if found.replace("-", "_") in _NOT_CHARSETS:
        raise unknown_encoding(name)
    return found


def unknown_encoding(name: str) -> CorpusError:
    return CorpusError(f"unknown encoding: {name[:60]}", "For example: utf-8, cp949, cp1252")


_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode(raw: bytes, path: Path, number: int, encoding: str, unit: str = "line") -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        byte = f"0x{raw[error.start]:02x}"
        raise CorpusError(
            f"{path}, {unit} {number:,}, byte {error.start + 1}: not {encoding} ({byte}: {error.reason})",
            f"The {unit} begins: {raw[: error.start].decode(encoding, 'replace')[:60]!r}",
            "It begins like UTF-16:  --encoding utf-16" if raw.startswith(_UTF_16) else ANOTHER_ENCODING,
        ) from error
    except LookupError as error:
        raise unknown_encoding(encoding) from error


ACCENTS = 64
"""Accents in a row that normalisation may put in order by itself; its time grows with the square of their number."""


def nfc(text: str) -> str:
    """Unicode NFC: one form for letters with accents and for Hangul syllables."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text if len(text) <= 16 * ACCENTS else _with_ordered_accents(text))


def _with_ordered_accents(text: str) -> str:
    """Put each long row of accents into the order of NFC, so that normalising takes linear time."""
    accent = unicodedata.combining
    pieces, end = [], 0
    for at in range(0, len(text), ACCENTS):  # a longer row has a character at one of these positions
        if at < end or not accent(text[at]):
            continue
        first, last = at, at + 1
        while first > end and accent(text[first - 1]):
            first -= 1
        while last < len(text) and accent(text[last]):
            last += 1
        row = "".join(unicodedata.normalize("NFD", each) for each in text[first:last])
        pieces += [text[end:first], *sorted(row, key=accent)]
        end = last
    return "".join([*pieces, text[end:]])


_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Control characters, of which some end a line, and the two line separators of Unicode."""
_CONTROLS_AND_SPACES = re.compile(r"[ \x00-\x1f\x7f-\x9f\u2028\u2029]+")


def has_controls(text: str) -> bool:
    """Return True if the text holds a control character (also a tab) or a line separator."""
    return not text.isprintable() and _CONTROLS.search(text) is not None


def one_line(text: str) -> str:
    """Replace control characters and line separators by a space: what a model writes is one line."""
    return _CONTROLS_AND_SPACES.sub(" ", text).strip(" ") if has_controls(text) else text


# SentencePiece writes spaces as U+2581, and would turn that character into a space.
_SPACES = re.compile(r"[\s\u200b\u2581]+")
_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u2060\ufeff]")
_HALVES = re.compile(r"[\ud800-\udfff]")


def tidy(text: str) -> str:
    """Tidy text for the model: NFC, runs of white space become one space, no control characters or lone surrogates."""
    if text.isprintable() and "\u2581" not in text:  # its only white space is spaces, and it has no control characters
        text = nfc(text)
        return " ".join(text.split()) if "  " in text or text[:1] == " " or text[-1:] == " " else text
    return _tidy_by_patterns(text)


def _tidy_by_patterns(text: str) -> str:
    """Tidy any text, at a tenth of the speed."""
    if not text.isascii() or not text.isprintable():
        # NFC comes last: a removed character may have separated a letter from its accent.
        text = nfc(_HALVES.sub("\ufffd", _UNSEEN.sub("", text)))
    return _SPACES.sub(" ", text).strip(" ")
