"""What the models do not share: their shapes, and how each is trained."""

from __future__ import annotations

import dataclasses

from tongsa.config import Recipe
from tongsa.lab.compare.plan import Plan
from tongsa.pages.markup import escape, number, table

TRAINING = ("batch_tokens", "schedule", "peak", "warmup", "clip", "label_smoothing", "average")


def recipes_table(plan: Plan, colours: dict[str, str]) -> str:
    rows = [
        [f'<span class="name {colours.get(name, "m7")}">{escape(name)}</span>', _model(recipe), *_training(recipe)]
        for name, recipe in plan.recipes.items()
    ]
    shared = next(iter(plan.recipes.values()))
    size = f"{shared.subwords.size:,} {'shared ' if shared.subwords.joint else ''}subwords ({shared.subwords.kind})"
    words = ["tongsa compare", *plan.corpora, "--from", plan.source, "--to", plan.target]
    for option, values in (("--valid", plan.valid), ("--test", plan.test)):
        words += [word for value in values for word in (option, value)]
    words += ["--models", ",".join(plan.recipes)]
    words += ["--minutes", f"{plan.minutes:g}"] if plan.minutes else []
    words += ["--updates", str(plan.updates)] if plan.updates else []
    words += ["--match-parameters"] if plan.parameters else []
    words += [word for key, value in plan.settings.items() for word in ("--set", f"{key}={value}")]
    words += ["--seed", str(plan.seed), "--threads", str(plan.threads), "--out", "DIR"]
    return (
        f'<div class="wide-table formulas">{table(["model", "shape", *TRAINING], rows)}</div>'
        f'<p class="note">Shared: {escape(size)}, beam {shared.decoding.beam}, length penalty '
        f"{shared.decoding.length_penalty:g}, Adam.</p>"
        f'<pre class="command"><code>{escape(" ".join(words))}</code></pre>'
    )


def _model(recipe: Recipe) -> str:
    """What differs from the architecture's defaults, and its width."""
    section = recipe.model
    base = type(section)()
    keys = [
        field.name
        for field in dataclasses.fields(section)
        if field.name in ("d_model", "dropout") or getattr(section, field.name) != getattr(base, field.name)
    ]
    return escape(", ".join(f"{key} {getattr(section, key)}" for key in keys if key != "architecture"))


def _training(recipe: Recipe) -> list[str]:
    values = [getattr(recipe.training, key) for key in TRAINING]
    return [escape(number(value) if isinstance(value, int | float) else value) for value in values]
