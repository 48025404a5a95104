"""What was left out, counted by reason, with the first places."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tongsa.formats.pairs import Place

EXAMPLES = 3


@dataclass
class Tally:
    """How many pairs came, how many each filter took out, and where the first of those stood."""

    seen: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[Place]] = field(default_factory=dict)

    @property
    def kept(self) -> int:
        return self.seen - self.dropped.total()

    def drop(self, name: str, where: Place) -> None:
        self.dropped[name] += 1
        examples = self.places.setdefault(name, [])
        if len(examples) < EXAMPLES:
            examples.append(where)

    def clear(self) -> None:
        """For the next pass over the same corpus."""
        self.seen = 0
        self.dropped.clear()
        self.places.clear()

    def lines(self) -> list[str]:
        """What was left out, a line a filter."""
        return [
            f"left out {count:,} {name} (first: {'; '.join(map(str, self.places[name]))})"
            for name, count in self.dropped.most_common()
        ]
