"""Message catalogs of gettext (PO).

The catalog's language is in its header or in its path (`de/LC_MESSAGES/app.mo`, `de.po`); its messages are in English
unless the header (`X-Source-Language`) or the messages themselves say otherwise. As a corpus, a catalog whose language
is the source is read with the sides swapped. A catalog can hold a message only once, so when one is written, repeated
messages get a context.

As a document, untranslated messages are filled in and marked fuzzy. The file is edited in place, line by line, so
comments, order and wrapping of other entries stay. A machine translation is `fuzzy` until a person has reviewed it;
a comment gives its confidence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from tongsa.base.containers import open_bytes
from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.formats.po_catalog import Entry, Plurals, entries, forms_of, quoted
from tongsa.formats.segments import Options, Outcome, Segment
from tongsa.formats.spans import Encoded, replaced
from tongsa.formats.writers import WritePair, text_file
from tongsa.text.detection import likeliest
from tongsa.text.languages import matches
from tongsa.text.lines import encoding_name, nfc, read_lines

HEADER = 8192
"""The charset is looked for in so many bytes."""
_MESSAGES = ("msgid", "msgid_plural")
_CHARSET = re.compile(
    r'(Content-Type:(?:[^\\\n]|"\r?\n\s{0,9}"){0,200}?charset=)([A-Za-z0-9_.:-]{0,60}[A-Za-z0-9])', re.IGNORECASE
)
_CODE = r"\s*([A-Za-z]{2,3}(?:[_-]\w+)*(?:@\w+)?)"
_LANGUAGE = re.compile(f"^language:{_CODE}", re.IGNORECASE | re.MULTILINE)
_SOURCE_LANGUAGE = re.compile(f"^x-source-language:{_CODE}", re.IGNORECASE | re.MULTILINE)
ENGLISH = "en"
EXAMINED = 300
"""Number of messages whose language is detected."""
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "", "\x04": ""})
_HEADER = {
    "Language": "",
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=CHARSET",
    "Content-Transfer-Encoding": "8bit",
}
# As in C: a space is a flag too, so `100% of` contains `% o`.
_DIRECTIVE = re.compile(
    r"%(?:%|(?:\(\w+\)|\d{1,9}\$)?[-+ #0'I]{0,9}(?:\d{1,9}|\*(?:\d{1,9}\$)?)?(?:\.(?:\d{1,9}|\*(?:\d{1,9}\$)?)?)?"
    r"(?:hh|h|ll|l|L|q|j|z|t)?(?:<PRI\w+>|[a-zA-Z@]))|%"
)


def read_pairs(path: Path, reading: Reading) -> Iterator[Pair]:
    charset = catalog_charset(_beginning(path), path, reading)

    def messages() -> Iterator[str]:
        return (entry.texts["msgid"] for entry in entries(read_lines(path, charset), path) if not entry.obsolete)

    sides = Sides(path, "", reading, messages)
    for entry in entries(read_lines(path, charset), path):
        where = Place(path, entry.line)
        if entry.obsolete:
            reading.left_out.drop("messages obsolete", where)
        elif _is_header(entry):
            sides = Sides(path, entry.texts.get("msgstr", ""), reading, messages)
        elif "fuzzy" in entry.flags:
            reading.left_out.drop("messages fuzzy", where)
        else:
            yield from sides.pairs([entry.texts[name] for name in _MESSAGES if name in entry.texts], entry.forms, where)


def _beginning(path: Path) -> bytes:
    with open_bytes(path) as file:
        return file.read(HEADER)


def _is_header(entry: Entry) -> bool:
    return not entry.obsolete and not entry.texts["msgid"] and entry.context is None


class Sides:
    """Determines which side of the catalog is the source."""

    def __init__(self, path: Path, header: str, reading: Reading, messages: Callable[[], Iterable[str]]) -> None:
        """`messages` gives the texts to translate, which are read only if the header leaves their language open."""
        self.reading = reading
        self.messages = messages
        named, self.stated = _LANGUAGE.search(header), _SOURCE_LANGUAGE.search(header)
        self.language = named.group(1) if named else language_in_path(path)
        self.backwards = bool(self.language) and not matches(self.language, reading.target)

    @cached_property
    def useless(self) -> str:
        """Why none of the messages is used; empty if they are in the two languages wanted."""
        if self.backwards and not matches(self.language, self.reading.source):
            return f"messages of a catalog in {self.language}"
        wanted = self.reading.target if self.backwards else self.reading.source
        found = self.stated.group(1) if self.stated else self._guessed(wanted)
        return "" if matches(found, wanted) else f"messages of a catalog from {found} into {self.language or '?'}"

    def _guessed(self, wanted: str) -> str:
        """The language of the messages: the one wanted, English as usual, or the catalog's own (`en_GB`)."""
        if matches(ENGLISH, wanted):
            return wanted
        return likeliest("\n".join(islice(self.messages(), EXAMINED)), (wanted, ENGLISH, self.language or wanted))

    def pairs(self, texts: list[str], forms: list[str], where: Place) -> Iterator[Pair]:
        """Pair the singular with the first form and the plural with the last; with only one form, just the plural."""
        if not all(form.strip() for form in forms) or not texts[0].strip():
            self.reading.left_out.drop("messages untranslated", where)
        elif self.useless:
            self.reading.left_out.drop(self.useless, where)
        else:
            pairs = [(texts[0], forms[0])]
            if len(texts) > 1:
                pairs = [(texts[1], forms[-1])] if len(forms) == 1 else [*pairs, (texts[1], forms[-1])]
            for text, form in pairs:
                source, target = (form, text) if self.backwards else (text, form)
                yield Pair(nfc(source), nfc(target), where)


def language_in_path(path: Path) -> str:
    """Return `de` for `locale/de/LC_MESSAGES/app.mo`, `po/de.po` or `app.de.po`; empty if there is no language."""
    folder = path.parent
    if folder.name == "LC_MESSAGES":
        return folder.parent.name
    name = path.name.split(".")[:-1]
    while name and name[-1] in ("po", "mo", "gz", "xz"):
        name.pop()
    last = name[-1] if name else ""
    return last if re.fullmatch(r"[a-z]{2,3}(?:[_-][A-Za-z]{2,4})?(?:@\w+)?", last) and len(name) <= 2 else ""


def catalog_charset(data: bytes, path: Path, reading: Reading) -> str:
    """Return the encoding named by the user, or else by the header."""
    named = _named_charset(data)
    if encoding_name(reading.encoding) != "utf-8" or not named:
        return reading.encoding
    return _checked(named, path)


def _checked(charset: str, path: Path) -> str:
    """Refuse unknown charsets, and those in which quotes and backslashes are not what they are in ASCII."""
    try:
        if _ASCII.encode(encoding_name(charset)) == _ASCII.encode():
            return charset
        what = f"not a charset for catalogs: {charset}"
    except CorpusError as error:
        what = error.what
    raise CorpusError(f"{path}: {what}", "Correct its header, or name the encoding:  --encoding cp1252")


_ASCII = 'msgid "\\n#~"'


def _named_charset(data: bytes) -> str | None:
    """Return the charset of the header, except the placeholder of templates."""
    named = _CHARSET.search(data[:HEADER].decode("latin-1"))
    return named[2] if named and named[2] != "CHARSET" else None


class Contexts:
    """Return the context that makes a message unique, or None for a pair that a catalog cannot hold."""

    def __init__(self, changed: Counter[str]) -> None:
        self.changed = changed
        self.messages: dict[bytes, int] = {}

    def of(self, pair: Pair) -> str | None:
        if not pair.source.replace("\0", "").replace("\x04", ""):
            self.changed["pairs without a source, which a catalog cannot hold, left out"] += 1
            return None
        message = _digest(pair.source)
        count = self.messages[message] = self.messages.get(message, 0) + 1
        return "" if count == 1 else f"translation {count}"


def header(reading: Reading) -> str:
    return (
        "Project-Id-Version: tongsa\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
        f"Content-Transfer-Encoding: 8bit\nLanguage: {reading.target}\nX-Source-Language: {reading.source}\n"
    )


@contextmanager
def write_pairs(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[WritePair]:
    contexts = Contexts(changed)
    with text_file(path) as file:
        lines = "".join(f'"{_escaped(line)}\\n"\n' for line in header(reading).splitlines())
        file.write(f'msgid ""\nmsgstr ""\n{lines}')

        def write(pair: Pair) -> None:
            context = contexts.of(pair)
            if context is None:
                return
            # msgfmt requires a translation to begin and end with a line end if its message does
            source, target = pair.source, _with_line_ends_of(pair.source, pair.target)
            file.write("\n" + (f'msgctxt "{_escaped(context)}"\n' if context else ""))
            file.write(f'msgid "{_escaped(source)}"\nmsgstr "{_escaped(target)}"\n')

        yield write


def _with_line_ends_of(source: str, target: str) -> str:
    target = target.strip("\n")
    begins, ends = "\n" * source.startswith("\n"), "\n" * (source.endswith("\n") and source != "\n")
    return f"{begins}{target}{ends}"


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=8).digest()


def open_document(data: bytes, path: Path, options: Options) -> PoDocument:
    named = _named_charset(data)
    encoded = Encoded.read(data, path, options.encoding or (_checked(named, path) if named else None))
    lines = (line.group() for line in re.finditer(r"[^\n]*\n|[^\n]+", encoded.text))
    found = [entry for entry in entries(lines, path) if not entry.obsolete]
    header = next(filter(_is_header, found), None)
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
    try:
        given = Plurals.parse(fields["Plural-Forms"]) if is_target and "Plural-Forms" in fields else None
    except CorpusError as error:
        raise CorpusError(
            f"{path}, Plural-Forms: {error}", "Copy the line from another catalog in this language."
        ) from error
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
        """Yield one segment per message, or two if it has a plural."""
        self._entries.append((entry, len(self.segments)))
        for name in _MESSAGES:
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
        """Encode in the catalog's charset, or in UTF-8 if that charset lacks letters of this language."""
        try:
            return self.encoded.mark + text.encode(self.encoded.encoding)
        except UnicodeEncodeError:
            return _CHARSET.sub(r"\1UTF-8", text, count=1).encode()

    def _entry_edits(self, entry: Entry, outcomes: Sequence[Outcome]) -> list[tuple[int, int, str]]:
        if entry.is_plural:
            single, many = outcomes
            forms = [single if form == self.plurals.singular else many for form in range(self.plurals.count)]
            written = "".join(f"msgstr[{i}] {quoted(o.text)}" for i, o in enumerate(forms))
        else:
            written = f"msgstr {quoted(outcomes[0].text)}"
        edits = [(*entry.target, written)]
        machine = [outcome for outcome in outcomes if outcome.state in ("translated", "fuzzy", "source")]
        if machine:
            edits += entry.with_flag("fuzzy")
            edits.append((entry.start, entry.start, f"# Tongsa: {_remark(machine)}\n"))
        return edits

    def _header_edits(self) -> list[tuple[int, int, str]]:
        """Fill in the header that gettext requires: charset, language, plural forms; not fuzzy."""
        fields = _fields(self.header)
        new = {**fields, **{name: value for name, value in _HEADER.items() if name not in fields}}
        if not matches(new["Language"], self.target):
            new["Language"] = self.target
            new.pop("Plural-Forms", None)
        if "charset=CHARSET" in new["Content-Type"]:
            new["Content-Type"] = f"text/plain; charset={self.encoded.encoding.upper()}"
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
    return "; ".join([f"confidence {min(outcome.confidence for outcome in outcomes):.4f}", *notes])


def _accepts(source: str) -> Callable[[str], bool]:
    """Return a check of `%` directives: gettext requires those of C in the same order, or numbered ones."""

    def accepts(target: str) -> bool:
        before, after = ([d for d in _DIRECTIVE.findall(text) if d != "%%"] for text in (source, target))
        if any(re.match(r"%(?:\d+\$|\()", directive) for directive in before):
            return sorted(before) == sorted(after)
        return before == after

    return accepts
