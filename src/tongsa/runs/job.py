"""Options of a training: one object, from the command line to job.json, which workers and `resume` read."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tongsa.base.checksums import sealed, unsealed
from tongsa.base.errors import UsageError
from tongsa.runs.card import TRANSLATION
from tongsa.runs.loggers import check_loggers

SHORTEST = 0.01
"""Minutes that a training has if the rest of its budget is used up."""


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """All options of a training except its output directory."""

    corpora: tuple[str, ...]
    """Training corpora: prefixes, files or folders, as the task reads them."""
    task: str = TRANSLATION
    """Task to train for: a name in `tongsa.tasks.TASKS`."""
    source: str = ""
    """Code of the source language."""
    target: str = ""
    """Code of the target language."""
    valid: tuple[str, ...] = ()
    """Corpora to validate on; without them, a part of the training corpora is held out."""
    recipe: str = "auto"
    """`auto`, the name of a recipe, or the path of a TOML file."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Changes to the recipe, `{"section.key": "value"}`."""
    minutes: float | None = None
    """Time to train for; None trains for `training.updates`."""
    seed: int = 1
    """Seed for all random choices."""
    threads: int | None = None
    """Cores to use; None takes all that this process may use."""
    device: str = "auto"
    """cpu, cuda, or auto: a GPU if there is one."""
    init: str | None = None
    """Run directory to fine-tune: training starts from its weights and subwords."""
    mix: tuple[str, ...] = ()
    """Corpora to mix in: with `init`, of the old domain, against forgetting; otherwise further text, such as
    back-translations."""
    mix_ratio: float = 1.0
    """With `mix`: examples of it for each one of `corpora`."""
    silver: tuple[str, ...] = ()
    """For a parser: trees that a machine made, mixed with those of `corpora`."""
    silver_ratio: float = 1.0
    """With `silver`: silver trees for each gold one."""
    subwords: str | None = None
    """Run directory to take the subwords from, and nothing else."""
    teacher: str | None = None
    """Run directory to take the subwords and all matching weights from."""
    loggers: tuple[str, ...] = ()
    """Names of `tongsa.runs.loggers.LOGGERS`, which receive every number of the training besides log.jsonl; without
    any, TensorBoard does if it is installed."""
    validates: bool = True
    """Validate while training. A search for a recipe does not: it computes the losses that it compares by itself."""

    def check(self) -> None:
        """Reject invalid combinations before anything is read."""
        if self.init and self.recipe != "auto":
            raise UsageError("--init takes the recipe of its translator", "Change single keys of it with --set.")
        if self.mix and not self.init and not self.valid:
            raise UsageError(
                "--mix needs --valid",
                "Text such as back-translations cannot tell how good a model is.",
            )
        if self.mix and not 0 < self.mix_ratio < math.inf:
            raise UsageError(f"--mix-ratio must be above 0, not {self.mix_ratio:g}")
        if self.silver and self.task != "parsing":
            raise UsageError("--silver is for parsers", "Otherwise name all corpora one after the other.")
        if self.silver and not self.valid:
            raise UsageError("--silver needs --valid", "Trees that a machine made cannot tell how good a parser is.")
        if self.minutes is not None and not 0 < self.minutes < math.inf:
            raise UsageError(f"--minutes must be above 0, not {self.minutes:g}")
        if self.seed < 0:
            raise UsageError(f"--seed must not be negative, but is {self.seed}")
        if self.threads is not None and self.threads < 1:
            raise UsageError(f"--threads must be at least 1, not {self.threads}")
        check_loggers(self.loggers)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> TrainOptions:
        """Read what `dataclasses.asdict` made of options and JSON stored; earlier versions had fewer of them."""
        names = ("corpora", "valid", "mix", "silver", "loggers")
        lists = {name: tuple(map(str, values[name])) for name in names if name in values}
        return cls(**{**values, **lists})

    @property
    def begins_with(self) -> str | None:
        """The run directory whose weights this training starts from, fully or partly."""
        return self.init or self.teacher


@dataclass(frozen=True, kw_only=True)
class Job:
    """A training job: its options, and the choices made for this machine."""

    options: TrainOptions
    device: str
    """cpu, or a GPU by its number."""
    threads: int
    """Threads of each worker process."""
    spent: float | None = None
    """Minutes of the budget that the translators took which made further pairs (`training.diversify`); None without
    such pairs, or before they are made."""

    @property
    def minutes(self) -> float | None:
        """Time of the training itself; None trains for `training.updates`."""
        minutes = self.options.minutes
        return minutes and max(minutes - (self.spent or 0.0), SHORTEST)

    def to_json(self) -> str:
        return json.dumps(sealed(dataclasses.asdict(self)), indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Job:
        """Read job.json; format 1 had fewer options, and did not store them separately."""
        values = unsealed(values)
        given = dict(values["options"]) if "options" in values else dict(values)
        if "options" not in values:
            del given["device"], given["threads"]
        spent = values.get("spent")
        return cls(
            options=TrainOptions.from_values(given),
            device=str(values["device"]),
            threads=int(values["threads"]),
            spent=None if spent is None else float(spent),
        )
