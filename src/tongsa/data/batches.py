"""Batches: an update of the weights is a few chunks of sentences of similar length.

    epoch ─ shuffled, sorted by length ─▶ chunks (chunk_tokens target tokens) ─ shuffled ─▶ updates (batch_tokens)

A chunk goes through the model at once, so its size bounds memory; the workers share the chunks of an update. The order
is a pure function of the seed and the epoch: a position is two numbers, and any worker can compute it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tongsa.data.ids import PairIds, Sentences
from tongsa.data.noise import Noise
from tongsa.text.subwords import END, Subwords

Rows = NDArray[np.int64]
"""Indices of the pairs of a chunk in the corpus."""


class Position(NamedTuple):
    """The next update: its epoch, and its index within the epoch."""

    epoch: int = 0
    update: int = 0


class Batch(NamedTuple):
    """A chunk as tensors (sentences, positions)."""

    source: Tensor
    source_mask: Tensor
    target: Tensor
    """What the decoder reads: `<pad>`, then the target."""
    labels: Tensor
    """What the decoder should write: the target, then the end, then `<pad>`."""

    def to(self, device: torch.device) -> Batch:
        return Batch(*(tensor.to(device, non_blocking=True) for tensor in self))


class EpochOrder(ABC):
    """The order in which a training goes through its examples, epoch by epoch."""

    @abstractmethod
    def epoch(self, number: int) -> list[list[Rows]]:
        """Every example once: the chunks of each update, a pure function of the seed and the number."""

    def updates(self, start: Position) -> Iterator[tuple[Position, list[Rows]]]:
        """The chunks of every update from `start` on, and the position behind it; without end."""
        epoch, first = start
        while True:
            groups = self.epoch(epoch)
            for update in range(first, len(groups)):
                last = update + 1 == len(groups)
                yield Position(epoch + 1, 0) if last else Position(epoch, update + 1), groups[update]
            epoch, first = epoch + 1, 0

    def share(self, chunks: list[Rows], rank: int, size: int) -> list[int]:
        """Which of an update's chunks the worker `rank` of `size` takes: chunks of one size are taken in turns."""
        return list(range(rank, len(chunks), size))


@dataclass(frozen=True, kw_only=True)
class ExampleOrder(EpochOrder):
    """The order in which a training visits examples of similar size: shuffled in every epoch."""

    examples: int
    batch: int
    """Number of examples per update."""
    chunk: int
    """Number of examples that go through the model at once."""
    seed: int

    def epoch(self, number: int) -> list[list[Rows]]:
        """The updates of one epoch, each a list of chunks; every example occurs once."""
        order = np.random.default_rng((self.seed, number)).permutation(self.examples)
        updates = np.array_split(order, -(-self.examples // self.batch))
        return [np.array_split(rows, -(-len(rows) // self.chunk)) for rows in updates]


@dataclass(frozen=True, kw_only=True)
class PairOrder(EpochOrder):
    """The order in which a training visits pairs: chunks of pairs of similar length."""

    source_lengths: NDArray[np.int32]
    target_lengths: NDArray[np.int32]
    """Tokens of each pair, the end included."""
    batch_tokens: int
    chunk_tokens: int
    seed: int

    @classmethod
    def of(cls, pairs: PairIds, *, batch_tokens: int, chunk_tokens: int, seed: int) -> PairOrder:
        return cls(
            source_lengths=pairs.source.lengths + 1,
            target_lengths=pairs.target.lengths + 1,
            batch_tokens=batch_tokens,
            chunk_tokens=chunk_tokens,
            seed=seed,
        )

    def epoch(self, number: int) -> list[list[Rows]]:
        """Return the updates of an epoch, each a list of chunks; every pair occurs once."""
        random = np.random.default_rng((self.seed, number))
        chunks = self.chunks(random)
        order = random.permutation(len(chunks))
        per_update = max(1, round(self.batch_tokens / self.chunk_tokens))
        groups = np.array_split(order, max(1, round(len(chunks) / per_update)))
        return [[chunks[i] for i in group] for group in groups]

    def share(self, chunks: list[Rows], rank: int, size: int) -> list[int]:
        """Choose the chunks of an update for one worker: the most costly first, each to the least loaded worker."""
        costs = [int(self._cost(rows).sum()) for rows in chunks]
        load = [0] * size
        mine = []
        for index in sorted(range(len(chunks)), key=lambda index: -costs[index]):
            worker = load.index(min(load))
            load[worker] += costs[index]
            if worker == rank:
                mine.append(index)
        return mine

    def chunks(self, random: np.random.Generator) -> list[Rows]:
        """Group pairs of similar length on both sides; pairs of equal length come in random order."""
        shuffled = random.permutation(len(self.target_lengths))
        strip = self._strips()[self.target_lengths[shuffled]]
        # Source lengths rise in one strip and fall in the next, so that chunks across a border have similar sources.
        source = self.source_lengths[shuffled] * np.where(strip % 2, -1, 1)
        order = shuffled[np.lexsort((source, strip))]
        # Chunks have equal cost, so that workers finish together; chunk_tokens is their mean size.
        ends = np.cumsum(self._cost(order), dtype=np.int64)
        budget = self.chunk_tokens * ends[-1] / self.target_lengths.sum(dtype=np.int64)
        chunks = []
        first = 0
        while first < len(order):
            done = ends[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(ends, done + budget, side="right")))
            last = first + self._fits(order[first:last])
            chunks.append(order[first:last])
            first = last
        return chunks

    def _cost(self, rows: Rows) -> NDArray[np.int32]:
        """A target token costs about twice as much as a source token: it also attends to it, and is projected."""
        return self.source_lengths[rows] + 2 * self.target_lengths[rows]

    def _strips(self) -> NDArray[np.int64]:
        """Map each target length to its strip.

        Chunks are cells in the plane of target and source lengths. Square cells (in ratios of lengths) need the least
        padding, so a strip covers several target lengths if there are few chunks, and only one if there are many.
        """
        target, ratio = np.log(self.target_lengths), np.log(self.source_lengths / self.target_lengths)
        chunks = max(1.0, float(self.target_lengths.sum(dtype=np.int64)) / self.chunk_tokens)
        step = 4 * float(np.sqrt(target.std() * ratio.std() / chunks))  # side of a cell; 4 deviations cover nearly all
        lengths = np.arange(1, int(self.target_lengths.max()) + 1)
        strips = np.unique(np.log(lengths) // step, return_inverse=True)[1] if step > 1e-9 else lengths
        return np.concatenate([[0], strips])

    def _fits(self, rows: Rows) -> int:
        """Count how many of these, once padded, stay within twice chunk_tokens on both sides; at least 1."""
        longer = np.maximum(self.source_lengths[rows], self.target_lengths[rows])
        within = np.maximum.accumulate(longer) * np.arange(1, len(rows) + 1) <= 2 * self.chunk_tokens
        return max(1, int(within.sum()))


def assemble(
    pairs: PairIds, rows: Rows, subwords: Subwords, *, sampling: float, seed: int, noise: Noise | None = None
) -> Batch:
    """Build the tensors of a chunk; with `sampling`, its sentences are segmented at random, after the noise."""
    source, target = _sentences(pairs.source, rows), _sentences(pairs.target, rows)
    if noise:
        sides = noise([s.tolist() for s in source], [t.tolist() for t in target], subwords, seed)
        source, target = ([np.array(ids) for ids in side] for side in sides)
    if sampling:
        source = [np.array(ids) for ids in subwords.source.resegment([s.tolist() for s in source], sampling, seed)]
        target = [np.array(ids) for ids in subwords.target.resegment([t.tolist() for t in target], sampling, seed)]
    source_pad, target_pad = subwords.source.pad, subwords.target.pad
    read = _padded(source, source_pad, after=END)
    return Batch(
        source=read,
        source_mask=read != source_pad,
        target=_padded(target, target_pad, before=target_pad),
        labels=_padded(target, target_pad, after=END),
    )


def _sentences(side: Sentences, rows: Rows) -> list[NDArray[np.integer]]:
    return [side[row] for row in rows]


def _padded(
    sentences: list[NDArray[np.integer]], pad: int, *, before: int | None = None, after: int | None = None
) -> Tensor:
    """(sentences, longest + 1), with one id before or after each sentence."""
    lengths = np.array([len(ids) for ids in sentences])
    table = np.full((len(sentences), int(lengths.max()) + 1), pad, dtype=np.int64)
    first = 0 if before is None else 1
    places = np.arange(table.shape[1] - 1) < lengths[:, None]
    table[:, first : table.shape[1] - 1 + first][places] = np.concatenate(sentences)
    if before is not None:
        table[:, 0] = before
    if after is not None:
        table[np.arange(len(sentences)), lengths] = after
    return torch.from_numpy(table)
