"""The trainer trains any task: here one without texts, with two stages, plain SGD and a metric to be lowered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tongsa.base.errors import UsageError
from tongsa.base.progress import Show, Silent
from tongsa.config import Recipe
from tongsa.config.presets import load_recipe
from tongsa.data.batches import Position, Rows
from tongsa.evaluation.metrics import mean_metric
from tongsa.models.loss import Loss
from tongsa.models.weights import load_weights
from tongsa.runs.card import Card, Score
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks import TASKS
from tongsa.tasks.contract import Evaluation, Objective, Task, Workers
from tongsa.training import run as running
from tongsa.training.checkpoint import checkpoints, latest
from tongsa.training.loop import Callbacks, Trainer
from tongsa.training.workers import ProcessGroup

CHUNK = 4


class Points(NamedTuple):
    x: Tensor
    y: Tensor

    def to(self, device: torch.device) -> Points:
        return Points(self.x.to(device), self.y.to(device))


@dataclass(frozen=True)
class InTurn:
    """All rows in order, a chunk an update."""

    rows: int

    def updates(self, start: Position) -> Iterator[tuple[Position, list[Rows]]]:
        epoch, first = start
        while True:
            for update in range(first, self.rows // CHUNK):
                last = CHUNK * (update + 1) == self.rows
                rows = np.arange(CHUNK * update, CHUNK * (update + 1), dtype=np.int64)
                yield Position(epoch + 1, 0) if last else Position(epoch, update + 1), [rows]
            epoch, first = epoch + 1, 0

    def share(self, chunks: list[Rows], rank: int, size: int) -> list[int]:
        return list(range(rank, len(chunks), size))


class Sign(Objective[nn.Linear, Points]):
    """Whether a number is positive; in its first stage the labels are turned round."""

    selects = "log_loss"

    def __init__(self, xs: list[float]) -> None:
        self.xs = torch.tensor(xs)
        self.examples = len(xs)
        self.order = InTurn(len(xs))
        self.stages: list[int] = []

    def build(self) -> nn.Linear:
        return nn.Linear(1, 2)

    def batch(self, rows: Rows, seed: int) -> Points:
        x = self.xs[torch.from_numpy(rows)]
        return Points(x[:, None], (x > 0).long())

    def loss(self, model: nn.Linear, batch: Points) -> Loss:
        labels = 1 - batch.y if self.stages[-1] == 0 else batch.y
        total = nn.functional.cross_entropy(model(batch.x), labels, reduction="sum")
        return Loss(total, total.detach(), len(labels))

    @torch.no_grad()
    def validate(self, model: nn.Linear, workers: Workers) -> dict[str, Score]:
        assert not model.training
        loss = self.loss(model, self.batch(np.arange(len(self.xs)), 0))
        return {"log_loss": mean_metric("log_loss").corpus(float(loss.total), loss.count)}

    def begin_stage(self, model: nn.Linear, stage: int) -> None:
        self.stages.append(stage)

    def stage_ends(self, stage: int, validations_since_best: int, fraction: float) -> bool:
        return stage == 0


class SignTask(Task[nn.Linear]):
    name = "sign"

    def prepare(self, run: Run, options: TrainOptions, show: Show) -> Recipe:
        run.data.mkdir(parents=True)
        (run.data / "xs.json").write_text(Path(options.corpora[0]).read_text())
        return load_recipe("tiny", dict(options.settings))

    def open(self, run: Run, recipe: Recipe, options: TrainOptions) -> Sign:
        return Sign(json.loads((run.data / "xs.json").read_text()))

    def evaluate(self, run: Run, card: Card, weights: Mapping[str, Tensor], device: str) -> Evaluation:
        objective = self.open(run, card.recipe, TrainOptions(corpora=()))
        model = objective.build().eval()
        load_weights(model, weights)
        objective.begin_stage(model, 1)
        return Evaluation(scores=objective.validate(model, ProcessGroup()), examples=[{"x": 1.0}])

    def publish(self, run: Run, card: Card, evaluation: Evaluation, device: str, show: Show) -> nn.Linear:
        assert run.read_card() == card
        model = nn.Linear(1, 2)
        load_weights(model, latest_weights(run))
        return model


def latest_weights(run: Run) -> dict[str, Tensor]:
    checkpoint = latest(run.checkpoints)
    assert checkpoint is not None
    return checkpoint.weights()


SETTINGS = {
    "training.optimizer": "sgd",
    "training.schedule": "constant",
    "training.warmup": "1",
    "training.peak": "0.5",
    "training.updates": "12",
    "training.validate_every": "4",
    "training.average": "2",
    "training.average_of": "best",
    "training.processes": "1",
}

Train = Callable[..., Any]


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Train:
    monkeypatch.setitem(TASKS.builtin, "sign", SignTask())  # type: ignore[misc]
    xs = torch.linspace(-2, 2, 16)[torch.randperm(16, generator=torch.Generator().manual_seed(1))].tolist()
    (tmp_path / "xs.json").write_text(json.dumps(xs))

    def run(out: Path, **changes: str) -> Any:
        settings = {**SETTINGS, **{f"training.{key}": value for key, value in changes.items()}}
        return running.train(
            tmp_path / "xs.json", task="sign", out=out, settings=settings, threads=1, device="cpu", show=Silent()
        )

    return run


def test_a_task_of_another_kind_is_trained_logged_and_published(train: Train, tmp_path: Path) -> None:
    model = train(tmp_path / "out")
    assert model(torch.tensor([[-1.0], [1.0]])).argmax(dim=1).tolist() == [0, 1]
    run = Run(tmp_path / "out")
    card = run.read_card()
    assert (card.task, card.source, card.target, card.training.examples) == ("sign", "", "", 16)
    assert set(card.scores) == {"log_loss"}
    assert [event["event"] for event in run.events() if event["event"] != "update"] == [
        "start",
        *["validation", "checkpoint"] * 4,
        "finish",
    ]
    assert json.loads(run.examples_file.read_text()) == {"x": 1.0}


def test_a_new_stage_has_a_budget_and_a_best_score_of_its_own(train: Train, tmp_path: Path) -> None:
    train(tmp_path / "out")
    run = Run(tmp_path / "out")
    updates = run.events("update")
    assert len(updates) == 4 + 12, "the first stage ends with its first validation"
    assert updates[4]["log_loss"] > updates[3]["log_loss"], "the labels are turned round"
    newest = latest(run.checkpoints)
    assert newest is not None
    assert (newest.progress().stage, newest.progress().stage_began) == (1, 4)
    losses = [event["log_loss"] for event in run.events("validation")]
    assert newest.progress().best_score == min(losses[1:])


def test_lower_is_better_where_the_metric_says_so(train: Train, tmp_path: Path) -> None:
    train(tmp_path / "out")
    run = Run(tmp_path / "out")
    losses = [event["log_loss"] for event in run.events("validation")]
    assert losses[1:] == sorted(losses[1:], reverse=True)
    assert [each.update for each in checkpoints(run.checkpoints)] == [12, 16], "the best of the last stage"


def test_killed_in_its_second_stage_it_resumes_to_the_same_weights(train: Train, tmp_path: Path) -> None:
    train(tmp_path / "whole")
    whole = Run(tmp_path / "whole")
    train(tmp_path / "part", updates="4", checkpoint_every="1")
    part = Run(tmp_path / "part")
    running.resume(part.path, settings={"training.updates": "12"})
    ours, theirs = latest_weights(part), latest_weights(whole)
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    recipe, job = part.read_job()
    resumed = Trainer(part, recipe, job, ProcessGroup())
    assert isinstance(resumed.objective, Sign)
    assert resumed.objective.stages == [1]
    resumed.run(Callbacks())
    assert resumed.progress.update == 16, "nothing is left to do"


def test_an_unknown_task_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown task: juggling"):
        running.train("corpus", task="juggling", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
