"""Translate a stream of lines: output in order, bounded memory, all cores busy.

    bytes ─ a thread reads ─▶ windows of lines ─▶ texts not seen before ─▶ two windows at a time ─▶ windows in order

A window is sorted by length and cut into batches by the engine; while one window drains, the next one fills the cores.
Available lines are translated at once: if someone types into a pipe, a window is one line.
"""

from __future__ import annotations

import hashlib
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from tongsa.text.lines import LONGEST_LINE, too_long
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Translation
from tongsa.translation.translator import Translator

CHUNK = 1 << 16
SMALLEST, LARGEST = 512, 16_384
"""Limits for the lines of a window. Large windows sort better; small ones show progress, and lose little in a kill."""
SECONDS = 4.0
"""Target time for a window, in seconds."""
WINDOW_BYTES = 4 << 20
REMEMBERED = 65_536
"""Number of cached translations; the oldest are dropped first."""
LONGEST_REMEMBERED = 400
"""Longest text that is cached, in characters: long texts seldom recur."""


@dataclass(frozen=True)
class Window:
    """A group of consecutive lines."""

    lines: list[bytes]
    first: int
    """Number of the first line, from 1."""
    digest: str
    """A hash of the input up to the end of this window."""


class Lines:
    """Reads the lines of a stream in windows, which are full, or hold the lines available so far."""

    def __init__(self, stream: BinaryIO, name: Path = Path("standard input")) -> None:
        self._name = name
        # A raw stream returns available bytes without waiting, and has no lock that a daemon thread could hold.
        self._stream: BinaryIO = getattr(stream, "raw", stream)
        self._hash = hashlib.blake2b(digest_size=16)
        self._read = self._parts()
        self.number = 0
        """Number of lines read so far."""

    def skip(self, count: int) -> str:
        """Skip lines that were translated before; return a hash of the input so far."""
        while self.number < count and (line := next(self._read, b"")) != b"":
            if line is not None:
                self._take([line])
        return self._hash.hexdigest()

    def more(self) -> bool:
        """Read on; return True if there is another line."""
        return any(line is not None for line in self._read)

    def windows(self, size: Callable[[], int]) -> Iterator[Window]:
        """Yield windows; `size` returns the most lines that the next one should have."""
        lines: list[bytes] = []
        held = 0
        for line in self._read:
            if line is not None:
                lines.append(line)
                held += len(line)
            if lines and (line is None or len(lines) >= size() or held >= WINDOW_BYTES):
                yield self._take(lines)
                lines, held = [], 0
        if lines:
            yield self._take(lines)

    def _take(self, lines: list[bytes]) -> Window:
        self._hash.update(b"".join(lines))
        first = self.number + 1
        self.number += len(lines)
        return Window([line.removesuffix(b"\n") for line in lines], first, self._hash.hexdigest())

    def _parts(self) -> Iterator[bytes | None]:
        """Yield lines with their ends, and None when the next one has not arrived yet."""
        begun: list[bytes] = []  # pieces of an incomplete line
        held = number = 0
        while data := self._stream.read(CHUNK):
            *whole, rest = data.split(b"\n")
            for line in whole:
                number += 1
                yield b"".join([*begun, line, b"\n"])
                begun, held = [], 0
            begun.append(rest)
            held += len(rest)
            if held > LONGEST_LINE:
                raise too_long(self._name, number + 1)
            if len(data) < CHUNK:
                yield None
        if last := b"".join(begun):
            yield last


class Slot:
    """Holds a translation shared by lines with the same text."""

    __slots__ = ("translation",)

    def __init__(self) -> None:
        self.translation: Translation | None = None

    def filled(self) -> Translation:
        assert self.translation is not None, "windows are returned in order, so every slot has been filled"
        return self.translation


class Texts:
    """Yield windows of given texts, which may contain line ends."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def windows(self, size: Callable[[], int]) -> Iterator[Window]:
        first = 0
        while first < len(self._texts):
            block = self._texts[first : first + size()]
            yield Window([text.encode(errors="surrogatepass") for text in block], first + 1, "")
            first += len(block)

    @staticmethod
    def decode(text: bytes, number: int) -> str:
        return text.decode(errors="surrogatepass")


@dataclass(frozen=True)
class Done:
    """A window and its translations."""

    window: Window
    translations: list[Translation]


Item = tuple[Window, list[Slot], Future[None]] | BaseException | None
"""A window in progress, an error after the last window, or None at the end."""


class Stream:
    """Translates windows, two at a time, and returns them in order."""

    def __init__(self, translator: Translator, options: TranslateOptions, decode: Callable[[bytes, int], str]) -> None:
        """`decode` turns the bytes of a line into text, given the line number."""
        self.translator = translator
        self.options = replace(options, tokens=False)
        self.decode = decode
        search = options.search_settings(translator.search)
        self._draws = search.sampling is not None
        self._has_tokens = search.alignment
        self._slots: OrderedDict[str, Slot] = OrderedDict()
        self._size = SMALLEST
        self._ready: queue.Queue[Item] = queue.Queue(maxsize=1)
        self._stopped = threading.Event()

    def translate(self, lines: Lines | Texts) -> Iterator[Done]:
        """Yield translated windows; a second thread reads, so that waiting for input does not delay them."""
        with ThreadPoolExecutor(2) as pool:
            threading.Thread(target=self._feed, args=(lines, pool), daemon=True).start()
            try:
                while (item := self._ready.get()) is not None:
                    if isinstance(item, BaseException):
                        raise item
                    window, slots, filled = item
                    filled.result()
                    yield Done(window, [slot.filled() for slot in slots])
            finally:
                self._stopped.set()

    def _feed(self, lines: Lines | Texts, pool: ThreadPoolExecutor) -> None:
        last: BaseException | None = None
        try:
            for window in lines.windows(lambda: self._size):
                slots, fresh = self._sort_out(window)
                if self._stopped.is_set():
                    return
                self._put((window, slots, pool.submit(self._fill, fresh)))
        except BaseException as error:  # raised in the other thread after the windows before it are returned
            last = error
        self._put(last)

    def _put(self, item: Item) -> None:
        while not self._stopped.is_set():
            try:
                self._ready.put(item, timeout=0.5)
                break
            except queue.Full:
                continue

    def _sort_out(self, window: Window) -> tuple[list[Slot], list[tuple[str, Slot]]]:
        """Return a slot for each line, and the texts to translate; samples are drawn again for every line."""
        slots: list[Slot] = []
        fresh: list[tuple[str, Slot]] = []
        for number, line in enumerate(window.lines, window.first):
            text = self.decode(line, number)
            slot = self._slots.get(text)
            if slot is None:
                slot = Slot()
                fresh.append((text, slot))
                self._remember(text, slot)
            else:
                self._slots.move_to_end(text)
            slots.append(slot)
        return slots, fresh

    def _remember(self, text: str, slot: Slot) -> None:
        if len(text) > LONGEST_REMEMBERED or self._draws:
            return
        self._slots[text] = slot
        if len(self._slots) > REMEMBERED:
            self._slots.popitem(last=False)

    def _fill(self, fresh: list[tuple[str, Slot]]) -> None:
        began = time.monotonic()
        texts = [text for text, _ in fresh]
        found = self.translator.translate(texts, self.options)
        for (_, slot), translation in zip(fresh, found, strict=True):
            slot.translation = without_tokens(translation) if self._has_tokens else translation
        if len(fresh) >= self._size // 2 and not self._draws:
            speed = len(fresh) / max(time.monotonic() - began, 1e-6)
            self._size = int(min(max(speed * SECONDS, SMALLEST), LARGEST))


def without_tokens(translation: Translation) -> Translation:
    """Drop tokens from cached translations: they need more memory than the text, and are not written."""
    others = tuple(map(without_tokens, translation.alternatives))
    return replace(translation, tokens=(), source_tokens=(), source_ids=(), ids=(), alternatives=others, _inspect=None)
