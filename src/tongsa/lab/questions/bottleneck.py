"""One context vector against attention as sentences grow (§1, §2), and how much a fixed vector can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tongsa.lab.figures import lines
from tongsa.lab.question import Answer, Lab, Question, Values, Words, difference, mean_of
from tongsa.lab.variants import Variants

if TYPE_CHECKING:
    from tongsa.lab.trained import Trained

RECURRENT = {"training.schedule": "constant", "training.peak": "0.005"}
TRAINED = {
    "gru": {"model.architecture": "gru", **RECURRENT},
    "gru-small-vector": {"model.architecture": "gru", "model.hidden": "16", **RECURRENT},
    "gru-large-vector": {"model.architecture": "gru", "model.hidden": "128", **RECURRENT},
    "gru-attention": {"model.architecture": "gru-attention", **RECURRENT},
    "base": {},
}
LENGTHS = ((1, 4), (5, 6), (7, 99))
"""Words of the source, from and to."""


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import train_variants

    return {"lengths": [list(ends) for ends in LENGTHS], "trained": train_variants(lab, TRAINED, look=losses)}


def losses(trained: Trained) -> Values:
    """Loss per token, by the length of the source."""
    found = []
    for fewest, most in LENGTHS:
        pairs = [pair for pair in trained.pairs if fewest <= len(pair[0].split()) <= most]
        found.append(trained.loss(pairs) if pairs else 0.0)
    return {"losses": found}


def answer(values: Values, words: Words) -> Answer:
    names = {
        "gru": words("GRU, a vector of 64", "GRU, 64차원 벡터"),
        "gru-small-vector": words("GRU, a vector of 16", "GRU, 16차원 벡터"),
        "gru-large-vector": words("GRU, a vector of 128", "GRU, 128차원 벡터"),
        "gru-attention": words("GRU with attention", "GRU, 어텐션"),
        "base": words("Transformer", "트랜스포머"),
    }
    trained = Variants(results=values["trained"], names=names, words=words)
    last = len(values["lengths"]) - 1

    ranges = [f"{a}–{b}" if b < 99 else f"{a}+" for a, b in values["lengths"]]
    return Answer(
        conclusion=_conclusion(values, words),
        head=[*trained.head(), *(words(f"loss, {each} words", f"손실, {each}단어") for each in ranges)],
        rows=[
            [*row, *(mean_of(_at(values, name, place)).text(2) for place in range(last + 1))]
            for row, name in zip(trained.rows(), names, strict=True)
        ],
        figures=[
            lines(
                words("Loss by the length of the sentence", "문장 길이에 따른 손실"),
                words("words, from", "단어 수, 최소"),
                {
                    said: [
                        (ends[0], mean_of(_at(values, name, place)).mean)
                        for place, ends in enumerate(values["lengths"])
                    ]
                    for name, said in names.items()
                },
                note=words("-log p of a token, mean over seeds", "토큰당 -log p, 시드 평균"),
            ),
            *trained.figures(),
        ],
    )


def _at(values: Values, name: str, place: int) -> list[float]:
    return [result["losses"][place] for result in values["trained"][name]]


def _conclusion(values: Values, words: Words) -> str:
    last = len(values["lengths"]) - 1
    gap = [difference(_at(values, "gru", place), _at(values, "gru-attention", place)) for place in (0, last)]
    widened = difference(
        [a - b for a, b in zip(_at(values, "gru", last), _at(values, "gru-attention", last), strict=True)],
        [a - b for a, b in zip(_at(values, "gru", 0), _at(values, "gru-attention", 0), strict=True)],
    )
    fewest, most = values["lengths"][0][1], values["lengths"][-1][0]
    numbers = words(
        f"it costs {gap[0].mean:.2f} per token up to {fewest} words, {gap[1].mean:.2f} from {most} words on",
        f"토큰당 손실 차이가 {fewest}단어까지는 {gap[0].mean:.2f}, {most}단어부터는 {gap[1].mean:.2f}",
    )
    if gap[1].low > 0 and widened.low > 0:
        lead = words(
            f"One vector is a bottleneck, and the longer the sentence, the more it costs against attention: {numbers}.",
            f"벡터 하나는 병목이고, 문장이 길수록 어텐션에 비해 손해가 커진다. {numbers}이다.",
        )
    elif gap[1].low > 0:
        lead = words(
            f"One vector is worse than attention, but it is not clear that longer sentences lose more: {numbers}.",
            f"벡터 하나는 어텐션보다 나쁘지만, 긴 문장이 더 손해라고 하기는 어렵다. {numbers}이다.",
        )
    else:
        lead = words(
            f"Here one vector is not clearly worse than attention on long sentences: {numbers}.",
            f"여기서는 긴 문장에서도 벡터 하나가 어텐션보다 확실히 나쁘지 않다. {numbers}이다.",
        )
    holds = difference(_at(values, "gru-small-vector", last), _at(values, "gru-large-vector", last))
    size = (
        words(
            "A larger vector holds more of a long sentence, a smaller one less.",
            "벡터가 클수록 긴 문장을 더 많이 담고, 작을수록 덜 담는다.",
        )
        if holds.low > 0
        else words(
            "The size of the vector makes no clear difference for long sentences.",
            "벡터의 크기는 긴 문장에서 뚜렷한 차이를 만들지 않는다.",
        )
    )
    return f"{lead} {size}"


BOTTLENECK = Question(
    name="bottleneck",
    section="2",
    english="What does one context vector lose as sentences grow?",
    korean="문장이 길어지면 문맥 벡터 하나는 무엇을 잃는가?",
    measure=measure,
    answer=answer,
)
