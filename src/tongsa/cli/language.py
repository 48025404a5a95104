"""The language of help and errors: Korean where `TONGSA_LANG` or the locale asks for it, otherwise English.

All texts stand in the source in English. The files of `korean/` hold the Korean of the most common ones under the
English text, with {} for whatever is filled in; what is not there is printed in English. They are read when help or an
error is printed, so an ordinary command does not wait for them.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer

CATALOGUES = Path(__file__).parent / "korean"
VARIABLES = ("TONGSA_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
"""The first one that is set decides, as for other programs."""
EXAMPLES = ("Example:", "Examples:")
TITLES = (
    *("ARGUMENTS_PANEL_TITLE", "OPTIONS_PANEL_TITLE", "COMMANDS_PANEL_TITLE", "ERRORS_PANEL_TITLE"),
    *("DEFAULT_STRING", "REQUIRED_LONG_STRING", "RICH_HELP", "ABORTED_TEXT"),
)
"""Texts of typer.rich_utils."""
UsageFault: Any = typer.BadParameter.__mro__[1]
"""The base class of typer's errors about the command line, which typer does not export."""


def preferred_language() -> str:
    """The language to print in, `en` or `ko`."""
    asked = next((value for name in VARIABLES if (value := os.environ.get(name))), "")
    return "ko" if re.match(r"ko(?![a-z])", asked.lower()) and _can_print_hangul() else "en"


def _can_print_hangul() -> bool:
    try:
        "한".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def translated(text: str) -> str:
    """A message, or a paragraph of the help, in the language of the user."""
    return _korean(text) if preferred_language() == "ko" else text


@cache
def _catalogue() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in ("help", "errors", "others"):
        found |= json.loads((CATALOGUES / f"{name}.json").read_text(encoding="utf-8"))
    return found


@cache
def _templates() -> list[tuple[list[str], str]]:
    """The parts of texts with something filled in between them, and their Korean: the most specific first."""
    filled = [english for english in _catalogue() if "{}" in english]
    filled.sort(key=lambda english: len(english.replace("{}", "")), reverse=True)
    return [(english.split("{}"), _catalogue()[english]) for english in filled]


def _korean(text: str) -> str:
    if text in _catalogue():
        return _catalogue()[text]
    for parts, korean in _templates():
        if parts[0].startswith(":"):  # the end of a text
            begin = text.find(parts[0])
            if begin >= 0 and (values := _filled_in(parts, text[begin:])) is not None:
                return _korean(text[:begin]) + korean.format(*values)
        elif (values := _filled_in(parts, text)) is not None:
            return korean.format(*map(_korean, values))
    return text


def _filled_in(parts: list[str], text: str) -> list[str] | None:
    """What stands between the parts of a template in a text; None if it is not such a text. Takes linear time."""
    first, *middle, last = parts
    if not (text.startswith(first) and text.endswith(last) and len(text) >= len(first) + len(last)):
        return None
    rest = text[len(first) : len(text) - len(last)]
    values = []
    for part in middle:
        value, separator, after = (
            rest.partition(part) if part else ("", "", rest)
        )  # of two in a row, the second has all
        if separator != part:
            return None
        values.append(value)
        rest = after
    return [*values, rest]


def run(app: typer.Typer) -> None:
    """Run the command of `sys.argv`, as `app()` does, with help and errors in the language of the user."""
    if preferred_language() == "en":
        app(prog_name="tongsa")  # also when run as `python -m tongsa`
        return
    command: Any = typer.main.get_command(app)
    _translate_when_shown(command)
    try:
        sys.exit(command(prog_name="tongsa", standalone_mode=False))
    except UsageFault as error:
        from typer.rich_utils import rich_format_error

        message = _korean(error.format_message())
        error.format_message = lambda: message
        with _titles():
            rich_format_error(error)
        sys.exit(error.exit_code)


def _translate_when_shown(command: Any) -> None:
    """Have a command and those below it translate their help just before it is printed."""
    show: Callable[..., None] = command.format_help
    usage: Callable[..., str] = command.get_usage

    def format_help(context: Any, formatter: Any) -> None:
        _translate_help(command, context)
        with _titles():
            show(context, formatter)

    command.format_help = format_help
    command.get_usage = lambda context: usage(context).replace("Usage:", _korean("Usage:"), 1)
    for inner in getattr(command, "commands", {}).values():
        _translate_when_shown(inner)


def _translate_help(command: Any, context: Any) -> None:
    for each in (command, *getattr(command, "commands", {}).values(), *command.get_params(context)):
        for name in ("help", "epilog", "rich_help_panel"):
            text = getattr(each, name, None)
            if isinstance(text, str):
                setattr(each, name, "\n\n".join(map(_paragraph, cleandoc(text).split("\n\n"))))


def _paragraph(text: str) -> str:
    """A paragraph of a help text. Its lines are joined, except where it shows commands."""
    for word in EXAMPLES:
        if text.startswith(word):
            return _korean(word) + text.removeprefix(word)
    return _korean(" ".join(text.split()))


@contextmanager
def _titles() -> Iterator[None]:
    """Have typer print its own texts in Korean, too, and rich break lines of Hangul without a loss."""
    from rich.text import Text
    from typer import rich_utils

    before = {name: getattr(rich_utils, name) for name in TITLES if hasattr(rich_utils, name)}
    strip = Text.rstrip_end
    try:
        for name, text in before.items():
            setattr(rich_utils, name, _korean(text))
        setattr(Text, "rstrip_end", _strip_by_cells)  # noqa: B010 - mypy refuses to assign a method
        yield
    finally:
        for name, text in before.items():
            setattr(rich_utils, name, text)
        setattr(Text, "rstrip_end", strip)  # noqa: B010


def _strip_by_cells(text: Any, size: int) -> None:
    """Remove the blanks at the end of a line that is wider than `size` cells.

    rich counts characters instead. Where each takes two cells the blank stays, and rich cuts the line at its last word.
    """
    if text.cell_len > size:
        text.rstrip()
