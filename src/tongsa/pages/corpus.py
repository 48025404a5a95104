"""The report of a corpus as a page: sizes, lengths, and its faults with examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from tongsa.corpus.faults import FAULTS
from tongsa.corpus.report import Report, SideReport, length_label, ratio_label, share
from tongsa.formats.pairs import Pair
from tongsa.pages.charts import BarChart, Group, draw_bars
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.markup import escape, table

LONGEST = 600
"""Maximum number of characters shown of a text."""


def draw_corpus(report: Report) -> str:
    languages = f"{escape(report.source.language)} <i>→</i> {escape(report.target.language)}"
    faulty = f"{report.faulty:,} of them ({share(report.faulty, report.pairs)})"
    top = heading(escape(report.name), over=f"corpus, {languages}", text=f"{report.pairs:,} pairs; faults in {faulty}.")
    sections = [
        Section(key="sizes", title="Sizes", content=_sizes(report)),
        Section(key="lengths", title="Lengths", content=f'<div class="charts">{_lengths(report)}</div>'),
        *_left_out(report),
        Section(key="faults", title="Faults", content=_faults(report)),
    ]
    return page(report.name, heading=top, sections=sections, footer="Written by tongsa corpus report.")


def _left_out(report: Report) -> list[Section]:
    lines = "".join(f"<li>{escape(line)}</li>" for line in report.left_out.lines())
    return [Section(key="left-out", title="Not taken from the files", content=f"<ul>{lines}</ul>")] if lines else []


def _sizes(report: Report) -> str:
    rows: list[tuple[str, Callable[[SideReport], str]]] = [
        ("words", lambda side: f"{side.words:,}"),
        ("characters", lambda side: f"{side.characters:,}"),
        ("words per text, mean", lambda side: f"{side.words / max(1, report.pairs):.1f}"),
        ("longest, words", lambda side: f"{side.longest:,}"),
        ("distinct texts", lambda side: f"{side.distinct:,} ({share(side.distinct, report.pairs)})"),
        ("languages, detected in a sample", lambda side: _top(side.detected)),
        ("scripts", lambda side: _top(side.scripts)),
    ]
    sides = (report.source, report.target)
    cells = [[escape(name), *(escape(show(side)) for side in sides)] for name, show in rows]
    drawn = table(["", *(escape(side.language) for side in sides)], cells)
    return f'<div class="wide-table">{drawn}</div>'


def _top(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {share(count, counts.total())}" for name, count in counts.most_common(5))


def _lengths(report: Report) -> str:
    source, target = report.source, report.target
    return _bars(
        "Words per text", "", [source.language, target.language], [source.lengths, target.lengths], length_label, report
    ) + _bars(
        "Ratio of lengths",
        f"{target.language} characters per {source.language} character",
        ["ratio"],
        [report.ratios],
        ratio_label,
        report,
    )


def _bars(
    title: str,
    note: str,
    names: Sequence[str],
    counts: Sequence[Counter[int]],
    label: Callable[[int], str],
    report: Report,
) -> str:
    """A bar chart of the share of pairs in each range, for each of the counts."""
    places = sorted({place for count in counts for place in count})
    groups = [Group(label(place), [100 * each[place] / max(1, report.pairs) for each in counts]) for place in places]
    return draw_bars(
        BarChart(title=title, note=note, names=names, groups=groups, under="percent of the pairs", top=None, unit="%")
    )


def _faults(report: Report) -> str:
    found = [name for name in FAULTS if report.faults[name]]
    if not found:
        return "<p>None found.</p>"
    rows = [
        [
            f'<a href="#{name}">{name}</a>',
            escape(FAULTS[name]),
            f"{report.faults[name]:,}",
            share(report.faults[name], report.pairs),
        ]
        for name in found
    ]
    overview = f'<div class="wide-table texts">{table(["name", "what", "pairs", "share"], rows)}</div>'
    return overview + "".join(_examples(report, name) for name in found)


def _examples(report: Report, name: str) -> str:
    pairs = "".join(_pair(pair, report) for pair in report.examples[name])
    return f'<h3 id="{name}">{name} <span>{escape(FAULTS[name])}</span></h3><div class="examples">{pairs}</div>'


def _pair(pair: Pair, report: Report) -> str:
    return (
        f'<article class="example"><p class="meta">{escape(pair.where)}</p>'
        f'<p lang="{escape(report.source.language)}" dir="auto">{escape(pair.source[:LONGEST])}</p>'
        f'<p lang="{escape(report.target.language)}" dir="auto">{escape(pair.target[:LONGEST])}</p></article>'
    )
