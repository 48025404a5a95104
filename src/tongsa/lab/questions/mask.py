"""Why is the decoder masked (§3.2.3)? What a model learns that sees the word it has to write, and how it translates."""

from __future__ import annotations

from tongsa.lab.question import Answer, Lab, Question, Values, Words
from tongsa.lab.variants import Variants

TRAINED = {"base": {}, "unmasked": {"model.causal": "false"}}


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import train_variants

    return {"trained": train_variants(lab, TRAINED)}


def answer(values: Values, words: Words) -> Answer:
    trained = Variants(
        results=values["trained"],
        names={"base": words("masked", "마스크 있음"), "unmasked": words("not masked", "마스크 없음")},
        words=words,
    )
    sees, writes = trained.verdict("unmasked"), trained.verdict("unmasked", "bleu")
    if sees == "better" and writes == "worse":
        lead = words(
            "Without the mask the model reads the answer instead of learning to write it: given the reference it is "
            "almost never surprised, and left to itself it cannot translate.",
            "마스크가 없으면 모델은 번역을 배우는 대신 정답을 베낀다. 정답을 보여 주면 거의 틀리지 않지만, 혼자서는 "
            "번역하지 못한다.",
        )
    elif writes == "worse":
        lead = words(
            "Without the mask the model translates worse, though the reference does not surprise it less.",
            "마스크가 없으면 번역이 나빠진다. 다만 정답을 볼 때의 퍼플렉서티가 더 낮지는 않다.",
        )
    else:
        lead = words(
            "Here the model translates no worse without the mask.",
            "여기서는 마스크가 없어도 번역이 나빠지지 않는다.",
        )
    return trained.answer(lead)


MASK = Question(
    name="mask",
    section="3.2.3",
    english="Why is the decoder masked?",
    korean="왜 디코더에 마스크를 씌우는가?",
    measure=measure,
    answer=answer,
)
