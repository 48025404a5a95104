"""The convolutional model of "Convolutional Sequence to Sequence Learning" (Gehring et al. 2017, arXiv 1705.03122).

Section numbers are that paper's. Two deviations: it trains with Adam, as everything here does, and so without the
weight normalisation that goes with the paper's Nesterov steps (§4.2); and all blocks have one width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from tongsa.config.architectures import MAX_LAYERS, MAX_POSITIONS, MAX_WIDTH, ModelSection
from tongsa.config.complexity import BY_ATTENTION, CONVOLUTION, Facts
from tongsa.config.sections import bounds
from tongsa.models.contracts import Attention, Seq2Seq, State, Tree
from tongsa.models.convolution import MAX_KERNEL, Convolution, odd
from tongsa.models.dropout import dropout
from tongsa.models.embeddings import LearnedPositions, tables

HALF = math.sqrt(0.5)
"""Halves the variance of a sum of two (§3.4)."""


Memory = tuple[Tensor, Tensor, Tensor]
"""z (batch, source, f), z + e (batch, source, f), and the source mask (batch, source)."""


@dataclass(frozen=True, kw_only=True)
class ConvS2SSection(ModelSection):
    """Gated convolutions with attention: Gehring et al. 2017. The defaults are its model for English-Romanian."""

    architecture: Literal["convs2s"] = "convs2s"
    """Name of the architecture."""
    encoder_layers: int = 20
    """Blocks of the encoder (§4.2)."""
    decoder_layers: int = 20
    """Blocks of the decoder (§4.2)."""
    hidden: int = 0
    """d, the channels that a block gives (0: d_model, the width of embeddings)."""
    kernel: int = 3
    """k, the positions that a block of the encoder sees; one of the decoder sees as many, back from its own (§3.2)."""
    max_positions: int = 1024
    """How many positions are learned (§3.1)."""
    tied: bool = True
    """Share one matrix between embeddings and output, as in the Transformer; without a joint vocabulary, only two."""

    @property
    def channels(self) -> int:
        return self.hidden or self.d_model

    @property
    def longest(self) -> int | None:
        return self.max_positions

    def problems(self) -> list[str]:
        found = super().problems() + odd(self.kernel)
        return found + bounds(
            self,
            encoder_layers=(1, MAX_LAYERS),
            decoder_layers=(1, MAX_LAYERS),
            kernel=(1, MAX_KERNEL),
            max_positions=(1, MAX_POSITIONS),
            hidden=(0, MAX_WIDTH),
        )

    def facts(self, n: float) -> Facts:
        return Facts(
            kind=CONVOLUTION,
            layers=f"{self.encoder_layers} + {self.decoder_layers}",
            d=self.channels,
            k=self.kernel,
            decoder_path=BY_ATTENTION,
            sees=1 + self.encoder_layers * (self.kernel - 1),
        )


class GatedConvolution(nn.Module):
    """v([A B]) = A ⊗ σ(B),  [A B] = W [x_(i-k/2); ...; x_(i+k/2)] + b                                       §3.2"""

    def __init__(self, config: ConvS2SSection, *, masked: bool) -> None:
        super().__init__()
        self.dropout = config.dropout
        self.convolution = Convolution(config.channels, 2 * config.channels, config.kernel, masked=masked)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, positions, d) -> (batch, positions, d); its input is dropped out (§4.2)"""
        x = dropout(x, self.dropout if self.training else 0.0)
        return nn.functional.glu(self.convolution(x))

    def step(self, x: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        y, past = self.convolution.step(x, past)
        return nn.functional.glu(y), past


class MultiStepAttention(nn.Module):
    """The attention of one decoder block (§3.3): every block has its own.

    d_i = W_d h_i + b_d + g_i,   a_ij = softmax_j(d_i z_j),   c_i = sum_j a_ij (z_j + e_j)                  Eq. 1, 2
    """

    def __init__(self, config: ConvS2SSection) -> None:
        super().__init__()
        self.query = nn.Linear(config.channels, config.d_model)
        self.out = nn.Linear(config.d_model, config.channels)

    def forward(self, h: Tensor, g: Tensor, memory: Memory, seen: list[Tensor] | None = None) -> Tensor:
        """h (batch, target, d); g (batch, target, f): the embeddings that the decoder reads."""
        z, values, mask = memory
        d = (self.query(h) + g) * HALF
        if seen is None:
            c = scaled_dot_product_attention(d, z, values, mask[:, None, :], scale=1.0)
        else:
            scores = (d @ z.transpose(1, 2)).masked_fill(~mask[:, None, :], -math.inf)
            weights = torch.softmax(scores, dim=-1)  # (batch, target, source)
            seen.append(weights[:, None].detach())
            c = weights @ values
        # A mean over m vectors has a variance m times smaller, if all weigh alike (§3.4).
        c = c * mask.sum(dim=1).sqrt()[:, None, None]
        return (self.out(c) + h) * HALF  # type: ignore[no-any-return]


class DecoderBlock(nn.Module):
    def __init__(self, config: ConvS2SSection) -> None:
        super().__init__()
        self.gated = GatedConvolution(config, masked=True)
        self.attention = MultiStepAttention(config)

    def forward(self, x: Tensor, g: Tensor, memory: Memory, seen: list[Tensor] | None) -> Tensor:
        return (self.attention(self.gated(x), g, memory, seen) + x) * HALF  # type: ignore[no-any-return]

    def step(self, x: Tensor, g: Tensor, memory: Memory, past: Tensor) -> tuple[Tensor, Tensor]:
        """One position: x (batch, d), g (batch, f), past (batch, kernel - 1, d)."""
        h, past = self.gated.step(x, past)
        return (self.attention(h[:, None], g[:, None], memory)[:, 0] + x) * HALF, past


class ConvS2S(Seq2Seq):
    """Blocks of gated convolutions on both sides, and attention from every block of the decoder."""

    section = ConvS2SSection

    def __init__(self, config: ConvS2SSection, source_size: int, target_size: int | None = None) -> None:
        super().__init__()
        self.config = config
        f, d = config.d_model, config.channels
        self.source_embedding, self.target_embedding, self.output = tables(source_size, target_size, f, config.tied)
        self.source_positions = LearnedPositions(f, config.max_positions)
        self.target_positions = LearnedPositions(f, config.max_positions)
        self.max_length = config.max_positions
        # Linear maps between the width f of embeddings and d of the convolutions (§3.2).
        self.encoder_in, self.encoder_out = nn.Linear(f, d), nn.Linear(d, f)
        self.decoder_in, self.decoder_out = nn.Linear(f, d), nn.Linear(d, f)
        self.encoder = nn.ModuleList(GatedConvolution(config, masked=False) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderBlock(config) for _ in range(config.decoder_layers))
        self._initialise()

    def encode(self, source: Tensor, source_mask: Tensor) -> Tree:
        e = self._dropped(self.source_embedding(source) + self.source_positions(0, source.shape[1]))
        mask = source_mask[..., None]
        x = self.encoder_in(e)
        for gated in self.encoder:
            x = x * mask  # a convolution sees zeros beyond the end of a sentence, however long the batch is
            x = (gated(x) + x) * HALF
        # Every attention of the decoder sends gradients back, so the encoder takes their mean; e takes them all (§3.4).
        z = scale_gradient(self.encoder_out(x), 1 / len(self.decoder))
        return z, (z + e) * HALF, source_mask

    def features(self, memory: Tree, target: Tensor) -> Tensor:
        return self._decode(cast(Memory, memory), target, None)

    def _decode(self, memory: Memory, target: Tensor, seen: list[Tensor] | None) -> Tensor:
        g = self._dropped(self.target_embedding(target) + self.target_positions(0, target.shape[1]))
        x = self.decoder_in(g)
        for block in self.decoder:
            x = block(x, g, memory, seen)
        return self._dropped(self.decoder_out(x))

    def start(self, memory: Tree) -> State:
        z = cast(Memory, memory)[0]
        past = tuple(block.gated.convolution.initial_past(len(z), z) for block in self._blocks())
        return State(memory, (z.new_zeros(len(z), dtype=torch.long), past))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        place, past = cast(tuple[Tensor, tuple[Tensor, ...]], state.cache)
        g = self.target_embedding(tokens) + self.target_positions.weight[place]
        x = self.decoder_in(g)
        grown = []
        for block, inputs in zip(self._blocks(), past, strict=True):
            x, kept = block.step(x, g, cast(Memory, state.memory), inputs)
            grown.append(kept)
        return self.project(self.decoder_out(x)), State(state.memory, (place + 1, tuple(grown)))

    def attend(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Attention:
        seen: list[Tensor] = []
        self._decode(cast(Memory, self.encode(source, source_mask)), target, seen)
        return Attention(encoder=[], decoder=[], cross=seen)

    def position_table(self, length: int) -> Tensor:
        return self.source_positions(0, length)  # type: ignore[no-any-return]

    def projection(self) -> Tensor:
        return self.output.weight

    def _dropped(self, x: Tensor) -> Tensor:
        """Dropout on the embeddings and on the decoder's output (§4.2)."""
        return dropout(x, self.config.dropout if self.training else 0.0)

    def _blocks(self) -> list[DecoderBlock]:
        return cast(list[DecoderBlock], list(self.decoder))

    def _initialise(self) -> None:
        """Variances that every layer hands on as they are (§3.5): N(0, 1/n), before a gate N(0, 4/n), n inputs each.

        Inputs that are kept with probability p by dropout weigh 1/p as much, hence N(0, p/n) and N(0, 4p/n).
        """
        kept = 1 - self.config.dropout
        for module in self.modules():
            if isinstance(module, nn.Embedding | LearnedPositions):
                nn.init.normal_(module.weight, std=0.1)
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=module.in_features**-0.5)
                nn.init.zeros_(module.bias)
        for module in self.modules():
            if isinstance(module, Convolution):
                nn.init.normal_(module.linear.weight, std=math.sqrt(4 * kept / module.linear.in_features))
        for first in (self.encoder_in, self.decoder_in):
            nn.init.normal_(first.weight, std=math.sqrt(kept / first.in_features))
        with torch.no_grad():
            for table in {self.source_embedding, self.target_embedding, self.output}:
                table.weight[-1].zero_()  # `<pad>`


def scale_gradient(x: Tensor, scale: float) -> Tensor:
    """x, whose gradient is multiplied by `scale` on its way back."""
    return x.detach() + (x - x.detach()) * scale if x.requires_grad else x
