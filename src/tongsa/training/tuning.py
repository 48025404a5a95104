"""`tongsa train --tune`: a search for the recipe by successive halving, then a training with the best one.

DIR/tune.json tune.html    what was tried; tune.toml is the recipe that was chosen
DIR/tune/text/SIZE/        the text as ids, prepared once for each vocabulary; "recipe" has the recipe's own size
DIR/tune/NUMBER/           the training of a candidate, which the next rung continues
DIR                        the training with the chosen recipe; DIR/tune is removed when it begins

Every candidate is trained for a small share of the budget; the better half goes on until it has been trained twice as
long, and so on, until one is left. Each rung ends with a learning rate of 0, so that its losses can be compared
(docs/decisions/0022).
"""

from __future__ import annotations

import dataclasses
import math
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass

from tongsa.base.devices import choose_device, started_by_torchrun
from tongsa.base.errors import TrainingError, UsageError
from tongsa.base.files import write_atomically
from tongsa.base.locks import locked
from tongsa.base.progress import Show, duration
from tongsa.base.regular import refuse_links
from tongsa.config import Recipe
from tongsa.pages.tune import uneven_words, write_tune_page
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.runs.tune import Candidate, TuneRecord
from tongsa.tasks import TASKS
from tongsa.text.subwords import VocabularySizeError
from tongsa.training.candidates import SIZE, draw_candidates, peak
from tongsa.training.continuing import began, differences, write_data
from tongsa.training.fitting import fit, write_job
from tongsa.training.loop import DivergedError, End
from tongsa.training.run import share_prepared, take_prepared, train_with
from tongsa.training.rungs import (
    LEAST_FINAL,
    SHARE,
    cost,
    first_length,
    fitted,
    judged,
    judging_seconds,
    lengths,
    rung_recipe,
    same_tokens,
    trainings,
)

FEWEST_UPDATES, FEWEST_SECONDS = 4, 5.0
"""Shortest first rung."""

MOST_CANDIDATES = 1000

TASKS_WITH_LOSS = ("translation", "lm", "mlm", "classify")
"""Tasks that can be searched for: their validation computes a loss, and their training has one stage."""


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """A search on a user's own text; `run` begins or continues it."""

    options: TrainOptions
    """Of the training without a search; the budget is that of search and training together."""
    run_directory: Run
    count: int
    """Number of candidates; the first one is the recipe unchanged."""

    def check(self) -> None:
        """Raise an error for what cannot work, before anything is read."""
        options = self.options
        options.check()
        if not 2 <= self.count <= MOST_CANDIDATES:
            raise UsageError(
                f"--tune {self.count} is not possible: it is the number of recipes to try, 2 to {MOST_CANDIDATES:,}",
                "For example:  --tune 8",
            )
        if started_by_torchrun():
            raise UsageError(
                "--tune does not work under torchrun",
                "Search on one machine, then train with torchrun:  --recipe DIR/tune.toml",
            )
        if options.init or options.teacher:
            raise UsageError("--tune does not work with --init: a model that is trained further keeps its recipe")
        if options.task not in TASKS_WITH_LOSS:
            raise UsageError(
                f"--tune does not work with the task {options.task}", f"It does with {', '.join(TASKS_WITH_LOSS)}."
            )
        if options.minutes:
            first = first_length(self.count, 60 * options.minutes)
            needed = math.ceil(FEWEST_SECONDS / 60 * cost(self.count) / SHARE * 10) / 10
            self._refuse_short(first < FEWEST_SECONDS, f"{options.minutes:g} minutes", f"--minutes {needed:g}")

    def run(self, show: Show) -> bool:
        """Search, and train with the best recipe; return False if that was interrupted. Calling it again continues."""
        self.check()
        run = self.run_directory
        refuse_links(run.path)
        with locked(run.lock_file, f"a search in {run.path}", show.say):
            record = self._read(show) if run.tune_file.is_file() else self._begin(show)
            if record.chosen is None:
                found = self._search(record, show)
                if found is None:
                    show.say("to continue the search:  give the same command again")
                    return False
                record = found
            final = self._final(record)
            if not run.job_file.is_file():
                take_prepared(self._text(record.find(record.chosen or 1).settings), run, self._chosen(record), final)
            shutil.rmtree(run.tune_folder, ignore_errors=True)
        if run.examples_file.is_file():  # written at the very end
            show.say(f"search and training were finished before: {run.path}")
            return True
        show.say(f"training with the recipe of candidate {record.chosen}")
        trained = train_with(final, run, show, resume=True)
        if trained is not None:
            show.say(f"what was tried: {run.tune_file.with_suffix('.html')}")
        return trained is not None

    def _read(self, show: Show) -> TuneRecord:
        run = self.run_directory
        record = TuneRecord.read(run.tune_file)
        found = differences(record.began, self.options)
        for name, before, now in (
            ("--tune", record.count, self.count),
            ("--minutes", record.minutes, self.options.minutes),
        ):
            found += [f"{name}: {before or 'none'} before, {now or 'none'} now"] if before != now else []
        if found:
            raise UsageError(
                f"{run.path} holds a search with other options",
                *found,
                "Give the same ones to continue it, or another --out to begin a new search.",
            )
        if record.chosen is None:
            show.say(f"continuing the search in {run.path}")
        return record

    def _begin(self, show: Show) -> TuneRecord:
        """Prepare the text, and draw the candidates."""
        run = self.run_directory
        run.refuse_to_overwrite()
        # `auto` may choose for the time that the last training has.
        minutes = self.options.minutes and SHARE * self.options.minutes
        options = dataclasses.replace(self.options, minutes=minutes)
        recipe = write_data(self._text({}), options, show)
        write_atomically(run.tune_folder / "recipe.toml", recipe.to_toml())
        updates = recipe.training.updates
        if self.options.minutes is None:
            needed = math.ceil(FEWEST_UPDATES * cost(self.count) / SHARE)
            short = first_length(self.count, updates) < FEWEST_UPDATES
            self._refuse_short(short, f"{updates:,} updates", f"--set training.updates={needed}")
        objective = TASKS.find(options.task).open(self._text({}), recipe, options)
        started = time.monotonic()
        candidates = self._candidates(recipe, show, sizes=objective.validation_characters > 0)
        used = time.monotonic() - started
        record = TuneRecord(
            began=began(self.options),
            count=self.count,
            minutes=self.options.minutes,
            values=recipe.to_values(),
            lengths=self._lengths(recipe, used),
            candidates=candidates,
            unit="character" if objective.validation_characters else "token",
            used=used,
        )
        record.write(run.tune_file)
        return record

    def _lengths(self, recipe: Recipe, used: float) -> tuple[float, ...]:
        """How long the rungs are, in updates or in seconds; other vocabularies and judging take part of the seconds."""
        options = self.options
        if options.minutes is None:
            return lengths(math.floor(first_length(self.count, recipe.training.updates)), self.count)
        judging = judging_seconds(self._text({}), recipe, options, choose_device(options.device))
        other = used + judging * (1 + trainings(self.count))
        first = first_length(self.count, 60 * options.minutes) - other / cost(self.count)
        needed = math.ceil((FEWEST_SECONDS * cost(self.count) + other) / SHARE / 60 * 10) / 10
        short = f"{options.minutes:g} minutes, {other:.0f} s of them for other vocabularies and judging,"
        self._refuse_short(first < FEWEST_SECONDS, short, f"--minutes {needed:g}")
        return lengths(first, self.count)

    def _refuse_short(self, short: bool, budget: str, needed: str) -> None:
        if short:
            raise UsageError(
                f"{budget} are too few to try {self.count} recipes",
                f"Half of them are for the search. Give more ({needed} at least), or lower --tune.",
            )

    def _candidates(self, recipe: Recipe, show: Show, *, sizes: bool) -> tuple[Candidate, ...]:
        """Draw the candidates, with vocabularies of other `sizes` or without, and prepare the text for them."""
        options = self.options
        fixed = set(options.settings)
        if options.subwords or not sizes:
            fixed.add(SIZE)
        unusable: set[str] = set()
        prepared: set[str] = set()
        while True:
            drawn = draw_candidates(recipe, self.count, seed=options.seed, fixed=fixed, unusable=unusable)
            try:
                for size in dict.fromkeys(each[SIZE] for each in drawn if SIZE in each):
                    if size not in prepared:
                        self._prepare(size, show)
                        prepared.add(size)
            except VocabularySizeError as error:
                show.say(f"not tried: {error.what}")
                unusable.add(size)
                continue
            return tuple(Candidate(number=number, settings=each) for number, each in enumerate(drawn, 1))

    def _prepare(self, size: str, show: Show) -> None:
        """Prepare the text with a vocabulary of another size; what an earlier try has made of the same text is kept."""
        run = self._text({SIZE: size})
        recipe = str(self.run_directory.tune_folder / "recipe.toml")
        write_data(run, dataclasses.replace(self.options, recipe=recipe, settings={SIZE: size}), show)

    def _text(self, settings: Mapping[str, str]) -> Run:
        """The directory with the text in the vocabulary of a candidate."""
        return Run(self.run_directory.tune_folder / "text" / settings.get(SIZE, "recipe"))

    def _search(self, record: TuneRecord, show: Show) -> TuneRecord | None:
        """Train the candidates rung by rung, and choose; None if that was interrupted."""
        run = self.run_directory
        show.say(f"searching among {self.count} recipes; then the best one is trained with the rest of the budget")
        for rung, length in enumerate(record.lengths):
            left = record.survivors(rung)
            if len(left) <= 1:
                break
            if record.by_time and rung and not any(len(each.losses) > rung for each in left):
                record = dataclasses.replace(record, lengths=fitted(record, rung))
                length = record.lengths[rung]
            far = duration(length) if record.by_time else f"{length:,.0f} updates"
            show.say(f"\nrung {rung + 1} of {len(record.lengths)}: {len(left)} candidates, each trained for {far}")
            for candidate in left:
                if len(candidate.losses) > rung:
                    continue
                show.say(f"candidate {candidate.number}: {changes(candidate, record)}")
                started = time.monotonic()
                trained = self._train(record, candidate, rung, show)
                record = record.with_candidate(trained or candidate, time.monotonic() - started)
                record.write(run.tune_file)
                if trained is None:
                    return None
                told = "diverged" if trained.diverged else f"validation loss {trained.loss(rung):.4f} a {record.unit}"
                show.say(f"candidate {candidate.number}: {told}")
            kept = ", ".join(str(each.number) for each in record.survivors(rung + 1)) or "none"
            show.say(f"going on: {kept}")
            if rung == 0 and (pair := record.uneven()):
                show.say(uneven_words(*pair))
            write_tune_page(run, record)
        return self._choose(record, show)

    def _train(self, record: TuneRecord, candidate: Candidate, rung: int, show: Show) -> Candidate | None:
        """Train a candidate up to the end of a rung, and judge it; None if that was interrupted."""
        run = Run(self.run_directory.tune_folder / str(candidate.number))
        before, length = record.recipe, record.lengths[rung]
        recipe = before.with_settings(candidate.settings)
        recipe = rung_recipe(recipe, None if record.by_time else same_tokens(length, before, recipe))
        minutes = length / 60 if record.by_time else None
        options = dataclasses.replace(self.options, minutes=minutes, validates=False, loggers=())
        if run.job_file.is_file():
            write_job(run, recipe, options)
        else:
            share_prepared(self._text(candidate.settings), run, recipe, options)
        try:
            if fit(run, show, options.device) == End.INTERRUPTED:
                return None
        except DivergedError:
            return dataclasses.replace(candidate, losses=(*candidate.losses, None))
        return judged(candidate, run, before, by_time=record.by_time)

    def _choose(self, record: TuneRecord, show: Show) -> TuneRecord:
        """Choose the candidate that is left, and record the budget of its training."""
        run = self.run_directory
        left = record.survivors(len(record.lengths))
        if not left:
            raise TrainingError(
                "all candidates diverged: their gradients were not finite",
                f"Give a recipe with a lower learning rate:  --set training.peak={peak(record.recipe) / 4:.2g}",
                f"Remove {run.path}, or choose another --out.",
            )
        chosen, before = left[0], record.recipe
        if record.minutes is None:
            searched = cost(self.count) * record.lengths[0]
            recipe = before.with_settings(chosen.settings)
            final: dict[str, float] = {"updates": same_tokens(before.training.updates - searched, before, recipe)}
        else:
            rest = max(record.minutes - record.used / 60, LEAST_FINAL * record.minutes)
            final = {"minutes": round(rest, 3)}
        record = dataclasses.replace(record, chosen=chosen.number, final=final)
        write_atomically(run.tune_file.with_suffix(".toml"), self._chosen(record).to_toml())
        record.write(run.tune_file)
        write_tune_page(run, record)
        show.say(f"\nchosen: candidate {chosen.number}, {changes(chosen, record)}")
        show.say(f"to train it again without the search:\n  {record.command(run.path)}")
        return record

    def _chosen(self, record: TuneRecord) -> Recipe:
        """The recipe of the training that follows the search."""
        settings = dict(record.find(record.chosen or 1).settings)
        if "updates" in record.final:
            settings["training.updates"] = str(record.final["updates"])
        return record.recipe.with_settings(settings)

    def _final(self, record: TuneRecord) -> TrainOptions:
        """The options of the training that follows the search; the recipe file has what --set changed."""
        recipe = str(self.run_directory.tune_file.with_suffix(".toml"))
        return dataclasses.replace(self.options, recipe=recipe, settings={}, minutes=record.final.get("minutes"))


def changes(candidate: Candidate, record: TuneRecord) -> str:
    return ", ".join(candidate.words(record.recipe)) or "the recipe unchanged"
