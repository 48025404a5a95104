"""Content with marks, built from left to right; an opening mark finds its closing one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tongsa.formats.segments import Content, Mark


@dataclass
class Marked:
    """Text and raw markup become content; a mark's number is the place of its raw form."""

    raws: list[str] = field(default_factory=list)
    parts: list[str | Mark] = field(default_factory=list)
    _waiting: list[tuple[str, int]] = field(default_factory=list)

    def text(self, text: str) -> None:
        if text:
            self.parts.append(text)

    def alone(self, raw: str, text: str = "", *, breaks: bool = False) -> None:
        self.parts.append(Mark(number=len(self.raws), text=text, breaks=breaks))
        self.raws.append(raw)

    def open(self, raw: str, name: str) -> None:
        self._waiting.append((name, len(self.parts)))
        self.alone(raw)

    def close(self, raw: str, name: str) -> None:
        """A closing mark without an opening one stands alone, and so does an opening one that was never closed."""
        if not any(name == each for each, _ in self._waiting):
            self.alone(raw)
            return
        while self._waiting[-1][0] != name:
            self._waiting.pop()
        place = self._waiting.pop()[1]
        opening = self.parts[place]
        assert isinstance(opening, Mark)
        self.parts[place] = replace(opening, role="open", pair=opening.number)
        self.parts.append(Mark(role="close", number=len(self.raws), pair=opening.number))
        self.raws.append(raw)

    def content(self) -> Content:
        return tuple(self.parts)
