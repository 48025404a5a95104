"""The files of the bAbI tasks, such as `qa3_three-supporting-facts_train.txt`.

    1 Mina went to the library.
    2 Where is Mina?<TAB>library<TAB>1

A line is a sentence of the story, or a question with its answer and its supporting lines; number 1 starts a new story.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tongsa.base.errors import CorpusError, DirectoryError
from tongsa.base.files import write_atomically
from tongsa.text.lines import read_lines

_FILE = re.compile(r"qa(\d+)_(.+)_(train|test)\.txt")
_LINE = re.compile(r"(\d{1,9}) (.+)")
_WORD = re.compile(r"\w+(?:['-]\w+)*")


@dataclass(frozen=True)
class Question:
    """A question, and the story before it."""

    task: int
    story: tuple[str, ...]
    text: str
    answer: str
    """One word; a list ("apple,milk") counts as a word of its own (§4)."""
    supports: tuple[int, ...]
    """Indices of the sentences that contain the answer; never shown to the model."""


@dataclass(frozen=True)
class BabiTask:
    """One of the twenty tasks."""

    number: int
    name: str
    train: list[Question]
    test: list[Question]


def words(sentence: str) -> list[str]:
    """Split into lower-case words without punctuation."""
    return _WORD.findall(sentence.lower())


def read_tasks(folder: Path, wanted: set[int] | None = None) -> list[BabiTask]:
    """Find the tasks in a folder, in order; each needs a train and a test file."""
    if not folder.is_dir():
        raise CorpusError(f"{folder} is not a folder", "DATA holds the files of the tasks: qa1_..._train.txt etc.")
    found: dict[tuple[int, str], dict[str, Path]] = {}
    for path in sorted(folder.iterdir()):
        if match := _FILE.fullmatch(path.name):
            found.setdefault((int(match[1]), match[2]), {})[match[3]] = path
    tasks = []
    for (number, name), files in sorted(found.items()):
        if wanted is not None and number not in wanted:
            continue
        if missing := {"train", "test"} - set(files):
            raise CorpusError(
                f"{folder} has no qa{number}_{name}_{missing.pop()}.txt", "A task needs its train and its test file."
            )
        train, test = (list(read_questions(files[part], number)) for part in ("train", "test"))
        tasks.append(BabiTask(number, name.replace("-", " "), train, test))
    if absent := (wanted or set()) - {task.number for task in tasks}:
        raise CorpusError(f"{folder} has no task {min(absent)}", f"It has: {_numbers(found)}")
    if not tasks:
        raise CorpusError(f"{folder} has no bAbI tasks", "File names look like qa1_single-supporting-fact_train.txt.")
    return tasks


def _numbers(found: dict[tuple[int, str], dict[str, Path]]) -> str:
    return ", ".join(str(number) for number, _ in sorted(found)) or "none"


def read_questions(path: Path, task: int) -> Iterator[Question]:
    """Read the questions of a file, each with the story so far (without earlier questions)."""
    story: list[str] = []
    places: dict[int, int] = {}  # index of each sentence by its line number
    some = False
    for line_number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        where = f"{path}, line {line_number:,}"
        match = _LINE.fullmatch(line)
        if not match:
            raise CorpusError(f"{where}: the line does not begin with a number: {line[:60]!r}")
        number, text = int(match[1]), match[2]
        if number == 1:
            story, places = [], {}
        if "\t" not in text:
            places[number] = len(story)
            story.append(text.strip())
            continue
        question, answer, *supports = (part.strip() for part in text.split("\t"))
        if not answer:
            raise CorpusError(f"{where}: a question without an answer: {line[:60]!r}")
        some = True
        yield Question(task, tuple(story), question, answer.lower(), _supports(supports, places, where))
    if not some:
        raise CorpusError(f"{path} has no questions", "A question is followed by a tab and its answer.")


def _supports(parts: list[str], places: dict[int, int], where: str) -> tuple[int, ...]:
    try:
        return tuple(places[int(number)] for part in parts for number in part.split())
    except (ValueError, KeyError) as error:
        raise CorpusError(f"{where}: unknown supporting lines: {' '.join(parts)!r}") from error


def save_questions(path: Path, questions: Sequence[Question]) -> None:
    """Write questions with their stories, one JSON object per line."""
    lines = (json.dumps(asdict(question), ensure_ascii=False) + "\n" for question in questions)
    write_atomically(path, "".join(lines))


def load_questions(path: Path) -> list[Question]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [
            Question(**{**values, "story": tuple(values["story"]), "supports": tuple(values["supports"])})
            for values in map(json.loads, lines)
        ]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DirectoryError(f"{path} is missing or damaged: {error}", "Train again in another --out.") from error
