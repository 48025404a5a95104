"""Sentence splitting; the parts of a text, joined, are the text, byte for byte.

A sentence ends at `. ! ? …` followed by white space and a possible beginning; at `。！？` even without white space;
and at the end of a line.
It does not end after an abbreviation, an initial, a list number or an ordinal (German `3. Oktober`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_CLOSERS = "\"'”’»›)\\]}」』】）》〉"
_OPENERS = "\"'“‘„‚«‹(\\[{¿¡「『【（《〈*_–—\\-"
_END = re.compile(
    rf"(?P<wide>[。！？｡]++[{_CLOSERS}]*+\s*+)"
    rf"|(?<![.!?…‥])(?P<marks>[.!?…‥]++[{_CLOSERS}]*+)[ \t\u00a0\u3000]++"
    r"|(?P<line>\n\s*+)"
)
_SPACE = re.compile(r"\s*+")
_STARTS = re.compile(rf"[{_OPENERS}]*\s?(?P<first>.)", re.DOTALL)
_WORD = re.compile(r"(?<![\w.\-’'])[\w.\-’']++$")
_INITIALS = re.compile(r"[^\W\d_]\.[^\W\d_]$|^[^\W\d_]$")

_EVERYWHERE = {
    "etc",
    "vs",
    "ca",
    "cf",
    "fig",
    "no",
    "nr",
    "vol",
    "ed",
    "eds",
    "tel",
    "dr",
    "prof",
    "st",
    "jr",
    "sr",
    "inc",
    "ltd",
    "co",
}
ABBREVIATIONS: dict[str, set[str]] = {
    "en": {
        "mr",
        "mrs",
        "ms",
        "messrs",
        "rev",
        "hon",
        "gen",
        "col",
        "lt",
        "sgt",
        "capt",
        "gov",
        "sen",
        "rep",
        "mt",
        "approx",
        "dept",
        "est",
        "al",
        "e.g",
        "i.e",
        "a.m",
        "p.m",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "pp",
        "sec",
        "ch",
        "corp",
    },
    "de": {
        "bzw",
        "z.b",
        "d.h",
        "u.a",
        "usw",
        "evtl",
        "ggf",
        "inkl",
        "exkl",
        "zzgl",
        "hr",
        "fr",
        "str",
        "mio",
        "mrd",
        "tsd",
        "abs",
        "art",
        "bd",
        "bsp",
        "max",
        "min",
        "sog",
        "vgl",
        "u.u",
        "o.ä",
        "u.ä",
        "s.o",
        "s.u",
        "z.t",
        "i.d.r",
        "dipl",
        "ing",
        "geb",
        "gest",
        "jan",
        "feb",
        "mär",
        "apr",
        "aug",
        "sept",
        "okt",
        "nov",
        "dez",
        "anm",
        "aufl",
        "hrsg",
        "kap",
    },
    "fr": {
        "m",
        "mm",
        "mme",
        "mlle",
        "mgr",
        "p.ex",
        "c.-à-d",
        "av",
        "bd",
        "env",
        "éd",
        "janv",
        "févr",
        "juil",
        "sept",
        "oct",
        "nov",
        "déc",
        "chap",
        "art",
        "max",
        "min",
    },
    "es": {
        "sr",
        "sra",
        "srta",
        "dra",
        "ud",
        "uds",
        "p.ej",
        "pág",
        "págs",
        "avda",
        "núm",
        "art",
        "aprox",
        "ej",
        "ee.uu",
    },
    "it": {"sig", "sigg", "dott", "avv", "ing", "pag", "pagg", "es", "ecc", "art", "cap", "fig"},
    "pt": {"sr", "sra", "dra", "exmo", "av", "pág", "núm", "ex", "art", "aprox"},
    "nl": {
        "dhr",
        "mevr",
        "mw",
        "bijv",
        "d.w.z",
        "enz",
        "o.a",
        "m.b.t",
        "i.p.v",
        "blz",
        "jl",
        "resp",
        "mr",
        "drs",
        "ir",
    },
    "sv": {"t.ex", "bl.a", "m.m", "o.s.v", "d.v.s", "kl", "jfr", "osv", "dvs"},
    "da": {"f.eks", "bl.a", "dvs", "osv", "kl", "mv"},
    "pl": {"np", "m.in", "itd", "itp", "tzn", "tj", "ul", "godz", "inż", "mgr", "ok", "pt", "wg"},
    "cs": {"např", "tj", "tzv", "mj", "atd", "apod", "č", "str", "ing", "mgr"},
    "ru": {"т.е", "т.д", "т.п", "др", "г", "гг", "ул", "им", "руб", "тыс", "млн", "млрд", "см", "стр", "рис"},
}
"""Abbreviations that end in a full stop within a sentence; in lower case, without the full stop."""

_KNOWN = {language: _EVERYWHERE | words for language, words in ABBREVIATIONS.items()}

ORDINALS = {"de", "da", "nb", "nn", "no", "fi", "cs", "sk", "hu", "pl", "sl", "hr", "et", "is", "tr", "lv"}
"""Languages that write `3.` for `third`."""

SENTENCE_WIDE = {"ja", "zh", "yue"}
"""Languages that put no space between sentences."""


def split(text: str, language: str, longest: int = 600) -> list[str]:
    """Split into sentences with the white space after them; any longer than `longest` are cut at commas or spaces."""
    parts: list[str] = []
    for sentence in _sentences(text, _base(language)):
        parts += _shortened(sentence, longest) if len(sentence) > longest else [sentence]
    return parts


def _base(language: str) -> str:
    return re.split(r"[-_]", language.lower())[0]


def _sentences(text: str, language: str) -> Iterator[str]:
    begin = 0
    first = _after_spaces(text, begin)
    for match in _END.finditer(text):
        if match.end() == len(text):
            break
        kind = match.lastgroup
        if kind == "marks":
            ends = _ends(text, first, match, language)
        elif kind == "wide":
            ends = not _goes_on_after_quote(text, match)
        else:
            ends = match.start() > first  # otherwise there is nothing but white space yet
        if ends:
            yield text[begin : match.end()]
            begin = match.end()
            first = _after_spaces(text, begin)
    if begin < len(text):
        yield text[begin:]


def _after_spaces(text: str, at: int) -> int:
    space = _SPACE.match(text, at) if text[at : at + 1].isspace() else None
    return space.end() if space else at


def _goes_on_after_quote(text: str, match: re.Match[str]) -> bool:
    """「行く。」と言った: the quotation is part of a longer sentence."""
    return match["wide"].rstrip()[-1] in "」』）" and text[match.end()] in "とって、"


def _ends(text: str, begin: int, match: re.Match[str], language: str) -> bool:
    """Return True if the sentence that begins at `begin` ends with this match."""
    starts = _STARTS.match(text, match.end())
    first = starts["first"] if starts else ""
    if first.islower() or first in ",;:)" or (language == "fr" and text.startswith("»", match.end())):
        return False
    marks = match["marks"]
    if marks[0] in "!?" or len(marks.rstrip("\"'”’»›)]}」』】）》〉")) > 1:
        return True
    before = _WORD.search(text[max(begin, match.start() - 40) : match.start()])
    word = before.group() if before else ""
    if _is_number(word):
        is_list = match.start() - begin == len(word)
        return not (is_list or (language in ORDINALS and len(word) <= 2))
    if word.lower() in _KNOWN.get(language, _EVERYWHERE):
        # "No. 5", but "He said no. Then": only a number follows these for certain
        return word.lower() == "no" and not first.isdigit()
    return not _INITIALS.search(word) or language in ("ko", "ja", "zh")


def _is_number(word: str) -> bool:
    return word.isdigit() or bool(re.fullmatch(r"[IVXLC]{1,5}", word) and len(word) > 1)


_CUTS = (re.compile(r"[;:；：]\s+|；"), re.compile(r",\s+|[、，]"), re.compile(r"\s+"))


def _shortened(sentence: str, longest: int) -> list[str]:
    """Cut near the middle, at the best place available, until every part is short enough."""
    if len(sentence) <= longest:
        return [sentence]
    middle = len(sentence) // 2
    for cut in _CUTS:
        places = [m.end() for m in cut.finditer(sentence) if longest // 8 < m.end() < len(sentence) - longest // 8]
        if places:
            place = min(places, key=lambda place: abs(place - middle))
            return _shortened(sentence[:place], longest) + _shortened(sentence[place:], longest)
    return [sentence]


def gap(between: str, source: str, target: str) -> str:
    """Return the text between two translated sentences, given the text between their sources."""
    if "\n" in between:
        return between
    if (_base(source) in SENTENCE_WIDE) == (_base(target) in SENTENCE_WIDE):
        return between
    return "" if _base(target) in SENTENCE_WIDE else between or " "
