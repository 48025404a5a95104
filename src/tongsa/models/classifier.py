"""An encoder with a linear layer over the state that sums up its input: how BERT and ViT classify.

p(label) = softmax(W C),   C the last state of the class token          Devlin et al. 2019, §4.1
y = LN(z_L^0), and a linear layer                                       Dosovitskiy et al. 2021, Eq. 4 and §3.2
"""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

from tongsa.config import ModelSection
from tongsa.models import build_a
from tongsa.models.contracts import Encoder
from tongsa.models.dropout import dropout

Pooling = Literal["class", "mean"]


class EncoderWithHead(nn.Module):
    """Logits of labels; the weights of the encoder keep their names behind `encoder.`"""

    def __init__(self, section: ModelSection, labels: int, *sizes: int) -> None:
        super().__init__()
        self.encoder = build_a(Encoder, section, *sizes)  # type: ignore[type-abstract]
        self.head = nn.Linear(section.d_model, labels)
        self.dropout = section.dropout
        nn.init.zeros_(self.head.weight)  # as ViT is fine-tuned (§3.2): all labels begin equally likely
        nn.init.zeros_(self.head.bias)

    def forward(self, source: Tensor, mask: Tensor) -> Tensor:
        """(batch, labels): logits; source and mask are the encoder's."""
        summary = self.encoder.summary(self.encoder.encode(source, mask), mask)
        return self.head(dropout(summary, self.dropout if self.training else 0.0))  # type: ignore[no-any-return]


def pooled(states: Tensor, mask: Tensor, pooling: Pooling) -> Tensor:
    """(batch, positions, width) -> (batch, width)"""
    if pooling == "class":
        return states[:, 0]
    # Not the papers' default: the mean over all positions (Dosovitskiy et al. 2021, D.3).
    real = mask[..., None].to(states.dtype)
    return (states * real).sum(dim=1) / real.sum(dim=1)
