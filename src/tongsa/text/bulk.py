"""Fast encoding of many texts: each distinct word is encoded once.

BPE and character pieces never span a space, and merges in one word do not depend on other words, so the ids of a text
are the concatenated ids of its words. A corpus has few distinct words and many texts, so looking words up is several
times as fast as encoding texts. A unigram model sums probabilities over the whole text, and rounding could change its
choice; its texts are therefore encoded whole, as are those of imported models that normalise text or have pieces with
a space inside.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from tongsa.text.subwords import Vocabulary

REMEMBERED = 2_000_000
"""Characters of cached words; when there are more, the cache is cleared, so that memory stays bounded."""

_UNIGRAM, _BPE, _CHAR = 1, 2, 4
_USER_DEFINED = 4
_BLANK = "\u2581"


class BulkEncoder:
    """Encodes tidy texts into the bytes of their ids, as stored in an .ids file."""

    def __init__(self, vocabulary: Vocabulary, threads: int) -> None:
        self._vocabulary, self._threads = vocabulary, threads
        self._type = "H" if len(vocabulary) <= 1 << 16 else "I"
        self._by_words = words_stand_alone(vocabulary.model)
        self._words: dict[str, bytes] = {}
        self._characters = 0

    @property
    def dtype(self) -> str:
        return {"H": "uint16", "I": "uint32"}[self._type]

    @property
    def width(self) -> int:
        """Bytes of one id."""
        return array(self._type).itemsize

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        if not self._by_words:
            return self._encoded(texts)
        rows = [text.split(" ") for text in texts]
        if self._characters > REMEMBERED:
            self._words.clear()
            self._characters = 0
        new = list(set().union(*rows).difference(self._words))
        self._characters += sum(map(len, new))
        self._words.update(zip(new, self._encoded(new), strict=True))
        look_up = self._words.__getitem__
        return [b"".join(map(look_up, row)) for row in rows]

    def _encoded(self, texts: Sequence[str]) -> list[bytes]:
        return [array(self._type, ids).tobytes() for ids in self._vocabulary.encode_many(texts, self._threads)]


def words_stand_alone(model: bytes) -> bool:
    """Return True if the ids of a text are the ids of its words: every model that `learn` makes, except unigram ones.

    Reads only the few fields of the model's protocol buffer that matter.
    """
    trainer, normalizer, pieces = b"", b"", []
    for number, value in _fields(model):
        if isinstance(value, bytes):
            if number == 1:
                pieces.append(dict(_fields(value)))
            elif number == 2:
                trainer = value
            elif number == 3:
                normalizer = value
    training, normalizing = dict(_fields(trainer)), dict(_fields(normalizer))
    return (
        training.get(3, _UNIGRAM) in (_BPE, _CHAR)
        and not training.get(24)  # the space is at the end of a word instead of its beginning
        and not normalizing.get(2)  # a normalisation table
        and bool(normalizing.get(3, 1))  # a space is put before the text
        and bool(normalizing.get(5, 1))  # spaces become U+2581
        and not any(_joins_words(piece) for piece in pieces)
    )


def _joins_words(piece: dict[int, int | bytes]) -> bool:
    text = piece.get(1, b"")
    return piece.get(3) == _USER_DEFINED or (isinstance(text, bytes) and _BLANK in text.decode()[1:])


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Parse the fields of a protocol buffer: integers and length-delimited bytes; floats are skipped."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
        elif kind == 2:
            size, at = _varint(data, at)
            yield key >> 3, data[at : at + size]
            at += size
        else:
            at += 4 if kind == 5 else 8


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
