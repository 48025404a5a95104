"""babi.html: the errors by task, and where the hops look."""

from __future__ import annotations

from collections.abc import Sequence

from tongsa.lab.babi.experiment import Settings, TaskResult
from tongsa.lab.babi.looks import Look
from tongsa.lab.babi.table import published, rows
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.heatmaps import draw_map
from tongsa.pages.markup import escape, table

CELL = 26


def draw_babi(results: Sequence[TaskResult], settings: Settings, looks: Sequence[Look]) -> str:
    column = published(settings)
    cells = [[escape(cell) for cell in row] for row in rows(results, column)]
    note = f"Paper: Sukhbaatar et al. 2015, Table 1, {column.name}, best of 10 trainings." if column else ""
    kind = "one network for all tasks" if settings.joint else "a network for each task"
    errors = table(["test errors, %", "here", "paper"], cells)
    hops = (
        '<p class="note">Weights of the sentences at each hop; a star marks those that the task names as the reason '
        "for its answer, which the network never sees.</p>"
    )
    return page(
        "The memory network on bAbI",
        heading=heading(
            "The memory network on bAbI",
            over="question answering",
            text=f"{settings.hops} hops, {escape(settings.tying)} tying, {escape(settings.encoding)} encoding, {kind}.",
        ),
        sections=[
            Section(
                key="errors",
                title="Errors",
                content=f'<div class="wide-table">{errors}</div><p class="note">{escape(note)}</p>',
            ),
            Section(
                key="hops",
                title="Where the hops look",
                content=f'{hops}<div class="maps">{"".join(map(_draw, looks))}</div>',
            ),
        ],
        footer="Written by tongsa.",
    )


def _draw(look: Look) -> str:
    """A story with the weight of each sentence at each hop."""
    question = look.question
    weights = [list(row) for row in zip(*look.weights, strict=True)]
    names = [
        f"{question.story[place]}{' *' if place in question.supports else ''}"
        for place in range(look.first, look.first + len(weights))
    ]
    hops = [f"hop {hop}" for hop in range(1, len(look.weights) + 1)]
    drawn = draw_map([*weights, look.nothing], [*names, "(empty memories)"], hops, question.text, CELL)
    verdict = "" if look.right else f" <ins>{escape(question.answer)}</ins>"
    answer = f"<b>{escape(look.answer)}</b>" if look.right else f"<del>{escape(look.answer)}</del>"
    early = f"; {look.first} earlier sentences do not fit into the memory" if look.first else ""
    return (
        f'<figure class="attends"><figcaption><b>{escape(question.text)}</b> {answer}{verdict} '
        f"<span>task {question.task}, probability {look.probability:.2f}{early}</span></figcaption>{drawn}</figure>"
    )
