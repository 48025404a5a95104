"""Answer questions of the lab: measure, keep the values, print the answer, and write the page."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from tongsa import __version__
from tongsa.base.errors import UsageError
from tongsa.base.files import write_atomically
from tongsa.evaluation.significance import aligned
from tongsa.lab.question import LANGUAGES, Answer, Lab, Question, Values, words_in
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.markup import escape, scrollable, table


def measured(question: Question, lab: Lab) -> Values:
    """The values of a question: those of an earlier run with the same settings, or new ones."""
    file = lab.folder / f"{question.name}.json"
    settings = {
        "version": __version__,  # another one may measure something else
        "seeds": lab.seeds,
        "run": str(lab.run.resolve()) if lab.run else None,
        "effort": dataclasses.asdict(lab.effort),
    }
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        if kept["settings"] == settings:
            return dict(kept["values"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # nothing measured yet, or not readable: measured again
    values = question.measure(lab)
    write_atomically(file, json.dumps({"settings": settings, "values": values}, ensure_ascii=False, indent=1) + "\n")
    return values


def as_text(question: Question, answer: Answer, language: str) -> str:
    asked = words_in(language)(question.english, question.korean)
    body = aligned([list(answer.head), *map(list, answer.rows)]) if answer.rows else []
    return "\n".join([f"{asked}  (§{question.section})", "", *body, "", answer.conclusion])


def as_page(questions: Sequence[Question], values: Sequence[Values], language: str) -> str:
    """One self-contained page with a section for each question."""
    words = words_in(language)
    sections = []
    for question, found in zip(questions, values, strict=True):
        answer = question.answer(found, words)
        head = [escape(cell) for cell in answer.head]
        rows = [[escape(cell) for cell in row] for row in answer.rows]
        sections.append(
            Section(
                key=question.name,
                title=words(question.english, question.korean),
                note=f"§{question.section}",
                content=f'<p class="conclusion">{escape(answer.conclusion)}</p>'
                f'<div class="charts">{"".join(answer.figures)}</div>'
                f"{scrollable(table(head, rows), question.name)}"
                f"<pre><code>tongsa lab {question.name}</code></pre>",
            )
        )
    title = words("Questions about the Transformer", "트랜스포머에 대한 질문")
    below = words(
        "Each conclusion is computed from the numbers below it.", "모든 결론은 그 아래의 숫자에서 계산된 것이다."
    )
    footer = words("Written by Tongsa.", "통사가 작성함.")
    top = heading(escape(title), text=escape(below))
    return page(title, heading=top, sections=sections, footer=escape(footer), language=language)


def answer_questions(questions: Sequence[Question], lab: Lab, language: str, out: Path) -> list[str]:
    """Measure and write the page `out`; return the answers as text."""
    if language not in LANGUAGES:
        raise UsageError(f"no answers in {language!r}", f"Known: {', '.join(LANGUAGES)}")
    if lab.run and not any(question.takes_run for question in questions):
        raise UsageError(f"{questions[0].name} is answered without a translator", f"Leave {lab.run} out.")
    values, texts = [], []
    for question in questions:
        found = measured(question, lab if question.takes_run else dataclasses.replace(lab, run=None))
        values.append(found)
        texts.append(as_text(question, question.answer(found, words_in(language)), language))
    write_atomically(out, as_page(questions, values, language))
    return texts
