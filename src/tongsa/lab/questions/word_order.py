"""Without positions a sentence is a bag of words (§3.5): the encoder cannot tell who likes whom."""

from __future__ import annotations

from tongsa.lab.figures import intervals
from tongsa.lab.question import Answer, Lab, Question, Values, Words, mean_of

SENTENCES = (("철수", "는", "영희", "를", "좋아한다"), ("영희", "는", "철수", "를", "좋아한다"))
"""Cheolsu likes Yeonghui, and Yeonghui likes Cheolsu: the same pieces in two orders."""


def measure(lab: Lab) -> Values:
    """The largest difference between the states of the same piece in both orders, with and without positions."""
    import torch

    from tongsa.config import TransformerSection
    from tongsa.models.embeddings import sinusoids
    from tongsa.models.layers import EncoderLayer, initialise

    words = sorted(set(SENTENCES[0]))
    found: dict[str, list[float]] = {"with": [], "without": []}
    for seed in range(1, lab.seeds + 1):
        torch.manual_seed(seed)
        section = TransformerSection(d_model=64, d_ff=128, heads=4, dropout=0.0)
        layers = [EncoderLayer(section).double().eval() for _ in range(2)]
        for layer in layers:
            layer.apply(initialise)
        table = torch.randn(len(words), section.d_model, dtype=torch.float64)
        for name in found:
            states = []
            for sentence in SENTENCES:
                x = torch.stack([table[words.index(word)] for word in sentence])[None]
                if name == "with":
                    x = x + sinusoids(len(sentence), section.d_model).double()
                with torch.no_grad():
                    for layer in layers:
                        x = layer(x, None)
                states.append({word: x[0, place] for place, word in enumerate(sentence)})
            found[name].append(max(float((states[0][word] - states[1][word]).abs().max()) for word in words))
    return found


def answer(values: Values, words: Words) -> Answer:
    means = {name: mean_of(values[name]) for name in ("with", "without")}
    blind = max(values["without"]) < 1e-9
    told = min(values["with"]) > 1e-3
    first, second = (f"{a}{b} {c}{d} {e}" for a, b, c, d, e in SENTENCES)
    if blind and told:
        conclusion = words(
            f'Without positions "{first}" and "{second}" are one and the same to the encoder: every piece gets '
            f"the same state (largest difference {max(values['without']):.0g}). With positions the states differ by "
            f"{means['with'].mean:.2f}.",
            f'위치 정보가 없으면 인코더에게 "{first}"와 "{second}"는 완전히 같은 문장이다. 모든 조각의 상태가 '
            f"같다(최대 차이 {max(values['without']):.0g}). 위치를 더하면 상태가 "
            f"{means['with'].mean:.2f}만큼 달라진다.",
        )
    elif told:
        conclusion = words(
            f"The states differ even without positions (by {means['without'].mean:.2g}): "
            "something else tells the order.",
            f"위치 정보가 없어도 상태가 {means['without'].mean:.2g}만큼 다르다. 다른 무언가가 순서를 알려 준다.",
        )
    else:
        conclusion = words(
            f"Positions change the states by only {means['with'].mean:.2g}: the order is hardly seen either way.",
            f"위치를 더해도 상태는 {means['with'].mean:.2g}만 달라진다. 어느 쪽도 순서를 거의 보지 못한다.",
        )
    names = {"with": words("with positions", "위치 있음"), "without": words("without positions", "위치 없음")}
    return Answer(
        conclusion=conclusion,
        head=[words("encoder", "인코더"), words("largest difference of a piece's state", "조각 상태의 최대 차이")],
        rows=[[said, f"{means[name].mean:.3g}"] for name, said in names.items()],
        figures=[
            intervals(
                words("The same pieces in two orders", "같은 조각, 두 가지 순서"),
                words("largest difference of a piece's state", "조각 상태의 최대 차이"),
                {said: means[name] for name, said in names.items()},
                note=f"{first} / {second}",
            )
        ],
    )


WORD_ORDER = Question(
    name="word-order",
    section="3.5",
    english="What does the Transformer know of word order without positions?",
    korean="위치 정보가 없으면 트랜스포머는 어순을 아는가?",
    measure=measure,
    answer=answer,
)
