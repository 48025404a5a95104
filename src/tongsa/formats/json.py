"""JSON: a corpus has one object per line (`.jsonl`), a document is a tree of strings (`.json`, `.arb`).

A pair is {"en": ..., "de": ...}, {"source": ..., "target": ...} or {"translation": {...}}.

In a document every string value is translated; keys, numbers, layout and other escapes stay unchanged. Keys that begin
with `@` hold metadata of messages (ARB, the format of Flutter), which is not translated.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.formats.segments import Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Slot, SpanDocument
from tongsa.formats.writers import WritePair, text_file
from tongsa.text.lines import nfc, read_lines

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\],:]')
_DECODER = json.JSONDecoder(parse_int=float)
"""Accepts numbers of any length, which Python refuses to convert to int; only texts matter here."""
DEEPEST = 100
"""Most objects and lists that may be open at one place of a document."""
LONGEST_KEY, LONGEST_NAME = 60, 200
"""Characters of a key, and of all keys to a place, that are shown in the name of the place."""


def read_pairs(path: Path, reading: Reading) -> Iterator[Pair]:
    for number, line in enumerate(read_lines(path, reading.encoding), 1):
        if line.strip():
            where = Place(path, number)
            source, target = _texts(line, where, reading)
            if not _is_text(source + target):
                raise CorpusError(f"{where}: half of a surrogate pair (\\ud800 to \\udfff) is not a character")
            yield Pair(nfc(source), nfc(target), where)


def _is_text(text: str) -> bool:
    """Return False for text with lone surrogates, which JSON can escape but UTF-8 cannot encode."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _texts(line: str, where: Place, reading: Reading) -> tuple[str, str]:
    try:
        entry = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        raise CorpusError(f"{where}: not JSON: {error.msg} at character {error.pos + 1}") from error
    except RecursionError as error:
        raise CorpusError(f"{where}: not a pair: nested too deeply") from error
    if isinstance(entry, dict) and isinstance(entry.get("translation"), dict):
        entry = entry["translation"]
    for keys in ((reading.source, reading.target), ("source", "target")):
        if isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in keys):
            return entry[keys[0]], entry[keys[1]]
    raise CorpusError(
        f'{where}: no texts under "{reading.source}" and "{reading.target}", nor under "source" and "target"',
        f"The line begins: {line[:80]}",
    )


@contextmanager
def write_pairs(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[WritePair]:
    with text_file(path) as file:

        def write(pair: Pair) -> None:
            texts = {reading.source: pair.source, reading.target: pair.target}
            file.write(json.dumps({"translation": texts}, ensure_ascii=False) + "\n")

        yield write


def open_document(data: bytes, path: Path, options: Options) -> SpanDocument:
    encoded = Encoded.read(data, path, options.encoding)
    try:
        _DECODER.decode(encoded.text)
    except json.JSONDecodeError as error:
        raise CorpusError(f"{path}, line {error.lineno:,}: not JSON: {error}") from error
    except RecursionError as error:
        raise _too_deep(path) from error
    document = SpanDocument(path, data, encoded)
    ascii_only = "\\u" in encoded.text and encoded.text.isascii()
    for start, end, name in _values(encoded.text, path):
        text = json.loads(encoded.text[start:end])
        if any(0xD800 <= ord(c) <= 0xDFFF for c in text):  # a lone surrogate is not text
            continue
        segment = Segment(id=name, content=(text,))
        document.slots.append(Slot(start=start, end=end, segment=segment, render=lambda o, _: _string(o, ascii_only)))
    return document


def _string(outcome: Outcome, ascii_only: bool) -> str:
    return json.dumps(outcome.text, ensure_ascii=ascii_only)


def _too_deep(path: Path) -> CorpusError:
    return CorpusError(f"{path} is refused: objects and lists are nested more than {DEEPEST} deep")


def _values(text: str, path: Path) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of string values, each with its path: `menu.items[2].title`."""
    stack: list[tuple[str, str | int]] = []  # what is open: "{" with the key, "[" with the index
    is_key = False
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "{[":
            stack.append((token, "" if token == "{" else 0))
            is_key = token == "{"
            if len(stack) > DEEPEST:
                raise _too_deep(path)
        elif token in "}]":
            stack.pop()
        elif token == ",":
            kind, place = stack[-1]
            is_key = kind == "{"
            stack[-1] = (kind, place + 1 if isinstance(place, int) else place)
        elif token == ":":
            is_key = False
        elif is_key:
            stack[-1] = ("{", json.loads(token)[:LONGEST_KEY])
        elif not any(isinstance(place, str) and place.startswith("@") for _, place in stack):
            yield match.start(), match.end(), _name(stack)


def _name(stack: list[tuple[str, str | int]]) -> str:
    name = "".join(f".{place}" if isinstance(place, str) else f"[{place}]" for _, place in stack).removeprefix(".")
    return (name if len(name) <= LONGEST_NAME else f"...{name[-LONGEST_NAME:]}") or "the string"
