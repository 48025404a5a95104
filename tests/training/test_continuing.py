"""`tongsa train ... --resume`: one command that begins a training and continues it; two at once in one directory."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tongsa
from tongsa.base.errors import DirectoryError, LockedError, UsageError
from tongsa.base.locks import locked
from tongsa.runs.directory import Run
from tongsa.training import continuing
from tongsa.training.checkpoint import latest

SMALL = {"training.updates": "3", "training.validate_every": "3", "training.checkpoint_every": "1"}

Train = Callable[..., Any]


@pytest.fixture(scope="session")
def train(train_here: Train) -> Train:
    """`train --resume`."""

    def run(corpus: Path, out: Path, settings: dict[str, str] | None = None, **changes: Any) -> Any:
        return train_here(out, {**SMALL, **(settings or {})}, corpus=corpus, or_resume=True, **changes)

    return run


@pytest.fixture(scope="module")
def text(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the corpus that may change."""
    prefix = tmp_path_factory.mktemp("text") / "train"
    for language in ("ko", "en"):
        shutil.copy(f"{corpus}.{language}", f"{prefix}.{language}")
    return prefix


@pytest.fixture(scope="module")
def begun(train: Train, text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that was begun with `--resume` in a directory that did not exist."""
    out = tmp_path_factory.mktemp("continuing") / "new" / "ko-en"
    assert train(text, out) is not None
    return out


@pytest.fixture
def stopped(begun: Path, tmp_path: Path) -> Path:
    """The same, with one update left to do."""
    shutil.copytree(begun, tmp_path / "stopped")
    shutil.rmtree(tmp_path / "stopped" / "checkpoints" / "00000003")
    return tmp_path / "stopped"


def test_the_command_that_began_a_training_continues_it(train: Train, text: Path, begun: Path, stopped: Path) -> None:
    assert train(text, stopped) is not None
    newest = latest(stopped / "checkpoints")
    assert newest is not None
    assert newest.update == 3
    assert (stopped / "weights.safetensors").read_bytes() == (begun / "weights.safetensors").read_bytes()


def test_a_finished_training_is_not_trained_again(train: Train, text: Path, begun: Path, tmp_path: Path) -> None:
    shutil.copytree(begun, tmp_path / "done")
    assert train(text, tmp_path / "done") is not None
    assert len(Run(tmp_path / "done").events("update")) == 3


def test_the_corpus_may_have_moved_and_minutes_may_change(
    train: Train, text: Path, stopped: Path, tmp_path: Path
) -> None:
    for language in ("ko", "en"):
        shutil.copy(f"{text}.{language}", tmp_path / f"elsewhere.{language}")
    assert train(tmp_path / "elsewhere", stopped, minutes=90) is not None
    assert Run(stopped).read_job()[1].options.minutes == 90


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 2}, "--seed: 1 before, 2 now"),
        ({"source": "en", "target": "ko"}, "--from: ko before, en now"),
        ({"recipe": "small"}, "--recipe: tiny before, small now"),
        ({"settings": {"training.peak": "0.1"}}, "--set training.peak: 0.01 before, 0.1 now"),
        ({"valid": "other"}, "--valid: none before, other now"),
    ],
)
def test_other_options_are_refused_with_what_differs(
    train: Train, text: Path, begun: Path, change: dict[str, Any], said: str
) -> None:
    before = (begun / "job.json").read_bytes()
    with pytest.raises(UsageError, match="holds a training with other options") as caught:
        train(text, begun, **change)
    assert said in caught.value.explanation
    assert (begun / "job.json").read_bytes() == before


def test_a_changed_corpus_is_refused_where_it_is_named_and_said_where_it_is_not(
    train: Train, text: Path, stopped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(f"{text}.en")
    before = file.read_text(encoding="utf-8")
    file.write_text(before.replace("e", "a", 1), encoding="utf-8")
    try:
        with pytest.raises(UsageError) as caught:
            train(text, stopped)
        assert f"{file} has changed since the training began" in caught.value.explanation
        from tongsa.base.progress import Plain

        assert tongsa.resume(stopped, show=Plain()) is not None
        said = capsys.readouterr().err
        assert f"{file} has changed since the training began; the training goes on with the text that it" in said
    finally:
        file.write_text(before, encoding="utf-8")


def test_a_damaged_job_is_written_again_by_the_command_that_began_the_training(
    train: Train, text: Path, begun: Path, stopped: Path
) -> None:
    (stopped / "job.json").write_bytes(b"{")
    with pytest.raises(DirectoryError, match=r"job\.json is damaged[^$]*--resume added"):
        tongsa.resume(stopped)
    with pytest.raises(UsageError) as caught:
        train(text, stopped, seed=2)
    assert "--seed: 1 before, 2 now" in caught.value.explanation
    assert train(text, stopped) is not None
    assert Run(stopped).read_job() == Run(begun).read_job()
    assert (stopped / "weights.safetensors").read_bytes() == (begun / "weights.safetensors").read_bytes()


def test_a_kill_while_data_is_prepared_again_is_no_loss(
    train: Train, text: Path, begun: Path, stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        """Stands for a kill at this very place."""

    def kill(*args: object) -> None:
        raise Killed

    (stopped / "data" / "valid.jsonl").write_bytes(b"")
    monkeypatch.setattr(continuing, "write_atomically", kill)
    with pytest.raises(Killed):
        tongsa.resume(stopped)
    monkeypatch.undo()
    assert tongsa.resume(stopped) is not None
    assert (stopped / "weights.safetensors").read_bytes() == (begun / "weights.safetensors").read_bytes()
    assert not list(stopped.glob(".*"))


@pytest.mark.parametrize("how", ["train", "resume"])
def test_a_second_training_in_a_directory_stops_at_once_and_says_who_has_it(
    train: Train, text: Path, stopped: Path, how: str
) -> None:
    with (
        locked(Run(stopped).lock_file, "a training", print),
        pytest.raises(LockedError, match=r"another process runs a training in .*stopped: process \d+ on .*, since"),
    ):
        _ = train(text, stopped) if how == "train" else tongsa.resume(stopped)


def test_a_text_is_recognised_by_its_size_and_some_of_it(tmp_path: Path) -> None:
    file = tmp_path / "text"
    marks = set()
    for content in (b"", b"a", b"b", bytes(continuing.SAMPLE), bytes(10 * continuing.SAMPLES * continuing.SAMPLE)):
        file.write_bytes(content)
        marks.add(continuing._fingerprint(file))
    with file.open("r+b") as opened:  # the last byte of a large file
        opened.seek(-1, 2)
        opened.write(b"x")
    marks.add(continuing._fingerprint(file))
    assert len(marks) == 6
