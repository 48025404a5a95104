"""`tongsa train --tune`: a search for the recipe, and a training with the best one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.training.conftest import SETTINGS

import tongsa
from tongsa.base.errors import DirectoryError, TongsaError, TrainingError, UsageError
from tongsa.base.locks import locked
from tongsa.base.progress import Silent
from tongsa.config import Recipe
from tongsa.config.recipe import parse_settings
from tongsa.data.ids import PairIds
from tongsa.data.prepare import Prepared
from tongsa.models.transformer import Transformer
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.runs.tune import Candidate, TuneRecord
from tongsa.tasks import translation
from tongsa.training import candidates, rungs, tuning
from tongsa.training.checkpoint import latest
from tongsa.training.loop import DivergedError, Trainer
from tongsa.training.run import train_with
from tongsa.training.tuning import Tuning

UPDATES = 40
"""Three candidates for 4 updates, two of them up to 8, and 20 for the chosen one."""


@pytest.fixture(scope="session")
def recipe_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small recipe as a file: keys that are given with --set would not be searched."""
    changes = {"training.updates": str(UPDATES), "training.validate_every": "20"}
    changes |= {"training.checkpoint_every": "5", "training.warmup": "2"}
    path = tmp_path_factory.mktemp("recipe") / "small.toml"
    path.write_text(Recipe.from_values(parse_settings({**SETTINGS, **changes}), "test").to_toml(), encoding="utf-8")
    return path


@pytest.fixture
def few_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search vocabularies and learning rates alone, with sizes that the small text allows."""
    vocabulary = dataclasses.replace(candidates.SPACE[-1], choices=(0.9, 40.0))
    monkeypatch.setattr(candidates, "SPACE", (candidates.SPACE[0], vocabulary))


@pytest.fixture
def make(corpus: Path, recipe_file: Path) -> Callable[..., Tuning]:
    def tuning_in(out: Path, count: int = 3, **changes: Any) -> Tuning:
        options = TrainOptions(
            corpora=(str(corpus),), source="ko", target="en", recipe=str(recipe_file), threads=1, device="cpu"
        )
        return Tuning(options=dataclasses.replace(options, **changes), run_directory=Run(out), count=count)

    return tuning_in


def outcome(out: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What a search found, without times, and the weights of the training after it."""
    record = json.loads((out / "tune.json").read_text(encoding="utf-8"))
    del record["used"], record["overhead"]
    for each in record["candidates"]:
        del each["seconds"]
    checkpoint = latest(out / "checkpoints")
    assert checkpoint
    return record, {name: tensor.numpy().tobytes() for name, tensor in checkpoint.weights().items()}


class Killed(BaseException):
    """Ends a search as a kill would: nothing is tidied up by the search itself."""


@pytest.mark.usefixtures("few_dimensions")
def test_a_search_that_is_killed_again_and_again_ends_as_one_that_was_not(
    make: Callable[..., Tuning], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert make(whole).run(Silent())
    update = Trainer.update
    made = 0

    def dying(trainer: Trainer, chunks: Any) -> Any:
        nonlocal made
        made += 1
        if made == 11:
            raise Killed
        return update(trainer, chunks)

    monkeypatch.setattr(Trainer, "update", dying)
    kills = 0
    while kills < 20:
        made = 0
        try:
            assert make(killed).run(Silent())
            break
        except Killed:
            kills += 1
    assert kills >= 3
    assert outcome(killed) == outcome(whole)
    _check_finished(whole, make)


def _check_finished(out: Path, make: Callable[..., Tuning]) -> None:
    """Of a search that has ended: what is there, and what is not done again."""
    run, record = Run(out), TuneRecord.read(out / "tune.json")
    assert [len(each.losses) for each in record.candidates].count(2) == 2
    assert record.final == {"updates": UPDATES // 2}
    chosen = record.find(record.chosen or 0)
    recipe, job = run.read_job()
    assert recipe.training.schedule == "cosine"
    assert recipe.training.updates == UPDATES // 2
    assert recipe.subwords.size == int(chosen.settings.get("subwords.size", SETTINGS["subwords.size"]))
    assert job.options.recipe == str(out / "tune.toml")
    assert not run.tune_folder.exists()
    assert f"--recipe {out / 'tune.toml'}" in record.command(out)
    page = (out / "tune.html").read_text(encoding="utf-8")
    assert "dropped after rung 1" in page
    assert record.command(out).split(" --out")[0] in page
    before = (out / "weights.safetensors").stat().st_mtime_ns
    assert make(out).run(Silent())
    assert (out / "weights.safetensors").stat().st_mtime_ns == before
    with pytest.raises(UsageError, match="holds a search with other options") as error:
        make(out, 4, seed=2).run(Silent())
    assert "--seed: 1 before, 2 now" in error.value.explanation
    assert "--tune: 3 before, 4 now" in error.value.explanation
    run.remove()
    assert not out.exists()


def test_a_candidate_of_another_width_begins_with_a_lexicon_of_its_own(
    make: Callable[..., Tuning], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    width = next(each for each in candidates.SPACE if "model.d_model" in each.keys)
    monkeypatch.setattr(candidates, "SPACE", (width,))
    started: list[int] = []

    def start(model: Transformer, pairs: PairIds, seed: int) -> None:
        started.append(model.config.d_model)

    monkeypatch.setattr(translation, "start_as_lexicon", start)
    assert make(tmp_path / "out", 2, settings={"training.initial_weights": "lexicon"}).run(Silent())
    assert len(set(started)) == 2


@pytest.mark.usefixtures("few_dimensions")
def test_every_vocabulary_is_prepared_once_and_validated_on_the_same_text(
    make: Callable[..., Tuning], tmp_path: Path
) -> None:
    search = make(tmp_path / "out", 6, settings={"training.updates": "200"})
    record = search._begin(Silent())
    sizes = {each.settings.get("subwords.size", "recipe") for each in record.candidates}
    folders = {folder.name: folder for folder in (tmp_path / "out" / "tune" / "text").iterdir()}
    assert sizes == {"recipe", "810"}, "36,000 pieces are too many for the text"
    valid = [Prepared.open(folders[size]) for size in sorted(sizes)]
    assert valid[0].valid_text == valid[1].valid_text
    assert len(valid[0].valid.target.ids) != len(valid[1].valid.target.ids)


def record_of(count: int, first: float = 10.0) -> TuneRecord:
    return TuneRecord(
        began={},
        count=count,
        minutes=None,
        values=Recipe().to_values(),
        lengths=rungs.lengths(first, count),
        candidates=tuple(Candidate(number=number, settings={}) for number in range(1, count + 1)),
    )


class Losses:
    """Replaces trainings, which are tested elsewhere, by losses that are known beforehand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, losses: dict[int, float | None]) -> None:
        self.trained: list[tuple[int, int]] = []
        self.losses = losses
        self.interrupted_at: tuple[int, int] | None = None
        monkeypatch.setattr(Tuning, "_train", self.train)
        monkeypatch.setattr(TuneRecord, "command", lambda *_: "tongsa train")

    def train(self, record: TuneRecord, candidate: Candidate, rung: int, show: object) -> Candidate | None:
        if (candidate.number, rung) == self.interrupted_at:
            return None
        self.trained.append((candidate.number, rung))
        return dataclasses.replace(candidate, losses=(*candidate.losses, self.losses[candidate.number]))


def searched(search: Tuning, record: TuneRecord) -> TuneRecord | None:
    search.run_directory.path.mkdir(exist_ok=True)
    return search._search(record, Silent())


def test_the_better_half_of_each_rung_goes_on(
    make: Callable[..., Tuning], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = Losses(monkeypatch, {1: 5.0, 2: 4.0, 3: 8.0, 4: 2.0, 5: 6.0, 6: 3.0, 7: 1.0, 8: 7.0})
    found = searched(make(tmp_path / "out", 8), record_of(8))
    assert found
    assert found.chosen == 7
    assert losses.trained == [(number, 0) for number in range(1, 9)] + [(2, 1), (4, 1), (6, 1), (7, 1), (4, 2), (7, 2)]
    assert {each.number: found.dropped_after(each) for each in found.candidates} == {
        **dict.fromkeys((1, 3, 5, 8), 1),
        **dict.fromkeys((2, 6), 2),
        4: 3,
        7: None,
    }


def test_what_an_interrupted_search_has_trained_is_not_trained_again(
    make: Callable[..., Tuning], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = Losses(monkeypatch, {1: 4.0, 2: 3.0, 3: 2.0, 4: 1.0})
    losses.interrupted_at = (4, 1)
    search = make(tmp_path / "out", 4)
    assert searched(search, record_of(4)) is None
    losses.interrupted_at = None
    found = searched(search, TuneRecord.read(search.run_directory.tune_file))
    assert found
    assert found.chosen == 4
    assert losses.trained == [(1, 0), (2, 0), (3, 0), (4, 0), (3, 1), (4, 1)]


def test_of_equal_losses_the_recipe_unchanged_wins(
    make: Callable[..., Tuning], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Losses(monkeypatch, dict.fromkeys(range(1, 5), 2.0))
    found = searched(make(tmp_path / "out", 4), record_of(4))
    assert found
    assert found.chosen == 1


def test_candidates_that_diverge_are_dropped(
    make: Callable[..., Tuning], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Losses(monkeypatch, {1: None, 2: None, 3: 9.0, 4: None})
    found = searched(make(tmp_path / "out", 4), record_of(4))
    assert found
    assert found.chosen == 3
    assert "diverged" in (tmp_path / "out" / "tune.html").read_text(encoding="utf-8")
    Losses(monkeypatch, dict.fromkeys(range(1, 5), None))
    with pytest.raises(TrainingError, match="all candidates diverged"):
        searched(make(tmp_path / "other", 4), record_of(4))


@pytest.mark.usefixtures("few_dimensions")
def test_a_gradient_that_is_not_finite_is_a_candidate_that_diverged(
    make: Callable[..., Tuning], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverge(*_: object) -> None:
        raise DivergedError("the gradient was not finite")

    monkeypatch.setattr(tuning, "fit", diverge)
    search = make(tmp_path / "out")
    record = search._begin(Silent())
    found = search._train(record, record.candidates[0], 0, Silent())
    assert found
    assert found.losses == (None,)


def test_minutes_that_the_search_did_not_take_are_for_the_training(
    make: Callable[..., Tuning], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Losses(monkeypatch, {1: 1.0, 2: 2.0})
    for used, left in ((240.0, 6.0), (6000.0, 2.5)):
        out = tmp_path / str(used)
        record = dataclasses.replace(record_of(2), minutes=10.0, used=used)
        found = searched(make(out, 2, minutes=10.0), record)
        assert found
        assert found.final["minutes"] == pytest.approx(left, abs=0.05)


def test_minutes_that_judging_would_use_up_are_refused(
    make: Callable[..., Tuning], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = make(tmp_path / "out", 8, minutes=6.0)
    monkeypatch.setattr(tuning, "judging_seconds", lambda *_: 2.0)
    first, *_ = search._lengths(Recipe(), used=10.0)
    assert 16 * first + 10 + 15 * 2 == pytest.approx(180), "half of six minutes, with all that the search does"
    monkeypatch.setattr(tuning, "judging_seconds", lambda *_: 20.0)
    with pytest.raises(UsageError, match="6 minutes, 300 s of them for other vocabularies and judging, are too few"):
        search._lengths(Recipe(), used=0.0)


@pytest.mark.parametrize(
    ("count", "changes", "said"),
    [
        (1, {}, "--tune 1 is not possible"),
        (8, {"minutes": 1.0}, "1 minutes are too few to try 8 recipes"),
        (8, {"settings": {"training.updates": "100"}}, "100 updates are too few to try 8 recipes"),
        (2, {"init": "runs/old", "recipe": "auto"}, "--tune does not work with --init"),
        (2, {"task": "parsing"}, "--tune does not work with the task parsing"),
        (2, {"settings": {"training.nothing": "1"}}, "cannot be used"),
    ],
)
def test_what_cannot_work_is_refused_and_leaves_nothing_that_blocks_a_second_try(
    make: Callable[..., Tuning], tmp_path: Path, count: int, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(TongsaError, match=said):
        make(tmp_path / "out", count, **changes).run(Silent())
    assert not (tmp_path / "out" / "tune.json").exists()


def test_torchrun_is_refused(make: Callable[..., Tuning], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UsageError, match="torchrun"):
        make(tmp_path / "out").run(Silent())


def test_a_directory_with_a_search_is_neither_resumed_nor_trained_in(
    make: Callable[..., Tuning], tmp_path: Path
) -> None:
    search = make(tmp_path / "out")
    record_of(3).write(search.run_directory.tune_file)
    with pytest.raises(DirectoryError, match="no training to resume") as error:
        tongsa.resume(tmp_path / "out")
    assert "--tune" in "".join(error.value.explanation)
    with pytest.raises(DirectoryError, match="cannot be trained in"):
        train_with(search.options, search.run_directory, Silent())


def test_two_searches_do_not_share_a_directory(make: Callable[..., Tuning], tmp_path: Path) -> None:
    search = make(tmp_path / "out")
    with (
        locked(search.run_directory.lock_file, "a search", print),
        pytest.raises(TongsaError, match="another process runs a search"),
    ):
        search.run(Silent())


def test_a_damaged_record_says_what_to_do(make: Callable[..., Tuning], tmp_path: Path) -> None:
    search = make(tmp_path / "out")
    record_of(3).write(search.run_directory.tune_file)
    search.run_directory.tune_file.write_text('{"format": 1}', encoding="utf-8")
    with pytest.raises(DirectoryError, match="damaged"):
        search.run(Silent())
