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
from tongsa.config.complexity import BY_ATTENTION, SELF_ATTENTION, Facts
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
    "memory-network": "tongsa.models.memory_network:MemoryNetwork",
    "memory-language-model": "tongsa.models.memory_language_model:MemoryLanguageModel",
}
"""The class of each model. Its module is imported when a recipe names the architecture, and not before."""

_REGISTRY: Registry[Any] = Registry("tongsa.architectures", ARCHITECTURES, kind="architecture")
"""Built-in entries are "module:Class"; entries of other packages are the class itself."""

MAX_WIDTH = 65_536
MAX_LAYERS = 1_000
MAX_POSITIONS = 1_000_000


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
    norm: Literal["post", "pre"] = "post"
    """LayerNorm after each residual sum, as in the paper, or before each sublayer."""
    activation: Literal["relu", "gelu", "swish"] = "relu"
    """Activation between the two layers of the feed-forward network (ReLU in Eq. 2)."""
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    """Position encodings (§3.5), or learned embeddings (Table 3, row E)."""
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

    def problems(self) -> list[str]:
        found = super().problems() + bounds(
            self,
            d_ff=(1, 16 * MAX_WIDTH),
            heads=(1, MAX_WIDTH),
            max_positions=(1, MAX_POSITIONS),
            d_k=(0, MAX_WIDTH),
            d_v=(0, MAX_WIDTH),
        )
        if self.d_model % 2:
            found.append(f"d_model is {self.d_model}; sines and cosines need an even number")
        if self.heads > 0 and self.d_model % self.heads and not (self.d_k and self.d_v):
            found.append(f"d_model {self.d_model} is not a multiple of heads {self.heads}; set d_k and d_v")
        return found


@dataclass(frozen=True, kw_only=True)
class TransformerSection(TransformerLayers):
    """The Transformer. Its section is here because it is the default of every recipe and is read without torch."""

    encoder_layers: int = 6
    """N of the encoder (§3.1)."""
    decoder_layers: int = 6
    """N of the decoder (§3.1)."""
    tied: bool = True
    """Share one matrix between embeddings and output (§3.4); without a joint vocabulary, only in the decoder."""
    output_bias: bool = False
    """Add a bias to the logits: not in the paper, but in models imported from Marian."""

    def facts(self, n: float) -> Facts:
        layers = f"{self.encoder_layers} + {self.decoder_layers}"
        return Facts(kind=SELF_ATTENTION, layers=layers, d=self.d_model, decoder_path=BY_ATTENTION)

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
