"""The kinds of work that engines do for the queue: translate sentences, and score given translations.

Pieces are encoded before they are queued, so nothing is encoded twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tongsa.translation.options import TranslateOptions
    from tongsa.translation.sentences import Sentence, Translation
    from tongsa.translation.translator import Translator


@dataclass(frozen=True, eq=True)
class TranslateSentences:
    """A piece is a sentence, its result a translation."""

    translator: Translator
    options: TranslateOptions

    def tokens(self, piece: Sentence) -> int:
        return len(piece.ids) + 1

    def run(self, pieces: Sequence[Sentence]) -> Sequence[Translation]:
        return self.translator.translate_sentences(pieces, self.options)


class EncodedPair(NamedTuple):
    """The ids of a sentence and of its translation."""

    source: Sequence[int]
    target: Sequence[int]


@dataclass(frozen=True, eq=True)
class ScoreTranslations:
    """A piece is a sentence and its translation, its result the log-probability of each target token and of the end."""

    translator: Translator

    def tokens(self, piece: EncodedPair) -> int:
        return len(piece.target) + 1

    def run(self, pieces: Sequence[EncodedPair]) -> Sequence[list[float]]:
        return self.translator.score_ids([pair.source for pair in pieces], [pair.target for pair in pieces])
