"""A Transformer that begins as a lexicon: before its first update, it knows which words translate which.

In the vectors of words, neighbours in the target text are near each other, and so are a source word and its
translations, by IBM model 1. Attention to the source passes vectors on as they are, and all other sublayers are silent
at first. So the untrained model already prefers translations of the source's words, in no order, and training begins
with what it would otherwise spend its first minutes on (docs/log.md).
"""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from tongsa.base.devices import one_thread
from tongsa.data.ids import PairIds, Sentences
from tongsa.data.lexicon import lexicon
from tongsa.models.attention import MultiHeadAttention
from tongsa.models.layers import DecoderLayer, FeedForward
from tongsa.models.transformer import Transformer

TOKENS = 3_000_000
"""Most tokens of the target text whose neighbours are counted: those of the first sentences."""
WINDOW = 2
"""Neighbours on each side."""
FLATTER = 0.75
"""Exponent of frequencies, which makes neighbours of rare words less surprising (Levy et al. 2015)."""
SHARPER = 1.5
"""Exponent of translation probabilities: IBM model 1 gives too much to rare coincidences."""
UNLIKELY = 0.01
"""Translations below this probability are left out."""
OWN = 0.7
"""Length of a source word's own random vector beside that of its translations, to tell synonyms apart."""


def start_as_lexicon(model: Transformer, pairs: PairIds, seed: int) -> None:
    """Set the weights of a new model on the CPU, given the text that it will be trained on.

    With one thread: rounding, which depends on their number, turns singular vectors of nearly equal values.
    """
    with torch.random.fork_rng(devices=[]), one_thread(), torch.no_grad():
        torch.manual_seed(seed)
        size, width = model.target_embedding.weight.shape
        target = normalize(_random(size, width) + neighbour_vectors(pairs.target, size, width))
        source = translation_vectors(pairs, target, len(model.source_embedding.weight))
        _fill(model.output, target)
        _fill(model.target_embedding, target)
        shared = model.source_embedding is model.target_embedding
        _fill(model.source_embedding, _by_use(pairs, source, target) if shared else source)
        for layer in (*model.encoder, *model.decoder):
            _silence(layer)
        for layer in cast(list[DecoderLayer], list(model.decoder)):
            _pass_on(layer.cross_attention)


def neighbour_vectors(sentences: Sentences, size: int, width: int) -> Tensor:
    """(size, width), rows of length 1 or 0: words that have the same neighbours have similar vectors.

    They are the singular vectors of the positive pointwise mutual information of neighbours (Levy et al. 2015).
    """
    count = max(1, int(np.searchsorted(sentences.offsets, TOKENS, side="right")) - 1)
    ids = np.asarray(sentences.ids[: sentences.offsets[count]], dtype=np.int64)
    sentence = np.repeat(np.arange(count), sentences.lengths[:count])
    cells = []
    for distance in range(1, WINDOW + 1):
        together = sentence[:-distance] == sentence[distance:]
        left, right = ids[:-distance][together], ids[distance:][together]
        cells += [left * size + right, right * size + left]
    vectors = torch.zeros(size, width)
    keys, counts = np.unique(np.concatenate(cells), return_counts=True)
    if not len(keys):  # all sentences have one word
        return vectors
    rows, columns = keys // size, keys % size
    of_row = np.bincount(rows, counts, size)
    expected = of_row**FLATTER / (of_row**FLATTER).sum()
    information = np.log(counts / (of_row[rows] * expected[columns]))
    kept = information > 0
    table = torch.sparse_coo_tensor(
        torch.from_numpy(np.stack([rows[kept], columns[kept]])),
        torch.from_numpy(information[kept]).float(),
        (size, size),
        check_invariants=False,
    )
    u, s, _ = torch.svd_lowrank(table.coalesce(), q=min(width + 16, size), niter=2)
    most = min(width, u.shape[1])
    vectors[:, :most] = u[:, :most] * s[:most].sqrt()
    return normalize(vectors)


def translation_vectors(pairs: PairIds, target: Tensor, size: int) -> Tensor:
    """(size, width), rows of length 1: a source word is the mean of its translations, and a little of its own."""
    found = lexicon(pairs, len(target))
    likely = found.chances >= UNLIKELY
    sources, targets = torch.from_numpy(found.sources[likely]), torch.from_numpy(found.targets[likely])
    weights = torch.from_numpy(found.chances[likely] ** SHARPER).float()
    vectors = torch.zeros(size, target.shape[1])
    vectors.index_add_(0, sources, target[targets] * weights[:, None])
    return normalize(normalize(vectors) + OWN * _random(size, target.shape[1]))


def _by_use(pairs: PairIds, source: Tensor, target: Tensor) -> Tensor:
    """One table for both languages: the more often a piece is on a side, the more of that side's vector."""
    used = [torch.from_numpy(np.bincount(side.ids, minlength=len(target))) for side in (pairs.source, pairs.target)]
    share = (used[0] / (used[0] + used[1]).clamp(min=1))[:, None]
    return normalize(share * source + (1 - share) * target)


def _random(size: int, width: int) -> Tensor:
    return normalize(torch.randn(size, width))


def _fill(table: nn.Embedding, vectors: Tensor) -> None:
    """Rows have the length that random ones have; that of `<pad>` stays zero."""
    table.weight[:-1] = vectors[:-1]


def _silence(layer: nn.Module) -> None:
    """Let self-attention and feed-forward network begin with 0."""
    if isinstance(layer.self_attention, MultiHeadAttention):
        layer.self_attention.w_o.weight.zero_()
    if isinstance(layer.feed_forward, FeedForward):
        layer.feed_forward.linear_2.weight.zero_()


def _pass_on(attention: nn.Module) -> None:
    """W^O W^V = 1: what is attended to arrives as it is."""
    if isinstance(attention, MultiHeadAttention):
        nn.init.orthogonal_(attention.w_v.weight)
        attention.w_o.weight.copy_(attention.w_v.weight.T)
