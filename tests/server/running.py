"""Services as users run them: a process of its own, on a port of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import httpx

Result = TypeVar("Result")
SENTENCE = "학생은 책을 읽어요."
PATIENCE = 180
"""Seconds: more than the service itself takes before it gives up."""


def in_a_loop(work: Coroutine[Any, Any, Result]) -> Result:
    """Run it in a thread of its own: tests that drive a browser leave a loop running in theirs."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


class Running:
    """`tongsa serve` under way."""

    def __init__(self, arguments: list[str]) -> None:
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tongsa", "serve", *arguments],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        self.lines: list[dict[str, Any]] = []
        self._listening = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._listening.wait(PATIENCE), "the service did not start"
        self.url = next(line["url"] for line in self.lines if line["event"] == "listening")
        self.port = int(self.url.rpartition(":")[2])

    def _read(self) -> None:
        assert self.process.stderr
        with self.process.stderr as stream:
            for line in stream:
                try:
                    self.lines.append(json.loads(line))
                except ValueError:
                    self.lines.append({"event": "no JSON", "line": line})
                if self.lines[-1]["event"] == "listening":
                    self._listening.set()
        self._listening.set()

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == name]

    def wait_for(self, name: str, seconds: float = PATIENCE, **having: Any) -> dict[str, Any]:
        """The last event of this name (and with these values): lines are read a little after they were written."""
        end = time.monotonic() + seconds
        while not (found := [line for line in self.events(name) if having.items() <= line.items()]):
            assert time.monotonic() < end, f"{name} {having} did not happen: {self.lines[-5:]}"
            time.sleep(0.02)
        return found[-1]

    def post(self, path: str, json: Any = None, **more: Any) -> httpx.Response:
        return httpx.post(self.url + path, json=json, timeout=PATIENCE, **more)

    def get(self, path: str, **more: Any) -> httpx.Response:
        return httpx.get(self.url + path, timeout=PATIENCE, **more)

    def translate(self, q: Any = SENTENCE, **more: Any) -> dict[str, Any]:
        answer = self.post("/translate", {"q": q, "source": "ko", "target": "en", **more})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(sign)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code


Start = Callable[..., Running]
