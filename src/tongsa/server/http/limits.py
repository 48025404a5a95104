"""What one service gives at most, to one request and to all of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

from tongsa.base.errors import UsageError

_SIZE = re.compile(r"(\d+)\s*([kKmM]?)[bB]?$")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """`--limits characters=20000,queue=512`: every name here is one that can be given; 0 takes a limit away."""

    characters: int = 50_000
    """Of all texts of a request together."""
    texts: int = 1_000
    """Of one request."""
    alternatives: int = 8
    """Of one text."""
    body: int = 2 << 20
    """Bytes of a request; 512k and 2M can be written."""
    upload: int = 10 << 20
    """Bytes of a request with a file."""
    held: int = 256 << 20
    """Bytes of all requests that are being read or worked on."""
    queue: int = 256
    """Requests that are translated or wait for it; the next one is told to come back."""
    connections: int = 2_000
    """Open at the same time."""
    idle_seconds: int = 620
    """That a connection is kept for the next request: longer than clients and proxies keep theirs (600 at most, as far
    as is known), so that it is they who close it. A request that comes while the service does so has no answer."""
    requests: int = 0
    """A minute, from one address or key (0: any number)."""
    header_seconds: int = 10
    """For the first line and the headers of a request."""
    body_seconds: int = 30
    """For the rest of it."""
    seconds: int = 120
    """For the answer."""
    document_seconds: int = 900
    """For the answer where a file is translated."""
    keep_seconds: int = 3_600
    """How long a translated file can be fetched."""
    glossary_terms: int = 10_000
    """Of one glossary."""
    glossaries: int = 1_000
    """Of the whole service."""

    def allows(self, name: str, value: int) -> bool:
        """Whether so much is within the limit of that name."""
        most: int = getattr(self, name)
        return not most or value <= most


def parse(text: str) -> Limits:
    """Limits of `name=value,name=value`; all that is wrong is told together."""
    names = {field.name for field in fields(Limits)}
    given: dict[str, int] = {}
    problems = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        size = _SIZE.match(value.strip())
        if name.strip() not in names:
            problems.append(f"{name.strip()!r} is no limit")
        elif not size:
            problems.append(f"{part!r} has no whole number")
        else:
            given[name.strip()] = int(size[1]) << {"": 0, "k": 10, "m": 20}[size[2].lower()]
    if problems:
        known = f"Limits: {', '.join(sorted(names))}"
        raise UsageError("--limits cannot be read", *problems, known, "Write:  characters=20000,queue=512")
    return replace(Limits(), **given)
