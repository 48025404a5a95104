"""Label smoothing "hurts perplexity [...] but improves accuracy and BLEU score" (§5.4): here too?"""

from __future__ import annotations

from tongsa.lab.question import Answer, Lab, Question, Values, Words
from tongsa.lab.variants import Variants

TRAINED = {
    "no-smoothing": {"training.label_smoothing": "0.0"},
    "base": {},
    "more-smoothing": {"training.label_smoothing": "0.3"},
}


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import train_variants

    return {"trained": train_variants(lab, TRAINED)}


def answer(values: Values, words: Words) -> Answer:
    trained = Variants(
        results=values["trained"],
        names={
            "no-smoothing": words("none", "없음"),
            "base": words("0.1, the paper's", "0.1(논문)"),
            "more-smoothing": "0.3",
        },
        words=words,
    )
    told = {
        "worse": words("hurts", "나빠진다"),
        "better": words("helps", "좋아진다"),
        "alike": words("makes no clear difference to", "뚜렷하게 달라지지 않는다"),
    }
    perplexity, bleu = trained.verdict("base"), trained.verdict("base", "bleu")
    lead = words(
        f"Smoothing of 0.1 {told[perplexity]} perplexity and {told[bleu]} BLEU here. ",
        f"여기서 0.1의 스무딩을 쓰면 퍼플렉서티는 {told[perplexity]}. BLEU는 {told[bleu]}. ",
    )
    if (perplexity, bleu) == ("worse", "better"):
        lead += words("The paper found the same.", "논문과 같다.")
    elif perplexity == "better" or bleu == "worse":
        lead += words("The paper found the opposite.", "논문과는 반대다.")
    else:
        lead += words(
            "What the paper found is only partly seen at this size.", "이 규모에서는 논문의 결과가 일부만 보인다."
        )
    return trained.answer(lead)


SMOOTHING = Question(
    name="smoothing",
    section="5.4",
    english="Does label smoothing hurt perplexity and help BLEU?",
    korean="레이블 스무딩은 퍼플렉서티를 해치고 BLEU를 높이는가?",
    measure=measure,
    answer=answer,
)
