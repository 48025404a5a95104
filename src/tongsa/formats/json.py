"""JSON of strings: every value that is a string; keys, numbers, layout and escapes of the rest stay as they are.

Keys that begin with `@` hold facts about messages (ARB, the format of Flutter), not messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from tongsa.base.errors import CorpusError
from tongsa.formats.segments import Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Slot, SpanDocument

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]')


def read_json(data: bytes, path: Path, options: Options) -> SpanDocument:
    encoded = Encoded.read(data, path, options.encoding)
    try:
        json.loads(encoded.text)
    except (json.JSONDecodeError, RecursionError) as error:
        where = f", line {error.lineno:,}" if isinstance(error, json.JSONDecodeError) else ""
        raise CorpusError(f"{path}{where}: no JSON that can be read: {error}") from error
    document = SpanDocument(path, data, encoded)
    ascii_only = "\\u" in encoded.text and encoded.text.isascii()
    for start, end, name in _values(encoded.text):
        text = json.loads(encoded.text[start:end])
        if any(0xD800 <= ord(c) <= 0xDFFF for c in text):  # half of a character: no text
            continue
        segment = Segment(id=name, content=(text,))
        document.slots.append(Slot(start=start, end=end, segment=segment, render=lambda o: _string(o, ascii_only)))
    return document


def _string(outcome: Outcome, ascii_only: bool) -> str:
    return json.dumps(outcome.text, ensure_ascii=ascii_only)


def _values(text: str) -> Iterator[tuple[int, int, str]]:
    """The spans of strings that are values, each with its path: `menu.items[2].title`."""
    stack: list[tuple[str, str | int]] = []  # what is open: "{" with the key, "[" with the index
    is_key = False
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "{[":
            stack.append((token, "" if token == "{" else 0))
            is_key = token == "{"
        elif token in "}]":
            stack.pop()
        elif token == ",":
            kind, place = stack[-1]
            is_key = kind == "{"
            stack[-1] = (kind, place + 1 if isinstance(place, int) else place)
        elif token == ":":
            is_key = False
        elif is_key:
            stack[-1] = ("{", json.loads(token))
        elif not any(isinstance(place, str) and place.startswith("@") for _, place in stack):
            yield match.start(), match.end(), _name(stack)


def _name(stack: list[tuple[str, str | int]]) -> str:
    return (
        "".join(f".{place}" if isinstance(place, str) else f"[{place}]" for _, place in stack).removeprefix(".")
        or "the string"
    )
