"""A trained classifier of texts or of pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tongsa.base.devices import choose_device
from tongsa.base.errors import DirectoryError, UsageError
from tongsa.config import Recipe
from tongsa.data.labelled import Examples, PictureExamples, TextExamples
from tongsa.data.masking import BertTokens
from tongsa.formats.pictures import Pixels, open_picture, pixels
from tongsa.models.classifier import EncoderWithHead
from tongsa.models.vit import Vit, VitSection, rollout
from tongsa.models.weights import load_weights, read_weights
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.text.lines import tidy
from tongsa.text.subwords import END, Vocabulary

CLASSIFICATION = "classify"
AT_ONCE = 64


@dataclass(frozen=True)
class Label:
    """The likeliest label of an example."""

    name: str
    probability: float
    cut: bool = False
    """The text was longer than the model reads, and only its beginning was read."""


class Classifier:
    """The model of a run directory, with its labels and, for texts, its subwords."""

    def __init__(
        self, card: Card, labels: Sequence[str], vocabulary: Vocabulary | None, model: EncoderWithHead
    ) -> None:
        self.card, self.labels, self.vocabulary, self.model = card, list(labels), vocabulary, model.eval()
        self.device = next(model.parameters()).device

    @classmethod
    def load(cls, directory: str | Path, *, device: str = "auto") -> Classifier:
        run = Run(Path(directory))
        card = run.read_card()
        if card.task != CLASSIFICATION:
            raise DirectoryError(f"{directory} is not a classifier: it was trained for {card.task}")
        labels = run.read_labels(card)
        vocabulary = None if reads_pictures(card.recipe) else run.read_subwords(card).target
        weights = read_weights(run, card, lambda: build_classifier(card.recipe, len(labels), vocabulary))
        return cls.from_weights(card, labels, vocabulary, weights, device=device)

    @classmethod
    def from_weights(
        cls,
        card: Card,
        labels: Sequence[str],
        vocabulary: Vocabulary | None,
        weights: Mapping[str, Tensor],
        *,
        device: str = "auto",
    ) -> Classifier:
        model = build_classifier(card.recipe, len(labels), vocabulary)
        load_weights(model, weights)
        return cls(card, labels, vocabulary, model.to(choose_device(device)))

    def classify(self, texts: Sequence[str]) -> list[Label]:
        """The label of each text; texts that are longer than the model reads are cut."""
        if self.vocabulary is None:
            raise UsageError("this classifier labels pictures, not texts")
        if not texts:
            return []
        tokens = BertTokens.beyond(self.vocabulary)
        encoded = [encode_text(text, self.vocabulary, self.card.recipe.corpus.max_tokens) for text in texts]
        found = self.label(TextExamples.of([0] * len(texts), [each.ids for each in encoded], tokens))
        return [replace(label, cut=each.cut) for label, each in zip(found, encoded, strict=True)]

    def classify_pictures(self, pictures: Sequence[Path]) -> list[Label]:
        """The label of each picture; those of another size are scaled."""
        return self.label(self._examples(self.pixels(pictures))) if pictures else []

    def pixels(self, pictures: Sequence[Path]) -> list[Pixels]:
        """The pictures as the model reads them."""
        section = self._vit()
        size = {"height": section.height, "width": section.width, "channels": section.channels}
        return [pixels(open_picture(path), **size) for path in pictures]

    @torch.inference_mode()
    def attention(self, pictures: Sequence[Pixels]) -> list[list[list[float]]]:
        """How much the label draws on each patch of each picture, row by row: the rollout of all layers."""
        section = self._vit()
        encoder = self.model.encoder
        assert isinstance(encoder, Vit), "the section says so"
        source, _ = self._examples(pictures).source(np.arange(len(pictures)))
        shares = rollout(encoder.attend(source.to(self.device)), section.pooling)
        grid: list[list[list[float]]] = shares.unflatten(1, (section.height // section.patch, -1)).tolist()
        return grid

    @torch.inference_mode()
    def label(self, examples: Examples) -> list[Label]:
        found = []
        for rows in np.array_split(np.arange(len(examples)), -(-len(examples) // AT_ONCE)):
            batch = examples.batch(rows).to(self.device)
            best = torch.softmax(self.model(batch.source, batch.mask), dim=-1).max(dim=-1)
            for index, probability in zip(best.indices.tolist(), best.values.tolist(), strict=True):
                found.append(Label(self.labels[index], probability))
        return found

    def _examples(self, pictures: Sequence[Pixels]) -> PictureExamples:
        return PictureExamples.of([0] * len(pictures), pictures, 1 + self._vit().patches)

    def _vit(self) -> VitSection:
        section = self.card.recipe.model
        if not isinstance(section, VitSection):
            raise UsageError("this classifier labels texts, not pictures")
        return section


def reads_pictures(recipe: Recipe) -> bool:
    return isinstance(recipe.model, VitSection)


def build_classifier(recipe: Recipe, labels: int, vocabulary: Vocabulary | None) -> EncoderWithHead:
    sizes = () if vocabulary is None else (BertTokens.beyond(vocabulary).size,)
    return EncoderWithHead(recipe.model, labels, *sizes)


class EncodedText(NamedTuple):
    ids: list[int]
    """[CLS], the text and the end."""
    cut: bool


def encode_text(text: str, vocabulary: Vocabulary, longest: int) -> EncodedText:
    """Encode a text for BERT; what is beyond `longest` tokens is left out."""
    ids, room = vocabulary.encode(tidy(text)), longest - 2
    return EncodedText([BertTokens.beyond(vocabulary).first, *ids[:room], END], len(ids) > room)
