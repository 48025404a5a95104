"""Give terms to a model that has learnt to use them (`corpus.terms`): they stand in the source, behind their words.

    A man rides a bike.  ─▶  A man rides a bike {=Drahtesel}.  ─ search ─▶  Ein Mann fährt auf einem Drahtesel.

Only sentences whose translation lacks a term are translated again so, and the new translation must hold more terms.
The alignment refers to the sentence as it was: a word that is aligned to a given term belongs to the source term.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tongsa.data.terms import OPEN, Insertion, insertions, with_terms
from tongsa.decoding.search import Hypothesis
from tongsa.text.lines import tidy
from tongsa.text.subwords import Vocabulary
from tongsa.translation.aligned_text import token_places
from tongsa.translation.alignment import Span
from tongsa.translation.glossary import Term, missing
from tongsa.translation.sentences import Sentence, Translation


@dataclass(frozen=True)
class GivenTerms:
    """A sentence with its terms written into it."""

    sentence: Sentence
    ids: list[int]
    """What the model reads."""
    origins: list[int]
    """The token of the sentence that each of `ids`, and the end, belongs to."""

    @classmethod
    def write(cls, sentence: Sentence, terms: Sequence[Term], vocabulary: Vocabulary, longest: int) -> GivenTerms:
        """Write terms into a sentence; it stays as it is if it would become too long for the model."""
        source = tidy(sentence.text)
        given = insertions(source, [(term.end, term.target.forms[0]) for term in terms])
        text = with_terms(source, given)
        ids = vocabulary.encode(text)
        places = token_places(source, vocabulary.pieces(sentence.ids))
        origins = _origins(places, _source_places(given), token_places(text, vocabulary.pieces(ids)))
        if len(ids) > longest or not origins:
            return cls(sentence, list(sentence.ids), list(range(len(sentence.ids) + 1)))
        return cls(sentence, ids, [*origins, len(sentence.ids)])

    def on_sentence(self, found: Iterable[Hypothesis]) -> list[Hypothesis]:
        """Return what was found for `ids` with the alignment of the sentence."""
        return [one._replace(alignment=tuple(self.origins[place] for place in one.alignment)) for one in found]


def better(terms: Sequence[Term], without: Translation, given: Translation) -> Translation:
    """Return the translation with given terms if it holds more of them, and no mark that the model failed to read."""
    uses_them = len(missing(terms, given.text)) < len(missing(terms, without.text))
    return given if uses_them and OPEN not in given.text else without


def _origins(places: Sequence[Span], source_place: Callable[[int], int], new: Sequence[Span]) -> list[int]:
    """Return the source token that each new token belongs to; nothing if tokens and texts did not agree."""
    begins = [begin for begin, _ in places]
    return [max(0, bisect_right(begins, source_place(begin)) - 1) for begin, _ in new] if begins else []


def _source_places(given: Sequence[Insertion]) -> Callable[[int], int]:
    """Return the place in the source of a place in the text with terms; inside a term, that of the word before it."""

    def source_place(at: int) -> int:
        for place, text in given:
            if at < place:
                break
            if at < place + len(text):
                return max(0, place - 1)
            at -= len(text)
        return at

    return source_place
