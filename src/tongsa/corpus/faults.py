"""The faults that a pair can have, and how they are found.

FAULTS lists them by the names that `tongsa corpus clean --only` and `--keep` take. A pair may have several.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from typing import NamedTuple

import numpy as np

from tongsa.corpus.mojibake import is_damaged
from tongsa.corpus.pair_model import CUT_FEATURES, PairModel, Side, shared_words, side
from tongsa.corpus.shifts import FURTHEST, offsets
from tongsa.formats.pairs import Pair
from tongsa.text import placeholders
from tongsa.text.detection import is_foreign
from tongsa.text.lines import tidy
from tongsa.text.scripts import lacks_script

FAULTS = {
    "empty": "a side has no text",
    "mojibake": "characters were decoded with the wrong encoding",
    "copy": "the target is the source, untranslated",
    "swapped": "source and target are the wrong way round",
    "language": "a side is in another language",
    "script": "a side has no letter of the script that its side of the corpus is in",
    "shifted": "the target belongs to a line above or below",
    "unrelated": "the two sides have nothing to do with each other",
    "cut": "one side breaks off",
    "length": "one side is far too long for the other",
    "placeholders": "placeholders or tags differ",
    "numbers": "numbers differ",
    "long": "a side has more than 3,000 characters",
    "duplicate": "the same pair occurs earlier",
}
REMOVED = [name for name in FAULTS if name != "numbers"]
"""Faults that `clean` removes by default. `numbers` is not among them: one language often writes numbers out."""

LONGEST = 3000
STRETCH = 7.0
DOUBTED, SURER = 0.0, 2.0
"""A target may belong to another line if its own log odds are below DOUBTED and the other line's higher by SURER."""
LEAN = 0.8
"""Mean log odds, over the words of a text, that it is in the other language."""
UNSURE = 3.0
"""Log odds of being translations of each other up to which the languages of a pair are detected, which takes time."""


class Texts(NamedTuple):
    """A normalised pair. Damage is detected before normalising, since that removes control characters."""

    source: str
    target: str
    damaged: bool


def texts(pair: Pair) -> Texts:
    return Texts(tidy(pair.source), tidy(pair.target), is_damaged(pair.source) or is_damaged(pair.target))


@dataclass(frozen=True)
class Expected:
    """The languages and scripts expected in a corpus."""

    source: str
    target: str
    scripts: tuple[str, str]
    """The usual script of each side; empty if a side has none."""


def find_faults(block: Sequence[Texts], model: PairModel, expected: Expected) -> list[list[str]]:
    """The faults of each pair in a block of consecutive pairs, except duplicates."""
    sides = [(side(each.source), side(each.target)) for each in block]
    found = [_plain_faults(*both, model, expected) for both in sides]
    for each, faults in zip(block, found, strict=True):
        if each.damaged:
            faults.insert(0, "mojibake")
    judged = [not {"empty", "mojibake", "copy", "swapped", "language", "script"} & set(faults) for faults in found]
    features = [model.measure(source, target) for source, target in sides]
    straight = model.aligned.log_odds(np.array([aligned for aligned, _ in features]))
    shared = [shared_words(aligned) for aligned, _ in features]
    marks = np.array([cut for _, cut in features])
    parts = (marks[:, CUT_FEATURES:], marks[:, :CUT_FEATURES])
    cut = np.maximum(*(model.cut[n].log_odds(parts[n]) - model.surely[n] for n in (0, 1)))
    straight = np.where(judged, straight, 0.0)  # no evidence for or against a shift

    def odds(line: int, offset: int) -> float:
        if not (judged[line] and judged[line + offset]):
            return 0.0
        aligned, _ = model.measure(sides[line][0], sides[line + offset][1])
        there = float(model.aligned.log_odds(np.array([aligned]))[0])
        # Words must speak for another line, not lengths alone: in a list of short texts, many lengths fit.
        return there if shared_words(aligned) > shared[line] else min(there, float(straight[line]))

    for line, offset in enumerate(offsets(straight, odds)):
        if not judged[line]:
            continue
        if offset or _has_the_target_of_another(line, sides, straight, shared):
            found[line].append("shifted")
        elif cut[line] > 0:
            found[line].append("cut")
        elif straight[line] <= UNSURE and _is_in_another_language(*sides[line], expected):
            found[line].append("language")
        elif straight[line] < -model.unrelated:
            found[line].append("unrelated")
        elif abs(model.stretch(*sides[line])) > STRETCH:
            found[line].append("length")
    return found


def _has_the_target_of_another(
    line: int, sides: Sequence[tuple[Side, Side]], straight: np.ndarray, shared: Sequence[float]
) -> bool:
    """Whether the target of a single line belongs to a nearby line rather than to its own, as its words show."""
    if straight[line] > DOUBTED:
        return False
    for near in range(max(0, line - FURTHEST), min(len(sides), line + FURTHEST + 1)):
        if sides[near][1].text == sides[line][1].text and straight[near] > straight[line] + SURER:
            return sides[near][0].text != sides[line][0].text and shared[near] > shared[line]
    return False


def _plain_faults(source: Side, target: Side, model: PairModel, expected: Expected) -> list[str]:
    if not source.text.strip() or not target.text.strip():
        return ["empty"]
    found = []
    if max(source.length, target.length) > LONGEST:
        found.append("long")
    found += _language_faults(source, target, model, expected)
    if placeholders.counts(unescape(source.text)) != placeholders.counts(unescape(target.text)):  # `&amp;` is a letter
        found.append("placeholders")
    if numbers_differ(source.numbers, target.numbers):
        found.append("numbers")
    return found


def numbers_differ(source: list[str], target: list[str]) -> bool:
    """Whether a number of two or more digits is missing on the other side; small numbers are often written out."""
    if source == target:
        return False
    left, right = Counter(source), Counter(target)
    return any(len(number) > 1 for number in ((left - right) + (right - left)))


def _language_faults(source: Side, target: Side, model: PairModel, expected: Expected) -> list[str]:
    leans = model.languages.lean(source.words), model.languages.lean(target.words)
    if is_copy(source, target, leans):
        return ["copy"]
    if leans[0] < -LEAN / 3 and leans[1] > LEAN / 3 and leans[1] - leans[0] > 2 * LEAN:
        return ["swapped"]
    if (leans[1] > LEAN and len(target.words) > 2) or (leans[0] < -LEAN and len(source.words) > 2):
        return ["language"]
    for each, other, usual in ((source, target, expected.scripts[0]), (target, source, expected.scripts[1])):
        if usual and lacks_script(each.text, usual) and not _are_kept_names(each, other):
            return ["script"]
    return []


def _is_in_another_language(source: Side, target: Side, expected: Expected) -> bool:
    return any(
        len(each.words) > 4 and is_foreign(each.text, language)
        for each, language in ((source, expected.source), (target, expected.target))
    )


def _are_kept_names(each: Side, other: Side) -> bool:
    """Whether all words of a text are in the other one too, in Latin letters, as names are in every language."""
    return not lacks_script(each.text, "Latin") and set(each.words) <= set(other.words)


def is_copy(source: Side, target: Side, leans: tuple[float, float]) -> bool:
    """Whether the target is an untranslated copy; names and numbers alone do not count, since languages share them."""
    if not source.words or source.words != target.words:
        shared = (Counter(source.words) & Counter(target.words)).total()
        longer = max(len(source.words), len(target.words))
        return longer > 4 and shared >= 0.8 * longer and min(map(abs, leans)) > LEAN and leans[0] * leans[1] > 0
    words = [word for word in source.words if word.isalpha()]
    return len(words) > 4 or (bool(words) and abs(leans[0]) > LEAN)
