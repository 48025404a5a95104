"""The exercises as a page to print: questions first, answers on a sheet of their own."""

from __future__ import annotations

from collections.abc import Sequence

from tongsa.engines.inspection import shown
from tongsa.lab.question import Words, words_in
from tongsa.lab.walk_through.exercises import MARK, Exercise, Numbers
from tongsa.lab.walk_through.steps import Walk
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.markup import escape, scrollable


def draw_worksheet(walk: Walk, found: Sequence[Exercise], language: str) -> str:
    """One self-contained page."""
    words = words_in(language)
    title = words("Worksheet", "연습 문제")
    source, target = (" ".join(map(shown, side[:-1])) for side in (walk.source, walk.target))
    below = words(
        "All numbers are this model's. They are rounded: calculate with what is given. Unless a task says otherwise, "
        f"they are of layer {walk.layer} and head {walk.head}.",
        "모든 수는 이 모델의 것이다. 반올림한 값이니 주어진 값으로 계산하라. 따로 밝히지 않으면 "
        f"{walk.layer}번째 층, {walk.head}번째 헤드의 값이다.",
    )
    asked = "".join(_asked(number, exercise, words) for number, exercise in enumerate(found, 1))
    answered = "".join(_answered(number, exercise, words) for number, exercise in enumerate(found, 1))
    return page(
        f"{title}: {source}",
        heading=heading(escape(title), over=f"{escape(source)} → {escape(target)}", text=escape(below)),
        sections=[
            Section(key="exercises", title=words("Exercises", "문제"), content=asked),
            Section(key="solutions", title=words("Answers", "답"), content=answered),
        ],
        footer=words("Written by Tongsa.", "통사가 작성함."),
        language=language,
    )


def _asked(number: int, exercise: Exercise, words: Words) -> str:
    return (
        f'<div class="exercise"><h3>{_title(number, exercise, words)}</h3><p>{escape(words(*exercise.task))}</p>'
        f'{draw_numbers(exercise.given, words(*exercise.title))}<p class="blank"></p></div>'
    )


def _answered(number: int, exercise: Exercise, words: Words) -> str:
    note = words(*exercise.note)
    return (
        f'<div class="exercise"><h3>{_title(number, exercise, words)}</h3>'
        f"{draw_numbers(exercise.answer, words(*exercise.title))}{f'<p>{escape(note)}</p>' if note else ''}</div>"
    )


def _title(number: int, exercise: Exercise, words: Words) -> str:
    return f"{number}. {escape(words(*exercise.title))} <small>§{escape(exercise.section)}</small>"


def draw_numbers(of: Numbers, name: str) -> str:
    """A table; counts have no fraction, and what is chosen has a mark."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in of.columns)
    body = ""
    for row, line in zip(of.rows, of.values, strict=True):
        cells = ""
        for value, column in zip(line, of.columns, strict=False):  # a row may be shorter
            digits = 0 if {row, column} & set(of.counts) else of.digits
            said = ("✓" if value else "") if column == MARK else f"{value:,.{digits}f}"
            cells += f"<td>{said}</td>"
        body += f'<tr><th scope="row">{escape(row)}</th>{cells}</tr>'
    top = f"<thead><tr><td></td>{head}</tr></thead>"
    return scrollable(f'<table class="matrix">{top}<tbody>{body}</tbody></table>', name)
