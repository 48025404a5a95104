"""Lines of a text file: plain, gzip or xz; split at '\\n' only; with the place of every undecodable byte."""

from __future__ import annotations

import gzip
import lzma
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from tongsa.errors import CorpusError


def open_bytes(path: Path) -> IO[bytes]:
    """The file's bytes, decompressed by its suffix."""
    try:
        if path.suffix == ".gz":
            return cast(IO[bytes], gzip.open(path, "rb"))
        if path.suffix == ".xz":
            return lzma.open(path, "rb")
        return path.open("rb")
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}") from error


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[str]:
    """The lines without their ends, in NFC; a '\\r' before the '\\n' and a byte order mark are dropped."""
    with open_bytes(path) as file:
        number = 0
        try:
            for number, raw in enumerate(file, 1):
                text = decode(raw, path, number, encoding).rstrip("\n").removesuffix("\r")
                yield nfc(text.removeprefix("\ufeff") if number == 1 else text)
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError) as error:
            raise CorpusError(f"{path} is damaged after line {number:,}: {error}") from error


def decode(raw: bytes, path: Path, number: int, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path}, line {number:,}, byte {error.start + 1}: not {encoding} (0x{raw[error.start]:02x}: {error.reason})",
            f"The line begins: {raw[: error.start].decode(encoding, 'replace')[:60]!r}",
            "If the file has another encoding, name it:  --encoding cp1252  (Korean: --encoding cp949)",
        ) from error
    except LookupError as error:
        raise CorpusError(f"{encoding} is no encoding that Python knows", "For example: utf-8, cp949, cp1252") from error


def nfc(text: str) -> str:
    """Unicode NFC: one form for letters with accents and for Hangul syllables."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


_SPACES = re.compile(r"[\s\u200b\u2060\ufeff]+")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


def tidy(text: str) -> str:
    """What the model sees: NFC, every run of white space one blank, no control characters."""
    if not text.isascii() or not text.isprintable():
        text = _CONTROLS.sub("", nfc(text))
    return _SPACES.sub(" ", text).strip()
