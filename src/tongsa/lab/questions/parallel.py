"""What recurrence costs (§4): the time of a training step against the length of the sentences.

Every step has the same number of tokens: longer sentences are fewer. A recurrent layer takes as many sequential
operations as a sentence has positions, a self-attention layer one.
"""

from __future__ import annotations

import statistics
import time

from tongsa.lab.figures import lines
from tongsa.lab.question import Answer, Lab, Question, Values, Words

LENGTHS = (8, 16, 32, 64, 128, 256)
TOKENS = 1024
WIDTH = 64


def measure(lab: Lab) -> Values:
    """Seconds of forward and backward through one layer, by length."""
    import torch
    from torch import Tensor, nn

    from tongsa.config import TransformerSection
    from tongsa.models.layers import EncoderLayer

    attention = EncoderLayer(TransformerSection(d_model=WIDTH, d_ff=4 * WIDTH, heads=4, dropout=0.0))
    kernels = {name: kind(WIDTH, WIDTH, batch_first=True) for name, kind in (("gru", nn.GRU), ("lstm", nn.LSTM))}

    def step(name: str, x: Tensor) -> None:
        y = attention(x, None) if name == "transformer" else kernels[name](x)[0]
        y.sum().backward()

    names = ("transformer", *kernels)
    rows: list[Values] = [{"length": length, **{name: [] for name in names}} for length in LENGTHS]
    for repeat in range(lab.seeds + 3):
        for row in rows:  # all lengths in turn: other work on the machine slows all of them alike
            x = torch.randn(TOKENS // row["length"], row["length"], WIDTH)
            for name in names:
                begun = time.perf_counter()
                step(name, x)
                if repeat:  # the first one allocates
                    row[name].append(time.perf_counter() - begun)
    return {"rows": rows, "tokens": TOKENS}


def answer(values: Values, words: Words) -> Answer:
    names = {"transformer": words("self-attention", "셀프 어텐션"), "gru": "GRU", "lstm": "LSTM"}
    rows = values["rows"]
    medians = {name: [statistics.median(row[name]) for row in rows] for name in names}
    grown = {name: times[-1] / times[0] for name, times in medians.items()}
    first, last = rows[0]["length"], rows[-1]["length"]
    slowest = max(("gru", "lstm"), key=lambda name: grown[name])
    recurrent = ", ".join(f"{names[name]} {grown[name]:.1f}" for name in ("gru", "lstm"))
    if grown[slowest] > 1.5 * grown["transformer"]:
        conclusion = words(
            f"With the same number of tokens, sentences of {last} instead of {first} words make a step of a recurrent "
            f"layer up to {grown[slowest]:.1f} times as long (ratios: {recurrent}), and one of self-attention "
            f"{grown['transformer']:.1f} times. A recurrent layer has to wait {last} times for its own state; the "
            "positions of self-attention are computed together.",
            f"토큰 수가 같을 때 문장 길이가 {first}에서 {last}단어로 늘면 순환 층의 한 스텝은 최대 "
            f"{grown[slowest]:.1f}배(배율: {recurrent}), 셀프 어텐션은 {grown['transformer']:.1f}배 걸린다. "
            f"순환 층은 자기 상태를 {last}번 기다려야 하지만, 셀프 어텐션은 모든 위치를 한꺼번에 계산한다.",
        )
    else:
        conclusion = words(
            f"On this machine recurrence costs no more than self-attention as sentences grow from {first} to {last} "
            f"words: {grown[slowest]:.1f} and {grown['transformer']:.1f} times the time.",
            f"이 컴퓨터에서는 문장이 {first}에서 {last}단어로 길어져도 순환 층이 셀프 어텐션보다 더 느려지지 않는다. "
            f"걸린 시간은 각각 {grown[slowest]:.1f}배와 {grown['transformer']:.1f}배다.",
        )
    return Answer(
        conclusion=conclusion,
        head=[
            words("words of a sentence", "문장의 단어 수"),
            *(words(f"{said}, ratio", f"{said}, 배율") for said in names.values()),
            words("sequential operations", "순차 연산"),
        ],
        rows=[
            [
                str(row["length"]),
                *(f"{medians[name][place] / medians[name][0]:.2f}" for name in names),
                f"1 / {row['length']}",
            ]
            for place, row in enumerate(rows)
        ],
        figures=[
            lines(
                words("Time of a training step", "학습 한 스텝의 시간"),
                words("words of a sentence", "문장의 단어 수"),
                {
                    said: [
                        (row["length"], time / medians[name][0]) for row, time in zip(rows, medians[name], strict=True)
                    ]
                    for name, said in names.items()
                },
                note=words(
                    f"{values['tokens']:,} tokens in every step; times the shortest sentences' time",
                    f"스텝마다 토큰 {values['tokens']:,}개, 가장 짧은 문장의 시간에 대한 배율",
                ),
                across_logarithmic=True,
                from_zero=True,
            )
        ],
    )


PARALLEL = Question(
    name="parallel",
    section="4",
    english="What does recurrence cost?",
    korean="순환 구조는 얼마나 느린가?",
    measure=measure,
    answer=answer,
)
