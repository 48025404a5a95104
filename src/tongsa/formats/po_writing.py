"""Writing message catalogs. A message may stand only once in a catalog: where it comes again, it gets a context."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from tongsa.base.files import replacing
from tongsa.formats.pairs import Pair, Reading

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "", "\x04": ""})


class _Contexts:
    """The context that makes a message unique, or None for a pair that no catalog can hold."""

    def __init__(self, changed: Counter[str]) -> None:
        self.changed = changed
        self.messages: dict[bytes, int] = {}

    def of(self, pair: Pair) -> str | None:
        if not pair.source.replace("\0", "").replace("\x04", ""):
            self.changed["pairs without a source, which a catalog cannot hold, left out"] += 1
            return None
        message = _digest(pair.source)
        count = self.messages[message] = self.messages.get(message, 0) + 1
        return "" if count == 1 else f"translation {count}"


def header(reading: Reading) -> str:
    return (
        "Project-Id-Version: tongsa\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
        f"Content-Transfer-Encoding: 8bit\nLanguage: {reading.target}\nX-Source-Language: {reading.source}\n"
    )


@contextmanager
def write_po(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[Callable[[Pair], None]]:
    from tongsa.formats.writers import text_file

    contexts = _Contexts(changed)
    with text_file(path) as file:
        lines = "".join(f'"{_escaped(line)}\\n"\n' for line in header(reading).splitlines())
        file.write(f'msgid ""\nmsgstr ""\n{lines}')

        def write(pair: Pair) -> None:
            context = contexts.of(pair)
            if context is None:
                return
            # msgfmt wants a translation to begin and end with a line end where its message does
            source, target = pair.source, _with_line_ends_of(pair.source, pair.target)
            file.write("\n" + (f'msgctxt "{_escaped(context)}"\n' if context else ""))
            file.write(f'msgid "{_escaped(source)}"\nmsgstr "{_escaped(target)}"\n')

        yield write


@contextmanager
def write_mo(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[Callable[[Pair], None]]:
    """Held in memory, since its messages are sorted."""
    contexts = _Contexts(changed)
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


def _with_line_ends_of(source: str, target: str) -> str:
    target = target.strip("\n")
    begins, ends = "\n" * source.startswith("\n"), "\n" * (source.endswith("\n") and source != "\n")
    return f"{begins}{target}{ends}"


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=8).digest()
