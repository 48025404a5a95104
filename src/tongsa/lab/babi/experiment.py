"""The experiment of §4: a network for all tasks or one for each, several restarts, errors by task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from tongsa.base.errors import UsageError
from tongsa.base.progress import Show
from tongsa.lab.babi.encoding import Lexicon, encode
from tongsa.lab.babi.saving import Trained, read_trained, write_trained
from tongsa.lab.babi.stories import Task
from tongsa.lab.babi.training import Plan, measure, train
from tongsa.models.memory_network import Encoding, MemoryNetwork, MemoryNetworkShape, Tying

FAILED = 0.05
"""A task with more wrong answers than this counts as failed (Weston et al. 2015)."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a command asks for."""

    joint: bool = True
    """One network for all tasks, or one for each."""
    hops: int = 3
    tying: Tying = "adjacent"
    encoding: Encoding = "position"
    d: int = 0
    """Width of the embeddings (0: the paper's 50 for all tasks together, 20 for one)."""
    memories: int = 50
    linear_start: bool = True
    noise: float = 0.1
    epochs: int = 0
    """With softmax (0: the paper's 60 for all tasks together, 100 for one)."""
    restarts: int = 1
    """Trainings from different weights, of which the one with the lowest training loss counts (the paper has 10)."""
    seed: int = 1

    def problems(self) -> list[str]:
        found = [f"--{name} must be at least 1" for name in ("hops", "memories", "restarts") if getattr(self, name) < 1]
        found += ["--width must be at least 1"] if self.d < 0 else []
        found += ["--epochs must be at least 1"] if self.epochs < 0 else []
        return found + ([] if 0 <= self.noise <= 1 else ["--noise lies between 0 and 1"])

    def plan(self) -> Plan:
        """§4.2: annealed every quarter of the epochs."""
        epochs = self.epochs or (60 if self.joint else 100)
        return Plan(
            epochs=epochs,
            anneal_every=max(1, epochs // 4),
            linear_start=self.linear_start,
            linear_epochs=min(epochs, 30 if self.joint else 20),
            noise=self.noise,
        )

    def same_training(self, tasks: Sequence[Task]) -> dict[str, Any]:
        """What a training's outcome hangs on, beside its seed: a training found in `out` must have the same."""
        own = {key: value for key, value in asdict(self).items() if key not in ("restarts", "seed")}
        return own | {"questions": {str(task.number): len(task.train) for task in tasks}}


@dataclass(frozen=True)
class TaskResult:
    """A task's test questions."""

    task: int
    name: str
    questions: int
    error: float
    """Share of wrong answers."""
    network: str
    """The file of the network that answered."""


def run(tasks: Sequence[Task], settings: Settings, out: Path, resume: bool, show: Show) -> list[TaskResult]:
    """Train what is not there yet, test, and tell the errors; networks are written as they are ready."""
    if problems := settings.problems():
        raise UsageError("this experiment cannot be run", *problems)
    if not resume and any(out.glob("*.safetensors")):
        raise UsageError(
            f"{out} holds trained networks already", "Take another --out, or go on with what is there:  --resume"
        )
    results = []
    for name, group in groups(tasks, settings.joint).items():
        path, trained = _best(name, group, settings, out, show)
        for task in group:
            results.append(TaskResult(task.number, task.name, len(task.test), error(trained, task), path.name))
            if not settings.joint:
                show.say(f"task {task.number}: {100 * results[-1].error:.1f}% of the test questions wrong")
    return results


def groups(tasks: Sequence[Task], joint: bool) -> dict[str, list[Task]]:
    """The tasks that share a network, by the name of its files."""
    return {"joint": list(tasks)} if joint else {f"task-{task.number}": [task] for task in tasks}


def error(trained: Trained, task: Task) -> float:
    encoded = encode(task.test, trained.lexicon, trained.network.shape.memories, trained.encoding)
    return measure(trained.network, encoded, torch.arange(len(encoded)))[1]


def _best(name: str, tasks: list[Task], settings: Settings, out: Path, show: Show) -> tuple[Path, Trained]:
    found = {}
    for seed in range(settings.seed, settings.seed + settings.restarts):
        path = out / f"{name}-{seed}.safetensors"
        if path.is_file():
            found[path] = _read(path, settings.same_training(tasks))
        else:
            found[path] = _train(f"{name}, seed {seed}", tasks, settings, seed, show)
            write_trained(path, found[path])
    return min(found.items(), key=lambda item: item[1].train_loss)


def _read(path: Path, wanted: dict[str, Any]) -> Trained:
    trained = read_trained(path)
    if trained.settings != wanted:
        different = [key for key in wanted if trained.settings.get(key) != wanted[key]]
        raise UsageError(
            f"{path} was trained with other settings: {', '.join(different)}",
            "Take another --out, or the same options.",
        )
    return trained


def _train(title: str, tasks: list[Task], settings: Settings, seed: int, show: Show) -> Trained:
    plan = settings.plan()
    questions = [question for task in tasks for question in task.train]
    lexicon = Lexicon.of(questions)
    encoded = encode(questions, lexicon, settings.memories, settings.encoding)
    shape = MemoryNetworkShape(
        words=len(lexicon),
        d=settings.d or (50 if settings.joint else 20),
        hops=settings.hops,
        memories=settings.memories,
        tying=settings.tying,
    )
    torch.manual_seed(seed)
    network = MemoryNetwork(shape)
    most = plan.epochs + (plan.linear_epochs if plan.linear_start else 0)
    with show.bar(title, most, "epochs") as bar:
        for epoch in train(network, encoded, plan, seed):
            phase = "linear, " if epoch.linear else ""
            bar.advance(1, f"{phase}loss {epoch.train_loss:.3f}, held-out error {100 * epoch.valid_error:.1f}%")
    train_loss, train_error = measure(network, encoded, torch.arange(len(encoded)))
    return Trained(
        network=network,
        lexicon=lexicon,
        encoding=settings.encoding,
        settings=settings.same_training(tasks),
        seed=seed,
        epochs=epoch.number,
        seconds=epoch.seconds,
        train_loss=train_loss,
        train_error=train_error,
        valid_error=epoch.valid_error,
    )
