"""Message catalogs of gettext: PO (by polib) and compiled .mo.

The catalog's language is in its header or in its path (`de/LC_MESSAGES/app.mo`, `de.po`); its messages are in the
other one. A catalog whose language is the source is read backwards.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

from tongsa.base.containers import DAMAGE, open_bytes
from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.formats.xmlstream import codecs_name
from tongsa.text.languages import matches
from tongsa.text.lines import decode, nfc

LARGEST = 1 << 28
"""Bytes of one catalog: they are read whole."""
_CHARSET = re.compile(rb"charset=([A-Za-z0-9_.:-]+)")
_LANGUAGE = re.compile(r"^language:\s*([A-Za-z]{2,3}(?:[_-]\w+)*(?:@\w+)?)", re.IGNORECASE | re.MULTILINE)


def read_po(path: Path, reading: Reading) -> Iterator[Pair]:
    import polib

    data = _bytes(path)
    text = _text(data, path, _charset(data, reading)).removeprefix("\ufeff")
    try:
        catalog = polib.pofile(text + "\n")
    except (OSError, ValueError, IndexError) as error:
        raise CorpusError(
            f"{path}: not a message catalog: {error}", "See the place with:  msgfmt --check -o /dev/null FILE"
        ) from error
    sides = _Sides(path, "\n".join(f"{key}: {value}" for key, value in catalog.metadata.items()), reading)
    for entry in catalog:
        where = Place(path, entry.linenum or "a message")
        if entry.obsolete:
            reading.left_out.drop("messages obsolete", where)
        elif entry.fuzzy:
            reading.left_out.drop("messages fuzzy", where)
        else:
            forms = [entry.msgstr_plural[number] for number in sorted(entry.msgstr_plural)] or [entry.msgstr]
            yield from sides.pairs([entry.msgid, *([entry.msgid_plural] if entry.msgid_plural else [])], forms, where)


def read_mo(path: Path, reading: Reading) -> Iterator[Pair]:
    data = _bytes(path)
    try:
        messages = list(_messages(data))
    except struct.error as error:
        raise CorpusError(f"{path}: not a compiled message catalog, or one that was cut short") from error
    headers = [translation for message, translation in messages if not message]
    charset = _charset(headers[0] if headers else b"", reading)
    sides = _Sides(path, _text(headers[0], path, charset) if headers else "", reading)
    for number, (message, translation) in enumerate(messages, 1):
        where = Place(path, f"message {number:,}")
        if message:
            texts, forms = (_text(side, path, charset).split("\0") for side in (message, translation))
            texts[0] = texts[0].rpartition("\x04")[2]  # what comes before is the context
            yield from sides.pairs(texts, forms, where)


class _Sides:
    """Which side of the catalog is the source."""

    def __init__(self, path: Path, header: str, reading: Reading) -> None:
        self.reading = reading
        named = _LANGUAGE.search(header)
        self.language = named.group(1) if named else language_in_path(path)
        self.backwards = bool(self.language) and not matches(self.language, reading.target)
        self.other = self.backwards and not matches(self.language, reading.source)

    def pairs(self, texts: list[str], forms: list[str], where: Place) -> Iterator[Pair]:
        """The singular with the first form, the plural with the last; where there is one form, only the plural."""
        if not all(form.strip() for form in forms) or not texts[0].strip():
            self.reading.left_out.drop("messages untranslated", where)
        elif self.other:
            self.reading.left_out.drop(f"messages of a catalog in {self.language}", where)
        else:
            pairs = [(texts[0], forms[0])]
            if len(texts) > 1:
                pairs = [(texts[1], forms[-1])] if len(forms) == 1 else [*pairs, (texts[1], forms[-1])]
            for text, form in pairs:
                source, target = (form, text) if self.backwards else (text, form)
                yield Pair(nfc(source), nfc(target), where)


def language_in_path(path: Path) -> str:
    """`de` of `locale/de/LC_MESSAGES/app.mo`, `po/de.po` or `app.de.po`; empty where the path does not say."""
    folder = path.parent
    if folder.name == "LC_MESSAGES":
        return folder.parent.name
    name = path.name.split(".")[:-1]
    while name and name[-1] in ("po", "mo", "gz", "xz"):
        name.pop()
    last = name[-1] if name else ""
    return last if re.fullmatch(r"[a-z]{2,3}(?:[_-][A-Za-z]{2,4})?(?:@\w+)?", last) and len(name) <= 2 else ""


def _messages(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The format of GNU gettext: a header of seven numbers, then two tables of (length, offset)."""
    order = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}.get(data[:4])
    if order is None:
        raise struct.error
    _, count, texts, forms = struct.unpack_from(f"{order}4I", data, 4)
    if texts + 8 * count > len(data) or forms + 8 * count > len(data):
        raise struct.error
    for number in range(count):
        sides = []
        for table in (texts, forms):
            length, offset = struct.unpack_from(f"{order}2I", data, table + 8 * number)
            if offset + length > len(data):
                raise struct.error
            sides.append(data[offset : offset + length])
        yield sides[0], sides[1]


def _bytes(path: Path) -> bytes:
    with open_bytes(path) as file:
        try:
            data = file.read(LARGEST + 1)
        except DAMAGE as error:
            raise CorpusError(f"{path} is damaged: {error}") from error
    if len(data) > LARGEST:
        raise CorpusError(f"{path} is larger than {LARGEST >> 20} MB, which no message catalog is")
    return data


def _charset(data: bytes, reading: Reading) -> str:
    """What the header says, unless the user named an encoding."""
    named = _CHARSET.search(data[:8192])
    if codecs_name(reading.encoding) != "utf-8" or not named or named.group(1) == b"CHARSET":
        return reading.encoding
    return named.group(1).decode()


def _text(data: bytes, path: Path, charset: str) -> str:
    try:
        return data.decode(charset)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start)
        start = data.rfind(b"\n", 0, error.start) + 1
        decode(data[start:].split(b"\n")[0], path, line + 1, charset)
        raise
    except LookupError:
        codecs_name(charset)
        raise
