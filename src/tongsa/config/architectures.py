"""The architectures by name, and the [model] section of the default one.

Every architecture is one file in models/ (its section, its facts for Table 1, its model) and one line in ARCHITECTURES.
Another package adds architectures by entry points of the group `tongsa.architectures`: docs/extend/architecture.md.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Literal, cast

from tongsa.base.errors import RecipeError, torch_needed
from tongsa.base.registry import Registry
from tongsa.config.complexity import BY_ATTENTION, RESTRICTED, SELF_ATTENTION, Facts, LayerKind
from tongsa.config.sections import bounds

ARCHITECTURES: dict[str, str] = {
    "transformer": "tongsa.models.transformer:Transformer",
    "transformer-next-word": "tongsa.models.next_word:NextWordTransformer",
    "rnn": "tongsa.models.recurrent:Recurrent",
    "gru": "tongsa.models.recurrent:Recurrent",
    "lstm": "tongsa.models.recurrent:Recurrent",
    "gru-attention": "tongsa.models.attentional:Attentional",
    "lstm-attention": "tongsa.models.attentional:Attentional",
    "convs2s": "tongsa.models.convs2s:ConvS2S",
    "bytenet": "tongsa.models.bytenet:ByteNet",
    "extended-neural-gpu": "tongsa.models.neural_gpu:NeuralGPU",
    "decoder-only": "tongsa.models.decoder_only:DecoderOnly",
    "encoder-only": "tongsa.models.encoder_only:EncoderOnly",
    "bert": "tongsa.models.bert:Bert",
    "vit": "tongsa.models.vit:Vit",
    "recurrent-language-model": "tongsa.models.recurrent_language_model:RecurrentLanguageModel",
    "memory-network": "tongsa.models.memory_network:MemoryNetwork",
    "memory-language-model": "tongsa.models.memory_language_model:MemoryLanguageModel",
}
"""The class of each model. Its module is imported when a recipe names the architecture, and not before."""

_REGISTRY: Registry[Any] = Registry("tongsa.architectures", ARCHITECTURES, kind="architecture")
"""Built-in entries are "module:Class"; entries of other packages are the class itself."""

MAX_WIDTH = 65_536
MAX_LAYERS = 1_000
MAX_POSITIONS = 1_000_000
MAX_EXPERTS = 10_000


@dataclass(frozen=True, kw_only=True)
class ModelSection:
    """The keys that all architectures share; each architecture adds its own."""

    architecture: str = "transformer"
    """Name of the architecture."""
    d_model: int = 512
    """Width of embeddings and hidden states."""
    dropout: float = 0.1
    """P_drop (§5.4)."""

    @property
    def longest(self) -> int | None:
        """Longest sequence the model can read, in tokens; None if there is no limit."""
        return None

    @property
    def largest_chunk(self) -> int:
        """Target tokens that a CPU has memory for at once, unless the recipe says; a GPU takes eight times as many."""
        return 2048

    @property
    def context(self) -> int:
        """Tokens before the target that a language model reads as memory; 0 for most models."""
        return 0

    def facts(self, n: float) -> Facts | None:
        """Return the row of Table 1 for sequences of mean length n; None if the architecture does not provide one."""
        return None

    def problems(self) -> list[str]:
        return bounds(self, d_model=(1, MAX_WIDTH)) + bounds(self, fractions=["dropout"])


@dataclass(frozen=True, kw_only=True)
class TransformerLayers(ModelSection):
    """Settings of the paper's layers, with the symbols of Table 3."""

    d_ff: int = 2048
    """Inner width of the feed-forward networks (§3.3)."""
    heads: int = 8
    """h, the parallel attention heads (§3.2.2)."""
    d_k: int = 0
    """Width of queries and keys of a head (0: d_model / heads)."""
    d_v: int = 0
    """Width of the values of a head (0: d_model / heads)."""
    attention: Literal["scaled-dot-product", "dot-product", "additive"] = "scaled-dot-product"
    """The attention function (§3.2.1): Eq. 1, the same without 1/sqrt(d_k), or additive attention."""
    neighbourhood: int = 0
    """r, the positions around its own that self-attention sees (§4, Table 1: restricted; 0: all positions)."""
    projections: Literal["separate", "query-key", "shared", "none"] = "separate"
    """W^Q, W^K and W^V (§3.2.2): one each, W^Q = W^K, one for all three, or none."""
    feed_forward: Literal["position-wise", "experts", "none"] = "position-wise"
    """The feed-forward network of each layer (§3.3), a mixture of such networks (Shazeer et al. 2017), or none."""
    experts: int = 8
    """With feed_forward = "experts": networks of each layer."""
    experts_used: int = 2
    """With feed_forward = "experts": k, the networks that are computed for a token."""
    residual: bool = True
    """Add a sublayer's input to its output (§3.1)."""
    norm: Literal["post", "pre", "none"] = "post"
    """LayerNorm after each residual sum, as in the paper, before each sublayer, or nowhere."""
    activation: Literal["relu", "gelu", "swish"] = "relu"
    """Activation between the two layers of the feed-forward network (ReLU in Eq. 2)."""
    scale_embeddings: bool = True
    """Multiply embeddings by sqrt(d_model) (§3.4)."""
    positions: Literal["sinusoidal", "learned", "none"] = "sinusoidal"
    """Position encodings (§3.5), learned embeddings (Table 3, row E), or none."""
    join_positions: Literal["add", "concatenate"] = "add"
    """Add positions to the embeddings (§3.5), or concatenate both and project them to d_model."""
    max_positions: int = 1024
    """Number of learned positions; sinusoids have no limit."""

    @property
    def key_width(self) -> int:
        return self.d_k or self.d_model // self.heads

    @property
    def value_width(self) -> int:
        return self.d_v or self.d_model // self.heads

    @property
    def longest(self) -> int | None:
        return self.max_positions if self.positions == "learned" else None

    def experimental(self) -> list[str]:
        """Describe the settings that only the native engine computes: variants for experiments with the paper."""
        found = {
            f"its attention is {self.attention}": self.attention != "scaled-dot-product",
            f"its self-attention sees {self.neighbourhood} positions": self.neighbourhood,
            f"its projections are {self.projections}": self.projections != "separate",
            "it has no feed-forward networks": self.feed_forward == "none",
            "its feed-forward networks are mixtures of experts": self.feed_forward == "experts",
            "it has no residual sums": not self.residual,
            "it has no LayerNorms": self.norm == "none",
            "its embeddings are not scaled": not self.scale_embeddings,
            "it has no positions": self.positions == "none",
            "its positions are concatenated": self.join_positions == "concatenate",
        }
        return [words for words, there in found.items() if there]

    def attention_kind(self) -> LayerKind:
        """Return the row of Table 1 of these layers."""
        return RESTRICTED if self.neighbourhood else SELF_ATTENTION

    def attention_sees(self, layers: int) -> int | None:
        """Positions that an output of so many layers depends on; None for all of them."""
        return 1 + layers * 2 * (self.neighbourhood // 2) if self.neighbourhood else None

    def problems(self) -> list[str]:
        found = super().problems() + bounds(
            self,
            d_ff=(1, 16 * MAX_WIDTH),
            heads=(1, MAX_WIDTH),
            max_positions=(1, MAX_POSITIONS),
            d_k=(0, MAX_WIDTH),
            d_v=(0, MAX_WIDTH),
            neighbourhood=(0, MAX_POSITIONS),
            experts=(1, MAX_EXPERTS),
            experts_used=(1, MAX_EXPERTS),
        )
        if self.experts_used > self.experts:
            found.append(f"experts_used is {self.experts_used}; there are {self.experts} experts")
        if self.d_model % 2 and self.positions == "sinusoidal":
            found.append(
                f"d_model is {self.d_model}; sines and cosines need an even number (learned positions take any)"
            )
        if self.heads > 0 and self.d_model % self.heads and not (self.d_k and self.d_v):
            found.append(f"d_model {self.d_model} is not a multiple of heads {self.heads}; set d_k and d_v")
        elif self.heads > 0:
            found += self._width_problems()
        if self.neighbourhood and self.neighbourhood % 2 == 0:
            found.append(f"neighbourhood is {self.neighbourhood}; around a position it is an odd number (0: all)")
        if self.positions == "none" and self.join_positions == "concatenate":
            found.append('join_positions is "concatenate"; with positions = "none" there is nothing to concatenate')
        return found

    def _width_problems(self) -> list[str]:
        if self.projections == "shared" and self.key_width != self.value_width:
            return [f'projections is "shared"; d_k {self.key_width} and d_v {self.value_width} must be equal then']
        if self.projections == "none" and {self.heads * self.key_width, self.heads * self.value_width} != {
            self.d_model
        }:
            return ['projections is "none"; heads are parts of d_model then: leave d_k and d_v out']
        return []


@dataclass(frozen=True, kw_only=True)
class TransformerSection(TransformerLayers):
    """The Transformer. Its section is here because it is the default of every recipe and is read without torch."""

    encoder_layers: int = 6
    """N of the encoder (§3.1)."""
    decoder_layers: int = 6
    """N of the decoder (§3.1)."""
    causal: bool = True
    """Mask later positions in the decoder (§3.2.3); without the mask it cannot learn to translate, for experiments."""
    tied: bool = True
    """Share one matrix between embeddings and output (§3.4); without a joint vocabulary, only in the decoder."""
    output_bias: bool = False
    """Add a bias to the logits: not in the paper, but in models imported from Marian."""

    def facts(self, n: float) -> Facts:
        layers = f"{self.encoder_layers} + {self.decoder_layers}"
        return Facts(
            kind=self.attention_kind(),
            layers=layers,
            d=self.d_model,
            k=self.neighbourhood or None,
            decoder_path=BY_ATTENTION,
            sees=self.attention_sees(self.encoder_layers),
        )

    def experimental(self) -> list[str]:
        return super().experimental() + ([] if self.causal else ["its decoder is not masked"])

    def problems(self) -> list[str]:
        layers = bounds(self, encoder_layers=(1, MAX_LAYERS), decoder_layers=(1, MAX_LAYERS))
        return super().problems() + layers


def architecture_names() -> list[str]:
    """List the values of `model.architecture`: built-in names, then those of installed packages. Imports nothing."""
    return list(_REGISTRY)


def section_class(name: str) -> type[ModelSection]:
    """Return the class of the [model] section of this architecture."""
    return TransformerSection if name == "transformer" else cast(type[ModelSection], model_class(name).section)


def model_class(name: str) -> Any:
    """Return the class of the model: an nn.Module, constructed as Model(section, *vocabulary sizes)."""
    found = _REGISTRY.find(name)
    if name in ARCHITECTURES:
        module, _, attribute = ARCHITECTURES[name].partition(":")
        with torch_needed(f"the architecture {name}"):
            return getattr(importlib.import_module(module), attribute)
    section = getattr(found, "section", None)
    if not (isinstance(found, type) and isinstance(section, type) and issubclass(section, ModelSection)):
        raise RecipeError(
            f"the architecture {name} of another package cannot be used: its entry point gives {found!r}",
            "It must be the class of a model with an attribute `section`, its subclass of ModelSection.",
            "docs/extend/architecture.md has an example.",
        )
    return found
