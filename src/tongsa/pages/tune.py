"""tune.html: what a search for the recipe has tried, what was dropped when, and what was chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from tongsa.base.files import write_atomically
from tongsa.pages.charts import Line, LineChart, draw_lines
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.markup import count, duration, escape, missing, number, table, tile
from tongsa.runs.directory import Run
from tongsa.runs.tune import Candidate, TuneRecord

COLOURS = 11
"""Colours of the kit for the lines of a chart; more candidates than that share them."""


def write_tune_page(run: Run, record: TuneRecord) -> Path:
    """Write tune.html beside tune.json."""
    path = run.tune_file.with_suffix(".html")
    write_atomically(path, draw_tune(record, run.path))
    return path


def draw_tune(record: TuneRecord, directory: Path) -> str:
    budget = f"{record.minutes:g} minutes" if record.minutes is not None else f"{_updates(record)} updates"
    name = directory.resolve().name
    halves = " → ".join(str(len(record.survivors(rung))) for rung in range(_finished(record) + 1))
    sections = [
        Section(key="choice", title="Choice", content=_choice(record, directory)),
        Section(key="candidates", title="Candidates", content=_candidates(record)),
        Section(key="curves", title="Curves", content=_curves(record)),
        Section(key="method", title="Method", content=f'<p class="note">{escape(_method(record))}</p>'),
    ]
    top = heading(
        f"{record.count} recipes, one choice",
        over=f"search <b>{escape(name)}</b>",
        text=f"Successive halving ({halves}) and a training with the best recipe, in {budget}.",
    )
    footer = f"Written by tongsa train --tune. The numbers are in <b>{escape(name)}/tune.json</b>."
    return page(f"search · {name}", heading=top, sections=sections, footer=footer)


def _updates(record: TuneRecord) -> str:
    return number(record.recipe.training.updates)


def _finished(record: TuneRecord) -> int:
    """Rungs that all their candidates have finished."""
    done = 0
    while done < len(record.lengths) and all(len(each.losses) > done for each in record.survivors(done)):
        done += 1
    return done


def _choice(record: TuneRecord, directory: Path) -> str:
    if record.chosen is None:
        return missing("The search has not ended yet.")
    chosen, unchanged = record.find(record.chosen), record.find(1)
    rung = len(chosen.losses) - 1
    tiles = [
        tile(str(chosen.number), "candidate chosen", f"of {record.count}"),
        tile(f"{chosen.loss(rung):.4f}", f"validation loss a {record.unit}", f"after rung {rung + 1}"),
    ]
    both = min(rung, len(unchanged.losses) - 1)
    if chosen.number != 1 and not unchanged.diverged:
        better = 100 * (1 - chosen.loss(both) / unchanged.loss(both))
        tiles.append(tile(f"{better:.1f}%", "lower loss than the recipe unchanged", f"after rung {both + 1}"))
    last = record.final.get("minutes")
    left = duration(60 * last) if last is not None else f"{number(record.final['updates'])} updates"
    tiles.append(tile(left, "left for its training", f"after {duration(record.used)} of searching"))
    changes = [[escape(key), *map(escape, _before_and_after(record, chosen, key))] for key in chosen.settings]
    drawn = table(["changed key", "recipe", "chosen"], changes) if changes else ""
    below = (
        f'<div class="wide-table">{drawn}</div>' if drawn else "<p>The recipe unchanged: nothing else did better.</p>"
    )
    return (
        f'<div class="tiles">{"".join(tiles)}</div>{below}<p class="note">{escape(_why(record, chosen))}</p>'
        "<h3>To train it again without the search</h3>"
        f'<pre class="command"><code>{escape(record.command(directory))}</code></pre>'
    )


def _before_and_after(record: TuneRecord, candidate: Candidate, key: str) -> tuple[str, str]:
    section, _, name = key.partition(".")
    return str(record.values[section][name]), candidate.settings[key]


def _why(record: TuneRecord, chosen: Candidate) -> str:
    rung = len(chosen.losses) - 1
    rivals = [each for each in record.survivors(rung) if each.number != chosen.number]
    losses = ", ".join(
        f"candidate {each.number} {'diverged' if math.isinf(each.loss(rung)) else f'{each.loss(rung):.4f}'}"
        for each in rivals
    )
    why = f"Candidate {chosen.number} had the lowest validation loss of those that were left in rung {rung + 1}"
    return f"{why} ({chosen.loss(rung):.4f}; {losses}). Each was trained with one seed."


def uneven_words(fast: Candidate, slow: Candidate) -> str:
    """A warning that candidates did not have the machine alike."""
    return (
        f"Something else used the machine: in the same time candidate {fast.number} made {fast.updates[0]:,} updates, "
        f"and candidate {slow.number}, of the same size, {slow.updates[0]:,}. Their losses cannot be compared. Search "
        "on an idle machine, or with a budget in updates."
    )


def _candidates(record: TuneRecord) -> str:
    rungs = range(len(record.lengths))
    heads = ["candidate", "outcome", *(f"loss, rung {rung + 1}" for rung in rungs), "updates", "parameters"]
    rows = []
    for each in sorted(record.candidates, key=lambda each: _place(record, each)):
        words = "<br>".join(map(escape, each.words(record.recipe))).replace("-&gt;", "→") or "the recipe unchanged"
        losses = [_loss(each, rung) if rung < len(each.losses) else "" for rung in rungs]
        updates = number(each.updates[-1]) if each.updates else "–"
        first = f"<b>{each.number}</b><br><small>{words}</small>"
        size = count(each.parameters) if each.parameters else "–"
        rows.append([first, escape(_outcome(record, each)), *losses, updates, size])
    pair = record.uneven()
    warning = missing(uneven_words(*pair)) if pair else ""
    return f'{warning}<div class="wide-table">{table(heads, rows)}</div>'


def _place(record: TuneRecord, candidate: Candidate) -> tuple[bool, int, float, int]:
    """The order of the table: the chosen one, then those that were left longest, the best of them first."""
    done = len(candidate.losses)
    loss = candidate.loss(done - 1) if done else math.inf
    return candidate.number != record.chosen, -done, loss, candidate.number


def _loss(candidate: Candidate, rung: int) -> str:
    loss = candidate.loss(rung)
    return "diverged" if math.isinf(loss) else f"{loss:.4f}"


def _outcome(record: TuneRecord, candidate: Candidate) -> str:
    if candidate.number == record.chosen:
        return "chosen"
    after = record.dropped_after(candidate)
    return f"dropped after rung {after}" if after else "in the search"


def _curves(record: TuneRecord) -> str:
    if not any(each.curve for each in record.candidates):
        return missing("No candidate has been trained yet.")
    note = f"nats a {record.unit}"
    trained = [_line(each, each.curve[1:]) for each in record.candidates]
    judged = [
        _line(each, [(x, y) for x, y in zip(record.lengths, each.losses, strict=False) if y is not None], marks=True)
        for each in record.candidates
    ]
    charts = [("Validation loss", f"{note}, at the end of each rung", judged), ("Training loss", note, trained)]
    drawn = "".join(
        draw_lines(
            LineChart(
                title=title,
                note=described,
                lines=lines,
                under="seconds of training" if record.by_time else "updates (of the recipe's batch)",
                tell=lambda x: duration(x) if record.by_time else f"update {number(round(x))}",
            )
        )
        for title, described, lines in charts
    )
    return f'<div class="charts">{drawn}</div>'


def _line(candidate: Candidate, places: Sequence[tuple[float, float]], *, marks: bool = False) -> Line:
    return Line(str(candidate.number), f"m{(candidate.number - 1) % COLOURS}", places, marks=marks)


def _method(record: TuneRecord) -> str:
    fair = "for the same time" if record.by_time else "with the same number of tokens"
    return (
        f"All candidates are trained {fair}. The better half goes on from its checkpoints until it has had twice "
        "as much, and so on until one is left. The learning rate falls to 0 at the end of each rung, so that high and "
        f"low rates are judged alike. Losses are nats a {record.unit} of the same validation text, without label "
        "smoothing. The last training begins anew, with the schedule of the recipe and all of the budget that is left."
    )
