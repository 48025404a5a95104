"""Errors that are shown to the user.

    TongsaError                 base class: printed without a traceback, exit code 2
    ├── UsageError              the command or call does not make sense
    ├── RecipeError             a recipe has unknown keys or impossible values
    ├── CorpusError             text that cannot be read or used
    ├── DirectoryError          a translator directory that is missing, broken or too new
    ├── WriteError              a file or directory cannot be written
    ├── LockedError             another process is already writing there
    ├── TrainingError           training cannot go on
    └── MissingExtraError       an optional package is not installed

Each message says what is wrong, where (file and line), and what to do next.
"""

from __future__ import annotations


class TongsaError(Exception):
    """An error for the user: what is wrong, lines of explanation, and what to do next."""

    def __init__(self, what: str, *explanation: str) -> None:
        super().__init__(what)
        self.what = what
        self.explanation = explanation

    def __str__(self) -> str:
        return "\n  ".join((self.what, *self.explanation))


class UsageError(TongsaError):
    """The command or call does not make sense."""


class RecipeError(TongsaError):
    """A recipe has unknown keys or impossible values."""


class CorpusError(TongsaError):
    """Text that cannot be read or used."""


class DirectoryError(TongsaError):
    """A translator directory that is missing, broken or too new."""


class WriteError(TongsaError):
    """A file or directory cannot be written."""


class LockedError(TongsaError):
    """Another process is already writing there."""


class TrainingError(TongsaError):
    """Training cannot go on."""


class MissingExtraError(TongsaError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed", f"Install it with:  pip install 'tongsa[{extra}]'")
