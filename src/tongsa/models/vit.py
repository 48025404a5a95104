"""ViT: the paper's encoder over patches of a picture (Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words").

    z_0  = [x_class; x_p^1 E; ...; x_p^N E] + E_pos         E of (P^2 C) x D, E_pos of (N + 1) x D     Eq. 1
    z'_l = MSA(LN(z_(l-1))) + z_(l-1)                        norm before, not after as in the paper    Eq. 2
    z_l  = MLP(LN(z'_l)) + z'_l                              GELU for ReLU                             Eq. 3
    y    = LN(z_L^0)                                                                                   Eq. 4

Patches stand where "Attention Is All You Need" has embeddings of words; nothing else knows that it is a picture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor, nn

from tongsa.config.architectures import MAX_LAYERS, MAX_POSITIONS, TransformerLayers
from tongsa.config.complexity import Facts
from tongsa.config.sections import bounds
from tongsa.models.attention import Weights
from tongsa.models.classifier import Pooling, pooled
from tongsa.models.contracts import Encoder
from tongsa.models.dropout import dropout
from tongsa.models.layers import EncoderLayer, initialise, last_norm, positions

MAX_SIDE = 4096


@dataclass(frozen=True, kw_only=True)
class VitSection(TransformerLayers):
    """ViT; its paper's base model has 12 layers, d_model 768, d_ff 3072, 12 heads and patches of 16 x 16."""

    architecture: Literal["vit"] = "vit"
    """Name of the architecture."""
    layers: int = 12
    """L, the paper's N."""
    norm: Literal["post", "pre", "none"] = "pre"
    """LayerNorm before each sublayer, after each residual sum, or nowhere."""
    activation: Literal["relu", "gelu", "swish"] = "gelu"
    """Activation between the two layers of the feed-forward network."""
    positions: Literal["sinusoidal", "learned", "none"] = "learned"
    """Learned embeddings of positions, the sinusoids of "Attention Is All You Need", or none (D.4)."""
    patch: int = 16
    """P, the side of a patch in pixels."""
    height: int = 0
    """Height of the pictures in pixels (0: that of the first training picture)."""
    width: int = 0
    """Width of the pictures in pixels (0: that of the first training picture)."""
    channels: int = 0
    """1 for shades of grey, 3 for colours (0: 1 if all training pictures are grey)."""
    shift: int = 0
    """While training, move each picture by up to this many pixels at random: not the paper's, for few pictures."""
    pooling: Pooling = "class"
    """What the classifier reads: the state of the class token, or the mean of all states (D.3)."""

    @property
    def patches(self) -> int:
        """N = HW / P^2"""
        return (self.height // self.patch) * (self.width // self.patch)

    def facts(self, n: float) -> Facts:
        return Facts(kind=self.attention_kind(), layers=str(self.layers), d=self.d_model, decoder_path="–")

    def problems(self) -> list[str]:
        side = (0, MAX_SIDE)
        limits = bounds(self, layers=(1, MAX_LAYERS), patch=(1, MAX_SIDE), height=side, width=side, channels=(0, 3))
        limits += bounds(self, shift=side)
        found = super().problems() + limits
        if self.channels == 2:
            found.append("channels is 2; it can be 1 or 3")
        if not limits and (self.height % self.patch or self.width % self.patch):
            found.append(f"patch {self.patch} does not divide pictures of {self.width} x {self.height} pixels")
        if not limits and self.patches >= MAX_POSITIONS:
            found.append(f"{self.patches:,} patches are too many: choose a larger patch")
        return found


class Vit(Encoder):
    """Pictures (batch, C, H, W), values about -1 to 1 -> states (batch, 1 + N, D), that of the class token first."""

    section = VitSection

    def __init__(self, config: VitSection) -> None:
        super().__init__()
        self.config = config
        self.patch_embedding = nn.Linear(config.patch**2 * config.channels, config.d_model)  # E
        self.class_token = nn.Parameter(torch.zeros(config.d_model))  # x_class
        self.positions = positions(replace(config, max_positions=1 + config.patches))  # E_pos
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.norm = last_norm(config)
        self.apply(initialise)

    def encode(self, source: Tensor, mask: Tensor) -> Tensor:
        """All pictures have one size, so nothing is masked: the mask (batch, 1 + N) is True everywhere."""
        return self._encode(source, None)

    def summary(self, states: Tensor, mask: Tensor) -> Tensor:
        return pooled(states, mask, self.config.pooling)

    def attend(self, source: Tensor) -> Weights:
        """The weights (batch, heads, 1 + N, 1 + N) of every layer."""
        seen: Weights = []
        self._encode(source, seen)
        return seen

    def _encode(self, pictures: Tensor, seen: Weights | None) -> Tensor:
        x = self.patch_embedding(patches(pictures, self.config.patch))  # (batch, N, D)
        x = torch.cat([self.class_token.expand(len(x), 1, -1), x], dim=1)
        x = self.positions.join(x, 0)
        x = dropout(x, self.config.dropout if self.training else 0.0)
        for layer in self.encoder:
            x = layer(x, None, seen)
        return self.norm(x)  # type: ignore[no-any-return]


def patches(pictures: Tensor, side: int) -> Tensor:
    """x_p: (batch, C, H, W) -> (batch, N, P^2 C), row by row from the top left."""
    cut = pictures.unfold(2, side, side).unfold(3, side, side)  # (batch, C, H / P, W / P, P, P)
    return cut.permute(0, 2, 3, 4, 5, 1).flatten(3).flatten(1, 2)


def rollout(weights: Weights, pooling: Pooling = "class") -> Tensor:
    """(batch, N): how much the classifier draws on each patch, through all layers           D.8; Abnar, Zuidema 2020

    A layer passes on half of what attention gathers (the mean of the heads) and half of what was there already (the
    residual); the product over the layers is the share of each patch. The class token's share of itself is left out.
    """
    through = None
    for layer in weights:
        mixed = layer.mean(dim=1)  # (batch, 1 + N, 1 + N)
        mixed = (mixed + torch.eye(mixed.shape[-1], device=mixed.device)) / 2
        through = mixed if through is None else mixed @ through
    assert through is not None, "a model has layers"
    share = (through[:, 0] if pooling == "class" else through.mean(dim=1))[:, 1:]
    return share / share.sum(dim=1, keepdim=True)
