"""babi.html: the errors by task, and where the hops look; one page without scripts that loads nothing."""

from __future__ import annotations

from collections.abc import Sequence

from tongsa.lab.babi.experiment import Settings, TaskResult
from tongsa.lab.babi.looks import Look
from tongsa.lab.babi.table import published, rows
from tongsa.pages.markup import escape, table

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d9dee6; --paper: #fff; --hop: 47 109 179; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7ebf1; --soft: #9aa5b4; --line: #39424f; --paper: #161b22; --hop: 111 168 230; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; margin: .4rem 0 1.4rem; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); }
.errors td:nth-child(n+2), .errors th:nth-child(n+2), .looks td:nth-child(n+3), .looks th:nth-child(n+3) {
  text-align: right; font-variant-numeric: tabular-nums; padding: .2rem .6rem; }
.soft { color: var(--soft); } .wrong { font-weight: 600; }
"""


def as_page(results: Sequence[TaskResult], settings: Settings, looks: Sequence[Look]) -> str:
    column = published(settings)
    cells = [[escape(cell) for cell in row] for row in rows(results, column)]
    note = f"Paper: Sukhbaatar et al. 2015, Table 1, {column.name}, best of 10 trainings." if column else ""
    kind = "one network for all tasks" if settings.joint else "a network for each task"
    body = [
        "<h1>The memory network on bAbI</h1>",
        f"<p>{settings.hops} hops, {escape(settings.tying)} tying, {escape(settings.encoding)} encoding, {kind}.</p>",
        table(["test errors, %", "here", "paper"], cells, "errors"),
        f'<p class="soft">{escape(note)}</p>',
        "<h2>Where the hops look</h2>",
        '<p class="soft">Weights of the sentences at each hop; a star marks those that the task names as the reason '
        "for its answer, which the network never sees.</p>",
        *(_look(look) for look in looks),
    ]
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The memory network on bAbI</title><style>{_STYLE}</style></head><body>{''.join(body)}</body></html>\n"
    )


def _look(look: Look) -> str:
    question = look.question
    lines = [
        ["*" if place in question.supports else "", escape(question.story[place]), *map(_weight, weights)]
        for place, weights in enumerate(zip(*look.weights, strict=True), look.first)
    ]
    lines.append(["", '<span class="soft">empty memories</span>', *map(_weight, look.nothing)])
    if look.first:
        told = f"{look.first} earlier sentences do not fit into the memory"
        lines.insert(0, ["", f'<span class="soft">{told}</span>', *("" for _ in look.weights)])
    heads = ["", f"task {question.task}", *(f"hop {hop}" for hop in range(1, len(look.weights) + 1))]
    verdict = "" if look.right else f' <span class="wrong">wrong: {escape(question.answer)}</span>'
    asked = f"<p><b>{escape(question.text)}</b> {escape(look.answer)} ({look.probability:.2f}){verdict}</p>"
    return asked + table(heads, lines, "looks")


def _weight(value: float) -> str:
    # Ink grows with the square root, so that small weights are seen.
    return f'<span style="background: rgb(var(--hop) / {value**0.5 * 0.6:.2f})">&nbsp;{value:.2f}&nbsp;</span>'
