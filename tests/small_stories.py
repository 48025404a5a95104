"""Small stories of our own: people go to places, and somebody asks where they are."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from tongsa.data.stories import Question

PEOPLE = ("Mina", "Joon", "Sora", "Tae")
PLACES = ("library", "market", "harbour", "school")


def story(draw: random.Random, sentences: int, task: int) -> Question:
    """Where somebody went last; others went elsewhere meanwhile."""
    told = [(draw.choice(PEOPLE), draw.choice(PLACES)) for _ in range(sentences)]
    asked = draw.choice([person for person, _ in told])
    place = max(i for i, (person, _) in enumerate(told) if person == asked)
    lines = tuple(f"{person} went to the {where}." for person, where in told)
    return Question(task, lines, f"Where is {asked}?", told[place][1], (place,))


def stories(count: int, seed: int, task: int = 1, sentences: int = 6) -> list[Question]:
    draw = random.Random(seed)
    return [story(draw, draw.randint(2, sentences), task) for _ in range(count)]


def write(path: Path, questions: Sequence[Question]) -> None:
    """In the format of the tasks."""
    with path.open("w", encoding="utf-8") as file:
        for question in questions:
            for number, sentence in enumerate(question.story, 1):
                file.write(f"{number} {sentence}\n")
            supports = " ".join(str(place + 1) for place in question.supports)
            file.write(f"{len(question.story) + 1} {question.text} \t{question.answer}\t{supports}\n")


def folder(path: Path, train: int = 60, tasks: Sequence[int] = (1, 2)) -> Path:
    path.mkdir(exist_ok=True)
    for task in tasks:
        for part, count, seed in (("train", train, task), ("test", 20, 100 + task)):
            write(path / f"qa{task}_whereabouts-{task}_{part}.txt", stories(count, seed, task))
    return path
