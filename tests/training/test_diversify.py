"""A text that is translated by its own translators: what is made, what it costs, and what survives a kill."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.training.conftest import PAIRS
from tests.training.test_damage import Lines, damage

from tongsa.base.errors import DirectoryError, UsageError
from tongsa.base.progress import Silent
from tongsa.data.ids import PairIds
from tongsa.data.prepare import DIVERSIFIED
from tongsa.decoding.search import Search
from tongsa.runs.directory import Run
from tongsa.runs.job import Job
from tongsa.training import diversify as diversifying
from tongsa.training.checkpoint import latest
from tongsa.training.diversify import diversify
from tongsa.training.fitting import write_job
from tongsa.training.loop import End

Train = Callable[..., Any]

FEW = {"training.diversify": "true", "training.updates": "6", "training.validate_every": "6", "corpus.max_ratio": "0"}


class Killed(Exception):
    pass


@pytest.fixture(autouse=True)
def fluent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first translators, which have learnt nothing in a few updates, write numbered sentences."""

    def from_weights(card: Any, subwords: Any, weights: Any, **machine: Any) -> Any:
        word, numbers = {"en": "sentence", "ko": "문장"}[card.target], iter(range(PAIRS))

        def translate(texts: list[str], options: object) -> list[Any]:
            return [SimpleNamespace(text=f"{word} {next(numbers)}") for _ in texts]

        return SimpleNamespace(card=card, subwords=subwords, search=Search(), translate=translate)

    monkeypatch.setattr(diversifying, "Translator", SimpleNamespace(from_weights=from_weights))


def texts(run: Run, folder: str) -> list[tuple[str, str]]:
    subwords, pairs = run.read_subwords(run.read_card()), PairIds.open(run.data / folder)
    return [
        (subwords.source.decode(pairs.source[row].tolist()), subwords.target.decode(pairs.target[row].tolist()))
        for row in range(len(pairs))
    ]


def test_both_directions_are_added_to_the_real_pairs(train_here: Train, tmp_path: Path) -> None:
    show, run = Lines(), Run(tmp_path / "run")
    assert train_here(run.path, FEW, show=show) is not None
    real, every = texts(run, "train"), texts(run, DIVERSIFIED)
    count = len(real)
    assert len(every) == 3 * count
    assert every[:count] == real
    assert [source for source, _ in every[count : 2 * count]] == [source for source, _ in real]
    assert [target for _, target in every[count : 2 * count]] == [f"sentence {n}" for n in range(count)]
    assert [source for source, _ in every[2 * count :]] == [f"문장 {n}" for n in range(count)]
    assert [target for _, target in every[2 * count :]] == [target for _, target in real]
    assert f"{2 * count:,} pairs made by translating the text" in str(show)
    assert run.read_card().training.examples == 3 * count
    assert not run.diversify_folder.exists()


def test_what_cannot_teach_anything_is_left_out_and_counted(
    train_here: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diversifying, "fault_of", lambda source, *rest: "that is broken" if "우리" in source else None)
    show, run = Lines(), Run(tmp_path / "run")
    train_here(run.path, FEW, show=show)
    broken = sum("우리" in source for source, _ in texts(run, "train"))
    assert broken > 0
    assert len(texts(run, DIVERSIFIED)) == 3 * len(texts(run, "train")) - broken
    assert f"left out {broken:,} made pairs that is broken" in str(show)


def test_two_at_once_make_what_one_after_the_other_makes(train_here: Train, tmp_path: Path) -> None:
    """Each training has one thread in both cases."""
    found = []
    for threads in (1, 2):
        run = Run(tmp_path / str(threads))
        train_here(run.path, FEW, threads=threads)
        found.append((run.data / DIVERSIFIED / "source.ids").read_bytes())
    assert found[0] == found[1]


class Fits:
    """Replaces the first trainings by notes of their options; they end as they are told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[tuple[str, str, float | None, int | None]] = []
        self.stops_at = ""
        monkeypatch.setattr(diversifying, "fit", self.fit)
        monkeypatch.setattr(diversifying, "training_beside", self.beside)
        monkeypatch.setattr(
            diversifying, "_newest", lambda run: SimpleNamespace(progress=lambda: SimpleNamespace(seconds=30))
        )
        monkeypatch.setattr(diversifying, "_translated", lambda first, run, pairs, recipe, show: pairs)

    def fit(self, run: Run, show: object = None, device: str = "") -> End:
        recipe, job = run.read_job()
        assert not recipe.training.diversify
        options = job.options
        self.done.append((run.path.name, f"{options.source}-{options.target}", options.minutes, options.threads))
        return End.INTERRUPTED if run.path.name == self.stops_at else End.BUDGET_USED

    def beside(self, run: Run) -> Any:
        ended = self.fit(run)

        class Other:
            def __enter__(self) -> Any:
                return SimpleNamespace(wait=lambda: ended != End.INTERRUPTED, stop=lambda: None)

            def __exit__(self, *error: object) -> None:
                pass

        return Other()


@pytest.fixture
def prepared(train_here: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A training that has been killed when its text was prepared, with a budget of ten minutes on five cores."""

    def killed(run: Run, show: object) -> bool:
        raise Killed

    run = Run(tmp_path / "prepared")
    with monkeypatch.context() as patch:
        patch.setattr("tongsa.training.run.diversify", killed)
        with pytest.raises(Killed):
            train_here(run.path, FEW, minutes=10, threads=5)
    return run


def test_two_directions_at_once_share_the_cores_and_have_two_fifths_of_the_time(
    prepared: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits = Fits(monkeypatch)
    assert diversify(prepared, Silent())
    assert sorted(fits.done) == [("backward", "en-ko", 4, 2), ("forward", "ko-en", 4, 3)]
    job = prepared.read_job()[1]
    assert job.spent == pytest.approx(0.5, abs=0.4)  # the thirty seconds of the fake, and what was done here
    assert job.minutes == pytest.approx(10 - job.spent)


def test_on_one_core_each_has_half_of_that(prepared: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fits = Fits(monkeypatch)
    recipe, job = prepared.read_job()
    options = job.options.__class__(**{**vars(job.options), "threads": 1})
    write_job(prepared, recipe, options)
    assert diversify(prepared, Silent())
    assert fits.done == [("forward", "ko-en", 2, 1), ("backward", "en-ko", 2, 1)]


@pytest.mark.parametrize("name", ["forward", "backward"])
def test_interrupted_it_goes_on_where_it_was(name: str, prepared: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fits = Fits(monkeypatch)
    fits.stops_at = name
    assert not diversify(prepared, Silent())
    before = {path: path.read_bytes() for path in prepared.diversify_folder.rglob("job.json")}
    assert len(before) == 2
    assert prepared.read_job()[1].spent is None
    fits.stops_at = ""
    assert diversify(prepared, Silent())
    assert prepared.read_job()[1].spent is not None


def test_what_is_made_is_not_made_again(prepared: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fits = Fits(monkeypatch)
    assert diversify(prepared, Silent())
    fits.done.clear()
    prepared.diversify_folder.mkdir()  # as a kill at the end leaves it
    assert diversify(prepared, Silent())
    assert fits.done == []
    assert not prepared.diversify_folder.exists()


def test_a_kill_before_the_end_loses_no_pair_and_doubles_none(prepared: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Fits(monkeypatch)
    count, write = len(PairIds.open(prepared.training_ids)), Run.write_job

    def kill_at_the_end(run: Run, recipe: Any, job: Job) -> None:
        if job.spent is not None:
            raise Killed
        write(run, recipe, job)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "write_job", kill_at_the_end)
        with pytest.raises(Killed):
            diversify(prepared, Silent())
    prepared.check_prepared()
    assert diversify(prepared, Silent())
    assert len(PairIds.open(prepared.data / DIVERSIFIED)) == 3 * count


def test_a_new_training_in_the_directory_forgets_what_was_made(
    prepared: Run, train_here: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    Fits(monkeypatch)
    assert diversify(prepared, Silent())
    train_here(prepared.path, {**FEW, "training.diversify": "false"})
    assert not (prepared.data / DIVERSIFIED).exists()
    assert prepared.read_card().training.examples == len(PairIds.open(prepared.training_ids))


def test_an_interrupted_training_resumes_to_the_same_weights(train_here: Train, tmp_path: Path) -> None:
    whole, half = Run(tmp_path / "whole"), Run(tmp_path / "half")
    changes = {**FEW, "training.checkpoint_every": "3"}
    train_here(whole.path, changes)
    shutil.copytree(whole.path, half.path)
    newest = latest(half.checkpoints)
    assert newest is not None
    shutil.rmtree(newest.folder)
    train_here(half.path, resume=True)
    assert half.weights_file.read_bytes() == whole.weights_file.read_bytes()


def test_damaged_data_is_prepared_again_with_the_made_pairs(train_here: Train, tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    train_here(run.path, FEW)
    made = (run.data / DIVERSIFIED / "source.ids").read_bytes()
    damage(run.training_ids / "source.ids", 0)
    train_here(run.path, resume=True)
    assert (run.data / DIVERSIFIED / "source.ids").read_bytes() == made
    damage(run.data / DIVERSIFIED / "source.ids", 0)
    with pytest.raises(DirectoryError, match="damaged") as caught:
        train_here(run.path, resume=True)
    assert any("the pairs made of it" in line for line in caught.value.explanation)


def test_it_is_decided_when_the_training_begins(train_here: Train, tmp_path: Path) -> None:
    train_here(tmp_path / "run", {**FEW, "training.diversify": "false", "training.updates": "2"})
    with pytest.raises(UsageError, match="cannot change when it is resumed"):
        train_here(tmp_path / "run", {"training.diversify": "true"}, resume=True)


def test_text_to_mix_in_is_refused(train_here: Train, corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"training\.diversify trains two more translators"):
        train_here(tmp_path / "run", FEW, mix=[corpus], valid=[corpus])
