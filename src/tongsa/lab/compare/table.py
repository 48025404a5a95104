"""The comparison as lines of text: for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tongsa.evaluation.significance import SURE, aligned, chance, with_interval
from tongsa.lab.compare.comparison import Comparison
from tongsa.lab.compare.complexity import UNKNOWN, Order
from tongsa.pages.markup import count


def head(comparison: Comparison) -> list[str]:
    measured = ["model", "parameters", "updates", "tokens/s", "training FLOPs", "sentences/s"]
    return measured + [heading for metric in comparison.metrics for heading in (metric.title, "p")]


def cells(comparison: Comparison) -> list[list[str]]:
    """The rows of the table, one per model, best first."""
    lines = []
    for name in comparison.ranking:
        result, scores = comparison.results[name], comparison.scores[name]
        lines.append(
            [
                name,
                count(result.parameters),
                f"{result.updates:,}",
                f"{result.tokens_per_second:,.0f}",
                scientific(result.training_flops),
                f"{result.sentences_per_second:.1f}",
                *(cell for tested in scores.values() for cell in (with_interval(tested), chance(tested, "best"))),
            ]
        )
    return lines


def cores(threads: int | None) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


def scientific(value: float) -> str:
    """A number in scientific notation: 1.2e15."""
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def terminal(comparison: Comparison) -> str:
    drawn = aligned([head(comparison), *cells(comparison)])
    return "\n".join([drawn[0], "-" * len(drawn[0]), *drawn[1:], "", *notes(comparison)])


def notes(comparison: Comparison) -> list[str]:
    plan, options = comparison.plan, comparison.options
    tested = ", ".join(options.test) or "the validation set"
    best = comparison.scores[comparison.best]
    found = [
        f"{plan.budget} on {cores(options.threads)} ({options.device}), seed {options.seed}; the same ids for all.",
        f"Tested on {comparison.sentences:,} sentences of {tested}, "
        f"beam {next(iter(plan.recipes.values())).decoding.beam}, native engine for all.",
        f"± is the 95% interval; p is from a paired bootstrap against {comparison.best}, * below {SURE}.",
        *(f"{metric.title}: {best[metric.name].signature}" for metric in comparison.metrics),
    ]
    return found + [f"{name} failed: {why.splitlines()[0]}" for name, why in comparison.failed.items()]


def markdown(comparison: Comparison) -> str:
    names = comparison.ranking
    parts = [
        f"# {comparison.options.source} → {comparison.options.target}: {', '.join(names)}",
        _table(head(comparison), cells(comparison)),
        "\n".join(f"- {note}" for note in notes(comparison)),
        f"## {comparison.metrics[0].title} by source length (subwords)",
        _table(
            ["length", "sentences", *names],
            [
                [_range(b.low, b.high), f"{b.count:,}", *(f"{b.scores[name]:.1f}" for name in names)]
                for b in comparison.lengths
            ],
        ),
        f"## Table 1 with n = {comparison.mean_length:.1f}",
        _table(
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
    return "\n\n".join(parts) + "\n"


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
    return _table(["distance", *comparison.ranking], rows)


def _points(reach: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    return [(distance, value) for distance, value in reach]


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
