"""The translator of a command: named by the user, or the one that is shipped with Tongsa."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from tongsa.base.errors import UsageError
from tongsa.runs.names import find_translator, known, shipped
from tongsa.text.languages import matches, plain_code

SENTENCE_ENDS = (".", "?", "!", "…", '"', "。", "？", "！")


@dataclass(frozen=True, kw_only=True)
class LanguageOptions:
    panel: ClassVar[str] = "Translator, if none is named"

    source: Annotated[str, typer.Option("--from", help="Source language, for example en.")] = ""
    target: Annotated[str, typer.Option("--to", help="Target language, for example de.")] = ""

    def choose(self) -> Path:
        """Return the translator for these languages, or the shipped one; print which."""
        name, directory = self._found()
        origin = "shipped with Tongsa" if directory in shipped().values() else str(directory)
        print(f"with the translator {name} ({origin}); to use another, name it before the text", file=sys.stderr)
        return directory

    def _found(self) -> tuple[str, Path]:
        from tongsa.runs.directory import Run

        candidates = known() if self.source or self.target else shipped()
        cards = {name: (path, Run(path).read_card()) for name, path in candidates.items()}
        fitting = [
            (name, path)
            for name, (path, card) in cards.items()
            if _fits(self.source, card.source) and _fits(self.target, card.target)
        ]
        if len(fitting) == 1:
            return fitting[0]
        asked = " to ".join(filter(None, (self.source, self.target)))
        names = [f"Translators with a name: {', '.join(sorted(known()))}"] if known() else []
        if fitting:
            raise UsageError(f"several translators fit: {', '.join(name for name, _ in fitting)}", "Name one of them.")
        if asked:
            fetch = [f"To fetch one:  tongsa get {self.source}-{self.target}"] if self.source and self.target else []
            raise UsageError(f"there is no translator {'from' if self.source else 'to'} {asked}", *names, *fetch)
        raise UsageError("a translator must be named: none is shipped with this installation", *names)

    def refuse_beside(self, translator: str | Path) -> None:
        """Raise an error if languages are given beside a translator, which has its own."""
        if self.source or self.target:
            raise UsageError(
                f"--from and --to choose a translator, and {translator} is named", "Leave one of them out."
            )


def _fits(asked: str, code: str) -> bool:
    return not asked or matches(plain_code(asked), plain_code(code))


def is_text(argument: str) -> bool:
    """Return True if an argument is a text to translate rather than the name or directory of a translator.

    A single word could be both: it is taken for a translator, so that a misspelt one is an error.
    """
    if os.path.lexists(argument) or find_translator(argument) != Path(argument):
        return False
    is_path = any(separator in argument for separator in (os.sep, os.altsep) if separator)
    return argument.endswith(SENTENCE_ENDS) or (not is_path and len(argument.split()) > 1)


def shipped_translators() -> list[Path]:
    """Return what `tongsa serve` serves if nothing is named; print it."""
    found = shipped()
    if not found:
        raise UsageError("a translator must be named: none is shipped with this installation")
    print(f"serving what is shipped with Tongsa: {', '.join(found)}; to serve others, name them", file=sys.stderr)
    return list(found.values())
