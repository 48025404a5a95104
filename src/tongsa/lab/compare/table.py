"""The comparison as lines of text: for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tongsa.evaluation.seeds import SeededScore
from tongsa.evaluation.significance import SURE, aligned, chance, probability, with_interval
from tongsa.lab.compare.comparison import Comparison
from tongsa.lab.compare.complexity import UNKNOWN, Order
from tongsa.pages.markup import count


def head(comparison: Comparison) -> list[str]:
    found = ["model", "parameters", "updates", "minutes", "tokens/s", "training FLOPs", "sentences/s"]
    for metric in comparison.metrics:
        found += [metric.title, *(["sd of seeds"] if comparison.seeds > 1 else []), "p"]
    return found


def cells(comparison: Comparison) -> list[list[str]]:
    """The rows of the table, one per model, best first; means over the seeds."""
    lines = []
    for name in comparison.ranking:
        scored = []
        for tested in comparison.scores[name].values():
            scored += [with_interval(tested), *([deviation(tested)] if comparison.seeds > 1 else [])]
            scored.append(chance(tested, "best"))
        lines.append(
            [
                name,
                count(comparison.results[name].parameters),
                f"{comparison.mean(name, lambda result: result.updates):,.0f}",
                f"{comparison.mean(name, lambda result: result.minutes):,.1f}",
                f"{comparison.mean(name, lambda result: result.tokens_per_second):,.0f}",
                scientific(comparison.mean(name, lambda result: result.training_flops)),
                f"{comparison.mean(name, lambda result: result.sentences_per_second):.1f}",
                *scored,
            ]
        )
    return lines


def deviation(tested: SeededScore) -> str:
    return "–" if tested.deviation is None else f"{tested.deviation:.2f}"


def pair_table(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """p of every pair by the metric that ranks, as head and rows: a model against those that are better."""
    pairs, names = comparison.tested[comparison.metrics[0].name].pairs, comparison.ranking
    rows = [
        [name, *(probability(pairs[better, name]) if (better, name) in pairs else "" for better in names[:-1])]
        for name in names[1:]
    ]
    return ["model", *names[:-1]], rows


def budget_table(comparisons: Sequence[Comparison]) -> tuple[list[str], list[list[str]]]:
    """The score of every model with each budget, as head and rows."""
    title = comparisons[0].metrics[0].title
    names = list(dict.fromkeys(name for comparison in comparisons for name in comparison.ranking))

    def cell(comparison: Comparison, name: str) -> str:
        if name not in comparison.runs:
            return "–"
        return with_interval(comparison.scores[name][comparison.metrics[0].name])

    rows = [[name, *(cell(comparison, name) for comparison in comparisons)] for name in names]
    return ["model", *(f"{title}, {comparison.budget.text}" for comparison in comparisons)], rows


def cores(threads: int | None) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


def scientific(value: float) -> str:
    """A number in scientific notation: 1.2e15."""
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def terminal(comparisons: Sequence[Comparison]) -> str:
    parts = []
    for comparison in comparisons:
        parts += [_ruled(head(comparison), cells(comparison)), "\n".join(notes(comparison))]
    if len(comparisons) > 1:
        parts.append(_ruled(*budget_table(comparisons)))
    return "\n\n".join(parts)


def _ruled(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    drawn = aligned([head, *rows])
    return "\n".join([drawn[0], "-" * len(drawn[0]), *drawn[1:]])


def notes(comparison: Comparison) -> list[str]:
    plan, options = comparison.plan, comparison.options
    tested = ", ".join(options.test) or "the validation set"
    best = comparison.scores[comparison.best]
    seeds = (
        f"seed {options.seed}" if options.seeds == 1 else f"seeds {options.seed} to {options.seed + options.seeds - 1}"
    )
    found = [
        f"{plan.describe(comparison.budget)} on {cores(options.threads)} ({options.device}), {seeds}; the same ids for "
        "all; checkpoints chosen by the validation set.",
        f"Tested on {comparison.sentences:,} sentences of {tested}, "
        f"beam {next(iter(plan.recipes.values())).decoding.beam}, native engine for all.",
        significance_note(comparison),
        *(f"{metric.title}: {best[metric.name].signature}" for metric in comparison.metrics),
    ]
    return found + [f"{name} has no result: {why.splitlines()[0]}" for name, why in comparison.unfinished.items()]


def significance_note(comparison: Comparison) -> str:
    tested = comparison.tested[comparison.metrics[0].name]
    drawn = "sentences and seeds" if comparison.seeds > 1 else "sentences"
    return (
        f"± is the 95% interval; p is from a paired bootstrap of {tested.draws:,} draws of {drawn} against "
        f"{comparison.best}, two-sided, by Holm's correction for all {len(tested.pairs)} pairs; * below {SURE}."
    )


def markdown(comparisons: Sequence[Comparison]) -> str:
    first = comparisons[0]
    parts = [f"# {first.options.source} → {first.options.target}: {', '.join(first.ranking)}"]
    if len(comparisons) > 1:
        parts.append(markdown_table(*budget_table(comparisons)))
    for comparison in comparisons:
        parts += ([f"# {comparison.budget.text}"] if len(comparisons) > 1 else []) + _sections(comparison)
    return "\n\n".join(parts) + "\n"


def _sections(comparison: Comparison) -> list[str]:
    """What is said of one budget."""
    names = comparison.ranking
    pairs = [f"## p of every pair ({comparison.metrics[0].title})", markdown_table(*pair_table(comparison))]
    return [
        markdown_table(head(comparison), cells(comparison)),
        "\n".join(f"- {note}" for note in notes(comparison)),
        *(pairs if len(names) > 1 else []),
        f"## {comparison.metrics[0].title} by source length (subwords)",
        markdown_table(*length_table(comparison)),
        f"## Table 1 with n = {comparison.mean_length:.1f}",
        markdown_table(
            [
                "model",
                "layer",
                "d",
                "k",
                "complexity per layer",
                "sequential operations",
                "maximum path length",
                "source to target",
                "layers",
                "encoder sees",
            ],
            table1(comparison),
        ),
        "## Influence of the first source token on a target token, by distance",
        _reach(comparison),
    ]


def length_table(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Scores with their intervals by length of the source, as head and rows."""
    names = comparison.ranking
    rows = [
        [_range(b.low, b.high), f"{b.count:,}", *(f"{b.scores[name]:.1f} ± {b.intervals[name]:.1f}" for name in names)]
        for b in comparison.lengths
    ]
    return ["length", "sentences", *names], rows


def table1(comparison: Comparison) -> list[list[str]]:
    return [
        [
            row.name,
            row.kind,
            f"{row.d:,}",
            "–" if row.k is None else str(row.k),
            _order(row.complexity, scientific),
            _order(row.sequential, "{:.0f}".format),
            _order(row.path, "{:.1f}".format).removesuffix(".0"),
            row.decoder_path,
            row.layers,
            row.sees,
        ]
        for row in comparison.table1
    ]


def _order(order: Order | None, shown: Callable[[float], str]) -> str:
    return UNKNOWN if order is None else f"O({order.formula}) = {shown(order.value)}"


def _reach(comparison: Comparison) -> str:
    distances = sorted({distance for result in comparison.results.values() for distance, _ in result.reach})
    found = {name: dict(_points(comparison.results[name].reach)) for name in comparison.ranking}
    rows = [
        [f"{d:g}", *(f"{found[name][d]:.2g}" if d in found[name] else "–" for name in comparison.ranking)]
        for d in distances
    ]
    return markdown_table(["distance", *comparison.ranking], rows)


def _points(reach: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    return [(distance, value) for distance, value in reach]


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
