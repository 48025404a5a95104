"""Changes that make an input from a valid one: what a fuzzer does where nothing guides it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

MOST_CHANGES = 6


def mutated(seeds: Sequence[bytes], tokens: Sequence[bytes], draw: Random) -> bytes:
    """Change one of the seeds in a few places."""
    data = bytearray(draw.choice(seeds))
    for _ in range(draw.randint(1, MOST_CHANGES)):
        start = draw.randint(0, len(data))
        end = min(len(data), start + draw.choice((1, 1, 4, 16, 64)))
        kind = draw.randrange(7)
        if kind == 0:
            data[start:end] = b""
        elif kind == 1:
            data[start:start] = data[start:end]
        elif kind == 2:
            data[start:end] = bytes([draw.randrange(256)])
        elif kind == 3 and tokens:
            data[start:start] = draw.choice(tokens) * draw.choice((1, 1, 1, 2, 50))
        elif kind == 4 and tokens:
            data[start:end] = draw.choice(tokens)
        elif kind == 5:
            del data[start:]
        else:
            other = draw.choice(seeds)
            cut = draw.randint(0, len(other))
            data[start:end] = other[cut : cut + 64]
    return bytes(data)
