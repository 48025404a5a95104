"""A table of the paper made again: as text for a terminal, as Markdown, and as a page of the kit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tongsa.base.files import write_atomically
from tongsa.lab.compare.table import scientific
from tongsa.lab.paper.published import PAPER
from tongsa.lab.tables import NOTHING, TablesPage


@dataclass(frozen=True, kw_only=True)
class PaperTable(TablesPage):
    """What a table command shows: our own figures first, then the paper's where they are not beside ours."""

    number: int

    @property
    def title(self) -> str:
        return f"Table {self.number} of the paper"

    @property
    def over(self) -> str:
        return f"Attention Is All You Need, {PAPER}"

    def write(self, folder: Path) -> list[Path]:
        """Write tableN.md and tableN.html."""
        stem = f"table{self.number}"
        written = [folder / f"{stem}.md", folder / f"{stem}.html"]
        for path, content in zip(written, (self.markdown(), self.html()), strict=True):
            write_atomically(path, content)
        return written


def cost(value: float | None) -> str:
    """FLOPs in scientific notation: 3.3e18."""
    return NOTHING if value is None else scientific(value)
