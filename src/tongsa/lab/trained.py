"""A trained model for the lab to look at: a small one of the lab, or a translator of the user."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from tongsa.base.errors import UsageError
from tongsa.decoding import Search
from tongsa.engines.native import NativeEngine
from tongsa.evaluation.metrics import score
from tongsa.models.contracts import Attention, Seq2Seq
from tongsa.models.transformer import Transformer
from tongsa.models.weights import load_model
from tongsa.runs.card import TRANSLATION
from tongsa.runs.directory import Run
from tongsa.runs.names import find_translator
from tongsa.text.subwords import END, Subwords

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Trained:
    model: Seq2Seq
    subwords: Subwords
    pairs: Pairs
    """Held-out sources and their references."""
    source: str = "ko"
    """The languages' codes."""
    target: str = "en"

    @classmethod
    def of_run(cls, directory: Path) -> Trained:
        """The model of a translator, by its directory or name; with its validation pairs, if it has them."""
        path = find_translator(directory)
        run = Run(path)
        card = run.read_card()
        if card.task != TRANSLATION:
            raise UsageError(f"{path} is not a translator: its model was trained for the task {card.task}")
        subwords = run.read_subwords(card)
        model = load_model(run, card, subwords, torch.device("cpu"))
        return cls(model=model, subwords=subwords, pairs=_pairs(run), source=card.source, target=card.target)

    @property
    def transformer(self) -> Transformer:
        if not isinstance(self.model, Transformer):
            raise UsageError(f"the lab looks into Transformers, and this is {type(self.model).__name__}")
        return self.model

    @cached_property
    def engine(self) -> NativeEngine:
        subwords = self.subwords
        return NativeEngine(
            self.model,
            source_pad=subwords.source.pad,
            target_pad=subwords.target.pad,
            end=END,
            unwritable=subwords.target.unwritable,
        )

    def translations(self, pairs: Pairs) -> list[str]:
        """Greedy translations of the sources."""
        sources = [self.subwords.source.encode(source) for source, _ in pairs]
        found = self.engine.translate(sources, Search(beam=1, max_ratio=1.5, max_extra=10))
        return [self.subwords.target.decode(hypotheses[0].ids) for hypotheses in found]

    def bleu(self, pairs: Pairs) -> float:
        """BLEU of greedy translations."""
        references = [reference for _, reference in pairs]
        return score(self.translations(pairs), references, self.target, ["bleu"])["bleu"].score

    def right(self, pairs: Pairs) -> float:
        """Greedy translations that are equal to their references, in percent."""
        found = self.translations(pairs)
        equal = sum(text == reference for text, (_, reference) in zip(found, pairs, strict=True))
        return 100 * equal / len(pairs)

    def loss(self, pairs: Pairs) -> float:
        """Mean of -log p over the tokens of the references."""
        sources = [self.subwords.source.encode(source) for source, _ in pairs]
        targets = [self.subwords.target.encode(target) for _, target in pairs]
        log_p = [value for row in self.engine.score(sources, targets) for value in row]
        return -sum(log_p) / len(log_p)

    def attention(self, source: str, target: str) -> Attention:
        return self.engine.attention(self.subwords.source.encode(source), self.subwords.target.encode(target))

    @torch.no_grad()
    def states(self, source: str) -> tuple[list[str], list[Tensor]]:
        """The pieces of a sentence, and their vectors (pieces, d_model): before the encoder, and after each layer."""
        ids = self.subwords.source.encode(source)
        tokens = torch.tensor([[*ids, END]])
        start = torch.tensor([[self.subwords.target.pad]])
        outputs = self.transformer.outputs(tokens, torch.ones_like(tokens, dtype=torch.bool), start)
        return self.subwords.source.pieces(ids), [layer[0, : len(ids)] for layer in outputs.encoder]


def _pairs(run: Run) -> Pairs:
    if not run.examples_file.is_file():
        return ()
    try:
        examples = [json.loads(line) for line in run.examples_file.read_text(encoding="utf-8").splitlines()]
        return [(str(example["source"]), str(example["reference"])) for example in examples]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{run.examples_file} cannot be read: {error}") from error
