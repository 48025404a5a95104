"""API keys, and what each client may use.

[weblate]
key = "a long random word"
requests = 600          # per minute; if 0 or missing, the service's limit applies
characters = 5000000    # per month; if 0 or missing, unlimited
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
import tomllib
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tongsa.base.errors import UsageError
from tongsa.base.files import write_atomically
from tongsa.server.http.refusals import Refusal, slow_down

MIN_KEY_LENGTH = 16
"""Minimum length of a key, in characters: shorter keys could be guessed."""
MAX_CLIENTS = 10_000
"""Clients whose requests are counted; the least recently seen is forgotten first."""


@dataclass(frozen=True, kw_only=True)
class Key:
    """A client: the holder of a key, or an address."""

    name: str
    digest: bytes = b""
    requests: int = 0
    characters: int = 0


class Keys:
    """Find the client of a key. It is compared with every key, so that the time reveals nothing."""

    def __init__(self, keys: list[Key]) -> None:
        self.keys = keys

    @classmethod
    def read(cls, path: Path) -> Keys:
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} is not valid TOML: {error}", "Keys look like this:", *_example()) from error
        problems = [problem for name, table in tables.items() for problem in _problems(name, table)]
        if problems or not tables:
            raise UsageError(f"{path} has no usable keys", *problems, "Keys look like this:", *_example())
        return cls(
            [
                Key(
                    name=name,
                    digest=_digest(table["key"]),
                    requests=table.get("requests", 0),
                    characters=table.get("characters", 0),
                )
                for name, table in tables.items()
            ]
        )

    def find(self, given: str) -> Key | None:
        digest = _digest(given)
        found = None
        for key in self.keys:
            if hmac.compare_digest(key.digest, digest):
                found = key
        return found


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _problems(name: str, table: object) -> list[str]:
    if not isinstance(table, dict):
        return [f"{name} is not a table"]
    found = [f"[{name}] has an unknown {each}" for each in table.keys() - {"key", "requests", "characters"}]
    if not isinstance(table.get("key"), str) or len(table["key"]) < MIN_KEY_LENGTH:
        found.append(f"[{name}] needs a key of at least {MIN_KEY_LENGTH} characters")
    for each in ("requests", "characters"):
        value = table.get(each, 0)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            found.append(f"[{name}] {each} must be a whole number")
    return found


def _example() -> list[str]:
    return ["[weblate]", 'key = "a long random word"', "requests = 600", "characters = 5000000"]


class Allowances:
    """Requests per minute and characters per month, by client. A whole minute's requests may come at once.

    With a data folder, the characters used this month survive a restart, as of the last `save`.
    """

    def __init__(self, requests: int, data: Path | None = None) -> None:
        self.requests = requests
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._file = data / "usage.json" if data else None
        self._month, self._used = _read_usage(self._file) if self._file and self._file.exists() else ("", {})
        self._saved = dict(self._used)

    def spend_request(self, client: Key) -> None:
        most = client.requests or self.requests
        if not most:
            return
        now = time.monotonic()
        left, then = self._left.pop(client.name, (float(most), now))
        left = min(float(most), left + (now - then) * most / 60)
        # A refused request is not charged: a client that waits for Retry-After is served.
        self._left[client.name] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MAX_CLIENTS:
            self._left.popitem(last=False)
        if left < 1:
            raise slow_down(f"more than {most} requests per minute", (1 - left) * 60 / most)

    def spend_characters(self, client: Key, count: int) -> None:
        """Charge a key; clients without one have no monthly allowance."""
        if not client.digest:
            return
        used = self.used(client)
        if client.characters and used + count > client.characters:
            raise Refusal(456, "Quota exceeded: the characters of this month are used up")
        self._used[client.name] = used + count

    def refund_characters(self, client: Key, count: int) -> None:
        """Undo a charge for which no work was done."""
        if client.digest:
            self._used[client.name] = max(0, self.used(client) - count)

    def used(self, client: Key) -> int:
        month = datetime.now(UTC).strftime("%Y-%m")
        if month != self._month:
            self._month = month
            self._used.clear()
        return self._used.get(client.name, 0)

    def save(self) -> None:
        """Write what clients have used, if it changed since the last time."""
        month, used = self._month, dict(self._used)
        if self._file and used != self._saved:
            write_atomically(self._file, json.dumps({"month": month, "characters": used}, ensure_ascii=False))
            self._saved = used


def _read_usage(path: Path) -> tuple[str, dict[str, int]]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return str(values["month"]), {str(name): int(count) for name, count in values["characters"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "Without it, the count starts at zero.") from error
