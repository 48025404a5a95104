"""Sentences as a model can read them: without symbols that it does not know, capitals in lower case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tongsa.text.subwords import Vocabulary
from tongsa.translation.capitals import lowered, raised
from tongsa.translation.sentences import Sentence, Translation
from tongsa.translation.symbols import Carried, bare_sentences, put_back


class Readable(NamedTuple):
    """A sentence to translate instead of another, and what its translation lacks."""

    sentence: Sentence
    carried: Sequence[Carried] = ()
    """Symbols to put back; this needs an alignment."""
    in_capitals: bool = False

    def restored(self, translation: Translation) -> Translation:
        """The translation of the sentence that was given."""
        if self.in_capitals:
            translation = raised(translation)
        return put_back(translation, self.sentence.text, self.carried) if self.carried else translation


def readable(
    sentences: Sequence[Sentence],
    language: str,
    vocabulary: Vocabulary,
    encode: Callable[[list[str]], list[Sentence]],
) -> list[Readable]:
    """What to translate instead of each sentence of a language: nearly always itself."""
    bare = bare_sentences(sentences, language, vocabulary, encode)
    rest = [bare[place].sentence if place in bare else sentence for place, sentence in enumerate(sentences)]
    lower = lowered(rest, encode)
    return [
        Readable(lower.get(place, sentence), bare[place].carried if place in bare else (), place in lower)
        for place, sentence in enumerate(rest)
    ]
