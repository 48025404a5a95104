"""Files of a directory that may come from a stranger: regular files only, no links that lead out of it, within a size.

A link inside the directory is followed, and the directory itself may be reached through a link.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

from tongsa.base.errors import DirectoryError

MAX_JSON = 64 << 20
"""Largest JSON file that is read, in bytes."""


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading; a device, a FIFO, or a link out of its directory is a DirectoryError."""
    try:
        folder, real = path.parent.resolve(strict=True), path.resolve(strict=True)
        if not real.is_relative_to(folder):
            raise linked(path)
        # Looked at before it is opened, because opening a device can do something; and after, in case it was replaced.
        if not stat.S_ISREG(real.stat().st_mode):
            raise not_regular(path)
        descriptor = os.open(real, os.O_RDONLY | _flags("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise not_regular(path)
        return os.fdopen(descriptor, "rb")
    except FileNotFoundError as error:
        raise DirectoryError(f"{path} is missing") from error
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle; ValueError: a null byte
        raise DirectoryError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def read_regular(path: Path, most: int) -> bytes:
    """Read a whole file of at most `most` bytes."""
    with open_regular(path) as file:
        try:
            size = os.fstat(file.fileno()).st_size
            content = file.read(most + 1)
        except OSError as error:
            raise DirectoryError(f"{path} cannot be read: {error.strerror}") from error
    if len(content) > most:
        raise DirectoryError(f"{path} has {max(size, len(content)):,} bytes; at most {most:,} are expected there")
    return content


def read_json(path: Path, most: int = MAX_JSON) -> Any:
    """Read a JSON file."""
    content = read_regular(path, most)
    try:
        return json.loads(content.decode("utf-8"))
    except RecursionError as error:
        raise DirectoryError(f"{path} is damaged: it is nested too deeply") from error
    except ValueError as error:
        raise DirectoryError(f"{path} is damaged: {error}", "Copy it again, or train again.") from error


def checksum(file: BufferedReader) -> str:
    """Return the SHA-256 of a file as hexadecimal digits, as `sha256sum` prints it."""
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def unusual_entries(directory: Path) -> Iterator[tuple[Path, str]]:
    """Yield everything below a directory that is not an ordinary file or folder inside it, and what it is."""
    root = directory.resolve()
    waiting = [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                path = directory / Path(entry.path).relative_to(root)
                if entry.is_symlink():
                    inside = Path(entry.path).resolve().is_relative_to(root)
                    yield path, "a link inside the directory" if inside else "a link out of the directory"
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                elif not entry.is_file(follow_symlinks=False):
                    yield path, "not a regular file"


def refuse_links(directory: Path) -> None:
    """Raise an error if anything below the directory is a link or not a regular file: it is about to be written to."""
    for path, what in unusual_entries(directory) if directory.is_dir() else ():
        raise DirectoryError(
            f"{path} is {what}",
            "A training writes and deletes only what is inside its own directory. The directory itself may be a link.",
        )


def linked(path: Path) -> DirectoryError:
    folder = path.parent
    return DirectoryError(
        f"{path} is a link that leads out of {folder}",
        f"If you trust it, copy what it links to:  cp -rL {folder} COPY",
    )


def not_regular(path: Path) -> DirectoryError:
    return DirectoryError(f"{path} is not a regular file")


def _flags(*names: str) -> int:
    """Combine the flags that this system has."""
    return sum(getattr(os, name, 0) for name in names)
