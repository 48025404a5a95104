"""Resumable output: a partial file, and beside it a JSON file that records the progress.

    news.de.part        the output so far
    news.de.part.json   input lines done, bytes written, a hash of the input, the settings
    news.de             the finished output: the .part file, renamed

A killed job may leave bytes beyond the recorded progress; resuming truncates them, so no line is lost or repeated.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from tongsa.base.errors import DirectoryError, UsageError, WriteError
from tongsa.base.files import write_atomically


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


class PartialOutput:
    """`with PartialOutput.open(...) as output: output.write(...)`, then `output.finish()`."""

    def __init__(self, path: Path, note: Note) -> None:
        self.path = path
        self.part, self.note_path = _names(path)
        self.note = note
        try:
            self._file: BinaryIO = self.part.open("r+b" if note.lines else "wb")
            self._file.truncate(note.bytes)
            self._file.seek(note.bytes)
        except OSError as error:
            raise _cannot_write(self.part, error) from error

    @classmethod
    def open(cls, path: Path, settings: dict[str, str], *, resume: bool) -> PartialOutput:
        """Start a new job, or resume an interrupted one."""
        part, note_path = _names(path)
        if resume and note_path.is_file():
            return cls(path, _read(note_path, settings))
        if note_path.is_file():
            raise UsageError(
                f"{part} holds a job that was interrupted",
                "To continue it:  --resume",
                f"To start again:  remove {part} and {note_path}",
            )
        return cls(path, Note(lines=0, bytes=0, input="", settings=settings))

    def write(self, text: str, *, lines: int, digest: str) -> None:
        """Append the output for the next `lines` input lines; `digest` is a hash of the input so far."""
        try:
            self._file.write(text.encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _cannot_write(self.part, error) from error
        self.note = Note(
            lines=self.note.lines + lines, bytes=self._file.tell(), input=digest, settings=self.note.settings
        )
        write_atomically(self.note_path, json.dumps(asdict(self.note)))

    def finish(self) -> None:
        """Give the complete output its final name."""
        self._file.close()
        try:
            self.part.replace(self.path)
        except OSError as error:
            raise _cannot_write(self.path, error) from error
        self.note_path.unlink(missing_ok=True)

    def close(self) -> None:
        self._file.close()


def is_finished(path: Path) -> bool:
    """Return True if an earlier run of the same job finished."""
    return path.is_file() and not _names(path)[1].is_file()


def _names(path: Path) -> tuple[Path, Path]:
    return path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.part.json")


def _read(path: Path, settings: dict[str, str]) -> Note:
    try:
        note = Note(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise DirectoryError(f"{path} is damaged: {error}", "Remove it and the .part file, and start again.") from error
    before = {name: value for name, value in note.settings.items() if settings.get(name) != value}
    if before or note.settings.keys() != settings.keys():
        changed = [f"{name}: {value} before, {settings.get(name)} now" for name, value in before.items()]
        raise UsageError(f"{path} was started with other settings", *changed, "Use the same settings, or start again.")
    return note


def _cannot_write(path: Path, error: OSError) -> WriteError:
    return WriteError(f"{path} cannot be written: {error.strerror or error}", "--resume continues where it stopped.")
