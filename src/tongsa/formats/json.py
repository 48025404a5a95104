"""JSON: a corpus has one object per line (`.jsonl`), a document is a tree of strings (`.json`, `.arb`).

A pair is {"en": ..., "de": ...}, {"source": ..., "target": ...} or {"translation": {...}}.

In a document every string value is translated; keys, numbers, layout and other escapes stay unchanged. Keys that begin
with `@` hold metadata of messages (ARB, the format of Flutter), which is not translated. A value that is no text, such
as `btn_submit`, `#ff0000` or `img/logo.png`, is copied. `--keys` and `--skip-keys` choose values by their keys.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from itertools import accumulate
from pathlib import Path

from tongsa.base.errors import CorpusError, UsageError
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.formats.segments import Content, Mark, Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Slot, SpanDocument
from tongsa.formats.writers import WritePair, text_file
from tongsa.text.lines import nfc, read_lines

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\],:]')
_DECODER = json.JSONDecoder(parse_int=float)
"""Accepts numbers of any length, which Python refuses to convert to int; only texts matter here."""
Key = str | int
_CODE = re.compile(
    r"[#@.]?[A-Za-z][A-Za-z0-9]*+(?:_++[A-Za-z0-9]++)++|[a-z]++(?:[A-Z][a-z0-9]*+)++"  # btn_submit, getName
    r"|#[0-9A-Fa-f]{3,8}|(?:rgb|hsl)a?\([^()]{1,60}\)"
    r"|[A-Za-z0-9]++(?:[.:/][A-Za-z0-9_-]++){2,}+"  # common.menu.title
    r"|[\w@./-]{1,150}\.(?:png|jpe?g|gif|svg|webp|ico|s?css|m?[jt]sx?|json|html?|pdf|mp[34]|woff2?)"
    r"|\.{1,2}/[\w@./-]*+|/[\w@.-]++(?:/[\w@.-]*+)++|(?:application|audio|font|image|text|video)/[a-z0-9.+-]++"
    r"|v?\d++(?:\.\d++)++[\w.-]*+|\d{4}-\d\d-\d\d(?:T[\d:.]++Z?)?"
    r"|[0-9a-fA-F]{8}-[0-9a-fA-F-]{8,40}|[a-z]{2}[-_][A-Z]{2}",
    re.ASCII,
)
"""Values that programs read: identifiers, colours, keys, files, paths, media types, versions, dates, languages."""
# fmt: off
_CODE_KEYS = frozenset({
    "id", "key", "icon", "class", "classname", "type", "href", "url", "src", "slug", "color", "locale", "path", "image",
    "file",
})
# fmt: on
_NOT_A_WORD = re.compile(r"[\d_./:#?=&-]")
"""Under such a key a value like `btn-primary` is no text."""
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
    used: set[str] = set()
    for start, end, keys in _values(encoded.text, path):
        text = json.loads(encoded.text[start:end])
        used |= _matching(keys, options.keys)
        if (options.keys and not _matching(keys, options.keys)) or _matching(keys, options.skip_keys):
            continue
        if any(0xD800 <= ord(c) <= 0xDFFF for c in text):  # a lone surrogate is not text
            continue
        content: Content = (Mark(number=0, text=text),) if _is_code(text, _last_key(keys)) else (text,)
        segment = Segment(id=_name(keys), content=content)
        document.slots.append(Slot(start=start, end=end, segment=segment, render=lambda o, _: _string(o, ascii_only)))
    if unused := [pattern for pattern in options.keys if pattern not in used]:
        raise UsageError(
            f"{path} has no text under the key {unused[0]}",
            "A pattern is a key (title), or a path of keys, with * for any (menu.*).",
        )
    return document


def _string(outcome: Outcome, ascii_only: bool) -> str:
    return json.dumps(outcome.text, ensure_ascii=ascii_only)


def _too_deep(path: Path) -> CorpusError:
    return CorpusError(f"{path} is refused: objects and lists are nested more than {DEEPEST} deep")


def _is_code(text: str, key: str) -> bool:
    """Return True for a value that programs read rather than people."""
    if len(text) > LONGEST_NAME or not text.isascii():
        return False
    if _CODE.fullmatch(text):
        return True
    return key.lower() in _CODE_KEYS and " " not in text and bool(_NOT_A_WORD.search(text))


def _matching(keys: list[Key], patterns: Iterable[str]) -> set[str]:
    """Return the patterns that match a key or a path of keys: `title`, `menu.*`, `*.description`."""
    names = [key for key in keys if isinstance(key, str)]
    seen = {*names, *accumulate(names, "{}.{}".format)}
    return {pattern for pattern in patterns if any(fnmatchcase(name, pattern) for name in seen)}


def _last_key(keys: list[Key]) -> str:
    return next((key for key in reversed(keys) if isinstance(key, str)), "")


def _values(text: str, path: Path) -> Iterator[tuple[int, int, list[Key]]]:
    """Yield the spans of string values, each with the keys and indices that lead to it."""
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
            yield match.start(), match.end(), [place for _, place in stack]


def _name(keys: list[Key]) -> str:
    """Name a place: `menu.items[2].title`."""
    name = "".join(f".{key}" if isinstance(key, str) else f"[{key}]" for key in keys).removeprefix(".")
    return (name if len(name) <= LONGEST_NAME else f"...{name[-LONGEST_NAME:]}") or "the string"
