"""The peers: one process with all threads, batches as usual. Each is a model from (source, decoder input) to logits.

The readable path of Tongsa itself runs among them: what its fast path is measured against, and tested to be equal to.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear

from tongsa.config import Recipe, TransformerSection
from tongsa.data.ids import PairIds
from tongsa.data.prepare import Prepared
from tongsa.models import attention, layers, transformer
from tongsa.text.subwords import END

LONGEST = 1024


class PlainTransformer(nn.Module):
    """torch.nn.Transformer between tied embeddings, as its tutorials have it."""

    def __init__(self, config: TransformerSection, pad: int) -> None:
        super().__init__()
        self.pad, self.scale = pad, math.sqrt(config.d_model)
        self.embedding = nn.Embedding(pad + 1, config.d_model, padding_idx=pad)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.transformer = nn.Transformer(
            config.d_model,
            config.heads,
            config.encoder_layers,
            config.decoder_layers,
            config.d_ff,
            config.dropout,
            batch_first=True,
        )
        self._only_the_dropout_of_the_paper()
        self.dropout = nn.Dropout(config.dropout)
        angles = torch.arange(LONGEST)[:, None] / 10000 ** (torch.arange(0, config.d_model, 2) / config.d_model)
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], -1).flatten(1))

    def _only_the_dropout_of_the_paper(self) -> None:
        """nn.Transformer also drops attention weights and what is inside the feed-forward networks."""
        for layer in [*self.transformer.encoder.layers, *self.transformer.decoder.layers]:
            layer.dropout.p = 0.0
            layer.self_attn.dropout = 0.0
            if hasattr(layer, "multihead_attn"):
                layer.multihead_attn.dropout = 0.0

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        padding = source == self.pad
        ahead = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
        features = self.transformer(
            self._embed(source),
            self._embed(target),
            tgt_mask=ahead,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return linear(features, self.embedding.weight[: self.pad])

    def _embed(self, tokens: Tensor) -> Tensor:
        positions: Tensor = self.get_buffer("positions")
        embedded: Tensor = self.dropout(self.embedding(tokens) * self.scale + positions[: tokens.shape[1]])
        return embedded


class MarianMT(nn.Module):
    """Hugging Face transformers' MarianMTModel."""

    def __init__(self, config: TransformerSection, pad: int) -> None:
        super().__init__()
        from transformers import MarianConfig, MarianMTModel

        self.pad = pad
        self.marian = MarianMTModel(
            MarianConfig(
                vocab_size=pad + 1,
                d_model=config.d_model,
                encoder_layers=config.encoder_layers,
                decoder_layers=config.decoder_layers,
                encoder_ffn_dim=config.d_ff,
                decoder_ffn_dim=config.d_ff,
                encoder_attention_heads=config.heads,
                decoder_attention_heads=config.heads,
                dropout=config.dropout,
                attention_dropout=0.0,
                activation_dropout=0.0,
                activation_function="relu",
                scale_embedding=True,
                pad_token_id=pad,
                decoder_start_token_id=pad,
                eos_token_id=END,
                max_position_embeddings=LONGEST,
                use_cache=False,
            )
        )

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        mask = (source != self.pad).long()
        logits: Tensor = self.marian(input_ids=source, attention_mask=mask, decoder_input_ids=target).logits
        return logits


class Readable(nn.Module):
    """Our own model by its equations: softmax of all scores, PyTorch's dropout, sum and norm one after the other."""

    def __init__(self, config: TransformerSection, pad: int) -> None:
        super().__init__()
        attention.scaled_dot_product_attention = attention.attention  # type: ignore[assignment]
        layers.dropout_add_norm = self._dropout_add_norm
        layers.dropout = nn.functional.dropout
        self.pad = pad
        self.transformer = transformer.Transformer(config, pad + 1)

    def _dropout_add_norm(self, x: Tensor, y: Tensor, norm: nn.LayerNorm, p: float) -> Tensor:
        summed: Tensor = norm(x + nn.functional.dropout(y, p))
        return summed

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        logits: Tensor = self.transformer(source, source != self.pad, target)
        return logits


class Peer(NamedTuple):
    title: str
    needs: str
    """The package that it comes from."""
    build: Callable[[TransformerSection, int], nn.Module]
    fused: bool
    """Which Adam it comes with: Hugging Face's Trainer takes the fused one by itself, a plain loop does not."""


PEERS = {
    "plain": Peer("torch.nn.Transformer", "torch", PlainTransformer, fused=False),
    "readable": Peer("Tongsa, readable path", "torch", Readable, fused=False),
    "marian": Peer("Hugging Face MarianMT", "transformers", MarianMT, fused=True),
}


def present(name: str) -> bool:
    return importlib.util.find_spec(PEERS[name].needs) is not None


class Examples(NamedTuple):
    """A batch of a peer."""

    source: Tensor
    target: Tensor
    labels: Tensor
    tokens: int
    """Of the target, without padding."""


def batches(pairs: PairIds, batch_tokens: int, pad: int) -> list[Examples]:
    """Sorted by target length, then source length; as many as fit into the budget of target tokens; shuffled."""
    order = np.lexsort((pairs.source.lengths, pairs.target.lengths))
    groups: list[list[int]] = [[]]
    for row in order.tolist():
        if groups[-1] and (len(groups[-1]) + 1) * (int(pairs.target.lengths[row]) + 1) > batch_tokens:
            groups.append([])
        groups[-1].append(row)
    np.random.default_rng(0).shuffle(groups)
    return [_collated(pairs, rows, pad) for rows in groups]


def _collated(pairs: PairIds, rows: list[int], pad: int) -> Examples:
    def padded(sentences: list[list[int]]) -> Tensor:
        return nn.utils.rnn.pad_sequence([torch.tensor(ids) for ids in sentences], batch_first=True, padding_value=pad)

    sources = [pairs.source[row].tolist() for row in rows]
    targets = [pairs.target[row].tolist() for row in rows]
    return Examples(
        source=padded([[*ids, END] for ids in sources]),
        target=padded([[pad, *ids] for ids in targets]),
        labels=padded([[*ids, END] for ids in targets]),
        tokens=sum(len(ids) + 1 for ids in targets),
    )


def updates(name: str, directory: Path, recipe: Recipe, threads: int) -> Iterator[int]:
    """Train for ever; each update yields its target tokens. Batches are assembled beforehand, off the clock."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    data = Prepared.open(directory)
    pad = data.subwords.target.pad
    examples = batches(data.train, recipe.training.batch_tokens, pad)
    assert isinstance(recipe.model, TransformerSection)
    peer = PEERS[name]
    model = peer.build(recipe.model, pad).train()
    adam = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=peer.fused)
    while True:
        for source, target, labels, tokens in examples:
            logits = model(source, target)
            loss = cross_entropy(
                logits.flatten(0, 1),
                labels.flatten(),
                ignore_index=pad,
                label_smoothing=recipe.training.label_smoothing,
            )
            adam.zero_grad()
            loss.backward()
            adam.step()
            loss.item()
            yield tokens
