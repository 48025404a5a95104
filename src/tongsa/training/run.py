"""`tongsa.train`: the whole way from corpora to a translator directory."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import torch

from tongsa.base.devices import choose_device, usable_cores
from tongsa.base.errors import RecipeError, UsageError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show, Silent
from tongsa.config import Recipe
from tongsa.config.presets import choose_recipe, load_recipe
from tongsa.data.prepare import Pairs, Survey, prepare, survey
from tongsa.formats.pairs import Reading, Tally, open_corpus
from tongsa.runs.directory import Run
from tongsa.runs.job import Job, TrainOptions
from tongsa.text.subwords import Subwords, VocabularySizeError
from tongsa.training.checkpoint import checkpoints
from tongsa.training.distributed import Team, join, lead, started_by_torchrun
from tongsa.training.finetune import Mixture, fine_tuning_recipe
from tongsa.training.finish import finish
from tongsa.training.inherit import write_inherited
from tongsa.training.loop import End, Trainer, Watcher
from tongsa.training.memory import keep_freed_memory
from tongsa.training.watch import Leader
from tongsa.translation.translator import Translator

Names = str | Path | Sequence[str | Path]

NARROW = 128
"""d_model up to which a model trains faster on larger chunks (docs/benchmarks.md)."""


def train(
    corpus: Names,
    *,
    source: str,
    target: str,
    out: str | Path,
    valid: Names | None = None,
    recipe: str = "auto",
    settings: Mapping[str, str] | None = None,
    minutes: float | None = None,
    seed: int = 1,
    resume: bool = False,
    threads: int | None = None,
    device: str = "auto",
    show: Show | None = None,
    init: str | Path | None = None,
    subwords: str | Path | None = None,
    teacher: str | Path | None = None,
    mix: Names | None = None,
    mix_ratio: float = 1.0,
) -> Translator | None:
    """Train a translator into the directory `out`, and load it.

    init, mix  go on from the weights and subwords of another translator; `mix` is text of its domain, of which
               `mix_ratio` pairs are mixed in for each new one
    subwords   take the subwords of another translator, and nothing else
    teacher    take the subwords of another translator, and of its weights what fits

    None where the training was interrupted, or where this process is one of several and does not lead.
    """
    show = show or Silent()
    directory = Path(out)
    chosen = choose_device(device)
    threads = threads or usable_cores()
    leads = int(os.environ["RANK"]) == 0 if started_by_torchrun() else True
    if leads and resume:
        _reopen(directory, settings or {}, minutes, show)
    elif leads:
        Run(directory).refuse_to_overwrite()
        start = Start(
            recipe=recipe,
            settings=dict(settings or {}),
            minutes=minutes,
            seed=seed,
            threads=threads,
            device=chosen,
            init=Path(init) if init else None,
            subwords=Path(subwords) if subwords else None,
            teacher=Path(teacher) if teacher else None,
            mix=_names(mix or []),
            mix_ratio=mix_ratio,
        )
        _begin(directory, _names(corpus), _names(valid or []), source, target, start, show)
    keep_freed_memory()
    with _team(directory, chosen) as team:
        end = _run(directory, team, show)
    if not leads or end == End.ASKED_TO:
        return None
    torch.set_num_threads(threads)
    return finish(directory, device, show)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Start:
    """How a new training is to begin."""

    recipe: str
    settings: dict[str, str]
    minutes: float | None
    seed: int
    threads: int
    device: torch.device
    init: Path | None
    subwords: Path | None
    teacher: Path | None
    mix: list[str]
    mix_ratio: float


def _begin(
    directory: Path, corpus: list[str], valid: list[str], source: str, target: str, start: Start, show: Show
) -> None:
    """Read the corpora, choose what the recipe leaves open, and prepare the ids."""
    if start.init:
        recipe = fine_tuning_recipe(start.init, start.settings, source, target)
    elif start.recipe == "auto":
        # Before anything is read: with what `auto` would choose for a middling corpus, are the settings right?
        recipe = choose_recipe(100_000, 10**7, gpu=False, settings=start.settings).recipe
    else:
        recipe = load_recipe(start.recipe, start.settings)
    _check_reach(recipe)
    section = recipe.corpus
    reading = Reading(source=source, target=target, encoding=section.encoding, salvage=section.salvage)
    new = open_corpus(corpus, reading)
    training: Pairs = new
    validation = open_corpus(valid, dataclasses.replace(reading, left_out=Tally())) if valid else None
    if start.mix:
        training = Mixture.of(new, open_corpus(start.mix, reading), start.mix_ratio, start.seed)
    found = survey(training, show)
    for line in new.left_out.lines():
        show.say(line)
    borrowed = start.init or start.teacher or start.subwords
    if start.recipe == "auto" and not borrowed:
        recipe = _prepare_auto(directory, training, validation, found, start, show)
    else:
        given = Subwords.load(borrowed) if borrowed else None
        prepare(
            directory,
            training,
            validation,
            found,
            recipe,
            seed=start.seed,
            threads=start.threads,
            show=show,
            given=given,
        )
    for line in validation.left_out.lines() if validation else []:
        show.say(f"validation: {line}")
    if start.init:
        write_atomically(Run(directory).initial_weights_file, Run(start.init).weights_file.read_bytes())
    elif start.teacher:
        begin = Run(directory).initial_weights_file
        taken, all_ = write_inherited(begin, start.teacher, recipe.model, Subwords.load(start.teacher), start.seed)
        show.say(f"begins with the teacher's weights in {taken} of {all_} tensors")
    if isinstance(training, Mixture):
        training.save_old_to_score(directory)
    recipe = resolved(recipe, start.threads, start.device)
    options = TrainOptions(
        source=source,
        target=target,
        seed=start.seed,
        minutes=start.minutes,
        corpora=tuple(corpus),
        valid=tuple(valid),
        init=str(start.init or start.teacher) if start.init or start.teacher else None,
    )
    job = Job(options=options, device=str(start.device), threads=max(1, start.threads // recipe.training.processes))
    Run(directory).write_job(recipe, job)


def _prepare_auto(
    directory: Path, training: Pairs, validation: Pairs | None, found: Survey, start: Start, show: Show
) -> Recipe:
    """Choose a recipe, say why, and prepare with it; where the text bears no such vocabulary, with the one it bears."""
    gpu = start.device.type == "cuda"
    choice = choose_recipe(found.pairs, found.characters, gpu=gpu, settings=start.settings)
    recipe = choice.recipe
    show.say("recipe auto chose")
    for reason in choice.reasons:
        show.say(f"  {reason}")
    try:
        prepare(directory, training, validation, found, recipe, seed=start.seed, threads=start.threads, show=show)
    except VocabularySizeError as error:
        if "subwords.size" in start.settings:
            raise
        show.say(f"  vocabulary {error.bearable:,} instead: {error.what}")
        recipe = recipe.with_settings({"subwords.size": str(error.bearable)})
        prepare(directory, training, validation, found, recipe, seed=start.seed, threads=start.threads, show=show)
    return recipe


def _check_reach(recipe: Recipe) -> None:
    """Learned positions must reach as far as the corpus does."""
    positions, longest = recipe.model.longest, recipe.corpus.max_tokens
    if positions is not None and positions <= longest:
        raise RecipeError(f"model.max_positions {positions} must be above corpus.max_tokens {longest}")


def resolved(recipe: Recipe, threads: int, device: torch.device) -> Recipe:
    """What the recipe left to the machine, decided and written down: a resumed training must not decide anew."""
    section = recipe.training
    on_cpu = device.type == "cpu"
    processes = section.processes or (threads if on_cpu and not started_by_torchrun() else 1)
    chunk = chunk_tokens(recipe, processes, on_cpu=on_cpu)
    return dataclasses.replace(recipe, training=dataclasses.replace(section, processes=processes, chunk_tokens=chunk))


def chunk_tokens(recipe: Recipe, processes: int, *, on_cpu: bool) -> int:
    """The recipe's, or what is fastest; never more than a process's share of an update."""
    fastest = (2048 if recipe.model.d_model <= NARROW else 1024) if on_cpu else 8192
    section = recipe.training
    return min(section.chunk_tokens or fastest, max(1, section.batch_tokens // processes))


def _reopen(directory: Path, settings: Mapping[str, str], minutes: float | None, show: Show) -> None:
    """Lay new settings over those of a training that is to go on."""
    recipe, job = Run(directory).read_job()
    changed = recipe.with_settings(settings)
    for section in ("corpus", "subwords", "model"):
        before, after = getattr(recipe, section), getattr(changed, section)
        if dataclasses.replace(before, **_free(section, after)) != after:
            raise UsageError(
                f"the section [{section}] of a training cannot change when it is resumed",
                "Begin a new one with another --out instead.",
            )
    options = dataclasses.replace(job.options, minutes=minutes or job.options.minutes)
    Run(directory).write_job(changed, dataclasses.replace(job, options=options))
    present = checkpoints(directory / "checkpoints")
    show.say(f"resuming after update {present[-1].update:,}" if present else "resuming from the beginning")


def _free(section: str, after: object) -> dict[str, float]:
    """Keys that do not change the weights' shapes or the ids."""
    free = {"corpus": [], "subwords": ["sampling"], "model": ["dropout"]}[section]
    return {key: getattr(after, key) for key in free}


@contextmanager
def _team(directory: Path, device: torch.device) -> Iterator[Team]:
    if started_by_torchrun():
        if device.type == "cuda":
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        with join(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), "env://", device) as team:
            yield team
        return
    recipe, _ = Run(directory).read_job()
    with lead(recipe.training.processes, [str(directory)], device) as team:
        yield team


def _run(directory: Path, team: Team, show: Show) -> End:
    recipe, job = Run(directory).read_job()
    torch.set_num_threads(job.threads)
    trainer = Trainer(directory, recipe, job, team)
    if not team.leads:
        return trainer.run(Watcher())
    with Leader(directory, trainer, show) as watcher, _stopping_on_interrupt(trainer, show):
        end = trainer.run(watcher)
    if end == End.ASKED_TO:
        show.say(f"stopped after update {trainer.progress.update:,}; everything is saved")
        show.say(f"to go on:  tongsa train --resume --out {directory}")
    return end


@contextmanager
def _stopping_on_interrupt(trainer: Trainer, show: Show) -> Iterator[None]:
    """The first Ctrl-C asks the training to stop after the update under way, the second one insists."""

    def ask(number: int, frame: FrameType | None) -> None:
        if trainer.stopping:
            raise KeyboardInterrupt
        trainer.stopping = True
        show.say("stopping after this update (Ctrl-C again to stop at once)")

    try:
        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread: the caller's signals are the caller's
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _names(names: Names) -> list[str]:
    return [str(names)] if isinstance(names, str | Path) else [str(name) for name in names]
