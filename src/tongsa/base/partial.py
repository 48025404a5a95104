"""Output that survives a kill: a file that grows, and beside it how far it has come.

    news.de.part        what is translated so far
    news.de.part.json   how many input lines that is, how many bytes, of which input, with which settings
    news.de             takes the place of the first when everything is done

A kill may leave bytes behind the last note; they are cut off when the job goes on, so no line is lost or doubled.
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
    """How far a job has come."""

    lines: int
    """Input lines translated."""
    bytes: int
    """Bytes written for them."""
    input: str
    """A hash of those lines."""
    settings: dict[str, str]
    """What the output depends on besides."""


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
        """A new job, or the one that was cut off."""
        part, note_path = _names(path)
        if resume and note_path.is_file():
            return cls(path, _read(note_path, settings))
        if note_path.is_file():
            raise UsageError(
                f"{part} holds a job that was cut off",
                "Go on with it:  --resume",
                f"Or begin anew:  remove {part} and {note_path}",
            )
        return cls(path, Note(lines=0, bytes=0, input="", settings=settings))

    def write(self, text: str, *, lines: int, digest: str) -> None:
        """Text for so many more input lines; `digest` is a hash of the input up to there."""
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
        """Everything is there: the output takes its name."""
        self._file.close()
        try:
            self.part.replace(self.path)
        except OSError as error:
            raise _cannot_write(self.path, error) from error
        self.note_path.unlink(missing_ok=True)

    def close(self) -> None:
        self._file.close()


def is_finished(path: Path) -> bool:
    """True where an earlier run of the same job came to its end."""
    return path.is_file() and not _names(path)[1].is_file()


def _names(path: Path) -> tuple[Path, Path]:
    return path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.part.json")


def _read(path: Path, settings: dict[str, str]) -> Note:
    try:
        note = Note(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise DirectoryError(f"{path} is damaged: {error}", "Remove it and the .part file, and begin anew.") from error
    before = {name: value for name, value in note.settings.items() if settings.get(name) != value}
    if before or note.settings.keys() != settings.keys():
        changed = [f"{name}: {value} before, {settings.get(name)} now" for name, value in before.items()]
        raise UsageError(f"{path} was begun with other settings", *changed, "Use the same ones, or begin anew.")
    return note


def _cannot_write(path: Path, error: OSError) -> WriteError:
    return WriteError(f"{path} cannot be written: {error.strerror or error}", "--resume goes on where it stopped.")
