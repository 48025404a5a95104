"""The same word in different contexts: its vectors before and after the encoder, drawn, and told apart by a probe.

"쓰다" spends, wears, writes and tastes bitter; "Apple" makes telephones and grows on trees. The small model is trained
with sentences that need the difference. A translator of the user is asked with what it reads: Korean or English.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tongsa.base.errors import UsageError
from tongsa.lab.figures import intervals, points
from tongsa.lab.question import Answer, Lab, Mean, Question, Values, Words, mean_of

if TYPE_CHECKING:
    from torch import Tensor

    from tongsa.lab.trained import Trained

WHO = {"민수는": "Minsu", "지영은": "Jiyeong", "학생은": "The student", "친구는": "The friend"}
WHEN = {"어제": "yesterday", "오늘": "today", "주말에": "at the weekend"}
SENSES = {
    "spend": {
        "돈을": "spent money",
        "용돈을": "spent pocket money",
        "월급을": "spent the salary",
        "상금을": "spent the prize",
        "저금을": "spent the savings",
        "동전을": "spent coins",
    },
    "wear": {
        "모자를": "wore a hat",
        "안경을": "wore glasses",
        "가면을": "wore a mask",
        "가발을": "wore a wig",
        "왕관을": "wore a crown",
        "헬멧을": "wore a helmet",
    },
    "bitter": {
        "약이": "found the medicine bitter",
        "맛이": "found the taste bitter",
        "커피가": "found the coffee bitter",
        "나물이": "found the greens bitter",
        "녹차가": "found the tea bitter",
        "껍질이": "found the peel bitter",
    },
    "write": {
        "글을": "wrote a text",
        "편지를": "wrote a letter",
        "시를": "wrote a poem",
        "일기를": "wrote a diary",
        "소설을": "wrote a novel",
        "답장을": "wrote a reply",
    },
}
KOREAN_WORD = "썼어요"
APPLE = {
    "company": (
        "{} sells a new phone .",
        "people work for {} .",
        "{} opened a store .",
        "the phone is made by {} .",
        "{} pays its workers well .",
        "he bought a computer from {} .",
        "{} is a large company .",
        "a man waits in front of the {} store .",
    ),
    "fruit": (
        "a boy eats an {} .",
        "the {} is red and sweet .",
        "she cuts the {} with a knife .",
        "a girl picks an {} from a tree .",
        "an {} lies on the table .",
        "the {} fell into the grass .",
        "he washes the {} and eats it .",
        "a horse wants the {} .",
    ),
}
ENGLISH_WORD = "apple"
MOSTLY = 0.7
"""Share of the words told apart from which on the meaning counts as known."""
TIMES = 8
"""How often each of the sentences is in the text that the small model is trained on."""


def measure(lab: Lab) -> Values:
    if lab.run:
        from tongsa.lab.trained import Trained

        return {"models": [told_apart(Trained.of_run(lab.run))]}
    from tongsa.lab.small_trainings import Text, train_variants

    text = Text(name="senses", added=tuple(_korean_pairs()), times=TIMES)
    return {"models": train_variants(lab, {"base": {}}, text=text, look=told_apart)["base"]}


def _korean_pairs() -> list[tuple[str, str]]:
    return [(korean, english) for _, _, korean, english in _korean()]


def _korean() -> list[tuple[str, int, str, str]]:
    """(sense, number of its object, sentence, translation)"""
    return [
        (sense, number, f"{who} {when} {what} {KOREAN_WORD}.", f"{name} {did} {at}.")
        for sense, objects in SENSES.items()
        for number, (what, did) in enumerate(objects.items())
        for who, name in WHO.items()
        for when, at in WHEN.items()
    ]


def told_apart(trained: Trained) -> Values:
    """How many of the words a probe tells apart, by layer; and the words as points in a plane, before and after."""
    import torch

    if trained.source not in ("ko", "en"):
        raise UsageError(
            f"this translator reads {trained.source}; the sentences are Korean (쓰다) and English (Apple)",
            "Leave the translator out: a small model is trained then.",
        )
    if trained.source == "ko":
        asked = [(sense, group, sentence, KOREAN_WORD) for sense, group, sentence, _ in _korean()]
    else:
        asked = [
            (sense, number, sentence.format(ENGLISH_WORD), ENGLISH_WORD)
            for sense, sentences in APPLE.items()
            for number, sentence in enumerate(sentences)
        ]
    rows = [_word(trained, sentence, word) for _, _, sentence, word in asked]
    senses = [sense for sense, _, _, _ in asked]
    groups = [f"{sense} {group}" for sense, group, _, _ in asked]
    layers = [torch.stack(layer) for layer in zip(*rows, strict=True)]
    return {
        "word": asked[0][3],
        "senses": senses,
        "right": [_probe(layer, senses, groups) for layer in layers],
        "before": _plane(layers[0]),
        "after": _plane(layers[-1]),
    }


def _word(trained: Trained, sentence: str, word: str) -> list[Tensor]:
    """The mean vector of the word's pieces, before the encoder and after each layer."""
    from tongsa.text.resegmentation import SPACE

    pieces, layers = trained.states(sentence)
    wanted = next(number for number, each in enumerate(sentence.split()) if word in each)
    number, inside = -1, []
    for place, piece in enumerate(pieces):
        number += piece.startswith(SPACE) or place == 0
        if number == wanted:
            inside.append(place)
    return [layer[inside].mean(dim=0) for layer in layers]


def _probe(vectors: Tensor, senses: list[str], groups: list[str]) -> float:
    """Share of words whose nearest mean of a sense is that of their own; means are of sentences with other objects."""
    kinds = sorted(set(senses))
    right = 0
    for place, sense in enumerate(senses):
        means = []
        for kind in kinds:
            members = [i for i, each in enumerate(senses) if each == kind and groups[i] != groups[place]]
            means.append(vectors[members].mean(dim=0))
        distances = [float((vectors[place] - mean).norm()) for mean in means]
        right += kinds[distances.index(min(distances))] == sense
    return right / len(senses)


def _plane(vectors: Tensor) -> list[list[float]]:
    """The two directions in which the vectors differ most."""
    import torch

    centred = vectors - vectors.mean(dim=0)
    along = torch.linalg.svd(centred, full_matrices=False).Vh[:2].T
    return [[round(x, 4), round(y, 4)] for x, y in (centred @ along).tolist()]


def answer(values: Values, words: Words) -> Answer:
    models = values["models"]
    word, senses = models[0]["word"], models[0]["senses"]
    layers = [mean_of([model["right"][layer] for model in models]) for layer in range(len(models[0]["right"]))]
    chance = 1 / len(set(senses))
    names = [words("before the encoder", "인코더 전")] + [
        words(f"after layer {layer}", f"{layer}층 뒤") for layer in range(1, len(layers))
    ]
    before, after = layers[0], layers[-1]
    low = after.low if len(models) > 1 else after.mean
    margin = max(0.1, 1.96 * math.sqrt(0.25 / len(senses)))  # what guessing so many words may give by chance
    numbers = words(
        f"a probe tells {100 * after.mean:.0f}% apart after the encoder, {100 * before.mean:.0f}% before it (chance: "
        f"{100 * chance:.0f}%)",
        f"프로브는 인코더 뒤에서 {100 * after.mean:.0f}%를 구별하고, 인코더 전에는 {100 * before.mean:.0f}%를 "
        f"구별한다(우연이면 {100 * chance:.0f}%)",
    )
    clearly = low > before.mean + margin
    if clearly and after.mean < MOSTLY:
        conclusion = words(
            f'"{word}" enters the encoder as one and the same word and leaves it with part of its meaning: {numbers}.',
            f'인코더에 들어갈 때는 모두 같은 단어("{word}")지만, 나올 때는 문맥의 뜻을 일부 담고 있다. {numbers}.',
        )
    elif clearly:
        conclusion = words(
            f'"{word}" enters the encoder as one and the same word and leaves it with its meaning: {numbers}.',
            f'인코더에 들어갈 때는 모두 같은 단어("{word}")지만, 나올 때는 문맥의 뜻을 담고 있다. {numbers}.',
        )
    else:
        conclusion = words(
            f'The encoder does not clearly tell the meanings of "{word}" apart: {numbers}.',
            f'인코더가 "{word}"의 뜻을 확실히 구별하지는 못한다. {numbers}.',
        )
    told = {
        "spend": words("spend", "(돈을) 쓰다"),
        "wear": words("wear", "(모자를) 쓰다"),
        "bitter": words("bitter", "(맛이) 쓰다"),
        "write": words("write", "(글을) 쓰다"),
        "company": words("company", "회사"),
        "fruit": words("fruit", "과일"),
    }

    def drawn(which: str, title: str) -> str:
        groups: dict[str, list[tuple[float, float]]] = {}
        for sense, (x, y) in zip(senses, models[0][which], strict=True):
            groups.setdefault(told[sense], []).append((x, y))
        return points(title, groups, note=words("two principal components", "주성분 두 개"))

    return Answer(
        conclusion=conclusion,
        head=[words("vectors", "벡터"), words("told apart", "구별한 비율"), words("chance", "우연")],
        rows=[
            [name, f"{100 * layer.mean:.0f}%", f"{100 * chance:.0f}%"]
            for name, layer in zip(names, layers, strict=True)
        ],
        figures=[
            drawn("before", words(f'"{word}" before the encoder', f'인코더 전의 "{word}"')),
            drawn("after", words(f'"{word}" after the encoder', f'인코더 뒤의 "{word}"')),
            intervals(
                words("Told apart by a probe", "프로브가 구별한 비율"),
                words("share of the sentences", "문장의 비율"),
                {**dict(zip(names, layers, strict=True)), words("chance", "우연"): Mean(chance, 0.0)},
            ),
        ],
    )


CONTEXT = Question(
    name="context",
    section="3.1",
    english="Does the same word get different vectors in different contexts?",
    korean="같은 단어가 문맥에 따라 다른 벡터가 되는가?",
    measure=measure,
    answer=answer,
    takes_run=True,
)
