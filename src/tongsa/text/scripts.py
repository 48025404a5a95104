"""The script that a text is written in, and those that languages are written in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from tongsa.text.languages import plain_code

SCRIPTS = {
    "Latin": "A-Za-zÀ-ɏ",
    "Hangul": "\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f",
    "Han": "\u3400-\u9fff",
    "Kana": "\u3040-\u30ff",
    "Cyrillic": "\u0400-\u052f",
    "Greek": "\u0370-\u03ff",
    "Arabic": "\u0600-\u06ff",
    "Hebrew": "\u0590-\u05ff",
    "Devanagari": "\u0900-\u097f",
    "Thai": "\u0e00-\u0e7f",
}
_ONLY_LATIN = re.compile(r"[\x00-\u024f\u2000-\u20cf]*")
_COUNTERS = {name: re.compile(f"[{ranges}]") for name, ranges in SCRIPTS.items()}


def script(text: str) -> str:
    """The script of most letters: Kana if the text has any kana, `none` if it has no letters."""
    if _ONLY_LATIN.fullmatch(text):
        return "Latin" if _COUNTERS["Latin"].search(text) else "none"
    counts = {name: len(pattern.findall(text)) for name, pattern in _COUNTERS.items()}
    if counts["Kana"] and counts["Han"]:
        counts["Kana"] += counts.pop("Han")
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else "none" if not any(map(str.isalpha, text)) else "other"


def usual_script(texts: Sequence[str]) -> str:
    """The script of most texts, if nine texts in ten have letters of it; empty if not."""
    written = [text for text in texts if any(map(str.isalpha, text))]
    name, _ = Counter(map(script, written)).most_common(1)[0] if written else ("", 0)
    missing = sum(lacks_script(text, name) for text in written)
    return name if name in SCRIPTS and missing <= 0.1 * len(written) else ""


def lacks_script(text: str, name: str) -> bool:
    """Whether a text has letters, but none of this script (one of SCRIPTS); Japanese is also written in Han alone."""
    if name not in _COUNTERS or _COUNTERS[name].search(text) or (name == "Kana" and _COUNTERS["Han"].search(text)):
        return False
    return any(map(str.isalpha, text))


_LANGUAGES = """
Hangul:ko Kana:ja Han:zh,yue Cyrillic:be,bg,kk,ky,mk,mn,ru,tg,uk Greek:el Arabic:ar,fa,ps,ug,ur Hebrew:he,yi
Devanagari:hi,mr,ne Thai:th
Latin:af,ca,cs,cy,da,de,en,eo,es,et,eu,fi,fr,ga,gl,hr,hu,id,is,it,lt,lv,ms,mt,nb,nl,nn,no,pl,pt,ro,sk,sl,sq,sv,sw,tl,tr,vi
"""
_SCRIPT_OF = {
    language: name
    for name, languages in (each.split(":") for each in _LANGUAGES.split())
    for language in languages.split(",")
}


def script_of(language: str) -> str:
    """Return the script (one of SCRIPTS) that a language is written in; empty if it is unknown or there are several."""
    return _SCRIPT_OF.get(plain_code(language).partition("-")[0], "")
