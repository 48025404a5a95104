"""What a training tells on its way: bars that reach their end, lines with what was measured."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tongsa.base.progress import Bar
from tongsa.runs.log import read_log
from tongsa.translation.translator import Translator

Train = Callable[..., Translator | None]


@dataclass
class RecordedBar:
    total: float | None
    unit: str
    done: float = 0.0
    steps: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    validations: int = 0

    def advance(self, amount: float, note: str = "") -> None:
        if note == "validating":
            self.validations += 1
            return
        self.steps.append(amount)
        self.notes.append(note)


@dataclass
class Recorder:
    said: list[str] = field(default_factory=list)
    bars: dict[str, RecordedBar] = field(default_factory=dict)

    def say(self, text: str) -> None:
        self.said.append(text)

    @contextmanager
    def bar(self, title: str, total: float | None, unit: str, done: float = 0.0) -> Iterator[Bar]:
        self.bars[title] = RecordedBar(total, unit, done)
        yield self.bars[title]


def events(out: Path, kind: str) -> list[dict[str, Any]]:
    return [event for event in read_log(out / "log.jsonl") if event["event"] == kind]


@pytest.fixture(scope="module")
def told(train_here: Train, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Recorder]:
    out, show = tmp_path_factory.mktemp("told") / "run", Recorder()
    train_here(out, {"training.updates": "6", "training.validate_every": "3"}, show=show)
    return out, show


def test_the_bar_goes_through_the_updates_with_the_loss_and_speed_of_each(told: tuple[Path, Recorder]) -> None:
    out, show = told
    bar = show.bars["training"]
    assert (bar.total, bar.unit) == (6, "updates")
    assert bar.steps == [1, 1, 1, 1, 1, 1]
    assert bar.validations == 2
    for event, note in zip(events(out, "update"), bar.notes, strict=True):
        assert f"loss {event['log_loss']:.3f}" in note
        speed = re.search(r"([\d,]+) tokens/s", note)
        assert speed
        told_speed = int(speed[1].replace(",", ""))
        assert told_speed == pytest.approx(event["target_tokens"] / event["seconds"], rel=0.1)  # seconds are rounded
        assert note.endswith(f"update {event['update']}") or event["update"] > 3
    assert [" BLEU " in note for note in bar.notes] == [False] * 3 + [True] * 3, "once there is one"


def test_every_pair_is_counted_while_it_is_read_and_encoded(told: tuple[Path, Recorder]) -> None:
    out, show = told
    assert (show.bars["reading"].total, sum(show.bars["reading"].steps)) == (None, 300)
    assert show.bars["encoding"].total == 300
    assert sum(show.bars["encoding"].steps) == events(out, "start")[0]["examples"], "held-out pairs are not trained on"


def test_a_training_that_ends_by_itself_is_not_told_as_stopped(told: tuple[Path, Recorder]) -> None:
    assert not any("stopped" in said or "tongsa resume" in said for said in told[1].said)


def test_validations_and_scores_are_told(told: tuple[Path, Recorder]) -> None:
    out, show = told
    for event in events(out, "validation"):
        losses = f"validation loss {event['log_loss']:.3f}, perplexity {event['perplexity']:,.2f}"
        line = f"{losses}, BLEU {event['bleu']:.2f} (greedy)"
        assert any(said.startswith(f"update {event['update']} ") and said.endswith(line) for said in show.said)
    (end,) = events(out, "finish")
    scores = ", ".join(f"{name} {end['scores'][name]['score']:.2f}" for name in ("bleu", "chrf", "ter"))
    candidates = [said for said in show.said if said.startswith(("the last checkpoint: ", "the average of 2 "))]
    assert len(candidates) == 2, "both that may be published are told with their scores"
    assert all("validation BLEU" in said and "(beam 4, length" in said for said in candidates)
    assert f"\nscores on the validation set (beam 4, length penalty 0.6): {scores}" in show.said
    assert any(f"report: {out}" in said for said in show.said)
    assert any(f"tongsa translate {out}" in said for said in show.said)
    assert any(f"tongsa evaluate {out}" in said for said in show.said)


def test_examples_of_the_validation_set_are_shown_beside_their_references(told: tuple[Path, Recorder]) -> None:
    out, show = told
    examples = [json.loads(line) for line in (out / "validation.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(examples) == 5
    shown = [f"\n  {e['source']}\n  > {e['translation']}\n  = {e['reference']}" for e in examples]
    assert [said for said in show.said if "\n  > " in said] == shown


def test_a_resumed_training_says_where_it_is_and_goes_on_there(train_here: Train, tmp_path: Path) -> None:
    out, first, second = tmp_path / "run", Recorder(), Recorder()
    train_here(out, {"training.updates": "2"}, show=first)
    train_here(out, {"training.updates": "5"}, resume=True, show=second)
    assert "resuming after update 2" in second.said
    assert (second.bars["training"].done, second.bars["training"].steps) == (2, [1, 1, 1])
    assert second.bars["training"].total == 5
    (resumed,) = events(out, "resume")
    assert resumed["update"] == 2
    assert resumed["seconds"] == pytest.approx(events(out, "update")[1]["seconds"], abs=0.01)


def test_a_training_by_the_clock_has_a_bar_in_seconds(train_here: Train, tmp_path: Path) -> None:
    show = Recorder()
    train_here(tmp_path / "run", {"training.updates": "3"}, minutes=50, show=show)
    bar = show.bars["training"]
    assert (bar.total, bar.unit) == (3000, "s")
    assert sum(bar.steps) == pytest.approx(events(tmp_path / "run", "update")[-1]["seconds"], abs=0.01)


def test_tensorboard_gets_every_number_where_it_is_installed(
    train_here: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers: dict[tuple[str, int], float] = {}
    folders = []

    class SummaryWriter:
        def __init__(self, folder: Path) -> None:
            folders.append(folder)

        def add_scalar(self, name: str, value: float, update: int) -> None:
            numbers[name, update] = value

        def close(self) -> None:
            pass

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = SummaryWriter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    train_here(tmp_path / "run", {"training.updates": "2"})
    assert folders == [tmp_path / "run" / "tensorboard"]
    for event in events(tmp_path / "run", "update"):
        for name in ("loss", "log_loss", "rate", "gradient_norm", "tokens", "target_tokens", "epoch"):
            assert numbers[f"update/{name}", event["update"]] == pytest.approx(event[name], rel=1e-3)
    assert ("validation/bleu", 2) in numbers
    assert not any("skipped" in name for name, _ in numbers), "it is no number"


def test_a_logger_that_fails_does_not_stop_the_training(
    train_here: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(**options: Any) -> Any:
        raise ConnectionError("no network")

    module = ModuleType("wandb")
    module.init = init  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wandb", module)
    show = Recorder()
    assert train_here(tmp_path / "run", {"training.updates": "2"}, loggers=["wandb"], show=show)
    assert len([said for said in show.said if "the logger wandb failed" in said]) == 1
    assert len(events(tmp_path / "run", "update")) == 2
