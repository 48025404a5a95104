"""Messages between the service and its worker processes: JSON and bytes over pipes. Nothing is ever unpickled.

service ─▶ worker   a task, and the bytes of its document
worker  ─▶ service  texts to translate        answered by their translations, or by the end of the request
worker  ─▶ service  the result, a refusal or a failure
"""

from __future__ import annotations

import json
import struct
from typing import IO, Any

from tongsa.translation.sentences import Translation

_SIZES = struct.Struct("!II")
"""The lengths of the JSON text and of the bytes after it."""

Message = dict[str, Any]


class Channel:
    """Messages over two pipes."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, message: Message, data: bytes = b"") -> None:
        text = json.dumps(message, separators=(",", ":")).encode("ascii")  # lone surrogates stay escaped
        self._writer.write(_SIZES.pack(len(text), len(data)) + text)
        self._writer.write(data)
        self._writer.flush()

    def receive(self) -> tuple[Message, bytes]:
        """The next message; EOFError if the other side has ended."""
        text, data = _SIZES.unpack(self._read(_SIZES.size))
        return json.loads(self._read(text)), self._read(data)

    def _read(self, size: int) -> bytes:
        data = self._reader.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def close(self) -> None:
        for pipe in (self._reader, self._writer):
            try:
                pipe.close()
            except OSError:  # the other side ended before everything was written
                continue


def packed(translation: Translation) -> Message:
    """A translation as JSON, with all that documents use of it."""
    return {
        "text": translation.text,
        "score": translation.score,
        "log_probability": translation.log_probability,
        "source_tokens": translation.source_tokens,
        "tokens": translation.tokens,
        "alignment": translation.alignment,
        "confidence": translation.confidence,
        "notes": translation.notes,
        "alternatives": [packed(each) for each in translation.alternatives],
    }


def unpacked(values: Message) -> Translation:
    return Translation(
        text=values["text"],
        score=values["score"],
        log_probability=values["log_probability"],
        source_tokens=tuple(values["source_tokens"]),
        tokens=tuple(values["tokens"]),
        alignment=tuple((source, target) for source, target in values["alignment"]),
        confidence=values["confidence"],
        notes=tuple(values["notes"]),
        alternatives=tuple(unpacked(each) for each in values["alternatives"]),
    )
