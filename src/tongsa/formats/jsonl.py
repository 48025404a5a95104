"""One JSON object a line: {"en": ..., "de": ...}, {"source": ..., "target": ...} or {"translation": {...}}."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.text.lines import nfc, read_lines


def read_jsonl(path: Path, reading: Reading) -> Iterator[Pair]:
    for number, line in enumerate(read_lines(path, reading.encoding), 1):
        if line.strip():
            where = Place(path, number)
            source, target = _texts(line, where, reading)
            if not _is_text(source + target):
                raise CorpusError(f"{where}: half of a surrogate pair (\\ud800 to \\udfff) is no character")
            yield Pair(nfc(source), nfc(target), where)


def _is_text(text: str) -> bool:
    """JSON can spell what no file in UTF-8 can hold."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _texts(line: str, where: Place, reading: Reading) -> tuple[str, str]:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError as error:
        raise CorpusError(f"{where}: not JSON: {error.msg} at character {error.pos + 1}") from error
    except ValueError as error:  # a number of thousands of digits
        raise CorpusError(f"{where}: not JSON: {error}") from error
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
