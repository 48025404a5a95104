"""The translators that are served: directions, pivots through a third language, and reloading while serving.

A request looks up its translators when it begins and keeps them until its end, so a translator can be replaced at any
moment: the old one is freed when the last request that holds it is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tongsa.base.errors import UsageError
from tongsa.runs.directory import Run
from tongsa.server.http.refusals import Refusal, invalid
from tongsa.text.languages import matches, plain_code

if TYPE_CHECKING:
    from tongsa.translation.translator import Translator

LONGEST_CODE = 32
Direction = tuple[str, str]
Signature = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True)
class Served:
    """A translator and the directory it was loaded from."""

    translator: Translator
    directory: Path
    signature: Signature


@dataclass(frozen=True)
class TranslatorChain:
    """The translators that lead from a source language to a target language, one after the other."""

    source: str
    target: str
    translators: tuple[Translator, ...]
    via: tuple[str, ...]
    """The pivot languages, if any."""


class Translators:
    """All directions that can be requested."""

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
                    "One translator serves a direction: remove one of the two.",
                )
            self._served[direction] = served
        self.directions: list[Direction] = list(self._served)
        self.sources = list(dict.fromkeys(source for source, _ in self._served))
        self.languages = list(dict.fromkeys([*self.sources, *(target for _, target in self._served)]))
        """All languages, sources first."""
        pairs = [(source, target) for source in self.sources for target in self.languages if source != target]
        self._paths = {pair: path for pair in pairs if (path := self._path(*pair))}

    def _open(self, directory: Path) -> Served:
        signature = signature_of(directory)  # taken first, so that a change during loading causes a reload
        self._seen[directory] = signature
        return Served(self._load(directory), directory, signature)

    def targets(self, source: str) -> list[str]:
        """The languages that a source can be translated to, itself excluded."""
        return [target for target in self.languages if (source, target) in self._paths]

    def code(self, asked: str) -> str:
        """The served code that matches the given one: in any case, with or without a region."""
        if len(asked) > LONGEST_CODE:
            raise invalid_language(asked)
        code = plain_code(asked)
        if code in self.languages:
            return code
        found = next((ours for ours in self.languages if matches(code, ours)), None)
        if found is None:
            raise invalid_language(asked)
        return found

    def chain(self, source: str, target: str) -> TranslatorChain:
        """The chain from one served code to another; empty if both are the same."""
        if source == target:
            return TranslatorChain(source, target, (), ())
        path = self._paths.get((source, target))
        if path is None:
            raise invalid(f"{target} is not available as a target language from {source}")
        translators = tuple(self._served[direction].translator for direction in path)
        return TranslatorChain(source, target, translators, tuple(middle for _, middle in path[:-1]))

    def directory(self, source: str, target: str) -> Path:
        """The directory of the translator of a direction, given by served codes."""
        return self._served[source, target].directory

    def _path(self, source: str, target: str) -> list[Direction]:
        if (source, target) in self._served:
            return [(source, target)]
        for middle in self.languages:
            if (source, middle) in self._served and (middle, target) in self._served:
                return [(source, middle), (middle, target)]
        return []

    def reload(self, *, all_of_them: bool = False) -> Iterator[tuple[Path, Exception | None]]:
        """Load what has changed on disk, or everything; yield each directory, with the error if it failed.

        When a translator cannot be loaded, or now has another direction, the old one stays in service.
        """
        for direction, served in list(self._served.items()):
            directory = served.directory
            if not all_of_them and signature_of(directory) == self._seen[directory]:
                continue
            try:
                new = self._open(directory)
                if _direction(new.translator) != direction:
                    raise UsageError(f"{directory} no longer translates {' to '.join(direction)}")
            except Exception as error:  # a half-written file can raise anything
                yield directory, error
            else:
                self._served[direction] = new
                yield directory, None


def invalid_language(asked: str) -> Refusal:
    """LibreTranslate's message, which repeats the code only if it is short and printable."""
    return Refusal(400, f"{asked if asked.isprintable() and len(asked) <= 16 else 'this language'} is not supported")


def signature_of(directory: Path) -> Signature:
    """A value that changes when a translator is rewritten: its card is written last."""
    found = []
    run = Run(directory)
    for path in (run.card_file, run.weights_file):
        try:
            status = path.stat()
        except OSError:
            found.append((path.name, 0, 0, 0))
        else:
            found.append((path.name, status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(found)


def _direction(translator: Translator) -> Direction:
    return plain_code(translator.card.source), plain_code(translator.card.target)
