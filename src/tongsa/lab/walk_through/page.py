"""The walk-through as a page, and its numbers as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tongsa.engines.inspection import shown
from tongsa.lab.question import Words, words_in
from tongsa.lab.walk_through.context import of_walk
from tongsa.lab.walk_through.context_page import context_section
from tongsa.lab.walk_through.steps import Step, Walk
from tongsa.lab.walk_through.texts import PARTS, text_of
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.markup import escape, scrollable

COLUMNS = 8
"""Columns without names that are shown in numbers."""


def draw_walk(walk: Walk, language: str) -> str:
    """One self-contained page."""
    words = words_in(language)
    sections = []
    number = 0
    for part, (english, korean, paper) in PARTS.items():
        drawn = []
        for step in (step for step in walk.steps if step.part == part):
            number += 1
            drawn.append(_draw(number, step, words))
        sections.append(
            Section(key=part, title=words(english, korean), note=f"§{escape(paper)}", content="".join(drawn))
        )
        if part == "cross":
            sections.append(context_section(of_walk(walk), words))
    source, target = (" ".join(map(shown, side[:-1])) for side in (walk.source, walk.target))
    title = words("From a sentence to its translation", "문장에서 번역까지")
    facts = ", ".join(f"{name} {value}" for name, value in walk.facts.items())
    below = words(
        f"Layer {walk.layer} and head {walk.head} are shown in detail. {facts}.",
        f"{walk.layer}번째 층의 {walk.head}번째 헤드를 자세히 보여 준다. {facts}.",
    )
    return page(
        f"{title}: {source}",
        heading=heading(escape(title), over=f"{escape(source)} → {escape(target)}", text=escape(below)),
        sections=sections,
        footer=words("Written by Tongsa.", "통사가 작성함."),
        language=language,
    )


def _draw(number: int, step: Step, words: Words) -> str:
    rows, columns = step.values.shape
    where = f"<code>{escape(step.where)}</code>" if step.where else ""
    equation = f'<code class="equation">{escape(step.equation)}</code>' if step.equation else ""
    return (
        f'<div class="step" id="step-{number}"><h3>{number}. {escape(step.name)} {equation}</h3>'
        f"<p>{escape(words(*text_of(step.name)))} <small>{rows} × {columns} {where}</small></p>"
        f"{draw_matrix(step)}</div>"
    )


def draw_matrix(step: Step) -> str:
    """A table of numbers; the darker a cell, the larger its number in the matrix."""
    names = list(map(escape, step.columns))
    width = len(names) or min(COLUMNS, step.values.shape[1])
    more = step.values.shape[1] - width
    values = step.values[:, :width].tolist()
    finite = [abs(value) for row in values for value in row if math.isfinite(value)]
    most = max(finite, default=1.0) or 1.0
    whole = step.name == "tokens"
    head = "".join(f'<th scope="col">{name}</th>' for name in (names or map(str, range(1, width + 1))))
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(_cell(value, most, whole) for value in row)}'
        f"{'<td>…</td>' if more else ''}</tr>"
        for name, row in zip(step.rows, values, strict=True)
    )
    rest = f'<th scope="col">+{more}</th>' if more else ""
    top = f"<thead><tr><td></td>{head}{rest}</tr></thead>"
    return scrollable(f'<table class="matrix">{top}<tbody>{body}</tbody></table>', step.name)


def _cell(value: float, most: float, whole: bool) -> str:
    if not math.isfinite(value):
        return '<td class="masked">-∞</td>'
    said = f"{value:.0f}" if whole else f"{value:.2f}"
    share = 0.0 if whole else abs(value) / most
    return f'<td class="{"minus" if value < 0 else "plus"}" style="--v:{share:.2f}">{said}</td>'


def as_values(walk: Walk) -> dict[str, object]:
    """Every number of every step, for JSON; -∞ is null."""
    return {
        "source": walk.source,
        "target": walk.target,
        "layer": walk.layer,
        "head": walk.head,
        **walk.facts,
        "steps": [
            {
                "part": step.part,
                "name": step.name,
                "equation": step.equation,
                "where": step.where,
                "rows": step.rows,
                "columns": step.columns,
                "values": _plain(step.values.tolist()),
            }
            for step in walk.steps
        ],
    }


def _plain(rows: Sequence[Sequence[float]]) -> list[list[float | None]]:
    return [[value if math.isfinite(value) else None for value in row] for row in rows]
