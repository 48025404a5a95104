"""The report of a corpus as one HTML page: no scripts, nothing loaded from elsewhere, all text escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from html import escape

from tongsa.corpus.faults import FAULTS
from tongsa.corpus.report import Report, SideReport, length_label, ratio_label, share
from tongsa.formats.pairs import Pair

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d9dee6; --paper: #fff;
  --one: #2f6db3; --two: #d07a2a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7ebf1; --soft: #9aa5b4; --line: #39424f; --paper: #161b22; --one: #6fa8e6; --two: #e8a560; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 64rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.soft { color: var(--soft); }
svg { width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 11px; }
.one { fill: var(--one); } .two { fill: var(--two); }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em; }
.pair { margin: .5rem 0 1rem; padding-left: .8rem; border-left: 3px solid var(--line); overflow-wrap: anywhere; }
.pair div { margin: .1rem 0; }
.place { color: var(--soft); font-size: .85rem; }
a { color: var(--one); }
"""


def as_page(report: Report) -> str:
    sides = (report.source, report.target)
    body = [
        f"<h1>{escape(report.name)}</h1>",
        f"<p>{report.pairs:,} pairs; faults in {report.faulty:,} of them ({share(report.faulty, report.pairs)}).</p>",
        _sides(report, sides),
        "<h2>Words a text</h2>",
        _legend(sides),
        _bars([side.lengths for side in sides], length_label, report.pairs),
        f"<h2>Characters of {escape(report.target.language)} to one of {escape(report.source.language)}</h2>",
        _bars([report.ratios], ratio_label, report.pairs),
        _left_out(report),
        "<h2>Faults</h2>",
        _faults(report),
        *(_examples(report, name) for name in FAULTS if report.faults[name]),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(report.name)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _sides(report: Report, sides: tuple[SideReport, SideReport]) -> str:
    rows: list[tuple[str, Callable[[SideReport], str]]] = [
        ("words", lambda side: f"{side.words:,}"),
        ("characters", lambda side: f"{side.characters:,}"),
        ("words a text, mean", lambda side: f"{side.words / max(1, report.pairs):.1f}"),
        ("longest, words", lambda side: f"{side.longest:,}"),
        ("distinct texts", lambda side: f"{side.distinct:,} ({share(side.distinct, report.pairs)})"),
        ("languages, detected in a sample", lambda side: _top(side.detected)),
        ("scripts", lambda side: _top(side.scripts)),
    ]
    cells = "".join(
        f"<tr><th scope=row>{name}</th>{''.join(f'<td>{escape(show(side))}</td>' for side in sides)}</tr>"
        for name, show in rows
    )
    heads = "".join(f"<th scope=col>{escape(side.language)}</th>" for side in sides)
    return f"<table><tr><td></td>{heads}</tr>{cells}</table>"


def _top(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {share(count, counts.total())}" for name, count in counts.most_common(5))


def _legend(sides: tuple[SideReport, SideReport]) -> str:
    colours = zip(("one", "two"), sides, strict=True)
    keys = "".join(
        f'<span class="key" style="background: var(--{colour})"></span>{escape(side.language)}'
        for colour, side in colours
    )
    return f"<p class=soft>{keys}</p>"


def _bars(counts: list[Counter[int]], label: Callable[[int], str], total: int) -> str:
    """Bars side by side, with their share above."""
    places = sorted({place for count in counts for place in count})
    highest = max((count[place] for count in counts for place in places), default=1)
    step, height = 900 / max(1, len(places)), 140
    parts = []
    for number, place in enumerate(places):
        for which, count in enumerate(counts):
            width = (step - 8) / len(counts)
            tall = height * count[place] / highest
            x = number * step + which * width
            title = f"{label(place)}: {count[place]:,} ({share(count[place], total)})"
            parts.append(
                f'<rect class="{("one", "two")[which]}" x="{x:.1f}" y="{20 + height - tall:.1f}" width="{width:.1f}"'
                f' height="{tall:.1f}"><title>{escape(title)}</title></rect>'
            )
        middle = number * step + (step - 8) / 2
        parts.append(f'<text x="{middle:.1f}" y="{height + 36}" text-anchor="middle">{escape(label(place))}</text>')
        top = 100 * max(count[place] for count in counts) / max(1, total)
        y = 15 + height - height * max(count[place] for count in counts) / highest
        parts.append(f'<text x="{middle:.1f}" y="{y:.1f}" text-anchor="middle">{top:.1f}%</text>')
    return f'<svg viewBox="0 0 900 {height + 44}" role="img">{"".join(parts)}</svg>'


def _left_out(report: Report) -> str:
    lines = "".join(f"<li>{escape(line)}</li>" for line in report.left_out.lines())
    return f"<h2>Not taken from the files</h2><ul>{lines}</ul>" if lines else ""


def _faults(report: Report) -> str:
    if not report.faults:
        return "<p>None found.</p>"
    rows = "".join(
        f'<tr><td><a href="#{name}">{name}</a></td><td>{escape(FAULTS[name])}</td>'
        f"<td class=n>{report.faults[name]:,}</td><td class=n>{share(report.faults[name], report.pairs)}</td></tr>"
        for name in FAULTS
        if report.faults[name]
    )
    return f"<table><tr><th>name</th><th>what</th><th class=n>pairs</th><th class=n>share</th></tr>{rows}</table>"


def _examples(report: Report, name: str) -> str:
    pairs = "".join(_pair(pair, report) for pair in report.examples[name])
    return f'<h2 id="{name}">{name} <span class=soft>({escape(FAULTS[name])})</span></h2>{pairs}'


def _pair(pair: Pair, report: Report) -> str:
    return (
        f"<div class=pair><div class=place>{escape(str(pair.where))}</div>"
        f'<div lang="{escape(report.source.language)}" dir=auto>{escape(pair.source[:600])}</div>'
        f'<div lang="{escape(report.target.language)}" dir=auto>{escape(pair.target[:600])}</div></div>'
    )
