"""A table of the paper made again: as text for a terminal, as Markdown, and as a page of the kit."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tongsa
from tongsa.base.files import write_atomically
from tongsa.evaluation.significance import aligned
from tongsa.lab.compare.table import markdown_table, scientific
from tongsa.lab.paper.published import PAPER
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.markup import escape, table

NOTHING = "–"
"""A cell for which there is no figure."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A table with a title."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """What a table command shows."""

    number: int
    caption: str
    parts: Sequence[Part]
    """Our own figures first, then the paper's where they are not beside ours."""
    notes: Sequence[str]
    figures: Sequence[str] = ()
    """Charts of the page kit, as HTML."""

    @property
    def title(self) -> str:
        return f"Table {self.number} of the paper"

    def text(self) -> str:
        blocks = [f"{self.title}: {self.caption}"]
        for part in self.parts:
            drawn = aligned([list(part.head), *map(list, part.rows)])
            blocks.append("\n".join([part.title, "-" * len(drawn[0]), drawn[0], "-" * len(drawn[0]), *drawn[1:]]))
        return "\n\n".join([*blocks, "\n".join(self.notes)])

    def markdown(self) -> str:
        blocks = [f"# {self.title}", self.caption]
        for part in self.parts:
            blocks += [f"## {part.title}", markdown_table(part.head, part.rows)]
        return "\n\n".join([*blocks, "\n".join(f"- {note}" for note in self.notes)]) + "\n"

    def html(self) -> str:
        sections = [
            Section(
                key=f"part{number}",
                title=part.title,
                content='<div class="wide-table texts">'
                + table([escape(cell) for cell in part.head], [[_cell(cell) for cell in row] for row in part.rows])
                + "</div>",
            )
            for number, part in enumerate(self.parts, 1)
        ]
        if self.figures:
            drawn = f'<div class="charts">{"".join(self.figures)}</div>'
            sections.append(Section(key="figures", title="Figures", content=drawn))
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        sections.append(Section(key="notes", title="Notes", content=f"<ul>{notes}</ul>"))
        footer = f"Written by tongsa {tongsa.__version__} on {platform.machine()}, python {platform.python_version()}."
        return page(
            self.title,
            heading=heading(escape(self.title), over=f"Attention Is All You Need, {PAPER}", text=escape(self.caption)),
            sections=sections,
            footer=escape(footer),
        )

    def write(self, folder: Path) -> list[Path]:
        """Write tableN.md and tableN.html."""
        stem = f"table{self.number}"
        written = [folder / f"{stem}.md", folder / f"{stem}.html"]
        for path, content in zip(written, (self.markdown(), self.html()), strict=True):
            write_atomically(path, content)
        return written


def _cell(text: str) -> str:
    return escape(text).replace(" ± ", "&nbsp;±&nbsp;")


def figure(value: float | None, digits: int) -> str:
    return NOTHING if value is None else f"{value:.{digits}f}"


def cost(value: float | None) -> str:
    """FLOPs in scientific notation: 3.3e18."""
    return NOTHING if value is None else scientific(value)
