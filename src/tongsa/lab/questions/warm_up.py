"""Why does the learning rate rise first (§5.3, Eq. 3)? With and without the warm-up, at two learning rates."""

from __future__ import annotations

from tongsa.lab.question import Answer, Lab, Question, Values, Words
from tongsa.lab.questions.layer_norm import COLD, CONSTANT
from tongsa.lab.variants import Variants

TRAINED = {
    "base": {},
    "constant": CONSTANT,
    "constant-cold": COLD,
    "high": {**CONSTANT, "training.peak": "0.01"},
    "high-cold": {**COLD, "training.peak": "0.01"},
}


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import train_variants

    return {"trained": train_variants(lab, TRAINED)}


def answer(values: Values, words: Words) -> Answer:
    trained = Variants(
        results=values["trained"],
        names={
            "base": words("Eq. 3", "식 3"),
            "constant": words("constant, warm-up", "상수, 웜업"),
            "constant-cold": words("constant, no warm-up", "상수, 웜업 없음"),
            "high": words("constant and high, warm-up", "높은 상수, 웜업"),
            "high-cold": words("constant and high, no warm-up", "높은 상수, 웜업 없음"),
        },
        words=words,
    )
    moderate, high = trained.verdict("constant-cold", than="constant"), trained.verdict("high-cold", than="high")
    if "worse" in (moderate, high):
        rates = {
            ("worse", "worse"): words("at both learning rates", "두 학습률 모두에서"),
            ("worse", high): words("at the lower learning rate", "낮은 학습률에서"),
        }.get((moderate, high), words("at the higher learning rate", "높은 학습률에서"))
        lead = words(
            f"Without the warm-up the model learns less {rates}: the first updates, with Adam's moments not known yet, "
            "spoil what it starts from.",
            f"웜업이 없으면 {rates} 덜 배운다. Adam의 모멘트 추정이 아직 부정확한 처음 몇 업데이트가 출발점을 망친다.",
        )
    else:
        lead = words(
            "Here the warm-up makes no clear difference: the model is small and shallow enough to begin at once.",
            "여기서는 웜업의 차이가 뚜렷하지 않다. 모델이 작고 얕아서 바로 시작해도 된다.",
        )
    return trained.answer(lead)


WARM_UP = Question(
    name="warm-up",
    section="5.3",
    english="Why does the learning rate rise first?",
    korean="왜 학습률을 먼저 올리는가(웜업)?",
    measure=measure,
    answer=answer,
)
