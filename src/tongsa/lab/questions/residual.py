"""What do residual connections do (§3.1)? A shallow and a deep model with and without them."""

from __future__ import annotations

from tongsa.lab.question import Answer, Lab, Question, Values, Words
from tongsa.lab.variants import Variants, worse_or_not

TRAINED = {
    "base": {},
    "no-residual": {"model.residual": "false"},
    "deep": {"model.encoder_layers": "6"},
    "deep-no-residual": {"model.encoder_layers": "6", "model.residual": "false"},
}


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import train_variants

    return {"trained": train_variants(lab, TRAINED)}


def answer(values: Values, words: Words) -> Answer:
    trained = Variants(
        results=values["trained"],
        names={
            "base": words("2 + 2 layers", "2 + 2층"),
            "no-residual": words("2 + 2, no residuals", "2 + 2층, 잔차 없음"),
            "deep": words("6 + 2 layers", "6 + 2층"),
            "deep-no-residual": words("6 + 2, no residuals", "6 + 2층, 잔차 없음"),
        },
        words=words,
    )
    shallow = worse_or_not(
        trained.verdict("no-residual"),
        words(
            "Without residual connections the model learns much less in the same time.",
            "잔차 연결이 없으면 같은 시간에 훨씬 덜 배운다.",
        ),
        words(
            "Two layers do without residual connections: the difference is not clear.",
            "2층에서는 잔차 연결이 없어도 뚜렷한 차이가 없다.",
        ),
        words(
            "Here two layers are even better without residual connections.",
            "여기서는 2층 모델에 잔차 연결이 없는 쪽이 오히려 더 좋다.",
        ),
    )
    deep = worse_or_not(
        trained.verdict("deep-no-residual", than="deep"),
        words(
            "The same with six layers in the encoder: the sums are the path on which words and gradients get through.",
            "인코더가 6층이어도 마찬가지다. 잔차 합은 단어와 그래디언트가 지나가는 통로다.",
        ),
        words(
            "With six layers in the encoder the difference is not clear.", "인코더가 6층일 때는 차이가 뚜렷하지 않다."
        ),
        words(
            "With six layers in the encoder the model without them is better.",
            "인코더가 6층일 때는 없는 쪽이 더 좋다.",
        ),
    )
    return trained.answer(f"{shallow} {deep}")


RESIDUAL = Question(
    name="residual",
    section="3.1",
    english="What do residual connections do?",
    korean="잔차 연결은 무슨 일을 하는가?",
    measure=measure,
    answer=answer,
)
