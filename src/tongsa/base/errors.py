"""Errors that are shown to the user.

    TongsaError                 base class: printed without a traceback, exit code 2
    ├── UsageError              the command or call does not make sense
    ├── RecipeError             a recipe has unknown keys or impossible values
    ├── CorpusError             text that cannot be read or used
    ├── DirectoryError          a translator directory that is missing, broken or too new
    ├── WriteError              a file or directory cannot be written
    ├── LockedError             another process is already writing there
    ├── DownloadError           a file or model cannot be fetched
    ├── TrainingError           training cannot go on
    └── MissingExtraError       an optional package is not installed

Each message says what is wrong, where (file and line), and what to do next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class TongsaError(Exception):
    """An error for the user: what is wrong, lines of explanation, and what to do next."""

    def __init__(self, what: str, *explanation: str) -> None:
        super().__init__(what)
        self.what = what
        self.explanation = explanation

    def __str__(self) -> str:
        return "\n  ".join((self.what, *self.explanation))

    def printable(self, translated: Callable[[str], str] = str) -> str:
        """Return the message for a terminal: names in a stranger's files may hold its control sequences.

        `translated` is given what is wrong and each line of the explanation, and returns it in another language.
        """
        message = "\n  ".join(map(translated, (self.what, *self.explanation)))
        return "".join(each if each.isprintable() or each in "\n\t" else repr(each)[1:-1] for each in message)


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


class DownloadError(TongsaError):
    """A file or model cannot be fetched."""


class TrainingError(TongsaError):
    """Training cannot go on."""


class MissingExtraError(TongsaError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str, needed_by: str = "") -> None:
        what = f"{needed_by} needs {package}, which is not installed" if needed_by else f"{package} is not installed"
        super().__init__(what, f"Install it with:  pip install 'tongsa[{extra}]'")


@contextmanager
def torch_needed(by: str) -> Iterator[None]:
    """Turn a failed import of torch into an error that says what needs it, and how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "torch":
            raise
        raise MissingExtraError("torch", "train", needed_by=by) from error
