"""The kinds of work that engines do for the queue: translate sentences, and score given translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tongsa.text.lines import tidy

if TYPE_CHECKING:
    from tongsa.translation.translator import Translation, Translator


@dataclass(frozen=True, eq=True)
class TranslateSentences:
    """A piece is a sentence, its result a translation."""

    translator: Translator
    nbest: int = 1
    alignment: bool = False

    def tokens(self, piece: str) -> int:
        return len(self.translator.subwords.source.encode(tidy(piece))) + 1

    def run(self, pieces: Sequence[str]) -> Sequence[Translation]:
        search = replace(self.translator.search, nbest=self.nbest)
        return self.translator.translate(pieces, search, alignment=self.alignment)


@dataclass(frozen=True, eq=True)
class ScoreTranslations:
    """A piece is (sentence, translation), its result the log-probability of each target token, the end included."""

    translator: Translator

    def tokens(self, piece: tuple[str, str]) -> int:
        return len(self.translator.subwords.target.encode(tidy(piece[1]))) + 1

    def run(self, pieces: Sequence[tuple[str, str]]) -> Sequence[list[float]]:
        return self.translator.score([source for source, _ in pieces], [target for _, target in pieces])
