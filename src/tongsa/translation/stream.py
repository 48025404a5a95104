"""Translating a stream of lines: output in order, memory that does not grow, every core at work.

    bytes ─ a thread reads ─▶ windows of lines ─▶ texts not seen before ─▶ two windows at a time ─▶ windows in order

A window is sorted by length and cut into batches by the engine; while one window drains, the next one fills the cores.
What is there is translated at once: on a pipe that somebody types into, a window is a line.
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
from typing import BinaryIO

from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Translation
from tongsa.translation.translator import Translator

CHUNK = 1 << 16
SMALLEST, LARGEST = 512, 16_384
"""Lines of a window. Large ones sort better; small ones show progress, and lose little when a job is killed."""
SECONDS = 4.0
"""How long a window should take."""
WINDOW_BYTES = 4 << 20
REMEMBERED = 65_536
"""Texts whose translations are kept for when they come again; the oldest ones make room."""
LONGEST_REMEMBERED = 400
"""Characters of a text that is kept: long ones seldom come twice."""


@dataclass(frozen=True)
class Window:
    """Lines that came one after the other."""

    lines: list[bytes]
    first: int
    """The number of the first of them, from 1."""
    digest: str
    """A hash of the input up to the end of this window."""


class Lines:
    """The lines of a stream, in windows as large as wanted or as soon as they come."""

    def __init__(self, stream: BinaryIO) -> None:
        # A raw stream gives what is there without waiting for more, and has no lock that a daemon thread could keep.
        self._stream: BinaryIO = getattr(stream, "raw", stream)
        self._hash = hashlib.blake2b(digest_size=16)
        self._read = self._parts()
        self.number = 0
        """Lines given out so far."""

    def skip(self, count: int) -> str:
        """Pass over lines that were translated before; a hash of the input up to there."""
        while self.number < count and (line := next(self._read, b"")) != b"":
            if line is not None:
                self._take([line])
        return self._hash.hexdigest()

    def windows(self, size: Callable[[], int]) -> Iterator[Window]:
        """`size` says how many lines the next window should have at most."""
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
        """Lines with their ends, and None where the next one is not there yet."""
        begun: list[bytes] = []  # the pieces of a line whose end has not come
        while data := self._stream.read(CHUNK):
            *whole, rest = data.split(b"\n")
            for line in whole:
                yield b"".join([*begun, line, b"\n"])
                begun = []
            begun.append(rest)
            if len(data) < CHUNK:
                yield None
        if last := b"".join(begun):
            yield last


class Slot:
    """The place of a translation that lines with the same text share."""

    __slots__ = ("translation",)

    def __init__(self) -> None:
        self.translation: Translation | None = None

    def filled(self) -> Translation:
        assert self.translation is not None, "windows are given back in order, so every slot has been filled"
        return self.translation


class Texts:
    """Texts that are there already, in windows; a text may have line ends of its own."""

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
"""A window under way; what went wrong behind the last one; or the end."""


class Stream:
    """Translates windows, two at a time, and gives them back in order."""

    def __init__(self, translator: Translator, options: TranslateOptions, decode: Callable[[bytes, int], str]) -> None:
        """`decode` makes text of a line, given its number."""
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
        """A thread reads while this one waits for translations, so that nobody waits for lines that do not come."""
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
        except BaseException as error:  # raised by the other thread, once the windows before it are given back
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
        """A slot for each line, and the texts to translate into some of them; draws are made anew for every line."""
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
    """Tokens weigh more than the text, and are not written."""
    others = tuple(map(without_tokens, translation.alternatives))
    return replace(translation, tokens=(), source_tokens=(), ids=(), alternatives=others, _inspect=None)
