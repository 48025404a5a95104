"""One race: prepare, train, score every checkpoint, write the record.

Scoring comes after the training, on the checkpoints that it left: it takes no time of the race, and the training is the
one that `tongsa train` would do. Finished work is on disk, so the same command continues where it stopped.

DIR/race.json      what is raced, and what has been measured so far
    training/      the translator directory, with all its checkpoints
    record.json    the result
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import torch

from tongsa.base.devices import usable_cores
from tongsa.base.errors import DirectoryError, UsageError
from tongsa.base.files import write_atomically
from tongsa.base.locks import locked
from tongsa.base.progress import Show
from tongsa.config import Recipe
from tongsa.evaluation.metrics import METRICS, score
from tongsa.lab.speedrun.machine import Machine, describe_machine
from tongsa.lab.speedrun.races import Race, RaceText
from tongsa.lab.speedrun.records import TEST_METRICS, Point, Record
from tongsa.runs.card import Score
from tongsa.runs.directory import Run
from tongsa.runs.job import Job, TrainOptions
from tongsa.tasks.translation_recipe import selecting_metric
from tongsa.text.subwords import Subwords
from tongsa.training.checkpoint import Checkpoint, checkpoints, latest
from tongsa.training.continuing import refuse_changes, repair_prepared
from tongsa.training.fitting import fit
from tongsa.training.logger import card_of
from tongsa.training.loop import End
from tongsa.training.publish import publish, publishable
from tongsa.training.run import prepare
from tongsa.translation.translator import Translator

BEAM = 4
"""Beam of every score of a race; the length penalty is the recipe's."""

SAMPLE = 16
"""One in so many sentences of the validation set is translated first."""

MARGIN = 10.0
"""BLEU by which the sample must miss the lowest target for the rest not to be translated: the first models of a
training write to the length limit, which takes minutes."""

CHECKPOINTS = 1000
"""Checkpoints to keep: all."""

STATE, TRAINING = "race.json", "training"


@dataclass(frozen=True, kw_only=True)
class RaceOptions:
    """What is raced."""

    race: Race
    folder: Path
    """The text."""
    recipe: str
    minutes: float | None
    """The budget; None trains for `updates`."""
    updates: int | None
    seed: int = 1
    targets: tuple[float, ...] = ()
    threads: int | None = None
    device: str = "auto"

    def check(self) -> None:
        if (self.minutes is None) == (self.updates is None):
            raise UsageError("a race needs one budget: minutes or updates")
        if not self.targets or not all(0 < target <= 100 for target in self.targets):
            raise UsageError("targets are BLEU above 0 and up to 100", "For example:  --to 35,38,40")

    def training(self) -> TrainOptions:
        """The options of the training."""
        # one training, from beginning to end: its checkpoints are what is scored
        settings = {"training.snapshots": str(CHECKPOINTS), "training.diversify": "false"}
        if self.updates is not None:
            settings["training.updates"] = str(self.updates)
        return TrainOptions(
            corpora=(str(self.folder / self.race.train),),
            source=self.race.source,
            target=self.race.target,
            valid=(str(self.folder / self.race.valid),),
            recipe=self.recipe,
            settings=settings,
            minutes=self.minutes,
            seed=self.seed,
            threads=self.threads,
            device=self.device,
        )


@dataclass(frozen=True, kw_only=True)
class CheckpointScore:
    """What would have been published at a checkpoint."""

    bleu: float
    weights: str
    sentences: int


@dataclass
class RaceState:
    """What has been measured so far, in DIR/race.json. All times are in seconds."""

    path: Path
    minutes: float | None
    updates: int | None
    preparing: float | None = None
    """None until the text is prepared."""
    starting: float | None = None
    """None until the training has ended."""
    scoring: float = 0.0
    machine: Machine | None = None
    scores: dict[int, CheckpointScore] = field(default_factory=dict)
    """Scores on the validation set by update."""
    tests: dict[str, dict[str, Score]] = field(default_factory=dict)
    engine: str = ""

    @classmethod
    def open(cls, folder: Path, options: RaceOptions) -> RaceState:
        """Read the state of the race in a folder, or begin one; an error if another budget was raced there."""
        path = folder / STATE
        if not path.is_file():
            return cls(path, options.minutes, options.updates)
        try:
            found = cls._read(path)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DirectoryError(
                f"{path} is damaged: {error}", "Choose another --out: nothing is overwritten."
            ) from error
        if (found.minutes, found.updates) != (options.minutes, options.updates):
            before = f"{found.minutes:g} minutes" if found.minutes else f"{found.updates:,} updates"
            raise UsageError(
                f"{folder} holds a race of {before}",
                "Give the same budget to continue it, or another --out for another race.",
            )
        return found

    @classmethod
    def _read(cls, path: Path) -> RaceState:
        values = json.loads(path.read_text(encoding="utf-8"))
        scores = {int(update): CheckpointScore(**each) for update, each in values["scores"].items()}
        tests = {
            name: {metric: Score(**each) for metric, each in scored.items()} for name, scored in values["tests"].items()
        }
        machine = Machine(**values["machine"]) if values["machine"] else None
        return cls(path, **{**values, "scores": scores, "tests": tests, "machine": machine})

    def save(self) -> None:
        values = dataclasses.asdict(self)
        del values["path"]
        write_atomically(self.path, json.dumps(values, indent=1, ensure_ascii=False))


Clock = Callable[[], float]


def run_race(options: RaceOptions, out: Path, show: Show, clock: Clock = time.monotonic) -> Record | None:
    """Run a race, or continue it, and write its record; None if it was interrupted."""
    options.check()
    texts = options.race.texts(options.folder)
    with locked(out / ".lock", f"a race in {out}", show.say):
        going = _Race(options, texts, Run(out / TRAINING), RaceState.open(out, options), show, clock)
        if not going.train():
            show.say("to continue the race, run the same command again")
            return None
        going.score_checkpoints()
        going.score_tests()
        record = going.record()
        record.write(out)
    return record


@dataclass(frozen=True)
class _Race:
    """The steps of a race. Each does what an earlier call has not done."""

    options: RaceOptions
    texts: dict[str, RaceText]
    run: Run
    state: RaceState
    show: Show
    clock: Clock

    def train(self) -> bool:
        """Prepare and train; False if that was interrupted."""
        state = self.state
        self._prepare()
        if state.machine is None:
            recipe, job = self.run.read_job()
            self.show.say("probing the speed of this machine")
            state.machine = describe_machine(job.device, recipe.training.processes * job.threads)
            state.save()
        if state.starting is None:
            before, began = self._trained_seconds(), self.clock()
            if fit(self.run, self.show) == End.INTERRUPTED:
                return False
            state.starting = max(0.0, self.clock() - began - (self._trained_seconds() - before))
            state.save()
        return True

    def _prepare(self) -> None:
        training = self.options.training()
        if self.state.preparing is not None:
            refuse_changes(self.run, training)
            repair_prepared(self.run, training, self.show)
            return
        began = self.clock()
        prepare(self.run, training, self.show)
        self.state.preparing = self.clock() - began
        self.state.save()

    def _trained_seconds(self) -> float:
        newest = latest(self.run.checkpoints)
        return newest.progress().seconds if newest else 0.0

    def score_checkpoints(self) -> None:
        """Score on the validation set what would have been published at each checkpoint."""
        recipe, job = self._job()
        state, present = self.state, checkpoints(self.run.checkpoints)
        metric = METRICS.find(selecting_metric(recipe))
        subwords = Subwords.load(self.run.path)
        with self.show.bar("scoring checkpoints", len(present), "checkpoints") as bar:
            for number, checkpoint in enumerate(present, 1):
                if not self._is_scored(checkpoint):
                    began = self.clock()
                    card = card_of(recipe, job, checkpoint.progress(), 0)
                    weights = publishable(checkpoint, present[:number], recipe.training, metric, self.show)
                    translators = {
                        name: Translator.from_weights(card, subwords, tensors, device=job.device)
                        for name, tensors in weights.items()
                    }
                    state.scores[checkpoint.update] = self._best(translators)
                    state.scoring += self.clock() - began
                    state.save()
                bar.advance(1, f"BLEU {state.scores[checkpoint.update].bleu:.2f}")

    def _is_scored(self, checkpoint: Checkpoint) -> bool:
        """Whether a score is there, on all sentences if the targets are near enough for that."""
        found = self.state.scores.get(checkpoint.update)
        whole = len(self.texts[self.options.race.valid].sources)
        return found is not None and (found.sentences == whole or self._is_hopeless(found.bleu))

    def _is_hopeless(self, bleu: float) -> bool:
        return bleu + MARGIN < min(self.options.targets)

    def _best(self, translators: Mapping[str, Translator]) -> CheckpointScore:
        """The best score: on a sample if that is far below all targets, else on the whole validation set."""
        whole = self.texts[self.options.race.valid]
        if self._is_hopeless(0.0):
            estimate = self._best_on(whole.every(SAMPLE), translators)
            if self._is_hopeless(estimate.bleu):
                return estimate
        return self._best_on(whole, translators)

    def _best_on(self, text: RaceText, translators: Mapping[str, Translator]) -> CheckpointScore:
        found = {name: self._scores(each, text, ["bleu"])["bleu"].score for name, each in translators.items()}
        best = max(found, key=lambda name: found[name])
        return CheckpointScore(bleu=found[best], weights=best, sentences=len(text.sources))

    def score_tests(self) -> None:
        """Publish the translator, and score it on the test sets, once."""
        tests = [name for name in self.options.race.tests if name in self.texts]
        if set(tests) <= self.state.tests.keys():
            return
        began = self.clock()
        _, job = self._job()
        if not self.run.events("finish"):
            publish(self.run, job.device, self.show)
        translator = Translator.load(self.run.path, device=job.device)
        for name in tests:
            self.state.tests[name] = self._scores(translator, self.texts[name], TEST_METRICS)
        self.state.engine = translator.made_with
        self.state.scoring += self.clock() - began
        self.state.save()

    def _job(self) -> tuple[Recipe, Job]:
        recipe, job = self.run.read_job()
        torch.set_num_threads(job.options.threads or usable_cores())
        return recipe, job

    def _scores(self, translator: Translator, text: RaceText, metrics: Sequence[str]) -> dict[str, Score]:
        search = dataclasses.replace(translator.search, beam=BEAM, scores=False)
        translations = [each.text for each in translator.translate(text.sources, search)]
        return score(translations, text.references, self.options.race.target, metrics)

    def record(self) -> Record:
        state, (recipe, _) = self.state, self.run.read_job()
        assert state.preparing is not None, "the training has ended"
        assert state.starting is not None, "the training has ended"
        assert state.machine is not None, "the training has ended"
        before = state.preparing + state.starting
        return Record(
            race=self.options.race.name,
            recipe_name=Path(self.options.recipe).stem,
            recipe=recipe.to_toml(),
            seed=self.options.seed,
            minutes=self.options.minutes,
            parameters=next(event["parameters"] for event in self.run.events() if "parameters" in event),
            targets=self.options.targets,
            log=tuple(self._point(checkpoint, before) for checkpoint in checkpoints(self.run.checkpoints)),
            tests=state.tests,
            search=f"beam {BEAM}, length penalty {recipe.decoding.length_penalty:g}",
            engine=state.engine,
            preparing=round(state.preparing, 2),
            starting=round(state.starting, 2),
            scoring=round(state.scoring, 2),
            digests={name: text.digest for name, text in self.texts.items()},
            machine=state.machine,
            date=datetime.now(UTC).date().isoformat(),
        )

    def _point(self, checkpoint: Checkpoint, before: float) -> Point:
        progress = checkpoint.progress()
        return Point(
            seconds=round(before + progress.seconds, 2),
            updates=progress.update,
            target_tokens=progress.target_tokens,
            **dataclasses.asdict(self.state.scores[checkpoint.update]),
        )
