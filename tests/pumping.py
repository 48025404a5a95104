"""Pumping: texts made of a pattern's own alphabet, repeated many times, to see whether the time grows linearly.

Time is CPU time of this thread, compared between two lengths, so a slow or busy machine gives the same answer; what
looks slow is measured again. A timer of CPU time ends what would run for ever.
"""

from __future__ import annotations

import gc
import re
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from random import Random
from re import _constants as codes
from re import _parser as parser
from typing import Any

LONG = 3_200
"""Characters of the longer text."""
TIMES = 8
"""How many times as long it is as the shorter one. Linear time grows as much, quadratic time by the square."""
MOST = TIMES**1.55
"""Growth that is taken for quadratic."""
ENDLESS = 10.0
"""Seconds of CPU after which a measurement is ended."""


class TooSlow(Exception):
    """Ended by the timer."""


def seconds(call: Callable[[], object]) -> float:
    """CPU seconds of a call; regular expressions let the timer in between their steps."""

    def end(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, ENDLESS)
    gc.disable()  # its time depends on what else is in memory
    began = time.thread_time()
    try:
        call()
        return time.thread_time() - began
    except TooSlow:
        return float("inf")
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def growth(run: Callable[[str], object], text: Callable[[int], str], quick: float, long: int = LONG) -> float:
    """How many times as long a text of `long` characters takes as one of `long / TIMES`; 0 if it is quick anyway.

    `quick` is the number of seconds that nothing quadratic stays below at this length.
    """
    whole, part = text(long), text(long // TIMES)
    slow = seconds(lambda: run(whole))
    if slow < quick:
        return 0.0
    ratio = float("inf")
    for _ in range(4):
        if slow == float("inf"):
            break
        fast = max(min(seconds(lambda: run(part)) for _ in range(3)), 1e-6)
        ratio = min(ratio, slow / fast)
        if ratio <= MOST:
            break
        slow = min(slow, seconds(lambda: run(whole)))
    return ratio


def repeated(before: str, unit: str, after: str) -> Callable[[int], str]:
    def text(length: int) -> str:
        return before + unit * max(1, (length - len(before) - len(after)) // len(unit)) + after

    return text


class Pump:
    """Makes texts out of a pattern: what it repeats, after what comes before; and what it begins with, many times."""

    def __init__(self, pattern: re.Pattern[Any], seed: int = 1) -> None:
        source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
        flags = pattern.flags & ~(re.UNICODE | re.LOCALE)
        self._tree = parser.parse(source, flags)
        self._draw = Random(seed)
        self._groups: dict[int, str] = {}

    def units(self) -> list[tuple[str, str, str]]:
        """(before, unit, after), each a text to make long by repeating the unit."""
        units: list[tuple[str, str, str]] = []
        for before, first, body in self._repeats(list(self._tree), ""):
            after = self._draw.choice(["", "\x00", "\n!"])
            units += [(before, body, after), (before + first, body, after), ("", before + body, ""), ("", before, "")]
        for _ in range(8):
            whole = self._example(list(self._tree))
            cut = self._draw.randint(0, len(whole))
            units += [("", whole, ""), ("", whole[:cut], ""), (whole[:cut], whole[cut:], "\x00")]
        letters = self._alphabet()[:5]
        units += [("", one, "\x00") for one in letters]
        units += [("", one + two, "") for one in letters for two in letters if one != two]
        return [unit for unit in dict.fromkeys(units) if unit[1]]

    def _alphabet(self) -> list[str]:
        text = "".join(self._example(list(self._tree)) for _ in range(20))
        return sorted(set(text), key=lambda letter: (letter.isalnum(), -text.count(letter)))

    def _repeats(self, items: Sequence[Any], before: str) -> Iterator[tuple[str, str, str]]:
        """Yield an example of what comes before each repeated part, and two of the part."""
        for place, (code, value) in enumerate(items):
            here = before + self._example(items[:place])
            if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
                if value[1] > 100:
                    body = list(value[2])
                    yield from ((here, self._example(body), self._example(body)) for _ in range(6))
                yield from self._repeats(list(value[2]), here)
            elif code is codes.BRANCH:
                for branch in value[1]:
                    yield from self._repeats(list(branch), here)
            elif code is codes.SUBPATTERN:
                yield from self._repeats(list(value[3]), here)
            elif code is codes.ATOMIC_GROUP:
                yield from self._repeats(list(value), here)
            elif code is codes.ASSERT:
                yield from self._repeats(list(value[1]), here)

    def _example(self, items: Sequence[Any]) -> str:
        """A text that matches, except for what assertions want."""
        return "".join(self._example_of(code, value) for code, value in items)

    def _example_of(self, code: Any, value: Any) -> str:
        if code is codes.LITERAL:
            return chr(value)
        if code is codes.NOT_LITERAL:
            return "b" if value != ord("b") else "a"
        if code is codes.ANY:
            return self._draw.choice("a1 .")
        if code is codes.IN:
            return self._member(value)
        if code is codes.BRANCH:
            return self._example(list(self._draw.choice(value[1])))
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, most, body = value
            return "".join(self._example(list(body)) for _ in range(min(least + self._draw.randint(0, 2), most)))
        if code is codes.SUBPATTERN:
            text = self._example(list(value[3]))
            self._groups[value[0]] = text
            return text
        if code is codes.ATOMIC_GROUP:
            return self._example(list(value))
        if code is codes.GROUPREF:
            return self._groups.get(value, "")
        return ""  # assertions and positions

    def _member(self, members: Sequence[Any]) -> str:
        """A character of a class; of an excluding class, one that others give a meaning to."""
        excludes = members[0][0] is codes.NEGATE
        if excludes:
            unwanted = re.compile(_as_class(members[1:]))
            allowed = [c for c in "a1 <[({`\"'.-\\*\n&%_" if not unwanted.match(c)]
            return self._draw.choice(allowed or ["\u1234"])
        code, value = self._draw.choice(members)
        if code is codes.LITERAL:
            return chr(value)
        if code is codes.RANGE:
            return chr(self._draw.choice([value[0], value[1]]))
        return {
            codes.CATEGORY_DIGIT: "1",
            codes.CATEGORY_SPACE: self._draw.choice(" \n"),
            codes.CATEGORY_WORD: self._draw.choice("a_1"),
            codes.CATEGORY_NOT_SPACE: self._draw.choice("a<"),
            codes.CATEGORY_NOT_WORD: self._draw.choice("-. "),
            codes.CATEGORY_NOT_DIGIT: "a",
        }[value]


_CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_NOT_WORD: r"\W",
    codes.CATEGORY_NOT_DIGIT: r"\D",
}


def _as_class(members: Sequence[Any]) -> str:
    parts = []
    for code, value in members:
        if code is codes.LITERAL:
            parts.append(re.escape(chr(value)))
        elif code is codes.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        else:
            parts.append(_CATEGORIES[value])
    return f"[{''.join(parts)}]"
