"""Compiled message catalogs of gettext: read and written as corpora."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tongsa.base.containers import open_bytes
from tongsa.base.errors import CorpusError
from tongsa.base.files import replacing
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.formats.po import Contexts, Sides, catalog_charset, header
from tongsa.formats.writers import WritePair
from tongsa.text.lines import decode

LARGEST = 64 << 20
"""Largest catalog in bytes; compiled catalogs are read into memory."""


def read_pairs(path: Path, reading: Reading) -> Iterator[Pair]:
    with open_bytes(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise CorpusError(f"{path} has more than {LARGEST >> 20} MB, which no message catalog has")
    try:
        yield from _pairs(data, path, reading)
    except (struct.error, OverflowError) as error:
        raise CorpusError(f"{path}: not a compiled message catalog, or one that was cut short", *error.args) from error


def _pairs(data: bytes, path: Path, reading: Reading) -> Iterator[Pair]:
    header = next((translation for message, translation in messages(data) if not message), b"")
    charset = catalog_charset(header, path, reading)

    def texts_to_translate() -> Iterator[str]:
        for number, (message, _) in enumerate(messages(data), 1):
            yield decode(message, path, number, charset, "message").split("\0")[0].rpartition("\x04")[2]

    sides = Sides(path, decode(header, path, 1, charset), reading, texts_to_translate)
    for number, (message, translation) in enumerate(messages(data), 1):
        if message:
            texts, forms = (
                decode(side, path, number, charset, "message").split("\0") for side in (message, translation)
            )
            texts[0] = texts[0].rpartition("\x04")[2]  # the part before is the context
            yield from sides.pairs(texts, forms, Place(path, f"message {number:,}"))


def messages(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Read the format of GNU gettext: a header of seven numbers, then two tables of (length, offset)."""
    order = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}.get(data[:4])
    if order is None:
        raise struct.error
    _, count, texts, forms = struct.unpack_from(f"{order}4I", data, 4)
    if texts + 8 * count > len(data) or forms + 8 * count > len(data):
        raise struct.error
    total = 0
    for number in range(count):
        sides = []
        for table in (texts, forms):
            length, offset = struct.unpack_from(f"{order}2I", data, table + 8 * number)
            total += length
            if offset + length > len(data):
                raise struct.error
            if total > len(data):  # otherwise a small file could hold any amount of text
                raise struct.error("its messages overlap: together they are longer than the file")
            sides.append(data[offset : offset + length])
        yield sides[0], sides[1]


@contextmanager
def write_pairs(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[WritePair]:
    """Messages are held in memory, since the file must be sorted."""
    contexts = Contexts(changed)
    messages = {b"": header(reading).encode()}

    def write(pair: Pair) -> None:
        context = contexts.of(pair)
        if context is not None:
            key = f"{context}\x04{pair.source}" if context else pair.source
            messages[key.replace("\0", "").encode()] = pair.target.replace("\0", "").encode()

    with replacing(path) as temporary:
        yield write
        temporary.write_bytes(_compiled(messages))


def _compiled(messages: dict[bytes, bytes]) -> bytes:
    keys = sorted(messages)
    tables, texts, offset = b"", b"", 28 + 16 * len(keys)
    for side in (keys, [messages[key] for key in keys]):
        entries = []
        for text in side:
            entries.append(struct.pack("<2I", len(text), offset))
            offset += len(text) + 1
        tables += b"".join(entries)
        texts += b"".join(text + b"\0" for text in side)
    return struct.pack("<7I", 0x950412DE, 0, len(keys), 28, 28 + 8 * len(keys), 0, 28 + 16 * len(keys)) + tables + texts
