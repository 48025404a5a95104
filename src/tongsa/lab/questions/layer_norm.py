"""Where does LayerNorm go (§3.1)? After the sum (the paper), before the sublayer, or nowhere; with and without warm-up.

The learning rate is constant after the warm-up here, so that training without one differs in nothing else.
"""

from __future__ import annotations

from tongsa.lab.question import Answer, Lab, Question, Values, Words
from tongsa.lab.variants import Variants, worse_or_not

CONSTANT = {"training.schedule": "constant", "training.peak": "0.003"}
COLD = {**CONSTANT, "training.warmup": "1"}
TRAINED = {
    "constant": CONSTANT,
    "constant-cold": COLD,
    "pre-norm": {**CONSTANT, "model.norm": "pre"},
    "pre-norm-cold": {**COLD, "model.norm": "pre"},
    "no-norm": {**CONSTANT, "model.norm": "none"},
}


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import train_variants

    return {"trained": train_variants(lab, TRAINED)}


def answer(values: Values, words: Words) -> Answer:
    trained = Variants(
        results=values["trained"],
        names={
            "constant": words("post-norm", "post-norm"),
            "constant-cold": words("post-norm, no warm-up", "post-norm, 웜업 없음"),
            "pre-norm": words("pre-norm", "pre-norm"),
            "pre-norm-cold": words("pre-norm, no warm-up", "pre-norm, 웜업 없음"),
            "no-norm": words("no LayerNorm", "LayerNorm 없음"),
        },
        words=words,
    )
    post, pre = trained.verdict("constant-cold"), trained.verdict("pre-norm-cold", than="pre-norm")
    if post == "worse" and pre != "worse":
        lead = words(
            "Post-norm, the paper's, needs the warm-up; pre-norm does without it.",
            "논문의 post-norm에는 웜업이 필요하고, pre-norm에는 필요 없다.",
        )
    elif post == "worse":
        lead = words(
            "Both post-norm and pre-norm need the warm-up here.", "여기서는 post-norm도 pre-norm도 웜업이 필요하다."
        )
    elif pre == "worse":
        lead = words("Here only pre-norm needs the warm-up.", "여기서는 pre-norm에만 웜업이 필요하다.")
    else:
        lead = words(
            "At this depth (2 + 2 layers) and learning rate neither needs the warm-up.",
            "이 깊이(2 + 2층)와 학습률에서는 둘 다 웜업이 필요 없다.",
        )
    without = worse_or_not(
        trained.verdict("no-norm"),
        words("Without LayerNorm the model is worse.", "LayerNorm이 없으면 모델이 나빠진다."),
        words("Two layers do without LayerNorm.", "2층에서는 LayerNorm이 없어도 차이가 뚜렷하지 않다."),
        words("Two layers are even better without LayerNorm.", "2층에서는 LayerNorm이 없는 쪽이 오히려 더 좋다."),
    )
    return trained.answer(f"{lead} {without}")


LAYER_NORM = Question(
    name="layer-norm",
    section="3.1",
    english="Where does LayerNorm go, and what is it for?",
    korean="LayerNorm은 어디에 두고, 왜 두는가?",
    measure=measure,
    answer=answer,
)
