"""Data diversification (Nguyen et al. 2020): a training learns from its text, and from translations of it.

    RUN/diversify/forward   a translator trained on the text alone
    RUN/diversify/backward  one of the other direction, trained at the same time if there are two cores
    RUN/data/diversified    the real pairs, and those that come out when each of the two translates its side of the text

Then RUN/diversify is removed, and the training of RUN itself begins, for which all pairs are alike. Whatever is
interrupted or killed on the way continues: the trainings from their checkpoints, the translating from its beginning.
"""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import torch

from tongsa.base.devices import usable_cores
from tongsa.base.progress import Show
from tongsa.config import Recipe
from tongsa.config.sections import FIRST
from tongsa.corpus.synthetic import fault_of
from tongsa.data.ids import PairIds, write_ids
from tongsa.data.prepare import DIVERSIFIED, Prepared, write_again
from tongsa.formats.pairs import Pair, Place, Tally
from tongsa.runs.card import TRANSLATION
from tongsa.runs.directory import Run
from tongsa.runs.job import Job, TrainOptions
from tongsa.runs.log import RunLog
from tongsa.training.beside import training_beside
from tongsa.training.checkpoint import Checkpoint, latest
from tongsa.training.fitting import fit, write_job
from tongsa.training.logger import card_of
from tongsa.training.loop import End
from tongsa.translation.options import TranslateOptions
from tongsa.translation.translator import Translator

CHECKPOINT_EVERY = 500
"""Updates between two checkpoints of the first translators, which are not validated."""

BLOCK = 4096
"""Sentences translated at a time."""


def forget(run: Run) -> None:
    """Remove what an earlier training, which was given up, has made in this directory."""
    for folder in (run.diversify_folder, run.data / DIVERSIFIED):
        shutil.rmtree(folder, ignore_errors=True)


class Both(NamedTuple):
    """The trainings of the first two translators."""

    forward: Run
    backward: Run


def diversify(run: Run, show: Show) -> bool:
    """Make the pairs of a training that asks for them, unless that is done; return False if it was interrupted."""
    recipe, job = run.read_job()
    wanted = recipe.training.diversify and job.options.task == TRANSLATION
    if not wanted or job.spent is not None or latest(run.checkpoints):
        shutil.rmtree(run.diversify_folder, ignore_errors=True)  # a kill may have left it
        return True
    both = Both(*(Run(run.diversify_folder / name) for name in Both._fields))
    seconds = _train_both(run, both, recipe, job, show)
    if seconds is None:
        return False
    began = time.monotonic()
    torch.set_num_threads(job.options.threads or usable_cores())
    real = PairIds.open(run.training_ids)
    made = [
        _translated(both.forward, run, real, recipe, show),
        _translated(both.backward, run, real.swapped, recipe, show).swapped,
    ]
    PairIds.joined([real, *made]).store(run.data / DIVERSIFIED, key="")
    run.write_checksums()
    count = sum(map(len, made))
    log = RunLog(run.log_file)
    log.write("diversify", 0, 0.0, pairs=len(real), made=count)
    log.close()
    show.say(f"{count:,} pairs made by translating the text, beside {len(real):,} real ones")
    minutes = (seconds + time.monotonic() - began) / 60
    run.write_job(recipe, dataclasses.replace(job, spent=round(minutes, 3)))
    shutil.rmtree(run.diversify_folder, ignore_errors=True)
    return True


def _train_both(run: Run, both: Both, recipe: Recipe, job: Job, show: Show) -> float | None:
    """Train the first two translators, as far as they are not; return the seconds, or None if that was interrupted.

    On a CPU they are trained at the same time, each on half of the cores: two trainings have nothing to exchange.
    """
    cores = job.options.threads or usable_cores()
    at_once = cores > 1 and job.device == "cpu"
    share = FIRST if at_once else FIRST / 2
    data = Prepared.open(run.path)
    for sub, threads in zip(both, (cores - cores // 2, cores // 2) if at_once else (cores, cores), strict=True):
        if not sub.job_file.is_file():
            backward = sub is both.backward
            write_again(data, sub.path, swapped=backward)
            options = _first_options(job, share, threads, backward=backward)
            write_job(sub, _first_recipe(recipe, options), options)
    show.say("two translators learn the text first, one for each direction, and then translate it")
    if at_once:
        with training_beside(both.backward) as other:
            if fit(both.forward, show, job.device) == End.INTERRUPTED:
                other.stop()
                return None
            if not other.wait():
                return None
    else:
        for sub in both:
            if fit(sub, show, job.device) == End.INTERRUPTED:
                return None
    seconds = [_newest(sub).progress().seconds for sub in both]
    return max(seconds) if at_once else sum(seconds)


def _first_options(job: Job, share: float, threads: int, *, backward: bool) -> TrainOptions:
    """The options of one of the first two trainings."""
    options = job.options
    return dataclasses.replace(
        options,
        source=options.target if backward else options.source,
        target=options.source if backward else options.target,
        minutes=options.minutes and share * options.minutes,
        threads=threads,
        device=job.device,
        loggers=(),
        validates=False,
    )


def _first_recipe(recipe: Recipe, options: TrainOptions) -> Recipe:
    """The same recipe on fewer cores; a budget in updates is shared as one in minutes is."""
    section = recipe.training
    chosen = "training.chunk_tokens" in options.settings
    return dataclasses.replace(
        recipe,
        training=dataclasses.replace(
            section,
            diversify=False,
            processes=min(section.processes, options.threads or 1),
            chunk_tokens=section.chunk_tokens if chosen else 0,
            checkpoint_every=CHECKPOINT_EVERY,
            updates=section.updates if options.minutes else max(1, round(section.updates * FIRST / (1 - FIRST))),
        ),
    )


def _newest(run: Run) -> Checkpoint:
    newest = latest(run.checkpoints)
    assert newest, "a training that has ended has saved"
    return newest


def _translated(first: Run, run: Run, pairs: PairIds, recipe: Recipe, show: Show) -> PairIds:
    """Let one of the first translators translate the sources of the pairs; return the new pairs as ids."""
    _, job = first.read_job()
    threads = run.read_job()[1].options.threads or usable_cores()  # the first one had a part of them
    newest = _newest(first)
    subwords = Prepared.open(first.path).subwords
    card = card_of(recipe, job, newest.progress(), len(pairs))
    translator = Translator.from_weights(card, subwords, newest.weights(), device=job.device, threads=threads)
    tally = Tally()
    made = _made(translator, pairs, run, tally, show)
    found = write_ids(
        run.diversify_folder / f"made-by-{first.path.name}",
        made,
        subwords,
        recipe.corpus,
        key="",
        threads=threads,
        tally=tally,
        advance=lambda count: None,
    )
    for reason, count in tally.dropped.most_common():
        show.say(f"left out {count:,} made pairs {reason}")
    return found


def _made(translator: Translator, pairs: PairIds, run: Run, tally: Tally, show: Show) -> Iterator[Pair]:
    """Yield the sources with their translations, except where these are broken or what the text has already."""
    subwords, card = translator.subwords, translator.card
    options = TranslateOptions(search=dataclasses.replace(translator.search, scores=False), tokens=False)
    rows = iter(range(len(pairs)))
    with show.bar(f"translating {card.source}-{card.target}", len(pairs), "sentences") as bar:
        while block := list(islice(rows, BLOCK)):
            sources = subwords.source.decode_many([pairs.source[row].tolist() for row in block])
            targets = subwords.target.decode_many([pairs.target[row].tolist() for row in block])
            # a text that was copied unchanged may contain line ends
            found = [" ".join(each.text.split()) for each in translator.translate(sources, options)]
            for row, source, target, translation in zip(block, sources, targets, found, strict=True):
                tally.seen += 1
                where = Place(run.training_ids, row + 1)
                if reason := fault_of(source, translation, card.source, card.target):
                    tally.drop(reason, where)
                elif translation == target:
                    tally.drop("with the translation that the text has", where)
                else:
                    yield Pair(source, translation, where)
            bar.advance(len(block))
