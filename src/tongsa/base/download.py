"""Files over HTTP: an interrupted download goes on where it stopped, and a file is used only if its hash is right."""

from __future__ import annotations

import hashlib
import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tongsa.base.errors import DownloadError
from tongsa.base.files import cannot_write, make_directory, rename_over, sync

TIMEOUT = 60.0
"""Seconds without an answer or any byte before a connection is given up."""
ATTEMPTS = 5
"""Consecutive attempts without a new byte before a download is given up."""
PAUSE = 0.5
"""Seconds before the second attempt; doubled for each further one."""
BLOCK = 1 << 20
PARTIAL = ".part"
MOST_JSON = 16 << 20

FAULTS = (OSError, http.client.HTTPException)
"""Faults of the network, among them urllib's own; a further attempt may succeed."""


@dataclass(frozen=True, kw_only=True)
class Remote:
    """A file to fetch: its address, and what must arrive."""

    url: str
    name: str
    size: int
    sha256: str = ""
    """Hash of the content; empty if only `blob` is known."""
    blob: str = ""
    """Name of the content as git gives it: a hash of its size and the content."""

    def is_whole(self, path: Path) -> bool:
        digest = hashlib.sha256() if self.sha256 else hashlib.sha1(b"blob %d\0" % self.size, usedforsecurity=False)
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
        return digest.hexdigest() == (self.sha256 or self.blob)


def get_json(url: str) -> Any:
    """Fetch a small JSON document; None if there is none at this address."""
    try:
        with _open(url) as answer:
            return json.loads(answer.read(MOST_JSON))
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (401, 403, 404):  # the hub does not tell a private model from none
            return None
        raise DownloadError(f"{url} answers with the error {error.code}") from error
    except FAULTS as error:
        raise _unreachable(url, error) from error
    except ValueError as error:
        raise DownloadError(f"{url} does not answer with JSON: {error}") from error


def download(remote: Remote, folder: Path, advance: Callable[[int], None] = lambda amount: None) -> Path:
    """Fetch a file into a folder, or what is missing of it; return its path."""
    path, partial = folder / remote.name, folder / (remote.name + PARTIAL)
    try:
        make_directory(folder)
        if path.is_file() and path.stat().st_size == remote.size and remote.is_whole(path):
            advance(remote.size)
            return path
        _complete(remote, partial, advance)
        if not remote.is_whole(partial):
            partial.unlink()
            raise DownloadError(
                f"{remote.url} is not the file that its server describes: its hash differs",
                "It was damaged on its way, or replaced, and was removed. Try again later.",
            )
        sync(partial)
        rename_over(partial, path)
    except OSError as error:
        raise cannot_write(path, error) from error
    return path


def _complete(remote: Remote, partial: Path, advance: Callable[[int], None]) -> None:
    """Fetch until the partial file has its full size."""
    if partial.is_file() and partial.stat().st_size > remote.size:
        partial.unlink()
    partial.touch()
    advance(partial.stat().st_size)
    failed = 0
    while (before := partial.stat().st_size) < remote.size:
        fault = _fetch(remote, partial, before, advance)
        failed = 0 if partial.stat().st_size > before else failed + 1
        if failed >= ATTEMPTS:
            raise _unreachable(remote.url, fault, f"{before:,} of {remote.size:,} bytes are kept: try again later.")
        if failed:
            time.sleep(PAUSE * 2 ** (failed - 1))


def _fetch(remote: Remote, partial: Path, begin: int, advance: Callable[[int], None]) -> Exception | None:
    """Fetch the rest in one request, as far as it comes; return the fault that ended it."""
    try:
        with _open(remote.url, {"Range": f"bytes={begin}-"} if begin else {}) as answer:
            if begin and answer.status != 206:  # the server sends all of it
                partial.unlink()
                advance(-begin)
                begin = 0
            _append(answer, partial, remote.size - begin, advance)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code not in (408, 416, 429) and error.code < 500:
            raise DownloadError(f"{remote.url} answers with the error {error.code}") from error
        return error
    except _WritingError as error:
        raise error.cause from error
    except FAULTS as error:
        return error
    return None


class _WritingError(Exception):
    """The disk failed, not the network."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


def _append(answer: http.client.HTTPResponse, partial: Path, left: int, advance: Callable[[int], None]) -> None:
    while left > 0:
        block = answer.read1(min(BLOCK, left))
        if not block:
            return
        try:
            with partial.open("ab") as file:
                file.write(block)
        except OSError as error:
            raise _WritingError(error) from error
        left -= len(block)
        advance(len(block))


def _open(url: str, headers: dict[str, str] | None = None) -> http.client.HTTPResponse:
    if not url.startswith(("https://", "http://")):
        raise DownloadError(f"{url} is not an address of the web")
    request = urllib.request.Request(url, headers={"User-Agent": "tongsa", **(headers or {})})
    answer: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT)
    return answer


def _unreachable(url: str, fault: Exception | None, *more: str) -> DownloadError:
    why = getattr(fault, "reason", None) or fault or "the connection ended"
    return DownloadError(f"{url} cannot be fetched: {why}", *more)
