"""Why a feed-forward network after attention (§3.3)? Without it, wider, and attention layers in its place.

LayerNorm stands before the sublayers in all of them (pre-norm), so that more layers are not worse for another reason.
"""

from __future__ import annotations

from tongsa.lab.question import Answer, Lab, Question, Values, Words
from tongsa.lab.variants import Variants, worse_or_not

PRE_NORM = {"model.norm": "pre"}
WITHOUT = {**PRE_NORM, "model.feed_forward": "none"}
TRAINED = {
    "pre-norm": PRE_NORM,
    "no-feed-forward": WITHOUT,
    "attention-only-deep": {**WITHOUT, "model.encoder_layers": "6", "model.decoder_layers": "4"},
    "wide-feed-forward": {**PRE_NORM, "model.d_ff": "1024"},
}
"""Six and four layers of attention have as many parameters as two and two with their networks."""


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import train_variants

    return {"trained": train_variants(lab, TRAINED)}


def answer(values: Values, words: Words) -> Answer:
    trained = Variants(
        results=values["trained"],
        names={
            "pre-norm": words("d_ff = 4 d_model", "d_ff = 4 d_model"),
            "no-feed-forward": words("none", "없음"),
            "attention-only-deep": words("none, but more layers", "없음, 층을 늘림"),
            "wide-feed-forward": words("d_ff = 16 d_model", "d_ff = 16 d_model"),
        },
        words=words,
    )
    lead = worse_or_not(
        trained.verdict("no-feed-forward"),
        words(
            "Attention alone mixes words; the network after it is what computes with the mixture. Without it the model "
            "is worse.",
            "어텐션은 단어를 섞기만 하고, 그 결과로 계산하는 것은 뒤의 피드포워드 네트워크다. 없으면 모델이 나빠진다.",
        ),
        words(
            "Here the model does without the feed-forward network: the difference is not clear.",
            "여기서는 피드포워드 네트워크가 없어도 뚜렷한 차이가 없다.",
        ),
        words(
            "Here the model is even better without the feed-forward network.",
            "여기서는 피드포워드 네트워크가 없는 쪽이 오히려 더 좋다.",
        ),
    )
    instead = worse_or_not(
        trained.verdict("attention-only-deep"),
        words(
            "As many parameters in more attention layers do not replace it.",
            "같은 수의 매개변수를 어텐션 층에 더 써도 대신하지 못한다.",
        ),
        words(
            "As many parameters in more attention layers do about as well.",
            "같은 수의 매개변수를 어텐션 층에 쓰면 비슷하다.",
        ),
        words(
            "As many parameters in more attention layers do better.",
            "같은 수의 매개변수를 어텐션 층에 쓰면 더 좋다.",
        ),
    )
    return trained.answer(f"{lead} {instead}")


FEED_FORWARD = Question(
    name="feed-forward",
    section="3.3",
    english="Why a feed-forward network after attention?",
    korean="왜 어텐션 뒤에 피드포워드 네트워크를 두는가?",
    measure=measure,
    answer=answer,
)
