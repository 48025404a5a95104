"""Tables with titles and notes, in three forms: text for a terminal, Markdown, and a page of the kit."""

from __future__ import annotations

import platform
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import tongsa
from tongsa.evaluation.significance import aligned
from tongsa.lab.compare.table import markdown_table
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.markup import escape, missing, table

NOTHING = "–"
"""A cell for which there is no figure."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A table with a title."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    empty: str = "nothing yet"
    """What is shown instead of a table without rows."""


@dataclass(frozen=True, kw_only=True)
class TablesPage(ABC):
    """Several tables under one title."""

    caption: str
    parts: Sequence[Part]
    notes: Sequence[str]
    figures: Sequence[str] = ()
    """Charts of the page kit, as HTML."""

    @property
    @abstractmethod
    def title(self) -> str: ...

    @property
    @abstractmethod
    def over(self) -> str:
        """The line above the title of the page."""

    def text(self) -> str:
        blocks = [f"{self.title}: {self.caption}"]
        for part in self.parts:
            if not part.rows:
                blocks.append(f"{part.title}\n{part.empty}")
                continue
            drawn = aligned([list(part.head), *map(list, part.rows)])
            blocks.append("\n".join([part.title, "-" * len(drawn[0]), drawn[0], "-" * len(drawn[0]), *drawn[1:]]))
        return "\n\n".join([*blocks, "\n".join(self.notes)])

    def markdown(self) -> str:
        blocks = [f"# {self.title}", self.caption]
        for part in self.parts:
            blocks += [f"## {part.title}", markdown_table(part.head, part.rows) if part.rows else part.empty]
        return "\n\n".join([*blocks, "\n".join(f"- {note}" for note in self.notes)]) + "\n"

    def html(self) -> str:
        sections = [
            Section(key=f"part{number}", title=part.title, content=_drawn(part))
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
            heading=heading(escape(self.title), over=escape(self.over), text=escape(self.caption)),
            sections=sections,
            footer=escape(footer),
        )


def _drawn(part: Part) -> str:
    if not part.rows:
        return missing(part.empty)
    drawn = table([escape(cell) for cell in part.head], [[_cell(cell) for cell in row] for row in part.rows])
    return f'<div class="wide-table texts">{drawn}</div>'


def _cell(text: str) -> str:
    return escape(text).replace(" ± ", "&nbsp;±&nbsp;")


def figure(value: float | None, digits: int) -> str:
    return NOTHING if value is None else f"{value:.{digits}f}"
