"""The edge: what every request meets before a route does, and every answer on its way out.

Sizes and times are held while the body comes in, the routes see it whole. Where the queue is full, a request for work
goes no further: to refuse should cost little. A client that hangs up cancels its request.
Every answer has the headers that keep browsers careful; every request leaves a line in the log and a count.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tongsa.server.http.answers import refused
from tongsa.server.http.limits import Limits
from tongsa.server.http.logs import tell, tell_failure
from tongsa.server.http.metrics import Metrics
from tongsa.server.http.refusals import Refusal, slow_down
from tongsa.server.work.queue import Queue

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
UPLOADS = ("/translate_file",)
WORK = frozenset(["/translate", "/translate_file", "/v2/translate", "/api/attention", "/api/score"])
GONE = 499
"""The status of a request whose client did not wait for the answer; only the log sees it."""


class Edge:
    def __init__(self, app: ASGIApp, limits: Limits, metrics: Metrics, queue: Queue) -> None:
        self.app = app
        self.queue = queue
        self.limits = limits
        self.metrics = metrics
        self.held = 0
        """Bytes of the bodies of all requests under way."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        answer = Answer(send)
        body = bytearray()
        try:
            await self._read(scope, receive, body)
            if scope["path"] in WORK:
                self.queue.refuse_if_full()
            await self._answer(scope, receive, answer, bytes(body))
        except Refusal as refusal:
            await refused(scope["path"], refusal)(scope, receive, answer)
        except Exception as error:
            tell_failure("request failed", error, {"path": _path(scope)})
            if not answer.status:
                await refused(scope["path"], Refusal(500, "Something went wrong here"))(scope, receive, answer)
        finally:
            self.held -= len(body)
            self._note(scope, answer.status or GONE, time.perf_counter() - began)

    async def _read(self, scope: Scope, receive: Receive, body: bytearray) -> None:
        """The whole body, within its limits of size and time."""
        most = self.limits.upload if scope["path"] in UPLOADS else self.limits.body
        told = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if most and told.isdigit() and int(told) > most:
            raise _too_large(most)
        try:
            async with asyncio.timeout(self.limits.body_seconds or None):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refusal(400, "The request was cut short")
                    chunk = message.get("body", b"")
                    more = message.get("more_body", False)
                    body += chunk
                    self.held += len(chunk)
                    if most and len(body) > most:
                        raise _too_large(most)
                    if self.limits.held and self.held > self.limits.held:
                        raise slow_down("too much is being read", 5)
        except TimeoutError:
            raise Refusal(408, "The request took too long to arrive") from None

    async def _answer(self, scope: Scope, receive: Receive, send: Answer, body: bytes) -> None:
        """Let a route answer, but only as long as somebody waits for it."""
        work = asyncio.ensure_future(self.app(scope, _whole(body), send))
        gone = asyncio.ensure_future(_hung_up(receive))
        seconds = self.limits.document_seconds if scope["path"] in UPLOADS else self.limits.seconds
        try:
            await asyncio.wait({work, gone}, timeout=seconds or None, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
            elif not gone.done() and not send.status:
                raise Refusal(503, "The answer took too long", retry_after=10)
        finally:
            gone.cancel()
            if not work.done():
                work.cancel()
                await asyncio.wait({work})

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        path = _path(scope)
        self.metrics.count_request(path, status, seconds)
        fields: dict[str, Any] = {
            "method": scope["method"],
            "path": path,
            "status": status,
            "milliseconds": round(1000 * seconds, 1),
        }
        for name in ("client", "characters"):
            if value := scope.get(f"tongsa.{name}"):
                fields[name] = value
        tell("request", fields)


class Answer:
    """Sends an answer with the headers that all have, and remembers its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message.get("headers", []), *HEADERS]
            if not any(name == b"cache-control" for name, _ in headers):
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": headers}
        await self._send(message)


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"The request is larger than {most:,} bytes")


def _whole(body: bytes) -> Callable[[], Awaitable[MutableMapping[str, Any]]]:
    """The body in one message; the edge itself listens for what comes after."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else await asyncio.get_running_loop().create_future()

    return receive


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _path(scope: Scope) -> str:
    """The route's pattern: a path that nobody serves, or the name of a file, is a client's own text."""
    if scope["path"] in WORK:
        return str(scope["path"])
    return str(getattr(scope.get("route"), "path", "")) or "other"
