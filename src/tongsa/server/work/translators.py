"""The translators that are served: directions, ways through a third language, and reloading under way.

A request takes the translators of its way when it begins and keeps them to its end. So a new one can take the place of
an old one at any moment: the old one is gone when the last request that holds it is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tongsa.base.errors import UsageError
from tongsa.server.http.refusals import Refusal, invalid
from tongsa.text.languages import matches, plain_code

if TYPE_CHECKING:
    from tongsa.translation.translator import Translator

LONGEST_CODE = 32
Direction = tuple[str, str]
Signature = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True)
class Served:
    """A translator, and where it came from."""

    translator: Translator
    directory: Path
    signature: Signature


@dataclass(frozen=True)
class Route:
    """Translators one after the other, from a source language to a target language."""

    source: str
    target: str
    translators: tuple[Translator, ...]
    via: tuple[str, ...]
    """The languages between."""


class Translators:
    """Every direction that can be asked for."""

    def __init__(self, directories: Sequence[Path], load: Callable[[Path], Translator]) -> None:
        self._load = load
        self._served: dict[Direction, Served] = {}
        self._seen: dict[Path, Signature] = {}
        for directory in directories:
            served = self._open(directory)
            direction = _direction(served.translator)
            if other := self._served.get(direction):
                raise UsageError(
                    f"{directory} and {other.directory} both translate {' to '.join(direction)}",
                    "A direction is served by one translator: leave one of them out.",
                )
            self._served[direction] = served
        self.directions: list[Direction] = list(self._served)
        self.sources = list(dict.fromkeys(source for source, _ in self._served))
        self.languages = list(dict.fromkeys([*self.sources, *(target for _, target in self._served)]))
        """All of them, sources first."""
        pairs = [(source, target) for source in self.sources for target in self.languages if source != target]
        self._ways = {pair: way for pair in pairs if (way := self._way(*pair))}

    def _open(self, directory: Path) -> Served:
        signature = signature_of(directory)  # before it is read: what changes meanwhile is read again
        self._seen[directory] = signature
        return Served(self._load(directory), directory, signature)

    def targets(self, source: str) -> list[str]:
        """What a source can be translated to, itself left out."""
        return [target for target in self.languages if (source, target) in self._ways]

    def code(self, asked: str) -> str:
        """The code of ours that is meant: in any case, with or without a region."""
        if len(asked) > LONGEST_CODE:
            raise invalid_language(asked)
        code = plain_code(asked)
        if code in self.languages:
            return code
        found = next((ours for ours in self.languages if matches(code, ours)), None)
        if found is None:
            raise invalid_language(asked)
        return found

    def route(self, source: str, target: str) -> Route:
        """From one of our codes to another; the same twice is no translation at all."""
        if source == target:
            return Route(source, target, (), ())
        way = self._ways.get((source, target))
        if way is None:
            raise invalid(f"{target} is not available as a target language from {source}")
        translators = tuple(self._served[direction].translator for direction in way)
        return Route(source, target, translators, tuple(middle for _, middle in way[:-1]))

    def _way(self, source: str, target: str) -> list[Direction]:
        if (source, target) in self._served:
            return [(source, target)]
        for middle in self.languages:
            if (source, middle) in self._served and (middle, target) in self._served:
                return [(source, middle), (middle, target)]
        return []

    def reload(self, *, all_of_them: bool = False) -> Iterator[tuple[Path, Exception | None]]:
        """Open what has changed on the disk, or all; tell what was opened, and what could not be.

        A translator that cannot be opened, or has another direction now, leaves the old one in its place.
        """
        for direction, served in list(self._served.items()):
            directory = served.directory
            if not all_of_them and signature_of(directory) == self._seen[directory]:
                continue
            try:
                new = self._open(directory)
                if _direction(new.translator) != direction:
                    raise UsageError(f"{directory} no longer translates {' to '.join(direction)}")
            except Exception as error:  # whatever a half-written file does to its readers
                yield directory, error
            else:
                self._served[direction] = new
                yield directory, None


def invalid_language(asked: str) -> Refusal:
    """What LibreTranslate says, with a code that is fit to be shown."""
    return Refusal(400, f"{asked if asked.isprintable() and len(asked) <= 16 else 'this language'} is not supported")


def signature_of(directory: Path) -> Signature:
    """Changes when a translator is written anew: its card is written last."""
    found = []
    for name in ("translator.json", "weights.safetensors"):
        try:
            status = (directory / name).stat()
        except OSError:
            found.append((name, 0, 0, 0))
        else:
            found.append((name, status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(found)


def _direction(translator: Translator) -> Direction:
    return plain_code(translator.card.source), plain_code(translator.card.target)
