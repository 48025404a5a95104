"""Where does LayerNorm go (§3.1)? After the sum (the paper), before the sublayer, or nowhere; with and without warm-up.

The encoder has six layers: with two, all of these do about as well. The learning rate is constant after the warm-up, so
that training without one differs in nothing else.
"""

from __future__ import annotations

from tongsa.lab.question import Answer, Lab, Question, Values, Words
from tongsa.lab.variants import Variants, worse_or_not

DEEP = {"model.encoder_layers": "6", "training.schedule": "constant", "training.peak": "0.001"}
COLD = {"training.warmup": "1"}
TRAINED = {
    "deep-post-norm": DEEP,
    "deep-post-norm-cold": {**DEEP, **COLD},
    "deep-pre-norm": {**DEEP, "model.norm": "pre"},
    "deep-pre-norm-cold": {**DEEP, **COLD, "model.norm": "pre"},
    "deep-no-norm": {**DEEP, "model.norm": "none"},
}


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import train_variants

    return {"trained": train_variants(lab, TRAINED)}


def answer(values: Values, words: Words) -> Answer:
    trained = Variants(
        results=values["trained"],
        names={
            "deep-post-norm": words("post-norm", "post-norm"),
            "deep-post-norm-cold": words("post-norm, no warm-up", "post-norm, 웜업 없음"),
            "deep-pre-norm": words("pre-norm", "pre-norm"),
            "deep-pre-norm-cold": words("pre-norm, no warm-up", "pre-norm, 웜업 없음"),
            "deep-no-norm": words("no LayerNorm", "LayerNorm 없음"),
        },
        words=words,
    )
    post, pre = trained.verdict("deep-post-norm-cold"), trained.verdict("deep-pre-norm-cold", than="deep-pre-norm")
    better = worse_or_not(
        trained.verdict("deep-pre-norm"),
        words("With the warm-up, post-norm learns more than pre-norm.", "웜업이 있으면 post-norm이 더 많이 배운다."),
        words("With the warm-up, both do alike.", "웜업이 있으면 둘은 비슷하다."),
        words(
            "With the warm-up, pre-norm learns more in the same time.",
            "웜업이 있을 때 같은 시간에 더 많이 배우는 것은 pre-norm이다.",
        ),
    )
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
            "At this depth (6 + 2 layers) and learning rate neither clearly needs the warm-up.",
            "이 깊이(6 + 2층)와 학습률에서는 둘 다 웜업이 꼭 필요하지는 않다.",
        )
    without = worse_or_not(
        trained.verdict("deep-no-norm"),
        words("Without LayerNorm the model is worse.", "LayerNorm이 없으면 모델이 나빠진다."),
        words("The difference without LayerNorm is not clear.", "LayerNorm이 없어도 차이가 뚜렷하지 않다."),
        words("Without LayerNorm the model is even better.", "LayerNorm이 없는 쪽이 오히려 더 좋다."),
    )
    return trained.answer(f"{lead} {better} {without}")


LAYER_NORM = Question(
    name="layer-norm",
    section="3.1",
    english="Where does LayerNorm go, and what is it for?",
    korean="LayerNorm은 어디에 두고, 왜 두는가?",
    measure=measure,
    answer=answer,
)
