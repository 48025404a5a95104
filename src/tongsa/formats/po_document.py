"""Message catalogs of gettext: what is untranslated is filled in and marked fuzzy; all else keeps its very bytes.

The file is edited in place, line by line, so comments, order and wrapping of other entries stay. A translation of the
machine is `fuzzy` until a person has seen it, and says how sure the machine was in a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tongsa.base.errors import CorpusError
from tongsa.formats.catalog import Entry, entries, quoted
from tongsa.formats.plurals import Plurals, forms_of
from tongsa.formats.segments import Options, Outcome, Segment
from tongsa.formats.spans import Encoded, replaced
from tongsa.text.languages import matches

_HEADER = {
    "Language": "",
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=CHARSET",
    "Content-Transfer-Encoding": "8bit",
}
_CHARSET = re.compile(rb"charset=([A-Za-z0-9_.:-]+)")
# As C reads it: a blank is a flag too, so `100% of` holds `% o`.
_DIRECTIVE = re.compile(
    r"%(?:%|(?:\(\w+\)|\d+\$)?[-+ #0'I]*(?:\d+|\*(?:\d+\$)?)?(?:\.(?:\d+|\*(?:\d+\$)?)?)?"
    r"(?:hh|h|ll|l|L|q|j|z|t)?(?:<PRI\w+>|[a-zA-Z@]))|%"
)


def read_po(data: bytes, path: Path, options: Options) -> PoDocument:
    charset = _CHARSET.search(data[:8192])
    named = charset[1].decode("ascii") if charset and charset[1] != b"CHARSET" else None
    encoded = Encoded.read(data, path, options.encoding or named)
    found = list(entries(encoded.text, path))
    header = next((entry for entry in found if not entry.texts["msgid"] and entry.context is None), None)
    document = PoDocument(path, data, encoded, header, _plurals(header, options, path))
    for entry in found:
        if entry is not header and not entry.is_translated and "fuzzy" not in entry.flags:
            document.add(entry)
    document.target = options.languages.target
    return document


def _plurals(header: Entry | None, options: Options, path: Path) -> Plurals:
    fields = _fields(header)
    language = fields.get("Language", "")
    is_target = matches(language, options.languages.target)
    if language and not is_target and not matches(language, options.languages.source):
        raise CorpusError(
            f"{path} is a catalog in {language}; this translator writes {options.languages.target}",
            "Take the translator of that language, or start from the template (.pot).",
        )
    given = Plurals.parse(fields["Plural-Forms"]) if is_target and "Plural-Forms" in fields else None
    own = Plurals.parse(forms_of(options.languages.target))
    assert own, "our own table can be read"
    return given or own


def _fields(header: Entry | None) -> dict[str, str]:
    text = header.texts["msgstr"] if header else ""
    return {
        name: value.strip() for name, _, value in (line.partition(":") for line in text.split("\n")) if name.strip()
    }


@dataclass
class PoDocument:
    path: Path
    data: bytes
    encoded: Encoded
    header: Entry | None
    plurals: Plurals
    target: str = ""
    segments: list[Segment] = field(default_factory=list)
    _entries: list[tuple[Entry, int]] = field(default_factory=list)

    def add(self, entry: Entry) -> None:
        """One segment for a message, two for one with a plural."""
        self._entries.append((entry, len(self.segments)))
        for name in ("msgid", "msgid_plural"):
            if name in entry.texts:
                text = entry.texts[name]
                accepts = _accepts(text) if entry.flags & {"c-format", "objc-format", "python-format"} else None
                self.segments.append(Segment(id=f"line {entry.line}", content=(text,), accepts=accepts))

    def write(self, outcomes: Sequence[Outcome]) -> bytes:
        if not outcomes:
            return self.data
        newline = "\r\n" if "\r\n" in self.encoded.text else "\n"
        edits = self._header_edits()
        for entry, first in self._entries:
            edits += self._entry_edits(entry, outcomes[first : first + (2 if entry.is_plural else 1)])
        text = replaced(self.encoded.text, [(start, end, new.replace("\n", newline)) for start, end, new in edits])
        return self._encoded(text)

    def _encoded(self, text: str) -> bytes:
        """In the catalog's own charset; in UTF-8 where that has no letters for this language."""
        try:
            return self.encoded.mark + text.encode(self.encoded.encoding)
        except UnicodeEncodeError:
            return re.sub(r"(charset=)[A-Za-z0-9_.:-]+", r"\1UTF-8", text, count=1).encode()

    def _entry_edits(self, entry: Entry, outcomes: Sequence[Outcome]) -> list[tuple[int, int, str]]:
        if entry.is_plural:
            single, many = outcomes
            forms = [single if form == self.plurals.singular else many for form in range(self.plurals.count)]
            written = "".join(f"msgstr[{i}] {quoted(o.text)}" for i, o in enumerate(forms))
        else:
            written = f"msgstr {quoted(outcomes[0].text)}"
        edits = [(*entry.target, written)]
        machine = [outcome for outcome in outcomes if outcome.state in ("translated", "source")]
        if machine:
            edits += entry.with_flag("fuzzy")
            edits.append((entry.start, entry.start, f"# Tongsa: {_remark(machine)}\n"))
        return edits

    def _header_edits(self) -> list[tuple[int, int, str]]:
        """The header that gettext asks for: a charset, the language, its plural forms; not fuzzy."""
        fields = _fields(self.header)
        new = {**fields, **{name: value for name, value in _HEADER.items() if name not in fields}}
        if not matches(new["Language"], self.target):
            new["Language"] = self.target
            new.pop("Plural-Forms", None)
        if "charset=CHARSET" in new["Content-Type"]:
            new["Content-Type"] = "text/plain; charset=UTF-8"
        has_plurals = any(entry.is_plural for entry, _ in self._entries)
        if has_plurals and not ("Plural-Forms" in new and Plurals.parse(new["Plural-Forms"])):
            new["Plural-Forms"] = forms_of(self.target)
        if new == fields and self.header and "fuzzy" not in self.header.flags:
            return []
        text = "".join(f"{name}: {value}\n" for name, value in new.items())
        if self.header is None:
            return [(0, 0, f'msgid ""\nmsgstr {quoted(text)}\n')]
        return [(*self.header.target, f"msgstr {quoted(text)}"), *self.header.without_flag("fuzzy")]


def _remark(outcomes: Sequence[Outcome]) -> str:
    notes = list(dict.fromkeys(note for outcome in outcomes for note in outcome.notes))
    return "; ".join([f"confidence {min(outcome.confidence for outcome in outcomes):.2f}", *notes])


def _accepts(source: str) -> Callable[[str], bool]:
    """gettext reads a `%` by C's rules, and wants the same directives in the same order, or numbered ones."""

    def accepts(target: str) -> bool:
        before, after = ([d for d in _DIRECTIVE.findall(text) if d != "%%"] for text in (source, target))
        if any(re.match(r"%(?:\d+\$|\()", directive) for directive in before):
            return sorted(before) == sorted(after)
        return before == after

    return accepts
