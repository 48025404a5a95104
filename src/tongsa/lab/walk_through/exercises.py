"""Exercises with the numbers of one model and sentence, small enough for paper and pencil.

What is given is rounded, and the answers are computed from what is given: whoever calculates correctly finds them to
the last digit. Where only a few of a vector's numbers are used, a note tells what the model finds with all of them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn

from tongsa.decoding.greedy import log_probabilities
from tongsa.decoding.search import length_penalty
from tongsa.engines.inspection import shown
from tongsa.lab.walk_through.steps import Walk
from tongsa.models.layers import EncoderLayer
from tongsa.models.transformer import Transformer

if TYPE_CHECKING:
    from tongsa.translation.translator import Translator

FEW = 4
"""Numbers of a vector that are calculated with."""
BEAM = 2
MARK = "✓"
"""Name of a column that marks what is chosen: 1 or 0."""

Both = tuple[str, str]
"""English and Korean."""


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A table of numbers with names for its rows and columns."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    """A row may be shorter than the table."""
    digits: int = 2
    counts: tuple[str, ...] = ()
    """Rows and columns that are counts."""

    def row(self, name: str) -> tuple[float, ...]:
        return self.values[self.rows.index(name)]


@dataclass(frozen=True, kw_only=True)
class Exercise:
    name: str
    section: str
    """Of the paper."""
    title: Both
    task: Both
    given: Numbers
    answer: Numbers
    note: Both = ("", "")
    """What the model finds, where that differs."""


def numbers(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    digits: int = 2,
    counts: tuple[str, ...] = (),
) -> Numbers:
    """A table, rounded to what is shown."""
    kept = tuple(tuple(round(float(value), digits) + 0.0 for value in row) for row in values)
    return Numbers(rows=tuple(rows), columns=tuple(columns), values=kept, digits=digits, counts=counts)


def exercises(translator: Translator, walk: Walk) -> list[Exercise]:
    """In the order of the walk-through."""
    model = cast(Transformer, translator.native.model)
    found = [_position(walk)] if model.config.positions == "sinusoidal" else []
    found += [_input(walk), _score(walk), _softmax(walk), _head(walk), _layer_norm(walk, model)]
    found += [_parameters(walk, model), _beam(walk, translator, model)]
    return [*found, *_penalty(walk, translator)]


def _place(walk: Walk) -> int:
    """The source position of the exercises: the third, if there are so many."""
    return min(2, len(walk.source) - 2)


def _dimensions(count: int = FEW) -> list[str]:
    return [str(number) for number in range(1, count + 1)]


def _position(walk: Walk) -> Exercise:
    place, d = _place(walk), walk.facts["d_model"]
    divisors = numbers(
        ["pos", "10000^(2i/d_model)"], ["i = 0", "i = 1"], [[place] * 2, [1, 10000 ** (2 / d)]], 3, ("pos",)
    )
    angles = [place / divisor for divisor in divisors.values[1]]
    piece = shown(walk.source[place])
    return Exercise(
        name="position",
        section="3.5",
        title=("The encoding of a position", "위치 인코딩"),
        task=(
            f"“{piece}” stands at pos = {place} (the first piece has 0). Compute the first four numbers of its "
            "encoding: sin(pos / 10000^(2i/d_model)) and cos(pos / 10000^(2i/d_model)) for i = 0 and i = 1. Angles are "
            "in radians.",
            f"“{piece}”의 위치는 pos = {place}이다(첫 조각이 0). 위치 인코딩의 처음 네 수를 구하라. i = 0과 i = 1에 "
            "대해 sin(pos / 10000^(2i/d_model))과 cos(pos / 10000^(2i/d_model))이다. 각은 라디안이다.",
        ),
        given=divisors,
        answer=numbers(
            ["PE"],
            ["sin, i = 0", "cos, i = 0", "sin, i = 1", "cos, i = 1"],
            [[function(angle) for angle in angles for function in (math.sin, math.cos)]],
        ),
    )


def _input(walk: Walk) -> Exercise:
    place, d = _place(walk), walk.facts["d_model"]
    given = numbers(
        ["E", "PE"],
        _dimensions(),
        [walk.find("source", name)[place, :FEW].tolist() for name in ("embeddings", "positions")],
        3,
    )
    root = round(math.sqrt(d), 2)
    piece = shown(walk.source[place])
    return Exercise(
        name="input",
        section="3.4",
        title=("The input of the first layer", "첫 층의 입력"),
        task=(
            f"E is the embedding of “{piece}”, PE its position; √d_model = √{d} = {root:g}. Compute E · √d_model + PE.",
            f"E는 “{piece}”의 임베딩, PE는 위치 인코딩이고 √d_model = √{d} = {root:g}이다. E · √d_model + PE를 구하라.",
        ),
        given=given,
        answer=numbers(["x"], _dimensions(), [[e * root + p for e, p in zip(*given.values, strict=True)]]),
    )


def _score(walk: Walk) -> Exercise:
    place = _place(walk)
    others = [other for other in range(len(walk.source)) if other != place][:2]
    names = [shown(walk.source[other]) for other in others]
    keys = [f"k {other + 1}: {name}" for other, name in zip(others, names, strict=True)]
    query = f"q {place + 1}: {shown(walk.source[place])}"
    q, k = (walk.find("encoder", name) for name in "QK")
    given = numbers([query, *keys], _dimensions(), [row[:FEW].tolist() for row in (q[place], *k[others])])
    products = [sum(a * b for a, b in zip(given.values[0], row, strict=True)) for row in given.values[1:]]
    whole = [float(walk.find("encoder", "scaled scores")[place, other]) for other in others]
    numbers_of_all = ", ".join(f"{value:.2f}" for value in whole)
    d_k = walk.facts["d_k"]
    return Exercise(
        name="score",
        section="3.2.1",
        title=("How well a query and a key match", "쿼리와 키의 점수"),
        task=(
            f"With only the first {FEW} numbers of q and k, d_k is {FEW}. Compute q · k for both keys, and "
            "q · k / √d_k. Which key gets the larger weight?",
            f"q와 k의 처음 {FEW}개 수만 쓰면 d_k는 {FEW}이다. 두 키에 대해 q · k와 q · k / √d_k를 구하라. "
            "어느 쪽의 가중치가 더 큰가?",
        ),
        given=given,
        answer=numbers(["q · k", "q · k / √d_k"], names, [products, [value / math.sqrt(FEW) for value in products]]),
        note=(
            f"With all {d_k} numbers the model finds {numbers_of_all}.",
            f"모델이 {d_k}개 수를 모두 써서 구한 값: {numbers_of_all}.",
        ),
    )


def _row(walk: Walk) -> int:
    """The row of the decoder's self-attention that the exercises use: few of its columns are not masked."""
    return min(2, len(walk.target) - 1)


def _written(walk: Walk, count: int) -> list[str]:
    return ["<start>", *map(shown, walk.target)][:count]


def _softmax(walk: Walk) -> Exercise:
    row = _row(walk)
    scores = walk.find("decoder", "scaled scores")[row, : row + 2]
    columns = _written(walk, len(scores))
    given = numbers([columns[row]], columns, [scores.tolist()])
    powers = [math.exp(value) if column <= row else 0.0 for column, value in enumerate(given.values[0])]
    return Exercise(
        name="softmax",
        section="3.2.3",
        title=("Mask and softmax", "마스크와 소프트맥스"),
        task=(
            f"These are the scores of “{columns[row]}” in the decoder, already divided by √d_k. Set to -∞ what the "
            "mask hides (all that comes later), and compute exp of each score and the weights.",
            f"디코더에서 “{columns[row]}”의 점수이며, 이미 √d_k로 나누었다. 마스크가 가리는 것(뒤에 오는 것)을 -∞로 "
            "두고 각 점수의 exp와 가중치를 구하라.",
        ),
        given=given,
        answer=numbers(["exp", "softmax"], columns, [powers, [power / sum(powers) for power in powers]], 3),
    )


def _head(walk: Walk) -> Exercise:
    row = _row(walk)
    names = _written(walk, row + 1)
    weights = walk.find("decoder", "weights")[row, : row + 1].tolist()
    values = walk.find("decoder", "V")[: row + 1, : FEW - 1].tolist()
    given = numbers(
        [f"{place}: {name}" for place, name in enumerate(names, 1)],
        ["weight", *(f"v {number}" for number in _dimensions(FEW - 1))],
        [[weight, *value] for weight, value in zip(weights, values, strict=True)],
    )
    sums = [sum(line[0] * line[column] for line in given.values) for column in range(1, FEW)]
    return Exercise(
        name="head",
        section="3.2.1",
        title=("What a head hands on", "헤드의 출력"),
        task=(
            f"Weights of “{names[row]}”, and the first {FEW - 1} numbers of the values. Compute the weighted sum of "
            "the values.",
            f"“{names[row]}”의 가중치와 밸류의 처음 {FEW - 1}개 수다. 밸류의 가중합을 구하라.",
        ),
        given=given,
        answer=numbers(["head"], _dimensions(FEW - 1), [sums]),
    )


def _layer_norm(walk: Walk, model: Transformer) -> Exercise:
    layer = cast(EncoderLayer, model.encoder[walk.layer - 1])
    norm = cast(nn.LayerNorm, layer.residuals[0].norm)
    x = walk.find("encoder", "sum")[_place(walk), :FEW].tolist()
    given = numbers(["x", "γ", "β"], _dimensions(), [x, norm.weight[:FEW].tolist(), norm.bias[:FEW].tolist()])
    mean = sum(given.values[0]) / FEW
    variance = sum((value - mean) ** 2 for value in given.values[0]) / FEW
    normal = [(value - mean) / math.sqrt(variance) for value in given.values[0]]
    out = [value * gain + shift for value, gain, shift in zip(normal, given.values[1], given.values[2], strict=True)]
    d = walk.facts["d_model"]
    return Exercise(
        name="layer-norm",
        section="3.1",
        title=("LayerNorm", "LayerNorm"),
        task=(
            f"As if a vector had only {FEW} numbers: compute their mean μ and variance σ² (divide by {FEW}), then "
            "(x - μ) / σ, then γ (x - μ) / σ + β.",
            f"벡터에 수가 {FEW}개뿐이라고 하자. 평균 μ와 분산 σ²({FEW}으로 나눈다)을 구하고, (x - μ) / σ와 "
            "γ (x - μ) / σ + β를 구하라.",
        ),
        given=given,
        answer=numbers(["μ", "σ²", "(x - μ) / σ", "LayerNorm"], _dimensions(), [[mean], [variance], normal, out]),
        note=(f"The model takes μ and σ² over all {d} numbers.", f"모델은 μ와 σ²을 {d}개 수 전체에서 구한다."),
    )


def _parameters(walk: Walk, model: Transformer) -> Exercise:
    layer = cast(EncoderLayer, model.encoder[walk.layer - 1])
    parts: dict[str, nn.Module] = {
        "W^Q, W^K, W^V, W^O": layer.self_attention,
        "W_1, b_1, W_2, b_2": layer.feed_forward,
        "2 × LayerNorm (γ, β)": layer.residuals,
    }
    counts = [float(sum(each.numel() for each in part.parameters())) for part in parts.values()]
    facts = {name: walk.facts[name] for name in ("d_model", "d_k", "heads", "d_ff")}
    return Exercise(
        name="parameters",
        section="3.1",
        title=("Parameters of an encoder layer", "인코더 층의 매개변수 수"),
        task=(
            "Count the parameters of one layer of the encoder. Every projection (W^Q, W^K, W^V, W^O) has a bias, too.",
            "인코더 한 층의 매개변수를 세어라. 투영(W^Q, W^K, W^V, W^O)마다 편향도 있다.",
        ),
        given=numbers([""], list(facts), [list(facts.values())], 0),
        answer=numbers([""], [*parts, "Σ"], [[*counts, sum(counts)]], 0),
    )


@torch.no_grad()
def _beam(walk: Walk, translator: Translator, model: Transformer) -> Exercise:
    """One step of a beam of two: from two hypotheses of one piece to the best two of two pieces."""
    special = translator.native.special
    source = walk.find("source", "tokens")[:, 0].long()[None]
    unwritable = special.unwritable_ids(torch.device("cpu"))

    def following(written: list[int]) -> Tensor:
        target = torch.tensor([[special.start, *written]])
        logits = model(source, torch.ones_like(source, dtype=torch.bool), target)[0, -1]
        return log_probabilities(logits, unwritable)

    first = following([])
    first[special.end] = -math.inf
    begun = first.topk(BEAM)
    rows, values = [], []
    for log_p, token in zip(begun.values.tolist(), begun.indices.tolist(), strict=True):
        after = following([token]).topk(BEAM)
        for next_log_p, next_token in zip(after.values.tolist(), after.indices.tolist(), strict=True):
            one, two = (_piece(translator, each) for each in (token, next_token))
            rows.append(f"{one} {two}")
            values.append([log_p, next_log_p])
    given = numbers(rows, ["log p(1)", "log p(2)"], values)
    sums = [sum(row) for row in given.values]
    kept = sorted(range(len(sums)), key=lambda place: -sums[place])[:BEAM]
    return Exercise(
        name="beam",
        section="6.1",
        title=("One step of beam search", "빔 서치 한 걸음"),
        task=(
            f"Beam of {BEAM}: each of the two best first pieces with its two best second pieces. Compute the "
            f"log-probability of each pair, and mark the {BEAM} that the beam keeps.",
            f"빔 크기 {BEAM}: 가장 좋은 첫 조각 두 개와 각각의 가장 좋은 둘째 조각 두 개다. 각 쌍의 로그 확률을 구하고 "
            f"빔이 남기는 {BEAM}개에 표시하라.",
        ),
        given=given,
        answer=numbers(rows, ["log p", MARK], [[total, float(place in kept)] for place, total in enumerate(sums)]),
    )


def _piece(translator: Translator, token: int) -> str:
    if token == translator.native.special.end:
        return "</s>"
    return shown(translator.subwords.target.pieces([token])[0])


def _penalty(walk: Walk, translator: Translator) -> list[Exercise]:
    """The two best translations of the search, ranked; none where there is no second one or no penalty."""
    search = dataclasses.replace(translator.search, nbest=translator.search.beam, alignment=False)
    alpha = search.length_penalty
    source = [int(token) for token in walk.find("source", "tokens")[:-1, 0]]
    kept = translator.native.translate([source], search)[0][:2]
    if len(kept) < 2 or not alpha:
        return []
    names = [translator.subwords.target.decode(one.ids) for one in kept]
    given = numbers(
        names, ["log P(Y|X)", "|Y|"], [[one.log_probability, len(one.ids) + 1] for one in kept], 2, ("|Y|",)
    )
    penalties = [float(length_penalty(length, alpha)) for _, length in given.values]
    ranked = [[lp, row[0] / lp] for lp, row in zip(penalties, given.values, strict=True)]
    return [
        Exercise(
            name="penalty",
            section="6.1",
            title=("The length penalty", "길이 페널티"),
            task=(
                f"Compute lp(Y) = ((5 + |Y|) / 6)^{alpha:g} and log P(Y|X) / lp(Y) for two translations. "
                "Which one is better? |Y| counts the end, too.",
                f"두 번역의 lp(Y) = ((5 + |Y|) / 6)^{alpha:g}와 log P(Y|X) / lp(Y)를 구하라. 어느 쪽이 더 좋은가? "
                "|Y|에는 문장의 끝도 들어간다.",
            ),
            given=given,
            answer=numbers(names, ["lp(Y)", "log P / lp"], ranked),
        )
    ]
