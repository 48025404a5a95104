"""Recurrent cells beside their equations, and stacks of them.

PyTorch's kernels (`nn.RNN`, `nn.GRU`, `nn.LSTM`) process a whole sequence at once, as training needs. The cells
here take one step with the same weights, as search needs, and are readable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tongsa.config.architectures import MAX_LAYERS, MAX_WIDTH, ModelSection
from tongsa.config.sections import bounds
from tongsa.models.dropout import dropout

Kind = Literal["rnn", "rnn-relu", "gru", "lstm"]


@dataclass(frozen=True, kw_only=True)
class RecurrentLayers(ModelSection):
    """Settings shared by the recurrent architectures."""

    hidden: int = 0
    """Units of a layer (0: d_model)."""
    layers: int = 1
    """Layers of the encoder, and of the decoder."""
    bidirectional: bool = False
    """Use two encoders, one forwards and one backwards, with half of the units each, and concatenate their states."""
    forget_bias: float = 1.0
    """Initial bias of an LSTM's forget gates."""
    tied: bool = True
    """Share one matrix between embeddings and output, as in the Transformer; without a joint vocabulary, only two."""

    @property
    def units(self) -> int:
        return self.hidden or self.d_model

    def problems(self) -> list[str]:
        found = super().problems() + bounds(
            self, layers=(1, MAX_LAYERS), hidden=(0, MAX_WIDTH), forget_bias=(-100, 100)
        )
        if self.bidirectional and self.units % 2:
            found.append(f"hidden is {self.units}; two directions share the units, so it must be even")
        return found


Hidden = tuple[Tensor, ...]
"""State of a cell, each (batch, hidden): h, and for the LSTM also its memory c."""

Weights = tuple[Tensor, Tensor, Tensor, Tensor]
"""W (gates * hidden, width), U (gates * hidden, hidden) and their biases; the gates are stacked."""


def rnn_cell(x: Tensor, hidden: Hidden, weights: Weights) -> Hidden:
    """h_t = tanh(W x_t + U h_{t-1} + b)                                                        Elman 1990"""
    (h,) = hidden
    w, u, b_w, b_u = weights
    return (torch.tanh(linear(x, w, b_w) + linear(h, u, b_u)),)


def relu_cell(x: Tensor, hidden: Hidden, weights: Weights) -> Hidden:
    """h_t = max(0, W x_t + U h_{t-1} + b): nothing bounds it, so it can explode where tanh saturates"""
    (h,) = hidden
    w, u, b_w, b_u = weights
    return (torch.relu(linear(x, w, b_w) + linear(h, u, b_u)),)


def gru_cell(x: Tensor, hidden: Hidden, weights: Weights) -> Hidden:
    """The gated recurrent unit                                                    Cho et al. 2014, §2.3, Eq. 5 to 8

    r   = sigmoid(W_r x_t + U_r h_{t-1} + b_r)             reset gate
    z   = sigmoid(W_z x_t + U_z h_{t-1} + b_z)             update gate
    n   = tanh(W x_t + b + r * (U h_{t-1} + b'))           the paper has U(r * h_{t-1}); PyTorch's kernels have this
    h_t = z * h_{t-1} + (1 - z) * n
    """
    (h,) = hidden
    w, u, b_w, b_u = weights
    from_x, from_h = linear(x, w, b_w).chunk(3, dim=-1), linear(h, u, b_u).chunk(3, dim=-1)
    r = torch.sigmoid(from_x[0] + from_h[0])
    z = torch.sigmoid(from_x[1] + from_h[1])
    n = torch.tanh(from_x[2] + r * from_h[2])
    return (z * h + (1 - z) * n,)


def lstm_cell(x: Tensor, hidden: Hidden, weights: Weights) -> Hidden:
    """Long short-term memory                                 Hochreiter and Schmidhuber 1997, with Gers' forget gate

    i   = sigmoid(W_i x_t + U_i h_{t-1} + b_i)             input gate
    f   = sigmoid(W_f x_t + U_f h_{t-1} + b_f)             forget gate
    g   = tanh(W_g x_t + U_g h_{t-1} + b_g)                what may be written
    o   = sigmoid(W_o x_t + U_o h_{t-1} + b_o)             output gate
    c_t = f * c_{t-1} + i * g
    h_t = o * tanh(c_t)
    """
    h, c = hidden
    w, u, b_w, b_u = weights
    i, f, g, o = (linear(x, w, b_w) + linear(h, u, b_u)).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


CELLS: dict[Kind, Callable[[Tensor, Hidden, Weights], Hidden]] = {
    "rnn": rnn_cell,
    "rnn-relu": relu_cell,
    "gru": gru_cell,
    "lstm": lstm_cell,
}
KERNELS: dict[Kind, Callable[..., nn.RNNBase]] = {
    "rnn": nn.RNN,
    "rnn-relu": partial(nn.RNN, nonlinearity="relu"),
    "gru": nn.GRU,
    "lstm": nn.LSTM,
}

Layers = tuple[Hidden, ...]
"""The states of a stack, one per layer."""


class RecurrentEncoder(nn.Module):
    """A stack that reads a whole sentence in one or both directions.

    Each direction has its own weights and half of the units, so that their concatenation is `hidden` wide.
    (Bahdanau et al. give each all the units; halves need no map from the encoder's states to those of the decoder.)
    """

    def __init__(
        self, kind: Kind, width: int, hidden: int, layers: int, dropout: float, *, bidirectional: bool
    ) -> None:
        super().__init__()
        self.directions = 2 if bidirectional else 1
        self.kernel = _kernel(kind, width, hidden // self.directions, layers, dropout, bidirectional=bidirectional)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Layers]:
        """x (batch, positions, width) -> (batch, positions, hidden), and every layer's last state at the last token.

        The last state of the backward direction is the one at the first token. Padding is never read.
        """
        if bool(mask.all()):
            outputs, last = self.kernel(x)
        else:
            packed = pack_padded_sequence(x, mask.sum(dim=1).cpu(), batch_first=True, enforce_sorted=False)
            outputs, last = self.kernel(packed)
            outputs, _ = pad_packed_sequence(outputs, batch_first=True, total_length=x.shape[1])
        return outputs, _by_layer(last, self.directions)


class Stack(nn.Module):
    """Layers of cells that run forward in time from given states."""

    def __init__(self, kind: Kind, width: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.cell = CELLS[kind]
        self.dropout = dropout
        self.kernel = _kernel(kind, width, hidden, layers, dropout)

    def forward(self, x: Tensor, states: Layers) -> Tensor:
        """x (batch, steps, width) -> the top layer's h (batch, steps, hidden)."""
        first = tuple(torch.stack(each) for each in zip(*states, strict=True))  # each (layers, batch, hidden)
        outputs, _ = self.kernel(x, first if len(first) == 2 else first[0])
        return outputs  # type: ignore[no-any-return]

    def step(self, x: Tensor, states: Layers) -> Layers:
        """Take one step: x (batch, width)."""
        after: list[Hidden] = []
        for layer, hidden in enumerate(states):
            # Dropout between the layers only, never from one step to the next.            Zaremba et al. 2014
            x = dropout(x, self.dropout if self.training and layer else 0.0)
            after.append(self.cell(x, hidden, self.weights(layer)))
            x = after[-1][0]
        return tuple(after)

    def weights(self, layer: int) -> Weights:
        w, u, b_w, b_u = (
            getattr(self.kernel, f"{name}_l{layer}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        return w, u, b_w, b_u


def _kernel(
    kind: Kind, width: int, hidden: int, layers: int, dropout: float, *, bidirectional: bool = False
) -> nn.RNNBase:
    between = dropout if layers > 1 else 0.0
    return KERNELS[kind](width, hidden, layers, batch_first=True, dropout=between, bidirectional=bidirectional)


def _by_layer(last: Tensor | tuple[Tensor, Tensor], directions: int) -> Layers:
    """PyTorch's (layers * directions, batch, units), one or for the LSTM two of them, as the states of each layer."""
    parts = (last,) if isinstance(last, Tensor) else last
    joined = [part.unflatten(0, (-1, directions)).transpose(1, 2).flatten(2) for part in parts]
    return tuple(zip(*joined, strict=True))  # a layer's h, or h and c: (batch, directions * units)


def embed(embedding: nn.Embedding, tokens: Tensor) -> Tensor:
    """Embeddings times sqrt(d_model), as the Transformer has them (§3.4 of its paper).

    The values of the table are small, as required by the softmax that shares it; scaled, they are about 1. With inputs
    as small as in the papers, cells ignore the words for the first hundreds of updates (docs/recurrent.md).
    """
    return embedding(tokens) * math.sqrt(embedding.embedding_dim)  # type: ignore[no-any-return]


def initialise(module: nn.Module, forget_bias: float) -> None:
    """Uniform in [-0.08, 0.08] (Sutskever et al. 2014, §3.4), except embeddings and recurrent matrices without an LSTM.

    Matrices from h to h that are not the LSTM's are orthogonal (Bahdanau et al. 2015, B.1): without an LSTM's memory,
    states would fade at our widths. Biases are 0; with the forget gate's at 1, an LSTM begins by keeping what it has
    read (Jozefowicz et al. 2015). For embeddings see `embed`.
    """
    if isinstance(module, nn.Linear):
        nn.init.uniform_(module.weight, -0.08, 0.08)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    if isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
        with torch.no_grad():
            module.weight[-1].zero_()  # <pad>
    if isinstance(module, nn.RNNBase):
        for name, parameter in module.named_parameters():
            _initialise_kernel(name, parameter, module, forget_bias)


def _initialise_kernel(name: str, parameter: Tensor, kernel: nn.RNNBase, forget_bias: float) -> None:
    lstm = isinstance(kernel, nn.LSTM)
    if name.startswith("bias"):
        nn.init.zeros_(parameter)
        if lstm and name.startswith("bias_ih"):
            with torch.no_grad():
                parameter[kernel.hidden_size : 2 * kernel.hidden_size] = forget_bias
    elif name.startswith("weight_hh") and not lstm:
        for gate in parameter.data.chunk(len(parameter) // kernel.hidden_size):
            nn.init.orthogonal_(gate)
    else:
        nn.init.uniform_(parameter, -0.08, 0.08)
