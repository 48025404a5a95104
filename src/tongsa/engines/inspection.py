"""Attention of a model for one pair: tokens, the weights of every layer and head, and positions, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import tongsa
from tongsa.base.errors import UsageError
from tongsa.config import ModelSection, TransformerSection

if TYPE_CHECKING:
    from torch import Tensor

    from tongsa.engines.native import NativeEngine
    from tongsa.models.contracts import Attention
    from tongsa.runs.card import Card
    from tongsa.text.subwords import Subwords

START = "<start>"
END = "</s>"
POSITIONS = 256
"""Positions shown, so that the waves of §3.5 are visible for short sentences too."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts about the model for the labels of a picture."""

    architecture: str = ""
    source: str = ""
    """The languages' codes."""
    target: str = ""
    d_model: int = 0
    d_k: int = 0
    """Width of a head's queries and keys: weights are softmax(QK^T / sqrt(d_k)); 0 if they are computed differently."""
    positions: str = ""
    """sinusoidal or learned; empty if the model adds none."""


@dataclass(frozen=True)
class Kind:
    """One of the three places where the Transformer attends (§3.2.3)."""

    name: str
    """encoder, decoder or cross: the names of models.contract.Attention."""
    title: str
    queries: tuple[str, ...]
    """The tokens of the rows."""
    keys: tuple[str, ...]
    """The tokens of the columns."""
    layers: list[Tensor]
    """(heads, queries, keys) each."""

    def weights(self, layer: int, head: int | None) -> Tensor:
        """(queries, keys) of a head, or of the mean of the layer's heads."""
        heads = self.layers[layer]
        return heads.mean(dim=0) if head is None else heads[head]

    def sharpest(self) -> int:
        """The layer with the sharpest attention, averaged over its heads."""
        return max(range(len(self.layers)), key=lambda i: float(self.layers[i].mean(dim=0).amax(dim=-1).mean()))


@dataclass(frozen=True)
class Inspection:
    """Attention of a model for one pair; notebooks display it as a picture."""

    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    attention: Attention
    facts: Facts = field(default_factory=Facts)
    positions: Tensor | None = None
    """Position encodings (positions, width), if the model adds any."""

    def kinds(self) -> list[Kind]:
        """The kinds of attention of this model, the most used one first."""
        source, target = self.source_tokens, self.target_tokens
        read = (START, *target[:-1])  # the decoder reads its own output one step late (§3.1)
        seen = self.attention
        every = [
            Kind("cross", "Encoder–decoder attention", target, source, [layer[0] for layer in seen.cross]),
            Kind("encoder", "Encoder self-attention", source, source, [layer[0] for layer in seen.encoder]),
            Kind("decoder", "Decoder self-attention", target, read, [layer[0] for layer in seen.decoder]),
        ]
        return [kind for kind in every if kind.layers and _fits(kind)]

    def _repr_html_(self) -> str:
        return tongsa.attention_html(self)


def inspect_pair(
    engine: NativeEngine, card: Card, subwords: Subwords, source: Sequence[int], target: Sequence[int]
) -> Inspection:
    """Compute the attention of the engine's model for this pair."""
    model, section = engine.model, card.recipe.model
    longest = model.max_length
    if longest is not None and len(source) >= longest:
        raise UsageError(
            f"the source has {len(source):,} subwords; this model was trained with {longest:,} positions",
            "Inspect a single sentence of it.",
        )
    table = model.position_table(POSITIONS if longest is None else min(longest, POSITIONS))
    return Inspection(
        source_tokens=(*subwords.source.pieces(list(source)), END),
        target_tokens=(*subwords.target.pieces(list(target)), END),
        attention=engine.attention(source, target),
        facts=Facts(
            architecture=section.architecture,
            source=card.source,
            target=card.target,
            d_model=section.d_model,
            d_k=_key_width(section),
            positions="" if table is None else "sinusoidal" if longest is None else "learned",
        ),
        positions=table,
    )


def _key_width(section: ModelSection) -> int:
    if isinstance(section, TransformerSection) and section.attention == "scaled-dot-product":
        return section.key_width
    return 0


def _fits(kind: Kind) -> bool:
    return all(tuple(layer.shape[1:]) == (len(kind.queries), len(kind.keys)) for layer in kind.layers)


def payload(inspection: Inspection) -> dict[str, object]:
    """Return plain values for JSON: weights are [layer][head][query][key]; lists are empty for a
    kind that the model lacks. A table of sinusoids is left out."""
    weights = {kind.name: [_rounded(layer, 4) for layer in kind.layers] for kind in inspection.kinds()}
    facts, table = inspection.facts, inspection.positions
    return {
        "source": list(inspection.source_tokens),
        "target": list(inspection.target_tokens),
        "encoder": weights.get("encoder", []),
        "decoder": weights.get("decoder", []),
        "cross": weights.get("cross", []),
        "languages": [facts.source, facts.target],
        "architecture": facts.architecture,
        "d_model": facts.d_model,
        "d_k": facts.d_k,
        "positions": facts.positions,
        "position_width": 0 if table is None else table.shape[1],
        "position_table": None if table is None or _is_sinusoidal(table) else _rounded(table[:POSITIONS], 2),
    }


def _is_sinusoidal(table: Tensor) -> bool:
    """Whether a page can compute the table itself (§3.5): with d_model 512 it is half a megabyte."""
    from tongsa.models.embeddings import sinusoids

    length, width = table.shape
    return width % 2 == 0 and bool((table.cpu() - sinusoids(length, width)).abs().max() < 1e-5)


def _rounded(values: Tensor, digits: int) -> object:
    scale = 10.0**digits
    return (values.detach().double().cpu() * scale).round().div(scale).tolist()


def shown(token: str) -> str:
    """Return a token for display: without the mark of a word's beginning, with a dot if it continues a word."""
    if token == END:
        return "‹end›"
    if token == START:
        return "‹start›"
    if token.startswith("▁"):
        return token[1:] or "␣"
    return f"·{token}" if any(letter.isalnum() for letter in token) else token
