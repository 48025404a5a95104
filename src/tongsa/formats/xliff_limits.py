"""Limits of length in XLIFF: `maxwidth` of 1.2, and the size and length restriction module of 2.x."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tongsa.formats.segments import Content, visible

RESTRICTIONS = "urn:oasis:names:tc:xliff:sizerestriction:2.0"


@dataclass(frozen=True)
class Limit:
    """The most that a translation may have."""

    most: int
    in_bytes: bool = False

    @classmethod
    def of(cls, unit: Any) -> Limit | None:
        """Read `maxwidth` of 1.2, or the restrictions of 2.x, which are inherited from groups and files.

        Limits in pixels cannot be checked; `maxwidth` without a unit is taken for characters, as most programs mean it.
        """
        for each in (unit, *unit.iterancestors()):
            kind = each.get("size-unit", "char")
            if (most := _number(each.get("maxwidth"))) is not None:
                return cls(most, kind == "byte") if kind in ("char", "byte") else None
            for name, in_bytes in (("sizeRestriction", False), ("storageRestriction", True)):
                value = each.get(f"{{{RESTRICTIONS}}}{name}")
                if value and (most := _number(value.rpartition(",")[2].strip())) is not None:
                    return cls(most, in_bytes)
        return None

    def size(self, content: Content) -> int:
        text = visible(content)
        return len(text.encode("utf-8", "replace")) if self.in_bytes else len(text)


def _number(text: str | None) -> int | None:
    return int(text) if text and len(text) < 10 and text.isdecimal() else None
