"""The [model] section: a class an architecture, in the letters of its paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tongsa.config.bounds import bounds


@dataclass(frozen=True, kw_only=True)
class ModelSection:
    """What every architecture has; each architecture adds its own keys."""

    architecture: str = "transformer"
    """The name of the architecture (see tongsa.models)."""
    d_model: int = 512
    """Width of embeddings and hidden states."""
    dropout: float = 0.1
    """P_drop (§5.4)."""

    @property
    def longest(self) -> int | None:
        """Tokens of the longest sequence that the model can take, where it has such a limit."""
        return None

    def problems(self) -> list[str]:
        return bounds(self, at_least_1=["d_model"], fractions=["dropout"])


@dataclass(frozen=True, kw_only=True)
class TransformerSection(ModelSection):
    """The Transformer, in the letters of Table 3."""

    encoder_layers: int = 6
    """N of the encoder (§3.1)."""
    decoder_layers: int = 6
    """N of the decoder (§3.1)."""
    d_ff: int = 2048
    """Inner width of the feed-forward networks (§3.3)."""
    heads: int = 8
    """h, the parallel attention heads (§3.2.2)."""
    d_k: int = 0
    """Width of queries and keys of a head (0: d_model / heads)."""
    d_v: int = 0
    """Width of the values of a head (0: d_model / heads)."""
    norm: Literal["post", "pre"] = "post"
    """LayerNorm after each residual sum, as in the paper, or before each sublayer."""
    activation: Literal["relu", "gelu", "swish"] = "relu"
    """Between the two layers of the feed-forward network (Eq. 2 has ReLU)."""
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    """Position encodings (§3.5), or learned embeddings (Table 3, row E)."""
    max_positions: int = 1024
    """Learned positions there are; sinusoids go on for ever."""
    tied: bool = True
    """One matrix for both embeddings and the output (§3.4); without a joint vocabulary: the decoder's two."""
    output_bias: bool = False
    """A bias on the logits: the paper has none, models imported from Marian do."""

    @property
    def key_width(self) -> int:
        return self.d_k or self.d_model // self.heads

    @property
    def value_width(self) -> int:
        return self.d_v or self.d_model // self.heads

    @property
    def longest(self) -> int | None:
        return self.max_positions if self.positions == "learned" else None

    def problems(self) -> list[str]:
        whole = ["encoder_layers", "decoder_layers", "d_ff", "heads", "max_positions"]
        found = super().problems() + bounds(self, at_least_1=whole, at_least_0=["d_k", "d_v"])
        if self.d_model % 2:
            found.append(f"d_model is {self.d_model}; sines and cosines need an even number")
        if self.heads > 0 and self.d_model % self.heads and not (self.d_k and self.d_v):
            found.append(f"d_model {self.d_model} is no multiple of heads {self.heads}; give d_k and d_v of their own")
        return found


@dataclass(frozen=True, kw_only=True)
class RecurrentLayers(ModelSection):
    """What the recurrent architectures share."""

    hidden: int = 0
    """Units of a layer (0: d_model)."""
    layers: int = 1
    """Of encoder and decoder each."""
    bidirectional: bool = False
    """Two encoders, one reading forwards and one backwards, with half of the units each; their states side by side."""
    forget_bias: float = 1.0
    """Of an LSTM's forget gates, at the beginning."""
    tied: bool = True
    """One matrix for both embeddings and the output, as the Transformer has it; with a vocabulary a side: for two."""

    @property
    def units(self) -> int:
        return self.hidden or self.d_model

    def problems(self) -> list[str]:
        found = super().problems() + bounds(self, at_least_1=["layers"], at_least_0=["hidden"])
        if self.bidirectional and self.units % 2:
            found.append(f"hidden is {self.units}; two directions share the units, so it must be even")
        return found


@dataclass(frozen=True, kw_only=True)
class RecurrentSection(RecurrentLayers):
    """Encoder and decoder joined by one vector: Sutskever et al. 2014, Cho et al. 2014."""

    architecture: Literal["rnn", "gru", "lstm"] = "lstm"
    """The cell: tanh, gated recurrent unit, or long short-term memory."""
    reverse: bool = False
    """Read the source backwards (Sutskever et al., §3.3)."""
    feed_context: bool = False
    """Show the source's vector to the decoder at every step, not only at its start (Cho et al., §2.2)."""

    @property
    def cell(self) -> Literal["rnn", "gru", "lstm"]:
        return self.architecture


@dataclass(frozen=True, kw_only=True)
class AttentionalSection(RecurrentLayers):
    """Recurrent, with a context vector at every step: Bahdanau et al. 2015, Luong et al. 2015."""

    architecture: Literal["gru-attention", "lstm-attention"] = "lstm-attention"
    """The cell: gated recurrent unit, or long short-term memory."""
    bidirectional: bool = True
    """As in Bahdanau et al.; the encoder of Luong et al. reads forwards only."""
    score: Literal["additive", "dot", "general"] = "general"
    """How a state of the decoder is compared with those of the encoder: Bahdanau's, or one of Luong's."""
    feed: Literal["nothing", "attentional", "context"] = "nothing"
    """What the decoder reads beside the last token: nothing (the fastest to train), what the last softmax was taken of
    (Luong's input feeding), or the context that its state before looks for (Bahdanau's)."""

    @property
    def cell(self) -> Literal["gru", "lstm"]:
        return "gru" if self.architecture == "gru-attention" else "lstm"


@dataclass(frozen=True, kw_only=True)
class ConvS2SSection(ModelSection):
    """Gated convolutions with attention: Gehring et al. 2017. The defaults are its model for English-Romanian."""

    architecture: Literal["convs2s"] = "convs2s"
    """Its name."""
    encoder_layers: int = 20
    """Blocks of the encoder (§4.2)."""
    decoder_layers: int = 20
    """Blocks of the decoder (§4.2)."""
    hidden: int = 0
    """d, the channels that a block gives (0: d_model, the width of embeddings)."""
    kernel: int = 3
    """k, the positions that a block of the encoder sees; one of the decoder sees as many, back from its own (§3.2)."""
    max_positions: int = 1024
    """Learned positions there are (§3.1)."""
    tied: bool = True
    """One matrix for both embeddings and the output, as the Transformer has it; with a vocabulary a side: for two."""

    @property
    def channels(self) -> int:
        return self.hidden or self.d_model

    @property
    def longest(self) -> int | None:
        return self.max_positions

    def problems(self) -> list[str]:
        whole = ["encoder_layers", "decoder_layers", "kernel", "max_positions"]
        return super().problems() + bounds(self, at_least_1=whole, at_least_0=["hidden"]) + odd(self.kernel)


@dataclass(frozen=True, kw_only=True)
class ByteNetSection(ModelSection):
    """Dilated convolutions, the decoder standing on the encoder: Kalchbrenner et al. 2016."""

    architecture: Literal["bytenet"] = "bytenet"
    """Its name."""
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
    """b of it."""
    tied: bool = True
    """One matrix for both embeddings and the output, as the Transformer has it; with a vocabulary a side: for two."""

    @property
    def inner(self) -> int:
        """d"""
        return self.d_model // 2

    @property
    def dilations(self) -> list[int]:
        """Of the blocks of a stack, from the first to the last: 1, 2, 4, 8, 16, 1, 2, ..."""
        return self.sets * [1 << power for power in range(self.max_dilation.bit_length())]

    def problems(self) -> list[str]:
        whole = ["sets", "max_dilation", "kernel"]
        found = super().problems() + bounds(self, at_least_1=whole, at_least_0=["unfold_b"]) + odd(self.kernel)
        if self.d_model % 2:
            found.append(f"d_model is {self.d_model}; it is 2d, an even number")
        if self.unfold_a < 1:
            found.append(f"unfold_a is {self.unfold_a}; it must be at least 1")
        return found


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
    """a of n = a|s| + b, the columns of the image: the target must find room there too."""
    unfold_b: int = 6
    """b of it."""
    tied: bool = True
    """One matrix for both embeddings and the output, as the Transformer has it; with a vocabulary a side: for two."""

    def problems(self) -> list[str]:
        whole = ["rows", "layers", "kernel"]
        found = super().problems() + bounds(self, at_least_1=whole, at_least_0=["unfold_b"]) + odd(self.kernel)
        if self.unfold_a < 1:
            found.append(f"unfold_a is {self.unfold_a}; it must be at least 1")
        return found


def odd(kernel: int) -> list[str]:
    return [] if kernel % 2 else [f"kernel is {kernel}; it must be odd, to see as much before a position as after it"]


ARCHITECTURES: dict[str, type[ModelSection]] = {
    "transformer": TransformerSection,
    "rnn": RecurrentSection,
    "gru": RecurrentSection,
    "lstm": RecurrentSection,
    "gru-attention": AttentionalSection,
    "lstm-attention": AttentionalSection,
    "convs2s": ConvS2SSection,
    "bytenet": ByteNetSection,
    "extended-neural-gpu": NeuralGPUSection,
}
"""The keys of each architecture."""
