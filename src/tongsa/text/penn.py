"""Words as the Penn Treebank separates them: `He can't (really) say.` becomes `He ca n't -LRB- really -RRB- say .`

Treebanks differ in how they write brackets and quotation marks, and in whether a hyphen is a word; a tokenizer is made
for the words of one of them. Nothing is added or left out: the words, joined, are the text without its white space,
except for brackets and quotation marks that the treebank writes otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass

ROUND = {"(": "-LRB-", ")": "-RRB-"}
BRACKETS = {**ROUND, "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
"""How a bracket is written in trees, where it cannot always stand for itself."""
OPENING_QUOTE, CLOSING_QUOTE = "``", "''"

_ONE_WORD = re.compile(
    r"""(?xi)
    (?<!\w)(?:
    (?:https?://|www\.)\S*[\w/]             # an address on the web
    | [\w.+-]++@[\w-]++(?:\.[\w-]++)++      # an address of mail
    | -(?:LRB|RRB|LSB|RSB|LCB|RCB)-         # a bracket of a tree
    | ``|''                                 # a quotation mark of a tree
    )
    """
)
_MARK = re.compile(
    r"""(?xi)
    \.{2,}+ | …++ | -{2,}+ | [—–‒―]++ | [!?]++
    | ,(?!\d) | (?<!\d), | :(?!\d) | (?<!\d):       # but 1,000 and 10:30
    | [;"“”„«»()\[\]{}<>$€£¥%*=~^|]
    | (?<=[\w.,])['’](?!\w)                         # a closing quotation mark, or the possessive of a plural
    | (?<![\w'’])['‘](?=\w)(?!(?:s|t|m|d|re|ve|ll|em|cause|cuz|til|tis|twas|n|\d+s?)\b)  # an opening one
    """
)
_CLITIC = re.compile(r"(?i)(?<=\w)(?:n['’]t|['’](?:s|m|d|re|ve|ll))$")
_TWO_WORDS = re.compile(r"(?i)(can)(not)|(gon|wan)(na)|(got)(ta)|(gim|lem)(me)|(['’]t)(is|was)")
_ABBREVIATION = re.compile(r"(?i)(?:[^\W\d_]\.)+[^\W\d_]|etc|inc|ltd|corp|co|jr|sr|al")
"""What may keep its full stop at the end of a sentence."""

_PREFIXES = "anti|co|counter|cross|e|ex|inter|macro|meta|micro|mid|mini|multi|non|pan|post|pre|pro|re|semi|sub|super"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_KEEPS_HYPHEN = re.compile(rf"(?i)(?:{_PREFIXES}|{_TENS})-")
_INSIDE = re.compile(r"(?<=\w)-(?=\w)|(?<=[^\W\d])/(?=[^\W\d])")


@dataclass(frozen=True, kw_only=True)
class PennTokenizer:
    """Separates words as a treebank does."""

    brackets: Mapping[str, str]
    """What is written for each bracket that does not stand for itself."""
    quotes: bool = False
    """Write " as `` and ''."""
    hyphens: bool = False
    """Make a hyphen, or a slash between letters, a word: `well - known`. Prefixes keep theirs: `non-profit`."""

    @classmethod
    def of(cls, words: Container[str]) -> PennTokenizer:
        """A tokenizer that writes as the treebank with these words."""
        brackets = {mark: name for mark, name in BRACKETS.items() if mark in ROUND or name in words}
        return cls(brackets=brackets, quotes=OPENING_QUOTE in words and '"' not in words, hyphens="-" in words)

    def words(self, sentence: str) -> list[str]:
        """Separate the words of one sentence."""
        parts = [part for chunk in sentence.split() for part in _at_marks(chunk)]
        found = [word for part in _without_last_stop(parts) for word in self._inside(part)]
        return self._renamed(found)

    def _inside(self, part: str) -> list[str]:
        """Separate what is joined to a word: clitics, and the parts of a compound."""
        if _ONE_WORD.fullmatch(part):
            return [part]
        if two := _TWO_WORDS.fullmatch(part):
            return [word for word in two.groups() if word]
        clitic = _CLITIC.search(part)
        word, after = (part[: clitic.start()], [clitic[0]]) if clitic else (part, [])
        found, begin = [], 0
        for mark in _INSIDE.finditer(word) if self.hyphens else ():
            if not _KEEPS_HYPHEN.fullmatch(word[begin : mark.end()]):
                found += [word[begin : mark.start()], mark[0]]
                begin = mark.end()
        return [*found, word[begin:], *after]

    def _renamed(self, words: list[str]) -> list[str]:
        found, quoted = [], False
        for word in words:
            if word == '"' and self.quotes:
                found.append(CLOSING_QUOTE if quoted else OPENING_QUOTE)
                quoted = not quoted
            else:
                found.append(self.brackets.get(word, word))
        return found


def _at_marks(chunk: str) -> list[str]:
    """Cut a stretch without white space before and after each mark, but not within an address."""
    found: list[str] = []
    begin = place = 0
    while place < len(chunk):
        cut = _ONE_WORD.match(chunk, place) or _MARK.match(chunk, place)
        if cut is None:
            place += 1
            continue
        found += [chunk[begin:place], cut[0]]
        begin = place = cut.end()
    return [part for part in (*found, chunk[begin:]) if part]


def _without_last_stop(parts: list[str]) -> list[str]:
    """Make the full stop at the end of a sentence a word, also before closing brackets and quotation marks."""
    for place in range(len(parts) - 1, -1, -1):
        part = parts[place]
        if part.endswith(".") and part.strip(".") and not _ABBREVIATION.fullmatch(part[:-1]):
            return [*parts[:place], part[:-1], ".", *parts[place + 1 :]]
        if any(map(str.isalnum, part)):
            break
    return parts
