"""What a client is told when it is refused: a status and a sentence, never a path or a traceback."""

from __future__ import annotations

import math


class Refusal(Exception):
    """Answered as `{"error": ...}`, or `{"message": ...}` where DeepL's clients look for it."""

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
