"""A race counts training and nothing else, survives whatever stops it, and can be run again from its record."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tongsa.base.errors import CorpusError, UsageError
from tongsa.base.progress import Silent
from tongsa.demo import grammar
from tongsa.lab.speedrun import machine, running
from tongsa.lab.speedrun.races import RACES
from tongsa.lab.speedrun.records import RECORD, Record
from tongsa.lab.speedrun.running import RaceOptions, run_race
from tongsa.lab.speedrun.verifying import verify
from tongsa.runs.directory import Run
from tongsa.training.checkpoint import checkpoints
from tongsa.training.loop import End

RECIPE = """preset = "tiny"
[subwords]
size = 700
[model]
encoder_layers = 1
decoder_layers = 1
d_model = 16
d_ff = 16
heads = 2
[training]
batch_tokens = 300
chunk_tokens = 150
processes = 1
warmup = 4
validate_every = 4
validation_pairs = 8
average = 2
[decoding]
max_extra = 3
"""

UPDATES = 12
MULTI30K = RACES["multi30k"]


@pytest.fixture(scope="session")
def captions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences of the built-in grammar in the files of Multi30k, and a recipe for a small Transformer."""
    folder = tmp_path_factory.mktemp("captions")
    train, valid, test = grammar.corpus(300, 12, 16, seed=1)
    parts = {"train": train, "valid": valid, "test_2016_flickr": test[:10], "test_2017_mscoco": test[10:]}
    for name, pairs in parts.items():
        for side, language in enumerate(("en", "de")):
            (folder / f"{name}.{language}").write_text("".join(pair[side] + "\n" for pair in pairs), encoding="utf-8")
    (folder / "small.toml").write_text(RECIPE, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True, scope="module")
def _quick_probe() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "UPDATES", 1)
        patch.setattr(machine, "WARM_UP", 0)
        patch.setattr(machine, "SENTENCES", 2)
        yield


def options(captions: Path, **changes: Any) -> RaceOptions:
    given: dict[str, Any] = {
        "race": MULTI30K,
        "folder": captions,
        "recipe": str(captions / "small.toml"),
        "minutes": None,
        "updates": UPDATES,
        "targets": (1e-9, 99.0),
        "threads": 1,
        "device": "cpu",
    }
    return RaceOptions(**{**given, **changes})


@pytest.fixture(scope="session")
def finished(captions: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Record]:
    """A race that nothing disturbed; it is not to be changed."""
    out = tmp_path_factory.mktemp("race") / "out"
    record = run_race(options(captions), out, Silent())
    assert record is not None
    return out, record


Finished = tuple[Path, Record]


def without_times(record: Record) -> dict[str, Any]:
    values = json.loads(record.to_json())
    for key in ("preparing", "starting", "scoring", "machine", "reached"):
        del values[key]
    for point in values["log"]:
        del point["seconds"]
    return values


def test_every_checkpoint_is_scored_as_it_would_have_been_published(finished: Finished) -> None:
    out, record = finished
    assert [point.updates for point in record.log] == [4, 8, 12]
    assert [each.update for each in checkpoints(Run(out / "training").checkpoints)] == [4, 8, 12]
    assert {point.weights for point in record.log} <= {"the last checkpoint", "the average of 2 checkpoints"}
    assert record.log[0].weights == "the last checkpoint"
    card = Run(out / "training").read_card()
    assert record.log[-1].weights == card.training.weights
    assert record.log[-1].bleu == pytest.approx(card.scores["bleu"].score)
    assert record.search == "beam 4, length penalty 0.6"


def test_all_test_sets_that_are_there_are_scored_in_both_ways(finished: Finished) -> None:
    _, record = finished
    assert list(record.tests) == ["test_2016_flickr", "test_2017_mscoco"]
    for scores in record.tests.values():
        assert "case:mixed" in scores["bleu"].signature
        assert "case:lc" in scores["lowercased_bleu"].signature


def test_the_record_has_what_a_second_run_needs(finished: Finished) -> None:
    out, record = finished
    assert Record.read(out / RECORD) == record
    assert record.parsed_recipe() == Run(out / "training").read_job()[0]
    assert record.machine.torch
    assert record.machine.used == 1
    values = json.loads((out / RECORD).read_text(encoding="utf-8"))
    assert values["reached"]["99"] is None


def test_a_finished_race_is_not_run_again_but_may_have_other_targets(
    finished: Finished, captions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, record = finished
    copy = shutil.copytree(out, tmp_path / "out")
    for name in ("prepare", "fit", "publish", "describe_machine"):
        monkeypatch.setattr(running, name, None)
    monkeypatch.setattr(running.Translator, "translate", None)
    again = run_race(options(captions, targets=(50.0,)), copy, Silent())
    assert again is not None
    assert again.targets == (50.0,)
    assert dataclasses.replace(again, targets=record.targets, date=record.date) == record


class FakeClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_clock_counts_preparing_and_starting_but_no_scoring(
    finished: Finished, captions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, _ = finished
    clock = FakeClock()

    def prepare(run: Run, *_: object) -> None:
        clock.now += 7
        shutil.copytree(out / "training", run.path, dirs_exist_ok=True)
        shutil.move(run.checkpoints, run.path / "kept")

    def fit(run: Run, *_: object) -> End:
        shutil.move(run.path / "kept", run.checkpoints)
        trained = checkpoints(run.checkpoints)[-1].progress().seconds
        clock.now += trained + 3
        return End.BUDGET_USED

    def scores(*_: object) -> dict[str, Any]:
        clock.now += 100
        return {name: running.Score(10.0, "") for name in ("bleu", "lowercased_bleu")}

    monkeypatch.setattr(running, "prepare", prepare)
    monkeypatch.setattr(running, "fit", fit)
    monkeypatch.setattr(running._Race, "_scores", scores)
    record = run_race(options(captions), tmp_path / "out", Silent(), clock)
    assert record is not None
    assert (record.preparing, record.starting) == (7, pytest.approx(3, abs=0.01))
    trained = [each.progress().seconds for each in checkpoints(Run(tmp_path / "out" / "training").checkpoints)]
    assert [point.seconds for point in record.log] == [pytest.approx(10 + each, abs=0.02) for each in trained]
    assert record.scoring == pytest.approx(700)  # five weights of three checkpoints, two test sets


def test_a_race_that_was_stopped_anywhere_ends_with_the_same_record(
    finished: Finished, captions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, undisturbed = finished
    out = tmp_path / "out"
    scores = running._Race._scores

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def scored_once(self: Any, *arguments: Any) -> Any:
        monkeypatch.setattr(running._Race, "_scores", killed)
        return scores(self, *arguments)

    def race() -> Record | None:
        return run_race(options(captions), out, Silent())

    with monkeypatch.context() as patch:  # while preparing, after the data was written
        patch.setattr("tongsa.training.run.write_job", killed)
        with pytest.raises(KeyboardInterrupt):
            race()
    with monkeypatch.context() as patch:
        patch.setattr(running, "describe_machine", killed)
        with pytest.raises(KeyboardInterrupt):
            race()
    prepared = json.loads((out / "race.json").read_text(encoding="utf-8"))["preparing"]
    with monkeypatch.context() as patch:  # in the training, after its second checkpoint
        patch.setattr("tongsa.training.loop.prune", _killed_at(2))
        with pytest.raises(KeyboardInterrupt):
            race()
    assert [each.update for each in checkpoints(Run(out / "training").checkpoints)] == [4, 8]
    monkeypatch.setattr(running._Race, "_scores", scored_once)
    with pytest.raises(KeyboardInterrupt):
        race()
    monkeypatch.setattr(running._Race, "_scores", scores)
    with monkeypatch.context() as patch:
        patch.setattr(running, "publish", killed)
        with pytest.raises(KeyboardInterrupt):
            race()
    record = race()
    assert record is not None
    assert without_times(record) == without_times(undisturbed)
    assert record.preparing == pytest.approx(prepared, abs=0.01)


def _killed_at(save: int) -> Any:
    saves = []

    def prune(*_: object) -> None:
        saves.append(1)
        if len(saves) == save:
            raise KeyboardInterrupt

    return prune


def test_what_is_far_below_all_targets_is_scored_on_a_sample(
    finished: Finished, captions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, _ = finished
    copy = shutil.copytree(out, tmp_path / "out")
    state = json.loads((copy / "race.json").read_text(encoding="utf-8"))
    (copy / "race.json").write_text(json.dumps({**state, "scores": {}}), encoding="utf-8")
    scored: list[int] = []
    found: list[float] = []
    monkeypatch.setattr(running, "SAMPLE", 4)

    def scores(race: object, translator: object, text: Any, *_: object) -> dict[str, Any]:
        scored.append(len(text.sources))
        return {"bleu": running.Score(found.pop(0), "")}

    def race(target: float) -> list[tuple[float, int]]:
        scored.clear()
        record = run_race(options(captions, targets=(target,)), copy, Silent())
        assert record is not None
        return [(point.bleu, point.sentences) for point in record.log]

    monkeypatch.setattr(running._Race, "_scores", scores)
    found += [5, *(25, 35), *(29, 31), *(5, 29)]  # the second checkpoint and the third have an average too
    assert race(40.0) == [(5, 3), (31, 12), (29, 3)]
    assert scored == [3, 3, 3, 12, 12, 3, 3]
    found += [*(5, 29), *(5, 33)]
    assert race(30.0) == [(5, 3), (31, 12), (33, 12)]  # the last one is near the new target
    assert scored == [3, 3, 12, 12]


def test_an_interrupted_training_gives_no_record(
    captions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "fit", lambda *_: End.INTERRUPTED)
    assert run_race(options(captions), tmp_path / "out", Silent()) is None
    assert not (tmp_path / "out" / RECORD).exists()


def test_another_budget_or_seed_is_another_race(finished: Finished, captions: Path) -> None:
    out, _ = finished
    with pytest.raises(UsageError, match="holds a race of 12 updates"):
        run_race(options(captions, updates=13), out, Silent())
    with pytest.raises(UsageError, match="other options"):
        run_race(options(captions, seed=2), out, Silent())


def test_missing_files_are_named_together_with_where_they_can_be_had(captions: Path, tmp_path: Path) -> None:
    shutil.copy(captions / "train.en", tmp_path)
    shutil.copy(captions / "test_2017_mscoco.de", tmp_path)
    with pytest.raises(CorpusError) as error:
        MULTI30K.texts(tmp_path)
    for name in ("train.de", "valid.en", "valid.de", "test_2016_flickr.en", "test_2017_mscoco.en"):
        assert name in error.value.what
    assert "train.en" not in error.value.what
    assert "test_2017_flickr" not in error.value.what  # may be missing
    assert "multi30k/dataset" in str(error.value)


def test_a_record_is_confirmed_by_the_same_updates(finished: Finished, captions: Path, tmp_path: Path) -> None:
    _, record = finished
    found = verify(record, captions, tmp_path / "again", Silent(), threads=1, device="cpu")
    assert found is not None
    assert found.confirmed
    assert found.differences == [0.0, 0.0, 0.0]
    assert "3 checkpoints of the same update have the same BLEU" in found.lines()
    assert found.lines()[-1] == "confirmed"


def test_another_text_is_refused_before_a_record_is_run_again(
    finished: Finished, captions: Path, tmp_path: Path
) -> None:
    _, record = finished
    other = dataclasses.replace(record, digests={**record.digests, "valid": "0" * 16})
    with pytest.raises(CorpusError, match="another text than the record was made with: valid"):
        verify(other, captions, tmp_path / "again", Silent())


def test_compressed_files_are_the_same_text(captions: Path, tmp_path: Path) -> None:
    import gzip

    for path in captions.glob("*.??"):
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    ours, theirs = MULTI30K.texts(tmp_path), MULTI30K.texts(captions)
    assert {name: text.digest for name, text in ours.items()} == {name: text.digest for name, text in theirs.items()}
