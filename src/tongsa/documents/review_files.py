"""Reviews that can be worked in: a catalog of gettext, and XLIFF 1.2, with only the doubtful units and the reasons."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from tongsa.base.files import write_atomically
from tongsa.formats.pairs import Reading
from tongsa.formats.po import header
from tongsa.formats.po_catalog import quoted
from tongsa.formats.segments import Languages, Near, State
from tongsa.formats.xml_stream import escaped_segment

_STATES = {
    "source": 'state="needs-translation"',
    "fuzzy": 'state="needs-review-translation" state-qualifier="fuzzy-match"',
    "memory": 'state="needs-review-translation" state-qualifier="exact-match"',
    "translated": 'state="needs-review-translation" state-qualifier="mt-suggestion"',
}


@dataclass(frozen=True, kw_only=True)
class ReviewUnit:
    """A translation to review, as texts: each mark of the format is a numbered tag."""

    file: str
    place: str
    source: str
    target: str
    state: State
    notes: tuple[str, ...]
    near: Near | None
    longest: int | None
    in_bytes: bool


def write_catalog(path: Path, languages: Languages, units: Sequence[ReviewUnit]) -> None:
    """Write a catalog in which every message is fuzzy; its context is the place, since texts may occur repeatedly."""
    head = header(Reading(source=languages.source, target=languages.target))
    entries = [f'msgid ""\nmsgstr {quoted(head)}']
    contexts: Counter[str] = Counter()
    for unit in units:
        context = f"{unit.file}, {unit.place}"
        contexts[context] += 1
        if contexts[context] > 1:
            context += f" ({contexts[context]})"
        entries.append("".join(_entry(unit, context)))
    write_atomically(path, "\n".join(entries))


def _entry(unit: ReviewUnit, context: str) -> Iterator[str]:
    for note in unit.notes:
        yield f"#. {_one_line(note)}\n"
    yield f"#: {_reference(unit)}\n#, fuzzy\n"
    if unit.near and unit.state == "fuzzy":  # shown as the earlier text by editors of catalogs
        yield "".join(f"#| {line}\n" for line in f"msgid {quoted(unit.near.source)}".splitlines())
    target = "" if unit.state == "source" else unit.target
    yield f"msgctxt {quoted(context)}msgid {quoted(unit.source)}msgstr {quoted(target)}"


def _reference(unit: ReviewUnit) -> str:
    """The place as gettext writes it: `manual.md:12`; a name with blanks is isolated."""
    line = re.fullmatch(r"line (\d+)", unit.place)
    name = _one_line(unit.file)
    isolated = f"\u2068{name}\u2069" if " " in name else name
    return f"{isolated}:{line[1]}" if line else isolated


def _one_line(text: str) -> str:
    return " ".join(text.split())


def write_xliff(path: Path, languages: Languages, units: Sequence[ReviewUnit]) -> None:
    """Write XLIFF 1.2, one <file> per document; the units of a document stay in their order."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">',
    ]
    by_file = groupby(sorted(units, key=lambda unit: unit.file), key=lambda unit: unit.file)
    number = 0
    for file, group in by_file:
        lines.append(
            f"<file original={quoteattr(file)} source-language={quoteattr(languages.source)}"
            f' target-language={quoteattr(languages.target)} datatype="plaintext"><body>'
        )
        for unit in group:
            number += 1
            lines += _trans_unit(unit, number)
        lines.append("</body></file>")
    write_atomically(path, "\n".join([*lines, "</xliff>", ""]))


def _trans_unit(unit: ReviewUnit, number: int) -> Iterator[str]:
    size_unit = "byte" if unit.in_bytes else "char"
    width = f' maxwidth="{unit.longest}" size-unit="{size_unit}"' if unit.longest is not None else ""
    yield f'<trans-unit id="{number}" resname={quoteattr(unit.place)} xml:space="preserve"{width}>'
    yield f"<source>{_segment(unit.source)}</source>"
    yield f"<target {_STATES[unit.state]}>{_segment(unit.target)}</target>"
    for note in unit.notes:
        yield f'<note from="Tongsa">{escape(_one_line(note))}</note>'
    if unit.near:
        yield f'<alt-trans match-quality="{unit.near.likeness:.0%}" origin="memory">'
        yield f"<source>{_segment(unit.near.source)}</source><target>{_segment(unit.near.target)}</target></alt-trans>"
    yield "</trans-unit>"


def _segment(text: str) -> str:
    return escaped_segment(text, "id", Counter())
