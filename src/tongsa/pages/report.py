"""report.html: how a training went and how good its model is, for a run of any task.

Scores, curves, recipe and environment are the same for all. Sections that only one task has (examples, scores by
length, attention) are passed by the task: see pages/translation.py.
"""

from __future__ import annotations

import importlib.metadata
import math
import platform
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tongsa
from tongsa.base.files import write_atomically
from tongsa.evaluation.contracts import Metric
from tongsa.evaluation.metrics import named
from tongsa.pages.curves import draw_curves
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.markup import count, duration, escape, missing, number, table, tile
from tongsa.pages.record import TrainingRecord, finite
from tongsa.runs.card import TRANSLATION, Score
from tongsa.runs.directory import Run

PACKAGES = ("torch", "sentencepiece", "sacrebleu", "numpy")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The subject of a report, in the terms of its task."""

    kind: str
    """What the run directory contains: translator, language model."""
    title: str
    description: str
    """The model in a sentence, without its full stop."""
    parameters: int
    examples: str = "examples"
    """Name of the training examples: sentence pairs."""
    tokens: str = "tokens"
    """Name of the units that the loss is averaged over: target tokens."""
    scored: str = ""
    """How the scores were obtained: on which examples, with which decoding."""
    command: Sequence[str] = ()
    """Options of `tongsa train` that only this task has."""
    sections: Sequence[Section] = ()
    """Sections that only this task has."""


def write_report(run: Run, record: TrainingRecord, subject: Subject) -> Path:
    """Write report.html into a run directory; missing parts are reported as missing."""
    write_atomically(run.report_file, draw_report(record, subject))
    return run.report_file


def draw_report(record: TrainingRecord, subject: Subject) -> str:
    sections = [
        Section(key="scores", title="Scores", content=_scores(record, subject)),
        Section(key="curves", title="Curves", note="by updates and time", content=draw_curves(record)),
        *subject.sections,
        Section(key="recipe", title="Recipe", content=_recipe(record, subject)),
    ]
    top = heading(
        escape(subject.title).replace("→", "<i>→</i>"),
        over=f"{escape(subject.kind)} <b>{escape(record.name)}</b>",
        text=f"{escape(subject.description)}.",
    )
    footer = f"Written by tongsa. The {escape(subject.kind)} is the directory <b>{escape(record.name)}</b>."
    return page(f"{subject.title} · {record.name}", heading=top, sections=sections, footer=footer)


def _scores(record: TrainingRecord, subject: Subject) -> str:
    scores = record.card.scores
    tiles = "".join(_score(metric, scores[metric.name]) for metric in named(scores))
    large = f'<div class="tiles big">{tiles}</div>' if tiles else missing("No scores are recorded yet.")
    weights = record.card.training.weights
    notes = [f"Weights: {weights}." if weights else "", f"Scored {subject.scored}." if subject.scored else ""]
    note = " ".join(filter(None, notes))
    below = f'<p class="note">{escape(note)}</p>' if note else ""
    return f'{large}<div class="tiles">{"".join(_facts(record, subject))}</div>{below}'


def _score(metric: Metric, found: Score) -> str:
    value = metric.format(found.score) if math.isfinite(found.score) else "–"
    return tile(value, metric.title, metric.meaning, found.signature or "no signature")


def _facts(record: TrainingRecord, subject: Subject) -> list[str]:
    training = record.card.training
    seconds, tokens = record.seconds, record.target_tokens
    facts = [
        ("parameters", count(subject.parameters)),
        (subject.examples, count(training.examples) if training.examples else None),
        ("training", None if seconds is None else duration(seconds)),
        ("updates", count(training.updates) if training.updates else None),
        ("epochs", _epochs(training.epochs) if training.updates and training.examples else None),
        (subject.tokens, None if tokens is None else count(tokens)),
        (f"{subject.tokens} a second", f"{tokens / seconds:,.0f}" if tokens and seconds else None),
    ]
    return [tile("–" if value is None else value, name) for name, value in facts]


def _epochs(finished: float) -> str:
    return "less than 1" if finished == 0 else f"{finished:,.0f}"


def _recipe(record: TrainingRecord, subject: Subject) -> str:
    return (
        f"<h3>To train it again</h3>{_reproduce(record, subject)}"
        '<h3>All settings <span><i class="dot"></i> differs from the base model of the paper</span></h3>'
        f"{recipe_tables(record)}"
        f'<div class="columns"><div><h3>Corpus</h3>{_cleaning(record, subject)}</div>'
        f"<div><h3>Environment</h3>{_environment(record)}</div></div>"
    )


def recipe_tables(record: TrainingRecord) -> str:
    """Every key of the recipe; those that differ from the paper's base model are marked."""
    recipe = record.card.recipe
    parts = []
    for name in recipe.to_values():
        section = getattr(recipe, name)
        base = asdict(type(section)())
        rows = "".join(
            f'<tr{"" if value == base[key] else " class=changed"}><th scope="row">{escape(key)}</th>'
            f"<td>{escape(_value(value))}</td></tr>"
            for key, value in asdict(section).items()
        )
        parts.append(f'<table class="recipe"><caption>[{escape(name)}]</caption><tbody>{rows}</tbody></table>')
    return f'<div class="recipes">{"".join(parts)}</div>'


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, int | float) else str(value)


def command(record: TrainingRecord, subject: Subject) -> str:
    """The command that repeats the training, as far as the directory records it."""
    training = record.card.training
    options = record.job.options if record.job else None
    run = Run(record.directory)
    if options and options.init and options.task != TRANSLATION:  # it begins with the weights of a directory
        words = ["tongsa", "train", *options.corpora, *subject.command, "--init", options.init]
        words += _repeated("--set", [f"{key}={value}" for key, value in options.settings.items()])
    elif options and options.init:  # the recipe is that of the translator it began with
        words = ["tongsa", "finetune", options.init, *options.corpora, *_repeated("--mix", options.mix)]
        words += ["--mix-ratio", f"{options.mix_ratio:g}"] if options.mix else []
        words += _repeated("--set", [f"{key}={value}" for key, value in options.settings.items()])
    elif teacher := options and (options.teacher or (run.distilled.is_dir() and options.subwords)):
        words = ["tongsa", "distill", teacher, str(run.distilled / "references")]
        words += ["--scratch"] if not options.teacher else []
        words += ["--teacher-only"] if len(options.corpora) == 1 else []
        words += ["--recipe", str(run.recipe_file)]
    else:
        corpora = training.corpora or (options.corpora if options else ()) or ["CORPUS"]
        words = ["tongsa", "train", *map(str, corpora), *subject.command, "--recipe", str(run.recipe_file)]
        words += ["--subwords", options.subwords] if options and options.subwords else []
        if options and options.mix:
            words += [*_repeated("--mix", options.mix), "--mix-ratio", f"{options.mix_ratio:g}"]
    if options and options.silver:  # only `parse train` has the option
        words = ["tongsa", "parse", "train", *options.corpora, *_repeated("--silver", options.silver)]
        words += ["--silver-ratio", f"{options.silver_ratio:g}", "--recipe", str(run.recipe_file)]
    if options:
        words += _repeated("--valid", options.valid)
        words += ["--minutes", f"{options.minutes:g}"] if options.minutes else []
        words += ["--threads", str(options.threads)] if options.threads else []
        words += ["--device", options.device] if options.device != "auto" else []
    return shlex.join([*words, "--seed", str(training.seed), "--out", f"{record.directory}-again"])


def _repeated(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def _reproduce(record: TrainingRecord, subject: Subject) -> str:
    notes = ["In the directory in which the training was started."]
    if record.job is None:
        notes.append("If a validation corpus was given, add it with --valid: its name is not recorded.")
    if record.job and record.job.options.minutes:
        notes.append("A budget in minutes gives the same number of updates only on an equally fast machine.")
    else:
        notes.append("On the CPU the same seed, processes and versions give the same weights bit for bit.")
    shown = f'<pre class="command"><code>{escape(command(record, subject))}</code></pre>'
    return f'{shown}<p class="note">{escape(" ".join(notes))}</p>'


def _cleaning(record: TrainingRecord, subject: Subject) -> str:
    """The pairs left out of the corpus, by reason."""
    dropped = record.cleaning.get("dropped")
    if not isinstance(dropped, dict):
        return missing("The log does not record what cleaning left out.")
    seen = finite(record.cleaning, "seen")
    rows = [["read", number(seen)]] if seen is not None else []
    rows += [[f"left out {escape(name)}", escape(_value(times))] for name, times in dropped.items()]
    made = finite(record.diversify, "made")
    rows += [["made by translating the text", number(made)]] if made else []
    examples = record.card.training.examples
    rows += [["<b>trained on</b>", f"<b>{number(examples)}</b>"]] if examples else []
    return table([escape(subject.examples), ""], rows, "plain")


def _environment(record: TrainingRecord) -> str:
    rows = [("tongsa", tongsa.__version__), ("python", f"{platform.python_version()}, {platform.system()}")]
    rows += [(name, _version(name)) for name in PACKAGES]
    rows += [("machine", platform.machine())]
    rows += [
        (name, count(value))
        for name, value in ((key, finite(record.start, key)) for key in ("processes", "threads"))
        if value is not None
    ]
    rows += [("device", record.job.device)] if record.job else []
    return table(["", ""], [[escape(name), escape(value)] for name, value in rows], "plain")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
