"""The ByteNet of "Neural Machine Translation in Linear Time" (Kalchbrenner et al. 2016, arXiv 1610.10099).

Two stacks of dilated convolutions, the decoder standing on the encoder column by column: no attention, and a time
linear in the lengths. Section numbers are that paper's. The blocks are those with ReLUs, which it translates with
(the multiplicative ones are for language modelling). The paper uses no dropout, with millions of pairs; we apply it
to embeddings and to the output of blocks, for smaller corpora.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor, nn

from tongsa.config.architectures import MAX_POSITIONS, ModelSection
from tongsa.config.complexity import DILATED, Facts
from tongsa.config.sections import MAX_EXTRA, bounds
from tongsa.models.contracts import Seq2Seq, State, Tree, token_mask
from tongsa.models.convolution import MAX_KERNEL, Convolution, odd
from tongsa.models.dropout import dropout
from tongsa.models.embeddings import tables

MAX_SETS = 100


@dataclass(frozen=True, kw_only=True)
class ByteNetSection(ModelSection):
    """Dilated convolutions, the decoder standing on the encoder: Kalchbrenner et al. 2016."""

    architecture: Literal["bytenet"] = "bytenet"
    """Name of the architecture."""
    d_model: int = 1600
    """2d, the channels between blocks; inside a block there are half as many (§3.6, §6)."""
    sets: int = 6
    """Sets of blocks whose dilation doubles from 1 to max_dilation, in encoder and decoder each (§6)."""
    max_dilation: int = 16
    """r of the last block of a set (§3.5)."""
    kernel: int = 3
    """k, the inputs of a dilated convolution."""
    unfold_a: float = 1.2
    """a of |t^| = a|s| + b, the columns that the decoder stands on (§3.2)."""
    unfold_b: int = 0
    """b of |t^| = a|s| + b."""
    tied: bool = True
    """Share one matrix between embeddings and output, as in the Transformer; without a joint vocabulary, only two."""

    @property
    def inner(self) -> int:
        """d"""
        return self.d_model // 2

    @property
    def dilations(self) -> list[int]:
        """Dilations of the blocks of a stack, from first to last: 1, 2, 4, 8, 16, 1, 2, ..."""
        return self.sets * [1 << power for power in range(self.max_dilation.bit_length())]

    def problems(self) -> list[str]:
        found = super().problems() + odd(self.kernel)
        found += bounds(
            self,
            sets=(1, MAX_SETS),
            max_dilation=(1, MAX_POSITIONS),
            kernel=(1, MAX_KERNEL),
            unfold_a=(1, 100),
            unfold_b=(0, MAX_EXTRA),
        )
        if self.d_model % 2:
            found.append(f"d_model is {self.d_model}; it is 2d, an even number")
        return found

    def facts(self, n: float) -> Facts:
        return Facts(
            kind=DILATED,
            layers=f"{len(self.dilations)} + {len(self.dilations)}",
            d=self.inner,
            k=self.kernel,
            decoder_path="log_k(n), column on column",
            sees=1 + sum(self.dilations) * (self.kernel - 1),
        )


class ResidualBlock(nn.Module):
    """x + Conv_1(ReLU(LN(Conv_k,r(ReLU(LN(Conv_1(ReLU(LN(x)))))))),   2d -> d -> d -> 2d channels     §3.6, Figure 3

    The middle one has kernel width k and dilation r, and is masked in the decoder.
    """

    def __init__(self, config: ByteNetSection, dilation: int, *, masked: bool) -> None:
        super().__init__()
        d = config.inner
        self.dropout = config.dropout
        self.norms = nn.ModuleList(nn.LayerNorm(channels) for channels in (2 * d, d, d))
        self.narrow = nn.Linear(2 * d, d)  # a convolution of width 1
        self.dilated = Convolution(d, d, config.kernel, dilation=dilation, masked=masked)
        self.widen = nn.Linear(d, 2 * d)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """(batch, columns, 2d); the mask (batch, columns, 1) is 0 in columns beyond the end of a sentence."""
        y = self._before(x)
        return x + self._after(self.dilated(y if mask is None else y * mask))

    def step(self, x: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        """One column (batch, 2d), given the inputs of the dilated convolution before it (batch, r(k-1), d)."""
        y, past = self.dilated.step(self._before(x), past)
        return x + self._after(y), past

    def _before(self, x: Tensor) -> Tensor:
        return torch.relu(self.norms[1](self.narrow(torch.relu(self.norms[0](x)))))

    def _after(self, y: Tensor) -> Tensor:
        return dropout(self.widen(torch.relu(self.norms[2](y))), self.dropout if self.training else 0.0)


class ByteNet(Seq2Seq):
    """Encoder-decoder stacking (§3.1) with dynamic unfolding (§3.2)."""

    section = ByteNetSection

    def __init__(self, config: ByteNetSection, source_size: int, target_size: int | None = None) -> None:
        super().__init__()
        self.config = config
        self.source_embedding, self.target_embedding, self.output = tables(
            source_size, target_size, config.d_model, config.tied
        )
        self.encoder = nn.ModuleList(ResidualBlock(config, r, masked=False) for r in config.dilations)
        self.decoder = nn.ModuleList(ResidualBlock(config, r, masked=True) for r in config.dilations)
        self.last_norm = nn.LayerNorm(config.d_model)
        self.last = nn.Linear(config.d_model, config.d_model)
        self.apply(_initialise)

    def encode(self, source: Tensor, source_mask: Tensor) -> Tensor:
        """The columns that the decoder stands on (batch, |t^|, 2d), zero beyond each sentence's own |t^|."""
        lengths = self.unfolded(source_mask.sum(dim=1))
        width = max(int(lengths.max()), source.shape[1])
        mask = token_mask(lengths, width)[..., None].to(self.last.weight.dtype)
        x = self._embed(self.source_embedding, source) * source_mask[..., None]
        x = nn.functional.pad(x, (0, 0, 0, width - source.shape[1]))
        for block in self.encoder:
            x = block(x, mask)
        return x * mask

    def unfolded(self, lengths: Tensor) -> Tensor:
        """|t^| = a|s| + b: an upper bound of the target's length, which most targets keep to (§3.2, Eq. 2)"""
        return (lengths.double() * self.config.unfold_a).ceil().long() + self.config.unfold_b

    def features(self, memory: Tree, target: Tensor) -> Tensor:
        columns, steps = cast(Tensor, memory), target.shape[1]
        columns = nn.functional.pad(columns, (0, 0, 0, max(0, steps - columns.shape[1])))[:, :steps]
        # The decoder is masked, and targets are padded at the end: no token sees the padding.
        # Adding the column and the embedding is our choice. The paper joins them as one input of the decoder;
        # concatenated, they would need a further map, from 4d to 2d channels.
        x = columns + self._embed(self.target_embedding, target)
        for block in self.decoder:
            x = block(x, None)
        return self._finish(x)

    def start(self, memory: Tree) -> State:
        columns = cast(Tensor, memory)
        past = tuple(block.dilated.initial_past(len(columns), columns) for block in self._blocks())
        return State(memory, (columns.new_zeros(len(columns), dtype=torch.long), past))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        place, past = cast(tuple[Tensor, tuple[Tensor, ...]], state.cache)
        x = self._column(cast(Tensor, state.memory), place) + self._embed(self.target_embedding, tokens)
        grown = []
        for block, inputs in zip(self._blocks(), past, strict=True):
            x, kept = block.step(x, inputs)
            grown.append(kept)
        return self.project(self._finish(x)), State(state.memory, (place + 1, tuple(grown)))

    @staticmethod
    def _column(columns: Tensor, place: Tensor) -> Tensor:
        """(batch, 2d): the column at each row's place, zeros beyond the last."""
        last = columns.shape[1] - 1
        found = columns[torch.arange(len(columns), device=columns.device), place.clamp(max=last)]
        return found * (place <= last)[:, None]

    def _embed(self, embedding: nn.Embedding, tokens: Tensor) -> Tensor:
        """Rows of a table (§3.3), scaled to the size of what blocks add to them."""
        x = embedding(tokens) * math.sqrt(self.config.d_model)
        return dropout(x, self.config.dropout if self.training else 0.0)

    def _finish(self, x: Tensor) -> Tensor:
        return self.last(torch.relu(self.last_norm(x)))  # type: ignore[no-any-return]

    def projection(self) -> Tensor:
        return self.output.weight

    def _blocks(self) -> list[ResidualBlock]:
        return cast(list[ResidualBlock], list(self.decoder))


def _initialise(module: nn.Module) -> None:
    """He initialisation after ReLUs; embeddings have size 1 after scaling by sqrt(d_model). The paper gives none."""
    if isinstance(module, nn.Linear):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        nn.init.zeros_(module.bias)
    elif isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
        with torch.no_grad():
            module.weight[-1].zero_()
