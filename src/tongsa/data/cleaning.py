"""Named filters over pairs. Each counts what it left out and keeps the first places: nothing vanishes unsaid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b

from tongsa.formats.pairs import EXAMPLES as EXAMPLES
from tongsa.formats.pairs import Pair
from tongsa.formats.pairs import Tally as Tally
from tongsa.text.lines import tidy

Filter = Callable[[Pair], bool]
"""True where the pair may stay."""


def clean(pairs: Iterable[Pair], filters: dict[str, Filter], tally: Tally) -> Iterator[Pair]:
    """The pairs that every filter lets through; the first filter that does not is the one that counts."""
    for pair in pairs:
        tally.seen += 1
        for name, stays in filters.items():
            if not stays(pair):
                tally.drop(name, pair.where)
                break
        else:
            yield pair


def has_text(pair: Pair) -> bool:
    """Text for the model, that is: a line may hold nothing but what tidying takes out."""
    return bool(tidy(pair.source) and tidy(pair.target))


def shorter_than(characters: int) -> Filter:
    """Keeps absurd lines away from the subword model; the exact limit is in subwords, after it."""
    return lambda pair: len(pair.source) <= characters and len(pair.target) <= characters


def not_seen_before() -> Filter:
    """Remembers eight bytes of each pair."""
    seen: set[bytes] = set()

    def stays(pair: Pair) -> bool:
        key = blake2b(f"{pair.source}\t{pair.target}".encode(), digest_size=8).digest()
        if key in seen:
            return False
        seen.add(key)
        return True

    return stays
