from __future__ import annotations

from pathlib import Path

import pytest

import small_stories as town
from tongsa.base.errors import CorpusError, DirectoryError
from tongsa.data.stories import Question, load_questions, read_questions, read_tasks, save_questions, words


def file(folder: Path, text: str) -> Path:
    path = folder / "qa1_whereabouts_train.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_question_comes_with_the_story_so_far_and_the_places_of_its_supports(tmp_path: Path) -> None:
    text = "1 Mina woke.\n2 Who woke? \tMina\t1\n3 Joon left.\n4 Who left?\tJoon\t3\n1 Sora ran.\n2 Who ran?\tSora\t1\n"
    assert list(read_questions(file(tmp_path, text), 7)) == [
        Question(7, ("Mina woke.",), "Who woke?", "mina", (0,)),
        Question(7, ("Mina woke.", "Joon left."), "Who left?", "joon", (1,)),
        Question(7, ("Sora ran.",), "Who ran?", "sora", (0,)),
    ]


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    questions = town.stories(30, seed=5)
    town.write(tmp_path / "qa1_x_train.txt", questions)
    assert list(read_questions(tmp_path / "qa1_x_train.txt", 1)) == questions


def test_words_have_no_case_and_no_punctuation() -> None:
    assert words("Mina's  cat-house, is HERE.") == ["mina's", "cat-house", "is", "here"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Mina woke.\n", "line 1: the line does not begin with a number"),
        ("1 Mina woke.\n2 Who?\t\t1\n", "line 2: a question without an answer"),
        ("1 Mina woke.\n2 Who?\tMina\t9\n", "line 2: unknown supporting lines"),
        ("1 Mina woke.\n", "has no questions"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CorpusError, match=said):
        list(read_questions(file(tmp_path, text), 1))


def test_tasks_are_found_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    town.folder(tmp_path, train=3, tasks=(10, 2))
    assert [(task.number, task.name) for task in read_tasks(tmp_path)] == [(2, "whereabouts 2"), (10, "whereabouts 10")]
    assert [task.number for task in read_tasks(tmp_path, {10})] == [10]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="has no bAbI tasks"):
        read_tasks(tmp_path)
    town.folder(tmp_path, train=3, tasks=(1,))
    with pytest.raises(CorpusError, match="has no task 4"):
        read_tasks(tmp_path, {1, 4})
    (tmp_path / "qa1_whereabouts-1_test.txt").unlink()
    with pytest.raises(CorpusError, match=r"qa1_whereabouts-1_test\.txt"):
        read_tasks(tmp_path)
    with pytest.raises(CorpusError, match="is not a folder"):
        read_tasks(tmp_path / "nowhere")


def test_saved_questions_are_the_same_when_loaded_and_a_damaged_file_is_named(tmp_path: Path) -> None:
    questions = town.stories(5, seed=6)
    save_questions(tmp_path / "q.jsonl", questions)
    assert load_questions(tmp_path / "q.jsonl") == questions
    (tmp_path / "q.jsonl").write_text('{"task": 1', encoding="utf-8")
    with pytest.raises(DirectoryError, match=r"q\.jsonl is missing or damaged"):
        load_questions(tmp_path / "q.jsonl")
