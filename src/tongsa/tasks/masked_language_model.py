"""A trained masked language model: fills in words, and is what a classifier of texts begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from tongsa.base.devices import choose_device
from tongsa.base.errors import DirectoryError, UsageError
from tongsa.data.masking import BertTokens
from tongsa.models import build_a
from tongsa.models.bert import Bert
from tongsa.models.weights import load_weights, read_weights
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.text.lines import tidy
from tongsa.text.subwords import END, Vocabulary

MASKED_LANGUAGE_MODEL = "mlm"
MASK = "[MASK]"
"""How a text names the place of a word to fill in."""


@dataclass(frozen=True)
class Filling:
    """A token for a place of a text."""

    piece: str
    probability: float


class MaskedLanguageModel:
    """The model of a run directory, with its subwords."""

    def __init__(self, card: Card, vocabulary: Vocabulary, model: Bert) -> None:
        self.card, self.vocabulary, self.model = card, vocabulary, model.eval()
        self.tokens = BertTokens.beyond(vocabulary)

    @classmethod
    def load(cls, directory: str | Path, *, device: str = "auto") -> MaskedLanguageModel:
        run = Run(Path(directory))
        card = run.read_card()
        if card.task != MASKED_LANGUAGE_MODEL:
            raise DirectoryError(f"{directory} is not a masked language model: it was trained for {card.task}")
        vocabulary = run.read_subwords(card).target
        weights = read_weights(run, card, lambda: build_bert(card, vocabulary))
        return cls.from_weights(card, vocabulary, weights, device=device)

    @classmethod
    def from_weights(
        cls, card: Card, vocabulary: Vocabulary, weights: Mapping[str, Tensor], *, device: str = "auto"
    ) -> MaskedLanguageModel:
        model = build_bert(card, vocabulary)
        load_weights(model, weights)
        return cls(card, vocabulary, model.to(choose_device(device)))

    @torch.inference_mode()
    def fill(self, text: str, count: int = 5) -> list[list[Filling]]:
        """The likeliest tokens for each [MASK] of a text, best first."""
        parts = [self.vocabulary.encode(tidy(part)) for part in text.split(MASK)]
        ids = [self.tokens.first, *parts[0]]
        for part in parts[1:]:
            ids += [self.tokens.mask, *part]
        ids.append(END)
        longest = self.model.max_length
        if longest is not None and len(ids) > longest:
            raise UsageError(f"the text has {len(ids):,} tokens, but the model reads at most {longest:,}")
        source = torch.tensor([ids], device=next(self.model.parameters()).device)
        states = self.model.encode(source, torch.ones_like(source, dtype=torch.bool))
        logits = self.model.features(states[source == self.tokens.mask]) @ self.model.projection()[:-1].T
        best = torch.softmax(logits[:, : self.tokens.first], dim=-1).topk(count, dim=-1)
        return [
            [Filling(piece, p) for piece, p in zip(self.vocabulary.pieces(places), chances, strict=True)]
            for places, chances in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]


def build_bert(card: Card, vocabulary: Vocabulary) -> Bert:
    return build_a(Bert, card.recipe.model, BertTokens.beyond(vocabulary).size)
