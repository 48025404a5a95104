"""Answers that take much to make: one is made at a time, and the newest are kept, within so many bytes."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable


class KeptAnswers:
    """`await answers.get(key, make)`, on the event loop's thread."""

    def __init__(self, size: int) -> None:
        """`size` is the number of bytes of all kept answers together."""
        self._size = size
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._one = asyncio.Lock()
        self.held = 0

    async def get(self, key: Hashable, make: Callable[[], Awaitable[bytes]]) -> bytes:
        async with self._one:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            made = await make()
            if len(made) <= self._size:
                self._kept[key] = made
                self.held += len(made)
            while self.held > self._size:
                self.held -= len(self._kept.popitem(last=False)[1])
            return made
