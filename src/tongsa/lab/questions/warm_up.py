"""Why does the learning rate rise first (§5.3, Eq. 3)? With and without the warm-up, in a shallow and a deep model."""

from __future__ import annotations

from tongsa.lab.question import Answer, Lab, Question, Values, Words
from tongsa.lab.questions import layer_norm
from tongsa.lab.variants import Variants

CONSTANT = {"training.schedule": "constant", "training.peak": "0.003"}
TRAINED = {
    "base": {},
    "constant": CONSTANT,
    "constant-cold": {**CONSTANT, **layer_norm.COLD},
    "deep-post-norm": layer_norm.TRAINED["deep-post-norm"],
    "deep-post-norm-cold": layer_norm.TRAINED["deep-post-norm-cold"],
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
            "deep-post-norm": words("6 + 2 layers, constant, warm-up", "6 + 2층, 상수, 웜업"),
            "deep-post-norm-cold": words("6 + 2 layers, constant, no warm-up", "6 + 2층, 상수, 웜업 없음"),
        },
        words=words,
    )
    shallow = trained.verdict("constant-cold", than="constant")
    deep = trained.verdict("deep-post-norm-cold", than="deep-post-norm")
    if "worse" in (shallow, deep):
        depths = {
            ("worse", "worse"): words("at both depths", "두 깊이 모두에서"),
            ("worse", deep): words("with two layers in the encoder", "인코더가 2층일 때"),
        }.get((shallow, deep), words("with six layers in the encoder", "인코더가 6층일 때"))
        lead = words(
            f"Without the warm-up the model learns less {depths}, likely because Adam does not know its moments yet in "
            "the first updates.",
            f"웜업이 없으면 {depths} 덜 배운다. 처음에는 Adam의 모멘트 추정이 아직 부정확하기 때문일 것이다.",
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
