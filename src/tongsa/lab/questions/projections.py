"""Why W^Q, W^K and W^V (§3.2.2)? Two of them equal, all three, and none; and whether words then look at themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tongsa.lab.figures import intervals
from tongsa.lab.question import Answer, Lab, Question, Values, Words
from tongsa.lab.variants import Variants, worse_or_not

if TYPE_CHECKING:
    from tongsa.lab.trained import Trained

TRAINED = {
    "base": {},
    "query-key": {"model.projections": "query-key"},
    "shared": {"model.projections": "shared"},
    "no-projections": {"model.projections": "none"},
}
SENTENCES = 60


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import train_variants

    return {"trained": train_variants(lab, TRAINED, look=weight_on_itself)}


def weight_on_itself(trained: Trained) -> Values:
    """The mean weight that a word has in its own self-attention in the encoder, and that of even weights."""
    own, even = [], []
    for source, _ in trained.pairs[:SENTENCES]:
        layers = trained.attention(source, "").encoder
        own += [float(weights.diagonal(dim1=-2, dim2=-1).mean()) for weights in layers]
        even += [1 / weights.shape[-1] for weights in layers]
    return {"own": sum(own) / len(own), "even": sum(even) / len(even)}


def answer(values: Values, words: Words) -> Answer:
    names = {
        "base": words("W^Q, W^K, W^V", "W^Q, W^K, W^V"),
        "query-key": words("W^Q = W^K", "W^Q = W^K"),
        "shared": words("one for all three", "셋이 하나"),
        "no-projections": words("none", "없음"),
    }
    trained = Variants(results=values["trained"], names=names, words=words)
    lead = worse_or_not(
        trained.verdict("no-projections"),
        words("Without projections the model is worse.", "투영이 없으면 모델이 나빠진다."),
        words(
            "Here the model does without projections: the difference is not clear.",
            "여기서는 투영이 없어도 뚜렷한 차이가 없다.",
        ),
        words("Here the model is even better without projections.", "여기서는 투영이 없는 쪽이 오히려 더 좋다."),
    )
    own = {name: trained.mean(name, "own") for name in names}
    even = trained.mean("base", "even").mean
    itself = (
        words(
            f"A word then mostly looks at itself: {100 * own['no-projections'].mean:.0f}% of the weight, "
            f"{100 * own['base'].mean:.0f}% with all three (even weights: {100 * even:.0f}%).",
            f"그때 단어는 주로 자기 자신을 본다. 가중치의 {100 * own['no-projections'].mean:.0f}%이고, 셋이 "
            f"모두 있으면 {100 * own['base'].mean:.0f}%다(고른 가중치라면 {100 * even:.0f}%).",
        )
        if own["no-projections"].low > max(0.5, own["base"].high)
        else words(
            f"A word does not mostly look at itself then: {100 * own['no-projections'].mean:.0f}% of the weight, "
            f"{100 * own['base'].mean:.0f}% with all three (even weights: {100 * even:.0f}%).",
            f"그때에도 단어가 주로 자기 자신을 보지는 않는다. 가중치의 {100 * own['no-projections'].mean:.0f}%이고, "
            f"셋이 모두 있으면 {100 * own['base'].mean:.0f}%다(고른 가중치라면 {100 * even:.0f}%).",
        )
    )
    return Answer(
        conclusion=f"{lead} {itself} {trained.all_told()}",
        head=[*trained.head(), words("weight on itself", "자기 자신의 가중치")],
        rows=[[*row, own[name].text(2)] for row, name in zip(trained.rows(), names, strict=True)],
        figures=[
            *trained.figures(),
            intervals(
                words("Weight of a word on itself", "단어가 자기 자신에게 주는 가중치"),
                words("mean over the encoder's heads", "인코더 헤드의 평균"),
                {said: own[name] for name, said in names.items()},
            ),
        ],
    )


PROJECTIONS = Question(
    name="projections",
    section="3.2.2",
    english="Why W^Q, W^K and W^V?",
    korean="왜 W^Q, W^K, W^V가 따로 필요한가?",
    measure=measure,
    answer=answer,
)
