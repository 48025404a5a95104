"""Translations beside their references: the best, the worst and random ones, with the differences marked by word."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from tongsa.evaluation.metrics import METRICS, SENTENCE_METRIC, TOKENIZERS
from tongsa.pages.markup import escape
from tongsa.pages.record import Event, finite

EACH = 6
"""Number of examples in each list."""
LONGEST = 700
"""Maximum number of characters shown of a text."""


@dataclass(frozen=True)
class Example:
    """A validation sentence and its translation."""

    source: str
    reference: str
    translation: str
    score: float | None
    """The model's own score of its translation: log-probability over the length penalty."""
    confidence: float | None = None


def read_examples(entries: Sequence[Event]) -> list[Example]:
    """The entries that are translations; lone surrogates, which JSON allows, are replaced."""
    found = []
    for entry in entries:
        if {"source", "reference", "translation"} <= entry.keys():
            texts = [_whole(entry[key]) for key in ("source", "reference", "translation")]
            found.append(Example(texts[0], texts[1], texts[2], finite(entry, "score"), finite(entry, "confidence")))
    return found


def _whole(text: object) -> str:
    return str(text).encode("utf-8", "replace").decode()


def choose(examples: Sequence[Example], scores: Sequence[float], each: int = EACH) -> dict[str, list[int]]:
    """Indices of the best, the worst and random examples, without repetition; among equals, longer ones first."""
    once = list({example.source: i for i, example in enumerate(examples)}.values())  # show repeated sources once
    each = max(1, min(each, len(once) // 3))
    by_quality = sorted(once, key=lambda i: (-scores[i], -len(examples[i].source)))
    best = by_quality[:each]
    worst = sorted((i for i in by_quality if i not in best), key=lambda i: (scores[i], -len(examples[i].source)))[:each]
    others = [i for i in once if i not in best and i not in worst]
    drawn = sorted(random.Random(1).sample(others, min(each, len(others))))
    return {"Random": drawn, "Worst": worst, "Best": best}


def words(text: str, language: str) -> list[str]:
    """Words, punctuation and white space; single characters in languages that do not separate words."""
    return list(text) if language in TOKENIZERS else re.findall(r"\s+|\w+|[^\w\s]", text)


def marked(translation: str, reference: str, language: str) -> tuple[str, str]:
    """Both texts as HTML: <del> marks what is not in the reference, <ins> what is not in the translation."""
    ours, theirs = words(translation, language), words(reference, language)
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    left, right = [], []
    for what, a, b, c, d in matcher.get_opcodes():
        left.append(_tagged("del", "".join(ours[a:b]), what))
        right.append(_tagged("ins", "".join(theirs[c:d]), what))
    return "".join(left), "".join(right)


def _tagged(tag: str, text: str, what: str) -> str:
    if what == "equal" or not text.strip():
        return escape(text)
    inner = text.strip()
    before, after = text[: text.index(inner)], text[text.index(inner) + len(inner) :]
    return f"{before}<{tag}>{escape(inner)}</{tag}>{after}"


def draw_examples(examples: Sequence[Example], scores: Sequence[float], source: str, target: str) -> str:
    """The lists of random, worst and best examples, as HTML."""
    metric = METRICS[SENTENCE_METRIC].title
    parts = []
    notes = {
        "Random": "drawn with a seed: what to expect",
        "Worst": f"by sentence {metric}: investigate these first",
        "Best": f"by sentence {metric}",
    }
    for name, places in choose(examples, scores).items():
        if places:
            items = "".join(_item(examples[i], scores[i], i, source, target) for i in places)
            parts.append(f'<h3>{name} <span>{notes[name]}</span></h3><div class="examples">{items}</div>')
    return "".join(parts)


def _item(example: Example, quality: float, place: int, source: str, target: str) -> str:
    translation, reference = marked(_cut(example.translation), _cut(example.reference), target)
    metric = METRICS[SENTENCE_METRIC].title
    same = example.translation == example.reference
    own = "" if example.score is None else f' · own score <b title="log-probability">{example.score:.2f}</b>'
    return (
        f'<article class="example"><p class="meta">line {place + 1:,} · {metric} <b>{quality:.1f}</b>{own}</p>'
        f'<p class="source" dir="auto" lang="{escape(source)}">{escape(_cut(example.source))}</p>'
        f'<p class="translation" dir="auto" lang="{escape(target)}">{translation or "<i>nothing</i>"}</p>'
        + ('<p class="same">the same as the reference</p>' if same else _reference(reference, target))
        + "</article>"
    )


def _reference(marked_reference: str, target: str) -> str:
    return f'<p class="reference" dir="auto" lang="{escape(target)}">{marked_reference}</p>'


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text) - LONGEST:,} more characters)"
