"""The end of the page: the recipe, how to train the same again, what was left out, and what it ran on."""

from __future__ import annotations

import importlib.metadata
import platform
import shlex
from dataclasses import asdict
from typing import Any

import tongsa
from tongsa.pages.markup import count, escape, missing, number, table
from tongsa.pages.run import Run, finite

PACKAGES = ("torch", "sentencepiece", "sacrebleu", "numpy")


def recipe_tables(run: Run) -> str:
    """Every key; those that differ from the paper's base model are marked."""
    recipe = run.card.recipe
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


def command(run: Run) -> str:
    """What trains the same again, as far as the directory remembers it."""
    training = run.card.training
    options = run.job.options if run.job else None
    corpora = training.corpora or (options.corpora if options else ()) or ["CORPUS"]
    words = ["tongsa", "train", *map(str, corpora), "--from", run.card.source, "--to", run.card.target]
    for corpus in options.valid if options else ():
        words += ["--valid", corpus]
    words += ["--recipe", f"{run.name}/recipe.toml", "--seed", str(training.seed)]
    if options and options.minutes:
        words += ["--minutes", f"{options.minutes:g}"]
    return shlex.join([*words, "--out", f"{run.name}-again"])


def reproduce(run: Run) -> str:
    notes = []
    if run.job is None:
        notes.append("If a validation corpus was given, add it with --valid: its name is not recorded.")
    if run.job and run.job.options.minutes:
        notes.append("A budget in minutes gives the same number of updates only on a machine as fast.")
    else:
        notes.append("On the CPU the same seed, processes and versions give the same weights bit for bit.")
    shown = f'<pre class="command"><code>{escape(command(run))}</code></pre>'
    return f'{shown}<p class="note">{escape(" ".join(notes))}</p>'


def cleaning(run: Run) -> str:
    """What was left out of the corpus, and why."""
    dropped = run.cleaning.get("dropped")
    if not isinstance(dropped, dict):
        return missing("The log does not say what cleaning left out.")
    seen = finite(run.cleaning, "seen")
    rows = [["read", number(seen)]] if seen is not None else []
    rows += [[f"left out {escape(name)}", escape(_value(times))] for name, times in dropped.items()]
    examples = run.card.training.examples
    rows += [["<b>trained on</b>", f"<b>{number(examples)}</b>"]] if examples else []
    return table(["pairs", ""], rows, "plain")


def environment(run: Run) -> str:
    rows = [("tongsa", tongsa.__version__), ("python", f"{platform.python_version()}, {platform.system()}")]
    rows += [(name, _version(name)) for name in PACKAGES]
    rows += [("machine", platform.machine())]
    rows += [
        (name, count(value))
        for name, value in ((key, finite(run.start, key)) for key in ("processes", "threads"))
        if value is not None
    ]
    rows += [("device", run.job.device)] if run.job else []
    return table(["", ""], [[escape(name), escape(value)] for name, value in rows], "plain")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
