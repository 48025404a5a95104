"""A trained language model: scores texts and continues them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tongsa.base.devices import choose_device
from tongsa.base.errors import DirectoryError
from tongsa.data.streams import cut
from tongsa.decoding import Search, Special, continue_prompts
from tongsa.decoding.search import Sampling
from tongsa.models import build_a
from tongsa.models.contracts import NO_MEMORY, Decoder
from tongsa.models.loss import smoothed_cross_entropy
from tongsa.models.weights import load_weights, read_weights
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.text.lines import tidy
from tongsa.text.subwords import END, Vocabulary

PIECES_AT_ONCE = 16
LANGUAGE_MODEL = "lm"


@dataclass(frozen=True)
class Continuation:
    """A continuation of a prompt, written by the model."""

    text: str
    line: str
    """The prompt and its continuation."""
    log_probability: float
    """The sum over its tokens, including the end of the line if it was reached."""
    ended: bool
    """False if it was truncated at the maximum length."""


@dataclass(frozen=True)
class TextScore:
    """The log-probability of a line of text."""

    log_probability: float
    """The sum over the tokens of the line and its end."""
    tokens: int
    words: int
    """Number of words; `tokens` and `words` both include the end of the line."""


class LanguageModel:
    """The model of a run directory, with its subwords."""

    def __init__(self, card: Card, vocabulary: Vocabulary, decoder: Decoder) -> None:
        self.card, self.vocabulary, self.decoder = card, vocabulary, decoder.eval()
        self.device = next(decoder.parameters()).device

    @classmethod
    def load(cls, directory: str | Path, *, device: str = "auto") -> LanguageModel:
        run = Run(Path(directory))
        card = run.read_card()
        if card.task != LANGUAGE_MODEL:
            raise DirectoryError(f"{directory} is not a language model: it was trained for {card.task}")
        vocabulary = run.read_subwords(card).target
        weights = read_weights(run, card, lambda: _build(card, vocabulary))
        return cls.from_weights(card, vocabulary, weights, device=device)

    @classmethod
    def from_weights(
        cls, card: Card, vocabulary: Vocabulary, weights: Mapping[str, Tensor], *, device: str = "auto"
    ) -> LanguageModel:
        decoder = _build(card, vocabulary)
        load_weights(decoder, weights)
        return cls(card, vocabulary, decoder.to(choose_device(device)))

    def score(self, lines: Sequence[str]) -> list[TextScore]:
        """Score every line by itself, as the first line of a text."""
        found = []
        for line in lines:
            text = tidy(line)
            ids = np.array([*self.vocabulary.encode(text), END], dtype=np.uint32)
            total, tokens = self.log_loss(ids)
            found.append(TextScore(-total, tokens, len(text.split()) + 1))
        return found

    def log_loss(self, ids: NDArray[np.uint32]) -> tuple[float, int]:
        """The sum of -log p over a stream of ids, and how many there are."""
        recipe = self.card.recipe
        return log_loss(self.decoder, ids, self.vocabulary.pad, recipe.corpus.max_tokens, recipe.model.context)

    def generate(
        self,
        prompt: str = "",
        *,
        tokens: int = 100,
        beam: int = 1,
        samples: int = 1,
        sampling: Sampling | None = None,
    ) -> list[Continuation]:
        """Continuations of a line that begins with `prompt`, best first: greedy, by beam search, or by `sampling`."""
        return self.continue_line(prompt, tokens, Search(beam=beam, nbest=samples, sampling=sampling))

    def continue_line(self, prompt: str, tokens: int, search: Search) -> list[Continuation]:
        """The same with all options of a search."""
        # The training text is a stream of lines: a line begins after the end of another.
        written = self.vocabulary.encode(tidy(prompt))
        ids = [END, *written]
        longest = self.decoder.max_length
        if longest is not None:
            ids = ids[-(longest - 1) :]
        special = Special(start=self.vocabulary.pad, end=END, unwritable=self.vocabulary.unwritable)
        prompts = torch.tensor([ids], device=self.device)
        (found,) = continue_prompts(self.decoder, prompts, tokens + 1, search, special)
        texts = self.vocabulary.decode_many([each.ids for each in found])
        lines = self.vocabulary.decode_many([[*written, *each.ids] for each in found])
        return [
            Continuation(text, line, each.log_probability, each.ended)
            for text, line, each in zip(texts, lines, found, strict=True)
        ]


def _build(card: Card, vocabulary: Vocabulary) -> Decoder:
    return build_a(Decoder, card.recipe.model, len(vocabulary))  # type: ignore[type-abstract]


@torch.no_grad()
def log_loss(
    model: Decoder,
    ids: NDArray[np.uint32],
    pad: int,
    piece: int,
    context: int,
    *,
    share: tuple[int, int] = (0, 1),
) -> tuple[float, int]:
    """The sum of -log p over a stream, and the number of tokens, for the pieces of worker `share` = (rank, size).

    Each token counts once. A model without a context sees pieces that overlap by half, and only the second half of
    each counts (but all of the first piece), so that a token has at least half a piece of context.
    """
    device = next(model.parameters()).device
    stride = piece if context else max(1, piece // 2)
    fresh = piece - stride
    starts = np.arange(0, max(1, len(ids) - fresh), stride)
    rank, size = share
    total, count = 0.0, 0
    for first in range(0, len(starts), PIECES_AT_ONCE):
        if first // PIECES_AT_ONCE % size != rank:
            continue
        some = starts[first : first + PIECES_AT_ONCE]
        pieces = cut(ids, some, piece, context, pad).to(device)
        counts = pieces.labels != pad
        counts[torch.from_numpy(some > 0).to(device), :fresh] = False
        memory = NO_MEMORY if pieces.memory is None else pieces.memory
        logits = model.project(model.features(memory, pieces.target)[counts])
        loss = smoothed_cross_entropy(logits, pieces.labels[counts], 0.0)
        total, count = total + float(loss.log_loss), count + loss.count
    return total, count
