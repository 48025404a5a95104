"""Refusals: a status and a message for the client, never a path or a traceback."""

from __future__ import annotations

import math

INTERNAL_ERROR = "Internal error: the log of the server has the details"


class Refusal(Exception):
    """Ends a request. The interface that was called decides how the message is written into the answer."""

    def __init__(self, status: int, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.retry_after is None else {"retry-after": str(max(1, math.ceil(self.retry_after)))}


def invalid(message: str) -> Refusal:
    return Refusal(400, f"Invalid request: {message}")


def slow_down(message: str, seconds: float) -> Refusal:
    return Refusal(429, f"Slowdown: {message}", retry_after=seconds)
