"""Loggers: programs that show the numbers of a training while it runs, besides log.jsonl.

A logger is created when a training begins or is resumed, in its main process only. A logger that fails is left out from
then on; it never stops a training.
"""

from __future__ import annotations

import importlib.util
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from tongsa.base.errors import MissingExtraError
from tongsa.base.files import write_atomically
from tongsa.base.registry import Registry

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class LoggedRun:
    """What a logger is told about the training."""

    directory: Path
    """The run directory; a logger may write into a folder of its own name there."""
    settings: Mapping[str, Any]
    """The recipe, flat: `{"training.updates": 1000}`."""

    @property
    def name(self) -> str:
        return self.directory.resolve().name

    def kept_id(self, logger: str, new: Callable[[], str]) -> str:
        """Return the id of this training in a logger's own database, the same when the training is resumed."""
        file = self.directory / logger / "id.txt"
        if file.is_file():
            return file.read_text(encoding="utf-8").strip()
        file.parent.mkdir(parents=True, exist_ok=True)
        found = new()
        write_atomically(file, f"{found}\n")
        return found


class Logger(Protocol):
    """Where numbers of a training are sent."""

    def log(self, values: Mapping[str, float], update: int) -> None:
        """Send finite numbers by name (`update/loss`, `validation/bleu`), as they are after this update."""

    def close(self) -> None:
        """Send what is still waiting; the training has ended or was interrupted."""


class TensorBoard:
    """Event files in the run directory:  tensorboard --logdir runs"""

    package = "tensorboard"

    def __init__(self, run: LoggedRun) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer: Any = SummaryWriter(run.directory / "tensorboard")

    def log(self, values: Mapping[str, float], update: int) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, update)

    def close(self) -> None:
        self._writer.close()


class MLflow:
    """A run of the experiment and server that MLflow's own settings name (MLFLOW_TRACKING_URI, ...)."""

    package = "mlflow"

    def __init__(self, run: LoggedRun) -> None:
        import mlflow

        self._mlflow: Any = mlflow
        id = run.kept_id("mlflow", lambda: self._new_run(run))
        mlflow.start_run(run_id=id)

    def _new_run(self, run: LoggedRun) -> str:
        started = self._mlflow.start_run(run_name=run.name)
        self._mlflow.log_params({name: str(value) for name, value in run.settings.items()})
        self._mlflow.end_run()
        return str(started.info.run_id)

    def log(self, values: Mapping[str, float], update: int) -> None:
        self._mlflow.log_metrics(dict(values), step=update, synchronous=False)  # training does not wait for a server

    def close(self) -> None:
        self._mlflow.end_run()


class WeightsAndBiases:
    """A run of the project that W&B's own settings name (WANDB_PROJECT, ...), or else of `tongsa`."""

    package = "wandb"

    def __init__(self, run: LoggedRun) -> None:
        import wandb

        self._run: Any = wandb.init(
            project=os.getenv("WANDB_PROJECT", "tongsa"),
            name=run.name,
            id=run.kept_id("wandb", lambda: uuid4().hex),
            resume="allow",
            dir=str(run.directory),
            config=dict(run.settings),
        )

    def log(self, values: Mapping[str, float], update: int) -> None:
        self._run.log(dict(values), step=update)

    def close(self) -> None:
        self._run.finish()


LOGGERS: Registry[Callable[[LoggedRun], Logger]] = Registry(
    "tongsa.loggers",
    {
        "tensorboard": TensorBoard,
        "mlflow": MLflow,
        "wandb": WeightsAndBiases,
    },
    kind="logger",
)


def check_loggers(names: Sequence[str]) -> None:
    """Raise an error if a logger is unknown, or needs a package that is not installed."""
    for name in names:
        package = getattr(LOGGERS.find(name), "package", None)
        if package and not _installed(package):
            raise MissingExtraError(package, name, needed_by=f"the logger {name}")


def _installed(package: str) -> bool:
    if package in sys.modules:
        return True
    return importlib.util.find_spec(package) is not None


def default_loggers() -> list[str]:
    try:
        import torch.utils.tensorboard  # noqa: F401
    except ImportError:
        return []
    return ["tensorboard"]


class Loggers:
    """Several loggers; one that fails is reported once and left out from then on."""

    def __init__(self, names: Sequence[str], run: LoggedRun, say: Callable[[str], None]) -> None:
        """Without names, TensorBoard is used if it is installed."""
        self._say = say
        self._open: dict[str, Logger] = {}
        for name in names or default_loggers():
            logger = self._guarded(name, _create, name, run)
            if logger is not None:
                self._open[name] = logger

    def log(self, event: str, values: Mapping[str, Any], update: int) -> None:
        """Send the finite numbers among these values."""
        numbers = {
            f"{event}/{name}": float(value)
            for name, value in values.items()
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        }
        for name, logger in list(self._open.items()) if numbers else ():
            self._guarded(name, logger.log, numbers, update)

    def close(self) -> None:
        for name, logger in list(self._open.items()):
            self._guarded(name, logger.close)
        self._open.clear()

    def _guarded(self, name: str, call: Callable[..., T], *given: Any) -> T | None:
        try:
            return call(*given)
        except Exception as error:  # other people's code, servers and networks can fail in any way
            self._open.pop(name, None)
            reason = str(error).split("\n")[0] or type(error).__name__
            self._say(f"the logger {name} failed and is left out: {reason}; the training and log.jsonl go on")
            return None


def _create(name: str, run: LoggedRun) -> Logger:
    return LOGGERS.find(name)(run)
