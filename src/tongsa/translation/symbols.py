"""Symbols that a vocabulary does not hold, such as emoji: a sentence is translated without them, and they are put back.

A vocabulary writes them as bytes, which a model has hardly seen: it then loses words, or copies the source. A word in
another script is carried over as well. Letters of the source language are not: a rare one (a Hangul syllable) was
written as bytes in the training text too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from tongsa.text.lines import tidy
from tongsa.text.scripts import lacks_script, script_of
from tongsa.text.subwords import Vocabulary
from tongsa.translation.alignment import TokenAlignment
from tongsa.translation.sentences import Sentence, Translation, has_letters

NOTE = "unknown characters carried over"

_CLOSING = ("", " ", *".,;:!?…)]}»”’。、！？")
"""What stands beside the character before it."""


class Carried(NamedTuple):
    """Characters that were taken out of a sentence."""

    text: str
    at: int
    """Number of characters before it, without white space and what else was taken out."""
    space_before: bool
    space_after: bool


class Bare(NamedTuple):
    """A sentence without its unknown symbols."""

    sentence: Sentence
    carried: list[Carried]


def bare_sentences(
    sentences: Sequence[Sentence],
    language: str,
    vocabulary: Vocabulary,
    encode: Callable[[list[str]], list[Sentence]],
) -> dict[int, Bare]:
    """The sentences of a language that should be translated without some of their characters, by their index."""
    found = {
        place: taken_out(tidy(sentence.text), language, vocabulary)
        for place, sentence in enumerate(sentences)
        if vocabulary.has_unknown(sentence.ids)
    }
    found = {place: (rest, carried) for place, (rest, carried) in found.items() if carried and has_letters(rest)}
    encoded = encode([rest for rest, _ in found.values()]) if found else []
    return {
        place: Bare(sentence, carried)
        for (place, (_, carried)), sentence in zip(found.items(), encoded, strict=True)
        if not vocabulary.is_foreign(sentence.ids)
    }


def taken_out(text: str, language: str, vocabulary: Vocabulary) -> tuple[str, list[Carried]]:
    """A tidy text without the symbols that the vocabulary does not hold, and these."""
    rest, carried, at = "", [], 0
    for begin, end, unknown in _runs(text, vocabulary):
        run, before, after = text[begin:end], text[begin - 1 : begin], text[end : end + 1]
        is_symbol = not any(map(str.isalnum, run))
        alone = not (before.isalnum() or after.isalnum())
        if unknown and (is_symbol or (alone and lacks_script(run, script_of(language)))):
            carried.append(Carried(run, at, before == " ", after == " "))
            run = " " if rest[-1:].isalnum() and after.isalnum() else ""
        rest += run
        at += sum(not c.isspace() for c in run)
    return tidy(rest), carried


def _runs(text: str, vocabulary: Vocabulary) -> Iterator[tuple[int, int, bool]]:
    """Parts of a text that the vocabulary holds, or are ASCII, and parts that it does not, in turns."""
    known = {c: c.isascii() or c.isspace() or vocabulary.knows(c) for c in set(text)}
    begin = 0
    for is_known, run in groupby(text, known.__getitem__):
        end = begin + sum(1 for _ in run)
        yield begin, end, not is_known
        begin = end


def put_back(translation: Translation, source: str, carried: Sequence[Carried]) -> Translation:
    """The translation of a tidy source with its symbols, each behind the translation of the word it stood behind."""
    others = tuple(put_back(each, source, carried) for each in translation.alternatives)
    text = _with_symbols(translation, source, carried)
    return replace(translation, text=text, notes=(*translation.notes, NOTE), alternatives=others)


def _with_symbols(translation: Translation, source: str, carried: Sequence[Carried]) -> str:
    text = translation.text
    tokens = translation.source_tokens, translation.tokens
    aligned = TokenAlignment.of((source, text), tokens, translation.alignment)
    places = aligned or TokenAlignment.proportional(source, text)
    ends = [0, *(place + 1 for place, c in enumerate(text) if not c.isspace())]
    placed = [(ends[min(places.place(each.at), len(ends) - 1)], number) for number, each in enumerate(carried)]
    for at, number in sorted(placed, reverse=True):  # from the last to the first, so that earlier places stay the same
        each = carried[number]
        while 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum():  # not within a word
            at += 1
        before = " " if each.space_before and at else ""
        after = " " if each.space_after and text[at : at + 1] not in _CLOSING else ""
        text = text[:at] + before + each.text + after + text[at:]
    return text
