"""API keys, and what each client may use.

[weblate]
key = "a long random word"
requests = 600          # per minute; if 0 or missing, the service's limit applies
characters = 5000000    # per month; if 0 or missing, unlimited
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import time
import tomllib
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from tongsa.base.errors import UsageError
from tongsa.base.files import write_atomically
from tongsa.server.http.refusals import Refusal, slow_down

K = TypeVar("K")
V = TypeVar("V")

MIN_KEY_LENGTH = 16
"""Minimum length of a key, in characters: shorter keys could be guessed."""
FREE_GUESSES = 5
"""Wrong keys from one address before it has to wait."""
LONGEST_WAIT = 900.0
"""Most seconds that an address has to wait after a wrong key."""
FORGOTTEN_AFTER = 3_600.0
"""Seconds after which the wrong keys of an address no longer count."""
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


class WrongKeys:
    """Makes guessing slow: after a few wrong keys an address has to wait, twice as long each time.

    While an address waits, only keys that it has used before are accepted, so that a stranger behind the same proxy
    cannot lock out everybody.
    """

    def __init__(self) -> None:
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()
        """By address: wrong keys so far, and the time until which it has to wait."""
        self._used: OrderedDict[tuple[str, str], None] = OrderedDict()
        """Addresses and the names of keys that they have used."""

    def check(self, host: str, found: Key | None) -> Key:
        """Return the key that was found; refuse a wrong one, and while the address waits, any that is new for it."""
        address, now = network(host), time.monotonic()
        wrong, until = self._wrong.get(address, (0, 0.0))
        if now < until and (found is None or (address, found.name) not in self._used):
            raise slow_down("too many wrong keys from this address", until - now)
        if found is None:
            wrong = wrong + 1 if now < until + FORGOTTEN_AFTER else 1
            seconds = min(LONGEST_WAIT, 2.0 ** min(wrong - FREE_GUESSES, 16)) if wrong > FREE_GUESSES else 0.0
            _remember(self._wrong, address, (wrong, now + seconds))
            raise Refusal(403, "Invalid API key")
        _remember(self._used, (address, found.name), None)
        return found


def network(host: str) -> str:
    """The address of a client; for IPv6 its network of 64 bits, which one client has for itself."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.version == 4:
        return host
    if mapped := address.ipv4_mapped:
        return str(mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False))


def _remember(table: OrderedDict[K, V], key: K, value: V) -> None:
    """Store a value; of too many, the one stored longest ago is forgotten."""
    table[key] = value
    table.move_to_end(key)
    if len(table) > MAX_CLIENTS:
        table.popitem(last=False)


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
        left, then = self._left.get(client.name, (float(most), now))
        left = min(float(most), left + (now - then) * most / 60)
        # A refused request is not charged: a client that waits for Retry-After is served.
        _remember(self._left, client.name, (left - 1 if left >= 1 else left, now))
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
