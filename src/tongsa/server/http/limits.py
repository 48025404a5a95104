"""Limits of a service: per request, and for all requests together."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

from tongsa.base.errors import UsageError

_SIZE = re.compile(r"([0-9]{1,15})\s*([kKmMgG]?)[bB]?$")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """`--limits characters=20000,queue=512`: every field can be set; 0 removes the limit."""

    characters: int = 50_000
    """Characters in all texts of a request together."""
    texts: int = 1_000
    """Texts of one request."""
    alternatives: int = 8
    """Alternative translations of one text."""
    body: int = 2 << 20
    """Bytes of a request; can be written as 512k or 2M."""
    upload: int = 10 << 20
    """Bytes of a request with a file."""
    held: int = 256 << 20
    """Bytes of all requests being read or processed."""
    queue: int = 256
    """Requests being translated or waiting; further ones are refused with Retry-After."""
    connections: int = 2_000
    """Connections open at the same time."""
    idle_seconds: int = 620
    """Seconds that a connection is kept open for the next request. Longer than clients and proxies keep theirs (at most
    600 as far as we know), so that they close it: a request that arrives while the service closes gets no answer."""
    requests: int = 0
    """Requests per minute from one address or key (0: unlimited)."""
    header_seconds: int = 10
    """Seconds for the first line and the headers of a request."""
    body_seconds: int = 30
    """Seconds for the body of a request."""
    seconds: int = 120
    """Seconds for the answer."""
    document_seconds: int = 900
    """Seconds for the answer when a file is translated."""
    parse_seconds: int = 120
    """Seconds of processor time to read and rebuild a document or a long text, translation not included."""
    parse_memory: int = 1_536 << 20
    """Bytes of memory to read and rebuild a document or a long text."""
    unread_seconds: int = 30
    """Seconds that a client may leave an answer unread before its connection is closed."""
    suggestions: int = 64 << 20
    """Bytes of all suggestions together."""
    keep_seconds: int = 3_600
    """Seconds for which a translated file can be downloaded."""
    glossary_terms: int = 10_000
    """Terms of one glossary."""
    glossaries: int = 1_000
    """Glossaries of the whole service."""

    def allows(self, name: str, value: int) -> bool:
        """Whether a value is within the limit of this name."""
        most: int = getattr(self, name)
        return not most or value <= most


def parse(text: str) -> Limits:
    """Read `name=value,name=value`; all problems are reported together."""
    names = {field.name for field in fields(Limits)}
    given: dict[str, int] = {}
    problems = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        size = _SIZE.match(value.strip())
        if name.strip() not in names:
            problems.append(f"unknown limit: {name.strip()!r}")
        elif not size:
            problems.append(f"{part!r} needs a whole number")
        else:
            given[name.strip()] = int(size[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[size[2].lower()]
    if problems:
        known = f"Limits: {', '.join(sorted(names))}"
        raise UsageError("--limits cannot be read", *problems, known, "Write:  characters=20000,queue=512")
    return replace(Limits(), **given)
