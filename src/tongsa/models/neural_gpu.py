"""The Extended Neural GPU of "Can Active Memory Replace Attention?" (Kaiser and Bengio 2016, arXiv 1610.08613).

A sentence is embedded into a "mental image" of w rows, n columns and m channels, on which convolutional gated recurrent
units (CGRU) work as often as the sentence is long; units of the same kind then write the target, a symbol a step, onto
an output tape. There each sentence is padded to the length of its bucket, which is both n and the number of steps; here
it takes as many steps as it has tokens, on n = a|s| + b columns of its own, so that the batch does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from tongsa.config.architectures import MAX_LAYERS, ModelSection
from tongsa.config.complexity import Facts, LayerKind
from tongsa.config.sections import MAX_EXTRA, bounds
from tongsa.models.contracts import Seq2Seq, State, Tree, token_mask
from tongsa.models.convolution import MAX_KERNEL, neighbours, odd
from tongsa.models.dropout import dropout
from tongsa.models.embeddings import tables

Memory = tuple[Tensor, Tensor]
"""The image s_fin (batch, w, n, m), and which of its columns a sentence has (batch, n): 1 or 0."""


MAX_ROWS = 1000

ACTIVE_MEMORY = LayerKind(
    "convolutional, n times over",
    "k·n²·d²",
    "n",
    "n/k",
    lambda n, d, k: k * n * n * d * d,
    lambda n, k: n,
    lambda n, k: n / k,
)
"""Not a row of the paper's Table 1: one unit is a convolution over all n positions, and it is applied n times."""


@dataclass(frozen=True, kw_only=True)
class NeuralGPUSection(ModelSection):
    """The Extended Neural GPU, an active memory: Kaiser and Bengio 2016."""

    architecture: Literal["extended-neural-gpu"] = "extended-neural-gpu"
    """Its name; d_model is m, the channels of the mental image."""
    rows: int = 4
    """w, the rows of the image; its columns follow the sentence."""
    layers: int = 2
    """CGRUs that a step applies one after the other."""
    kernel: int = 3
    """Rows and columns that a convolution sees."""
    unfold_a: float = 1.2
    """a of n = a|s| + b, the columns of the image: they must have room for the target too."""
    unfold_b: int = 6
    """b of n = a|s| + b."""
    tied: bool = True
    """Share one matrix between embeddings and output, as in the Transformer; without a joint vocabulary, only two."""

    @property
    def largest_chunk(self) -> int:
        return 64

    def problems(self) -> list[str]:
        found = super().problems() + odd(self.kernel)
        return found + bounds(
            self,
            rows=(1, MAX_ROWS),
            layers=(1, MAX_LAYERS),
            kernel=(1, MAX_KERNEL),
            unfold_a=(1, 100),
            unfold_b=(0, MAX_EXTRA),
        )

    def facts(self, n: float) -> Facts:
        return Facts(
            kind=ACTIVE_MEMORY,
            layers=f"{self.layers} × n + {self.layers} × n",
            d=self.d_model,
            k=self.kernel,
            decoder_path="n/k, through the image",
            sees=1 + round(n) * self.layers * (self.kernel - 1),
        )


class CGRU(nn.Module):
    """CGRU(s) = u ⊙ s + (1 - u) ⊙ tanh(U * (r ⊙ s) + B),  u = σ(U' * s + B'),  r = σ(U'' * s + B'')           Eq. 1

    In the decoder, CGRU^d adds W * p, W' * p and W'' * p of the output tape p to the three sums.
    """

    def __init__(self, config: NeuralGPUSection) -> None:
        super().__init__()
        m = config.d_model
        self.columns = config.kernel
        self.rows = min(config.kernel, 2 * config.rows - 1)  # what lies beyond every row is never seen
        taps = self.rows * self.columns
        self.gates = nn.Linear(taps * m, 2 * m)  # U', U''
        self.change = nn.Linear(taps * m, m)  # U

    def forward(self, s: Tensor, mask: Tensor, tape: Tensor | None = None) -> Tensor:
        """s (batch, w, n, m), zero where the mask (batch, 1, n, 1) is; tape (batch, w, n, 3m) is W * p."""
        m = s.shape[-1]
        gates = self.gates(self.taps(s))
        if tape is not None:
            gates = gates + tape[..., : 2 * m]
        u, r = torch.sigmoid(gates).split(m, dim=-1)
        change = self.change(self.taps(r * s))
        if tape is not None:
            change = change + tape[..., 2 * m :]
        return torch.lerp(torch.tanh(change), s, u) * mask

    def taps(self, s: Tensor) -> Tensor:
        """(batch, w, n, m) -> (batch, w, n, taps * m): what the kernel sees at each place, so that `*` is a product."""
        above, before = self.rows // 2, self.columns // 2
        across = neighbours(s, 2, range(-before, before + 1))
        return across if self.rows == 1 else neighbours(across, 1, range(-above, above + 1))


class Tape(nn.Module):
    """W * p for every CGRU^d. Symbols only ever join the tape p, so its convolution is a sum that grows."""

    def __init__(self, config: NeuralGPUSection) -> None:
        super().__init__()
        self.w, self.kernel = config.rows, config.kernel
        # p has symbols in its first row only, which the kernel carries half its height down.
        self.below = min(config.rows, config.kernel // 2 + 1)
        self.layers = config.layers
        outputs = self.layers * self.below * self.kernel * 3 * config.d_model
        self.linear = nn.Linear(config.d_model, outputs, bias=False)

    def forward(self, symbols: Tensor) -> Tensor:
        """(batch, ..., m) -> (batch, ..., layers, rows, columns, 3m): what a symbol adds around its place."""
        return self.linear(symbols).unflatten(-1, (self.layers, self.below, self.kernel, -1))  # type: ignore[no-any-return]

    def write(self, tape: Tensor, added: Tensor, column: int) -> Tensor:
        """The tape (batch, layers, w, n, 3m) after a symbol at this column; what falls outside is cut off."""
        n = tape.shape[3]
        left = column - self.kernel // 2
        first, last = max(0, -left), min(self.kernel, n - left)
        if last <= first:
            return tape
        around = (left + first, n - left - last)
        return tape + nn.functional.pad(added[:, :, :, first:last], (0, 0, *around, 0, self.w - self.below))


Run = Callable[..., Any]

MOST_KEPT = 1 << 28
"""Bytes that reading or writing keeps for the backward pass; what would need more is partly computed again."""

KEPT_BESIDE_TAPS = 5
"""Images that a CGRU keeps for the backward pass, besides the taps of its two products."""


def _once(segment: Callable[..., Any], *state: Any) -> Any:
    return segment(*state)


def _again(segment: Callable[..., Any], *state: Any) -> Any:
    return checkpoint(segment, *state, use_reentrant=False, preserve_rng_state=False)  # no dropout in there


class NeuralGPU(Seq2Seq):
    """An active memory: all of the image changes in every step, rather than one place being attended to."""

    section = NeuralGPUSection

    def __init__(self, config: NeuralGPUSection, source_size: int, target_size: int | None = None) -> None:
        super().__init__()
        self.config = config
        self.source_embedding, self.target_embedding, self.output = tables(
            source_size, target_size, config.d_model, config.tied
        )
        self.encoder = nn.ModuleList(CGRU(config) for _ in range(config.layers))
        self.decoder = nn.ModuleList(CGRU(config) for _ in range(config.layers))
        self.tape = Tape(config)
        self._initialise()

    def encode(self, source: Tensor, source_mask: Tensor) -> Memory:
        """s_0 has the embedded source in its first row, and zeros below and behind; s_fin is s_|s|."""
        lengths = source_mask.sum(dim=1)
        columns = (lengths.double() * self.config.unfold_a).ceil().long() + self.config.unfold_b
        width = max(int(columns.max()), source.shape[1])
        mask = token_mask(columns, width).to(self.output.weight.dtype)
        x = self._embed(self.source_embedding, source) * source_mask[..., None]
        s = nn.functional.pad(x[:, None], (0, 0, 0, width - source.shape[1], 0, self.config.rows - 1))

        def read(s: Tensor, steps: range) -> Tensor:
            for step in steps:
                after = s
                for unit in self.encoder:
                    after = unit(after, mask[:, None, :, None])
                going_on = step < lengths
                s = after if bool(going_on.all()) else torch.where(going_on[:, None, None, None], after, s)
            return s

        for steps, run in self._segments(int(lengths.max()), s, inputs=1):
            s = run(read, s, steps)
        return s, mask

    def features(self, memory: Tree, target: Tensor) -> Tensor:
        d, mask = cast(Memory, memory)
        added = self.tape(self._embed(self.target_embedding, target))
        tape, written = self._empty_tape(d), []

        def write(d: Tensor, tape: Tensor, steps: range) -> tuple[Tensor, ...]:
            read = []
            for step in steps:
                d, tape = self._advance(d, mask, tape, added[:, step], step)
                read.append(self._read(d, mask, step))
            return d, tape, *read

        for steps, run in self._segments(target.shape[1], d, inputs=1 + 3 * self.config.layers):
            d, tape, *read = run(write, d, tape, steps)
            written += read
        return self._dropped(torch.stack(written, dim=1))

    def _segments(self, steps: int, image: Tensor, inputs: int) -> Iterator[tuple[range, Run]]:
        """Cut the steps into segments, and say how to run each: plainly, or computed again in the backward pass.

        Of those computed again only the beginnings are kept, which are `inputs` images each. The best length balances
        the beginnings of all segments with the inside of one.
        """
        inside = self.config.layers * (2 * self.config.kernel**2 + KEPT_BESIDE_TAPS)
        if not torch.is_grad_enabled() or steps * inside * image.numel() * image.element_size() <= MOST_KEPT:
            yield range(steps), _once
            return
        length = max(1, round(math.sqrt(steps * inputs / inside)))
        for first in range(0, steps, length):
            yield range(first, min(first + length, steps)), _again

    def start(self, memory: Tree) -> State:
        s, _ = cast(Memory, memory)
        return State(memory, (s, self._empty_tape(s), s.new_zeros(len(s), dtype=torch.long)))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        d, tape, place = cast(tuple[Tensor, Tensor, Tensor], state.cache)
        mask, step = cast(Memory, state.memory)[1], int(place[0])  # all rows have taken as many steps
        added = self.tape(self._embed(self.target_embedding, tokens))
        d, tape = self._advance(d, mask, tape, added, step)
        return self.project(self._read(d, mask, step)), State(state.memory, (d, tape, place + 1))

    def _advance(self, d: Tensor, mask: Tensor, tape: Tensor, added: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """p with the symbol of the step before in its place, and the image after one step with it.

        The first symbol is `<pad>`, which is before the first place and zero. Beyond the image nothing is written.
        """
        if 0 < step <= mask.shape[1]:
            tape = self.tape.write(tape, added * mask[:, step - 1, None, None, None, None], step - 1)
        for layer, unit in enumerate(self.decoder):
            d = unit(d, mask[:, None, :, None], tape[:, layer])
        return d, tape

    @staticmethod
    def _read(d: Tensor, mask: Tensor, step: int) -> Tensor:
        """d_k[0, k, :], which O makes the logits of the k-th symbol; beyond the image its last column."""
        place = (mask.sum(dim=1).long() - 1).clamp(max=step)
        return d[torch.arange(len(d), device=d.device), 0, place]

    def _empty_tape(self, d: Tensor) -> Tensor:
        batch, w, n, m = d.shape
        return d.new_zeros(batch, self.config.layers, w, n, 3 * m)

    def _embed(self, embedding: nn.Embedding, tokens: Tensor) -> Tensor:
        return self._dropped(embedding(tokens) * math.sqrt(self.config.d_model))

    def _dropped(self, x: Tensor) -> Tensor:
        return dropout(x, self.config.dropout if self.training else 0.0)

    def projection(self) -> Tensor:
        return self.output.weight

    def _initialise(self) -> None:
        """Glorot; and gates that begin by keeping, so that a gradient lives through |s| + |t| steps."""
        for module in self.modules():
            if isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
                with torch.no_grad():
                    module.weight[-1].zero_()
            elif isinstance(module, CGRU):
                for linear in (module.gates, module.change):
                    nn.init.xavier_uniform_(linear.weight)
                    nn.init.zeros_(linear.bias)
                nn.init.ones_(module.gates.bias)
            elif isinstance(module, Tape):
                nn.init.normal_(module.linear.weight, std=module.linear.in_features**-0.5)
