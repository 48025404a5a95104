"""What a section says of a number that lies outside its bounds."""

from __future__ import annotations


def bounds(
    section: object,
    *,
    at_least_1: list[str] | None = None,
    at_least_0: list[str] | None = None,
    fractions: list[str] | None = None,
) -> list[str]:
    found = []
    for key in at_least_1 or []:
        if getattr(section, key) < 1:
            found.append(f"{key} is {getattr(section, key)}; it must be at least 1")
    for key in at_least_0 or []:
        if getattr(section, key) < 0:
            found.append(f"{key} is {getattr(section, key)}; it must not be negative")
    for key in fractions or []:
        if not 0 <= getattr(section, key) < 1:
            found.append(f"{key} is {getattr(section, key)}; it must be at least 0 and below 1")
    return found
