"""HTTP connections that cannot be held open for nothing, and that end well.

uvicorn waits for the headers of a request for as long as they take, and for as many bytes. Here both have a limit, from
the first byte of a request on, and so has the rest of a body whose request was refused already. When the service goes
down, uvicorn closes idle connections at once, also where a request is on its way already; here they get a moment. And
whose time is over is looked at once more before the end: timers run before sockets are read, so when the whole process
has stood still for a while, a request may have come that nobody has seen. Where all places are taken, the connection
that has been idle longest makes room for a new one.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

HEADER_BYTES = 64 << 10
LAST_MOMENT = 0.5
"""Seconds in which a request may still arrive on a connection that is about to be closed."""
A_TURN = 0.02
"""Seconds after which the event loop has read what was there."""


def protocol(seconds: float, connections: int) -> type[HttpToolsProtocol]:
    """The class that uvicorn makes one of for each connection."""

    class Limited(Connection):
        header_seconds = seconds
        most = connections
        idle: ClassVar[dict[HttpToolsProtocol, None]] = {}

    return Limited


class Connection(HttpToolsProtocol):
    """One connection; `protocol` says what its limits are."""

    header_seconds: ClassVar[float]
    most: ClassVar[int]
    """Connections."""
    idle: ClassVar[dict[HttpToolsProtocol, None]]
    """Those that wait for their next request, the one without a word for longest first."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._deadline: asyncio.TimerHandle | None = None
        self._header_bytes = 0
        self._in_body = False
        self._last = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.most and len(self.connections) > self.most and not self._made_room():
            self._refuse(b"503 Service Unavailable")
        else:
            self._wait(self.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self.idle.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self.idle.pop(self, None)
        if not self._in_body:
            self._header_bytes += len(data)
        super().data_received(data)
        if not self._in_body and self._header_bytes > HEADER_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._wait(self.header_seconds)

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        self._in_body = True
        self._header_bytes = 0
        super().on_headers_complete()
        if self._last:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        self._in_body = False
        self._header_bytes = 0
        self._stop_waiting()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._in_body and not self.transport.is_closing():
            self._wait(self.header_seconds)
        elif self.timeout_keep_alive_task is not None:
            self.idle[self] = None

    def shutdown(self) -> None:
        self._last = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False
        else:
            self._wait(LAST_MOMENT)

    def _made_room(self) -> bool:
        if not self.idle:
            return False
        longest = next(iter(self.idle))
        del self.idle[longest]
        longest.transport.close()
        return True

    def _wait(self, moment: float) -> None:
        self._stop_waiting()
        if moment:
            self._deadline = self.loop.call_later(moment, self._look_again)

    def timeout_keep_alive_handler(self) -> None:
        self._look_again()

    def _look_again(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(A_TURN, self._too_slow)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        """Who has begun a request is told why it ends; an idle connection is just closed."""
        if self._header_bytes:
            self._refuse(b"408 Request Timeout")
        else:
            self.transport.close()

    def _refuse(self, status: bytes) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            self.transport.close()
