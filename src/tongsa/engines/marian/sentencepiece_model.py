"""A SentencePiece model with its pieces in another order.

MarianMT keeps the ids in a file of their own (vocab.json), which holds the pieces of both languages in an order that is
neither model's. Tongsa's ids are those of the SentencePiece model. So an imported model gets the pieces of vocab.json,
in that order; those of the other language are marked as unused, so that the segmentation of text stays the same.

The models are protocol buffers; only the list of pieces is parsed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

PIECES, TRAINER = 1, 2
"""Fields of a model."""
PIECE, SCORE, TYPE = 1, 2, 3
"""Fields of a piece."""
MODEL_TYPE = 3
"""A field of the trainer's settings."""
NORMAL, UNUSED, BYTE = 1, 5, 6
"""Types of a piece."""
VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5
KINDS = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}


class Field(NamedTuple):
    number: int
    kind: int
    value: bytes
    whole: bytes
    """The encoded field, with its header."""


class Piece(NamedTuple):
    text: str
    score: float
    kind: int

    @property
    def is_normal(self) -> bool:
        return self.kind == NORMAL

    @property
    def is_byte(self) -> bool:
        return self.kind == BYTE


def read_pieces(model: bytes) -> list[Piece]:
    """The pieces of a model with their scores and types, in their order."""
    found = [field.value for field in read_fields(model) if field.number == PIECES]
    return [Piece(_text(piece), _score(piece), _type(piece)) for piece in found]


def reordered(model: bytes, pieces: Sequence[str]) -> bytes:
    """Return the model with exactly these pieces, in this order."""
    fields = list(read_fields(model))
    known = {}
    for field in fields:
        if field.number == PIECES:
            known[_text(field.value)] = field.whole
    lowest = min(_score(field.value) for field in fields if field.number == PIECES)
    ordered = [known[piece] if piece in known else _unused(piece, lowest) for piece in pieces]
    return b"".join([*ordered, *(field.whole for field in fields if field.number != PIECES)])


def pieces_of(model: bytes) -> list[str]:
    return [_text(field.value) for field in read_fields(model) if field.number == PIECES]


def kind_of(model: bytes) -> str:
    """bpe, unigram, word or char."""
    for field in read_fields(model):
        if field.number == TRAINER:
            for setting in read_fields(field.value):
                if setting.number == MODEL_TYPE:
                    return KINDS.get(_varint(setting.value, 0)[0], "unigram")
    return "unigram"


def read_fields(message: bytes) -> Iterator[Field]:
    """Parse the fields of a protocol buffer message; raises ValueError if it is invalid."""
    place = 0
    while place < len(message):
        first = place
        tag, place = _varint(message, place)
        kind = tag & 7
        begin = place
        if kind == VARINT:
            _, place = _varint(message, place)
        elif kind == EIGHT_BYTES:
            place += 8
        elif kind == FOUR_BYTES:
            place += 4
        elif kind == BYTES:
            length, begin = _varint(message, place)
            place = begin + length
        else:
            raise ValueError(f"unknown kind of field: {kind}")
        if place > len(message):
            raise ValueError("it ends in the middle of a field")
        yield Field(tag >> 3, kind, message[begin:place], message[first:place])


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if place >= len(message):
            raise ValueError("it ends in the middle of a number")
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place


def _text(piece: bytes) -> str:
    return next((field.value.decode() for field in read_fields(piece) if field.number == PIECE), "")


def _score(piece: bytes) -> float:
    for field in read_fields(piece):
        if field.number == SCORE:
            score: float = struct.unpack("<f", field.value)[0]
            return score
    return 0.0


def _type(piece: bytes) -> int:
    return next((_varint(field.value, 0)[0] for field in read_fields(piece) if field.number == TYPE), NORMAL)


def _unused(piece: str, score: float) -> bytes:
    message = (
        _field(PIECE, BYTES, _length(piece.encode()))
        + _field(SCORE, FOUR_BYTES, struct.pack("<f", score))
        + _field(TYPE, VARINT, bytes([UNUSED]))
    )
    return _field(PIECES, BYTES, _length(message))


def _field(number: int, kind: int, value: bytes) -> bytes:
    return bytes([number << 3 | kind]) + value


def _length(content: bytes) -> bytes:
    length, encoded = len(content), bytearray()
    while length > 127:
        encoded.append(length & 127 | 128)
        length >>= 7
    return bytes([*encoded, length]) + content
