"""The middleware that every request passes before it reaches a route, and every answer on its way out.

The body is read here, within its limits of size and time; routes get it whole. When the queue is full, requests for
work are refused here, before they are parsed, so that a refusal costs little. A client that disconnects cancels its
request. Every answer gets the security headers; every request is logged and counted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tongsa.server.http.answers import AnswerSender, Held
from tongsa.server.http.limits import Limits
from tongsa.server.http.logs import log_event, log_failure
from tongsa.server.http.metrics import Metrics
from tongsa.server.http.refusals import INTERNAL_ERROR, Refusal, slow_down
from tongsa.server.http.routes import Interfaces, Needs

CLIENT_GONE = 499
"""Logged as the status of a request whose client disconnected before the answer."""
LONGEST_NUMBER = 18
"""Digits of a size that is worth reading."""
NOTHING = Needs()


class RequestMiddleware:
    def __init__(
        self,
        app: ASGIApp,
        interfaces: Interfaces,
        *,
        limits: Limits,
        metrics: Metrics,
        refuse_if_full: Callable[[], None],
    ) -> None:
        """`refuse_if_full` raises a Refusal while the queue is full."""
        self.app = app
        self.interfaces = interfaces
        self.limits = limits
        self.metrics = metrics
        self.refuse_if_full = refuse_if_full
        self.held = Held()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        answer = AnswerSender(send, self.held)
        body, size = bytearray(), 0
        needs = self.interfaces.needs.get(scope["path"], NOTHING)
        try:
            await self._read(scope, receive, body, self.limits.upload if needs.upload else self.limits.body)
            if needs.queue:
                self.refuse_if_full()
            seconds = self.limits.document_seconds if needs.upload else self.limits.seconds
            whole, size = bytes(body), len(body)
            body.clear()  # it would be held twice
            await self._answer(scope, receive, answer, whole, seconds)
        except Refusal as refusal:
            await self.interfaces.refused(scope["path"], refusal)(scope, receive, answer)
        except Exception as error:
            log_failure("request failed", error, {"path": self._logged_path(scope)})
            if not answer.status:
                failed = Refusal(500, INTERNAL_ERROR)
                await self.interfaces.refused(scope["path"], failed)(scope, receive, answer)
        finally:
            self.held.size -= size or len(body)
            self._log(scope, answer.status or CLIENT_GONE, time.perf_counter() - began)

    async def _read(self, scope: Scope, receive: Receive, body: bytearray, limit: int) -> None:
        """Read the whole body, within its limits of size and time."""
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if limit and declared.isdigit() and (len(declared) > LONGEST_NUMBER or int(declared) > limit):
            raise _too_large(limit)
        try:
            async with asyncio.timeout(self.limits.body_seconds or None):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refusal(400, "The request ended before its body was complete")
                    chunk = message.get("body", b"")
                    more = message.get("more_body", False)
                    body += chunk
                    self.held.size += len(chunk)
                    if limit and len(body) > limit:
                        raise _too_large(limit)
                    if self.limits.held and self.held.size > self.limits.held:
                        raise slow_down("too many bytes of requests are in memory", 5)
        except TimeoutError:
            raise Refusal(408, "The request took too long to arrive") from None

    async def _answer(self, scope: Scope, receive: Receive, send: AnswerSender, body: bytes, seconds: float) -> None:
        """Let the application answer, as long as the client is connected and there is time.

        An answer that has begun may take longer: `Connection` closes the connection of a client that does not read it.
        """
        work = asyncio.ensure_future(self.app(scope, _receive_whole(body), send))
        gone = asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait({work, gone}, timeout=seconds or None, return_when=asyncio.FIRST_COMPLETED)
            if send.status and not work.done():
                await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
            elif not gone.done() and not send.status:
                raise Refusal(503, "The answer took too long", retry_after=10)
        finally:
            gone.cancel()
            if not work.done():
                work.cancel()
                await asyncio.wait({work})

    def _log(self, scope: Scope, status: int, seconds: float) -> None:
        path = self._logged_path(scope)
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
        log_event("request", fields)

    def _logged_path(self, scope: Scope) -> str:
        """The pattern of the route, for logs. Unknown paths and file names are the client's text and are not logged."""
        if scope["path"] in self.interfaces.needs:
            return str(scope["path"])
        return str(getattr(scope.get("route"), "path", "")) or "other"


def _too_large(limit: int) -> Refusal:
    return Refusal(413, f"The request is larger than {limit:,} bytes")


def _receive_whole(body: bytes) -> Callable[[], Awaitable[MutableMapping[str, Any]]]:
    """A `receive` that returns the body in one message; the middleware itself listens for the disconnect."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else await asyncio.get_running_loop().create_future()

    return receive


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
