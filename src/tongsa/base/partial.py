"""Resumable output: a partial file, and beside it a JSON file that records the progress.

    news.de.part        the output so far
    news.de.part.json   input lines done, bytes written, a hash of the input, the settings
    news.de.part.lock   held while a process writes
    news.de             the finished output: the .part file, renamed
    .news.de.done.json  with `resume`: what the finished output was made from, so that it is not made again

Progress is recorded after the output is flushed to the disk, so the record is never ahead of it. A killed job may
leave bytes beyond the recorded progress; resuming truncates them, so no line is lost or repeated.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO

from tongsa.base.errors import DirectoryError, UsageError, WriteError
from tongsa.base.files import cannot_write, destination, remove_durably, rename_over, sync, write_atomically
from tongsa.base.locks import locked


@dataclass(frozen=True, kw_only=True)
class Note:
    """Progress of a job, as stored in the JSON file."""

    lines: int
    """Input lines translated."""
    bytes: int
    """Bytes written for those lines."""
    input: str
    """A hash of those lines."""
    settings: dict[str, str]
    """Settings that the output depends on."""
    complete: bool = False
    """These were all lines of the input."""


class PartialOutput:
    """`write` it piece by piece, `finish` and `close` it. One process at a time can have it open."""

    def __init__(self, path: Path, settings: dict[str, str], *, resume: bool, say: Callable[[str], None]) -> None:
        """Start a new job, or with `resume` continue an interrupted one; `say` is told what the user should know."""
        self.path = destination(path)
        if self.path.is_dir():
            raise WriteError(f"{path} cannot be written: it is a directory", "Name a file.")
        self.part, self.note_path, self.lock, self.done = _names(self.path)
        self._resume = resume
        self._file: BinaryIO | None = None
        with ExitStack() as stack:
            stack.enter_context(locked(self.lock, f"a translation into {path}", say))
            found = self._found(settings)
            self.note = found or Note(lines=0, bytes=0, input="", settings=settings)
            if not self.note.complete:
                self._file = stack.enter_context(self._open())
            self._held = stack.pop_all()

    def write(self, text: str, *, lines: int, digest: str) -> None:
        """Append the output for the next `lines` input lines; `digest` is a hash of the input so far."""
        assert self._file is not None, "a complete output is not written to"
        try:
            self._file.write(text.encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _cannot_write(self.part, error) from error
        self._record(replace(self.note, lines=self.note.lines + lines, bytes=self._file.tell(), input=digest))

    def finish(self) -> None:
        """Give the complete output its final name; after a kill at any point, resuming does the rest."""
        if not self.note.complete:
            self._record(replace(self.note, complete=True))
        elif not self.note_path.is_file():  # an earlier run did all this
            return
        try:
            if self._file is not None:
                self._file.close()
            if self.part.exists():
                remove_durably(self.done)
                rename_over(self.part, self.path)
                sync(self.path.parent)
            if self._resume:
                write_atomically(self.done, self.note_path.read_bytes())
            self.note_path.unlink(missing_ok=True)
        except OSError as error:
            raise _cannot_write(self.path, error) from error

    def close(self) -> None:
        with suppress(OSError):  # a full disk was reported by `write`
            self._held.close()

    def _found(self, settings: dict[str, str]) -> Note | None:
        """Return the record of the job to continue, None to start a new one."""
        if self._resume:
            finished = self.path.is_file() and not self.note_path.is_file()
            path = self.done if finished else self.note_path
            if not path.is_file():
                return None
            note = _read(path)
            _compare(note.settings, settings, self.path)
            self._check(note, self.path if finished or (note.complete and not self.part.is_file()) else self.part)
            return note
        if self.note_path.is_file():
            if not _read(self.note_path).complete:
                raise UsageError(
                    f"{self.part} holds a job that was interrupted",
                    "To continue it:  --resume",
                    f"To start again:  remove {self.part} and {self.note_path}",
                )
            remove_durably(self.note_path)
        return None

    def _check(self, note: Note, file: Path) -> None:
        """Check that the file is the one of the record."""
        size = file.stat().st_size if file.is_file() else 0
        if size < note.bytes or (note.complete and size != note.bytes):
            again = f"To start again:  remove {self.part} and {self.note_path}"
            raise DirectoryError(
                f"{file} has {size:,} bytes, but {note.bytes:,} were written: something has changed it",
                "To translate again, leave out --resume." if note.complete else again,
            )

    def _open(self) -> BinaryIO:
        try:
            file = self.part.open("r+b" if self.note.lines else "wb")
            try:
                file.truncate(self.note.bytes)
                file.seek(self.note.bytes)
                sync(self.part.parent)  # the partial file is there before a record of it
            except OSError:
                file.close()
                raise
        except OSError as error:
            raise _cannot_write(self.part, error) from error
        return file

    def _record(self, note: Note) -> None:
        write_atomically(self.note_path, json.dumps(asdict(note)))
        self.note = note


def _names(path: Path) -> tuple[Path, Path, Path, Path]:
    part = [path.with_name(f"{path.name}.part{ending}") for ending in ("", ".json", ".lock")]
    return part[0], part[1], part[2], path.with_name(f".{path.name}.done.json")


def _read(path: Path) -> Note:
    try:
        note = Note(**json.loads(path.read_text(encoding="utf-8")))
        if not (isinstance(note.lines, int) and isinstance(note.bytes, int) and isinstance(note.settings, dict)):
            raise TypeError("values of another kind")
        return note
    except (OSError, ValueError, TypeError) as error:
        raise DirectoryError(f"{path} is damaged: {error}", "Remove it and the .part file, and start again.") from error


def _compare(before: dict[str, str], now: dict[str, str], path: Path) -> None:
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if names:
        changed = [f"{name}: {before.get(name, '-')} before, {now.get(name, '-')} now" for name in names]
        raise UsageError(
            f"the translation into {path} was started with other settings",
            *changed,
            "Use the same settings with --resume, or start again without it.",
        )


def _cannot_write(path: Path, error: OSError) -> WriteError:
    return cannot_write(path, error, "--resume continues where it stopped.")
