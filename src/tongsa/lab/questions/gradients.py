"""How the gradient reaches a word n steps away (§4, "maximum path length"), through layers with new weights.

With x_i the input of position i and h what the layer makes of the last position, the measure is |dh / dx_i|, estimated
with a random vector, relative to the one of the last position itself. The bidirectional network gives its last forward
and its first backward state, as an encoder does that sums a sentence up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from tongsa.lab.figures import lines
from tongsa.lab.question import Answer, Lab, Question, Values, Words, mean_of

if TYPE_CHECKING:
    from torch import Tensor

WIDTH, LENGTH, ROWS = 64, 65, 8
DISTANCES = (0, 1, 2, 4, 8, 16, 32, 64)
GAINS = (0.5, 1.0, 1.5, 2.0, 4.0)
"""Factors of the recurrent matrix, which is orthogonal: at 1, it keeps the length of a state."""
TINY = 1e-30
SATURATED = 0.99

Layer = Callable[["Tensor"], "Tensor"]
"""(rows, positions, width) -> (rows, width)"""


def measure(lab: Lab) -> Values:
    import torch

    curves: dict[str, list[list[float]]] = {}
    gains: dict[str, list[list[float]]] = {"gradient": [], "saturated": [], "state": []}
    for seed in range(1, lab.seeds + 1):
        torch.manual_seed(seed)
        for name, layer in _layers().items():
            x = torch.randn(ROWS, LENGTH, WIDTH)
            arrived = _arrived(layer, x)
            last = max(arrived[0], TINY)
            curves.setdefault(name, []).append([max(arrived[d] / last, TINY) for d in DISTANCES])
        for kept in gains.values():
            kept.append([])
        for gain in GAINS:
            gradient, saturated, state = _with_gain(gain)
            gains["gradient"][-1].append(gradient)
            gains["saturated"][-1].append(saturated)
            gains["state"][-1].append(state)
    return {"distances": list(DISTANCES), "curves": curves, "gains": list(GAINS), **gains}


def _layers() -> dict[str, Layer]:
    import torch
    from torch import nn

    from tongsa.config import TransformerSection
    from tongsa.models.convolution import Convolution
    from tongsa.models.layers import EncoderLayer, initialise

    def recurrent(kernel: nn.RNNBase) -> Layer:
        return lambda x: kernel(x)[0][:, -1]

    both = nn.GRU(WIDTH, WIDTH // 2, batch_first=True, bidirectional=True)

    def ends(x: Tensor) -> Tensor:
        y = both(x)[0]
        return torch.cat([y[:, -1, : WIDTH // 2], y[:, 0, WIDTH // 2 :]], dim=-1)

    convolutions = [Convolution(WIDTH, WIDTH, 5, masked=True) for _ in range(4)]

    def convolved(x: Tensor) -> Tensor:
        for convolution in convolutions:
            x = x + torch.relu(convolution(x))
        return x[:, -1]

    attention = EncoderLayer(TransformerSection(d_model=WIDTH, d_ff=4 * WIDTH, heads=4, dropout=0.0))
    attention.apply(initialise)
    return {
        "tanh": recurrent(nn.RNN(WIDTH, WIDTH, batch_first=True)),
        "relu": recurrent(nn.RNN(WIDTH, WIDTH, batch_first=True, nonlinearity="relu")),
        "lstm": recurrent(nn.LSTM(WIDTH, WIDTH, batch_first=True)),
        "gru": recurrent(nn.GRU(WIDTH, WIDTH, batch_first=True)),
        "bidirectional": ends,
        "convolutions": convolved,
        "attention": lambda x: attention(x, None)[:, -1],
    }


def _arrived(layer: Layer, x: Tensor) -> list[float]:
    """Length of the gradient at each distance from the last position, as a mean over sentences."""
    import torch

    x.requires_grad_()
    h = layer(x)
    (gradient,) = torch.autograd.grad((h * torch.randn(h.shape)).sum(), x)
    return gradient.norm(dim=-1).mean(dim=0).flip(0).tolist()  # type: ignore[no-any-return]


def _with_gain(gain: float) -> tuple[float, float, float]:
    """tanh: gradient at half the length relative to the nearest one, and saturated share of the last state; ReLU: how
    long its last state is, relative to its first."""
    import torch
    from torch import nn

    x = torch.randn(ROWS, LENGTH, WIDTH)
    tanh = nn.RNN(WIDTH, WIDTH, batch_first=True)
    relu = nn.RNN(WIDTH, WIDTH, batch_first=True, nonlinearity="relu")
    with torch.no_grad():
        for kernel in (tanh, relu):
            of_input, of_state, *_ = kernel.parameters()
            nn.init.orthogonal_(of_state, gain=gain)
            nn.init.xavier_uniform_(of_input)
        states = relu.double()(x.double())[0].norm(dim=-1).mean(dim=0)  # single precision would overflow
        saturated = float((tanh(x)[0][:, -1].abs() > SATURATED).float().mean())
    arrived = _arrived(lambda x: tanh(x)[0][:, -1], x)
    ratio = max(arrived[LENGTH // 2] / max(arrived[0], TINY), TINY)
    return ratio, saturated, float(states[-1] / states[0])


def answer(values: Values, words: Words) -> Answer:
    distances, curves = values["distances"], values["curves"]
    names = {
        "tanh": words("RNN, tanh", "RNN, tanh"),
        "relu": words("RNN, ReLU", "RNN, ReLU"),
        "lstm": "LSTM",
        "gru": "GRU",
        "bidirectional": words("GRU, bidirectional", "양방향 GRU"),
        "convolutions": words("4 convolutions of 5", "너비 5의 합성곱 4층"),
        "attention": words("self-attention", "셀프 어텐션"),
    }

    def typical(name: str, place: int) -> float:
        """Geometric mean over seeds."""
        return math.exp(mean_of([math.log(seed[place]) for seed in curves[name]]).mean)

    far = {name: typical(name, -1) / typical(name, 1) for name in names}
    return Answer(
        conclusion=" ".join([_lead(far, distances[-1], words), _both_ends(far, words), _gains(values, words)]),
        head=[words("layer", "층"), *(words(f"{d} steps", f"{d}칸") for d in distances)],
        rows=[
            [said, *(_short(typical(name, place)) for place in range(len(distances)))] for name, said in names.items()
        ],
        figures=[
            lines(
                words("Gradient by distance", "거리에 따른 그래디언트"),
                words("steps", "칸"),
                {
                    said: [(d, max(typical(name, place), 1e-12)) for place, d in enumerate(distances)]
                    for name, said in names.items()
                },
                note=words("relative to the word itself", "자기 위치에 대한 비율"),
                logarithmic=True,
            ),
            lines(
                words("tanh: saturated share of the state", "tanh: 상태에서 포화된 비율"),
                words("factor of the recurrent matrix", "순환 행렬의 배율"),
                {"tanh": _means(values, "saturated")},
                note=f"|h| > {SATURATED}",
                from_zero=True,
            ),
            lines(
                words("RNN: vanishing and exploding", "RNN: 소실과 폭발"),
                words("factor of the recurrent matrix", "순환 행렬의 배율"),
                {
                    words("tanh: gradient over half the length", "tanh: 절반 길이를 지난 그래디언트"): _powers(
                        values, "gradient"
                    ),
                    words("ReLU: growth of the state", "ReLU: 상태의 증가"): _powers(values, "state"),
                },
                note=words("powers of ten", "10의 거듭제곱"),
            ),
        ],
    )


def _lead(far: dict[str, float], farthest: int, words: Words) -> str:
    recurrent = max(far[name] for name in ("tanh", "relu", "lstm", "gru"))
    even = far["attention"] > 0.1
    if even and recurrent < 0.01:
        return words(
            f"Self-attention passes the gradient of a word {farthest} steps away as well as that of a neighbour "
            f"({far['attention']:.2g} times it). Through a recurrent layer it fades: at best {recurrent:.1g} of a "
            "neighbour's arrives.",
            f"셀프 어텐션에서는 {farthest}칸 떨어진 단어의 그래디언트가 이웃 단어의 {far['attention']:.2g}배로, "
            f"거의 그대로 전달된다. 순환 층에서는 사라진다. 가장 나은 경우에도 이웃의 {recurrent:.1g}배만 도달한다.",
        )
    if even:
        return words(
            f"Here the gradient does not fade through every recurrent layer: over {farthest} steps "
            f"{recurrent:.2g} of a neighbour's arrives in the best one.",
            f"여기서는 모든 순환 층에서 그래디언트가 사라지지는 않는다. {farthest}칸 떨어져도 가장 나은 층에서는 "
            f"이웃의 {recurrent:.2g}배가 도달한다.",
        )
    return words(
        f"Here self-attention passes only {far['attention']:.1g} of a neighbour's gradient over {farthest} steps.",
        f"여기서는 셀프 어텐션도 {farthest}칸을 지나면 이웃 그래디언트의 {far['attention']:.1g}배만 전달한다.",
    )


def _short(value: float) -> str:
    return "0" if value <= 2 * TINY else f"{value:.2g}"


def _means(values: Values, what: str) -> list[tuple[float, float]]:
    """By gain, the geometric mean over seeds."""
    seeds = values[what]
    return [
        (gain, math.exp(mean_of([math.log(max(seed[place], TINY)) for seed in seeds]).mean))
        for place, gain in enumerate(values["gains"])
    ]


def _powers(values: Values, what: str) -> list[tuple[float, float]]:
    return [(gain, math.log10(value)) for gain, value in _means(values, what)]


def _both_ends(far: dict[str, float], words: Words) -> str:
    if far["convolutions"] < 1e-12:
        blind = words("convolutions see nothing beyond their width", "합성곱은 자기 너비 밖을 전혀 보지 못하고")
    else:
        blind = words("convolutions reach that far", "합성곱도 거기까지 닿고")
    if far["bidirectional"] > 10 * far["gru"]:
        return words(
            f"Of the others, {blind}, and a bidirectional network has the first word near one of its ends.",
            f"그 밖에 {blind}, 양방향 네트워크에서는 첫 단어도 한쪽 끝에서 가깝다.",
        )
    return words(
        f"Of the others, {blind}, and a second direction does not help here.",
        f"그 밖에 {blind}, 여기서는 양방향도 도움이 되지 않는다.",
    )


def _gains(values: Values, words: Words) -> str:
    saturated, state = _means(values, "saturated")[-1], _means(values, "state")[-1]
    (low, small), *_, (high, large) = _means(values, "gradient")
    full = (
        words(
            f"With a recurrent matrix {saturated[0]:g} times as large, {100 * saturated[1]:.0f}% of a tanh layer is "
            "saturated",
            f"순환 행렬을 {saturated[0]:g}배로 키우면 tanh 층의 {100 * saturated[1]:.0f}%가 포화되고",
        )
        if saturated[1] > 0.3
        else words(
            f"A recurrent matrix {saturated[0]:g} times as large saturates tanh little ({100 * saturated[1]:.0f}%)",
            f"순환 행렬을 {saturated[0]:g}배로 키워도 tanh는 거의 포화되지 않으며({100 * saturated[1]:.0f}%)",
        )
    )
    grown = (
        words(
            f", and the state of a ReLU layer grows {state[1]:.1g} times: it diverges.",
            f" ReLU 층의 상태는 {state[1]:.1g}배로 발산한다.",
        )
        if state[1] > 100
        else words(
            f", and a ReLU layer stays bounded ({state[1]:.1g} times).",
            f" ReLU 층은 발산하지 않는다({state[1]:.1g}배).",
        )
    )
    arrives = words(
        f" Through tanh, over half the length, the gradient goes from {small:.1g} (factor {low:g}) to {large:.1g} "
        f"(factor {high:g}) of a neighbour's.",
        f" 절반 길이를 지난 tanh의 그래디언트는 이웃에 비해 {small:.1g}(배율 {low:g})에서 "
        f"{large:.1g}(배율 {high:g})까지 변한다.",
    )
    return full + grown + arrives


GRADIENTS = Question(
    name="gradients",
    section="4",
    english="How does the gradient reach a word n steps away?",
    korean="그래디언트는 n칸 떨어진 단어까지 어떻게 전달되는가?",
    measure=measure,
    answer=answer,
)
