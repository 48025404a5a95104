"""Answers: JSON as bytes, and the headers of every answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson
from starlette.responses import Response
from starlette.types import Message, Send

JSON = "application/json"
CHUNK = 64 << 10
"""Bytes of a body that are sent at once."""
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]


class Json(Response):
    media_type = JSON

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


@dataclass
class Held:
    """Memory for the bodies of all requests in progress, and of answers that wait for their clients."""

    size: int = 0
    """Bytes."""


class AnswerSender:
    """Sends an answer with the headers of every answer, and records its status.

    A long body is sent in chunks, each when the client has read enough of those before: what waits for a client that
    reads slowly is held once, here, and not a second time in the buffer of its connection.
    """

    def __init__(self, send: Send, held: Held) -> None:
        self._send = send
        self._held = held
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message.get("headers", []), *HEADERS]
            if not any(name == b"cache-control" for name, _ in headers):
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": headers}
        elif len(body := message.get("body", b"")) > CHUNK:
            await self._send_chunks(body, more=message.get("more_body", False))
            return
        await self._send(message)

    async def _send_chunks(self, body: bytes, *, more: bool) -> None:
        self._held.size += len(body)
        try:
            for start in range(0, len(body), CHUNK):
                part, last = body[start : start + CHUNK], start + CHUNK >= len(body)
                await self._send({"type": "http.response.body", "body": part, "more_body": more or not last})
        finally:
            self._held.size -= len(body)
