"""What are positions for, and why sinusoids (§3.5)? Their dot products and rows, and models trained without them.

The models are trained on short sentences and measured also on longer ones than they have ever seen.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tongsa.lab.figures import intervals, lines
from tongsa.lab.question import Answer, Lab, Question, Values, Words, difference
from tongsa.lab.variants import Variants

if TYPE_CHECKING:
    from tongsa.lab.trained import Trained

WIDTH, ROWS = 512, 2000
STARTS = (0, 100, 1000)
DISTANCES = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)
LONGEST = 5
"""Words of the longest sentence that is trained on."""
TRAINED = {
    "base": {},
    "learned-positions": {"model.positions": "learned", "model.max_positions": "300"},
    "no-positions": {"model.positions": "none"},
}


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import Text, train_variants

    text = Text(name=f"up-to-{LONGEST}-words", longest=LONGEST)
    return {**_table(), "longest": LONGEST, "trained": train_variants(lab, TRAINED, text=text, look=seen_and_longer)}


def seen_and_longer(trained: Trained) -> Values:
    """Loss per token, and sentences translated right, as long as those of the training, and longer."""
    short = [pair for pair in trained.pairs if len(pair[0].split()) <= LONGEST]
    long = [pair for pair in trained.pairs if len(pair[0].split()) > LONGEST]
    losses = {"seen": trained.loss(short), "unseen": trained.loss(long)}
    return {**losses, "seen_right": trained.right(short), "unseen_right": trained.right(long)}


def _table() -> Values:
    """Dot products of the paper's encodings by distance, from several positions; and the nearest two rows."""
    import torch

    from tongsa.models.embeddings import sinusoids

    table = sinusoids(ROWS, WIDTH).double()
    products = [[float(table[start] @ table[start + d]) for d in DISTANCES] for start in STARTS]
    apart = torch.cdist(table, table) + 1e9 * torch.eye(ROWS, dtype=torch.float64)
    return {
        "distances": list(DISTANCES),
        "starts": list(STARTS),
        "products": products,
        "nearest": float(apart.min()),
        "positions": ROWS,
    }


def answer(values: Values, words: Words) -> Answer:
    names = {
        "base": words("sinusoids", "사인파"),
        "learned-positions": words("learned", "학습된 위치"),
        "no-positions": words("none", "없음"),
    }
    trained = Variants(results=values["trained"], names=names, words=words)
    unseen = {name: trained.mean(name, "unseen") for name in names}
    up_to = words(f"up to {values['longest']} words", f"{values['longest']}단어까지")
    longer = words("longer", "더 긴 문장")
    conclusion = " ".join([_rows(values, words), _without(trained, words), _longer(trained, values, words)])
    return Answer(
        conclusion=conclusion,
        head=[
            words("positions", "위치"),
            words(f"loss, {up_to}", f"손실, {up_to}"),
            words(f"loss, {longer}", f"손실, {longer}"),
            words(f"right, {up_to}, %", f"맞은 문장, {up_to}, %"),
            words(f"right, {longer}, %", f"맞은 문장, {longer}, %"),
        ],
        rows=[
            [
                said,
                trained.mean(name, "seen").text(2),
                unseen[name].text(2),
                trained.mean(name, "seen_right").text(1),
                trained.mean(name, "unseen_right").text(1),
            ]
            for name, said in names.items()
        ],
        figures=[
            lines(
                words("Dot product of two positions", "두 위치의 내적"),
                words("distance", "거리"),
                {
                    words(f"from position {start}", f"위치 {start}에서"): list(
                        zip(values["distances"], products, strict=True)
                    )
                    for start, products in zip(values["starts"], values["products"], strict=True)
                },
                note=f"d_model = {WIDTH}",
            ),
            intervals(
                words("Loss on sentences longer than any seen", "학습 때보다 긴 문장의 손실"),
                words("-log p of a token: lower is better", "토큰당 -log p: 낮을수록 좋음"),
                {said: unseen[name] for name, said in names.items()},
            ),
            *trained.figures(),
        ],
    )


def _rows(values: Values, words: Words) -> str:
    spread = max(max(column) - min(column) for column in zip(*values["products"], strict=True))
    by_distance = spread < 1e-3 * values["products"][0][0]
    falls = values["products"][0][1] > values["products"][0][4] > values["products"][0][6]
    first = (
        words(
            "The dot product of two sinusoids depends on their distance alone"
            + (", and falls with it." if falls else ", but does not fall with it."),
            "두 사인파 위치의 내적은 거리에만 달려 있고"
            + (", 멀수록 작다." if falls else ", 멀다고 작아지지는 않는다."),
        )
        if by_distance
        else words(
            f"The dot product of two sinusoids does not depend on the distance alone (spread {spread:.2g}).",
            f"두 사인파 위치의 내적은 거리에만 달려 있지 않다(차이 {spread:.2g}).",
        )
    )
    nearest = (
        words(
            f"No two of the first {values['positions']:,} rows are equal (nearest: {values['nearest']:.2f} apart).",
            f"처음 {values['positions']:,}개 행 가운데 같은 것은 없다(가장 가까운 둘의 거리 {values['nearest']:.2f}).",
        )
        if values["nearest"] > 1e-3
        else words("Some rows are equal.", "같은 행이 있다.")
    )
    return f"{first} {nearest}"


def _without(trained: Variants, words: Words) -> str:
    lost = difference(trained.of("no-positions", "seen"), trained.of("base", "seen"))
    right = [trained.mean(name, "seen_right").mean for name in ("no-positions", "base")]
    times = math.exp(lost.mean)
    numbers = words(
        f"{times:.2f} times the perplexity, {right[0]:.0f}% of the short sentences right against {right[1]:.0f}%",
        f"퍼플렉서티 {times:.2f}배, 짧은 문장 가운데 맞은 것 {right[0]:.0f}%, 기준 {right[1]:.0f}%",
    )
    if lost.low > 0:
        return words(
            f"Without positions the model is worse ({numbers}): it has a bag of words to translate.",
            f"위치가 없으면 모델이 나빠진다({numbers}). 순서 없는 단어 묶음을 번역하는 셈이다.",
        )
    return words(
        f"Here the model does without positions ({numbers}).",
        f"여기서는 위치가 없어도 확실히 나빠지지 않는다({numbers}).",
    )


def _longer(trained: Variants, values: Values, words: Words) -> str:
    seen = difference(trained.of("learned-positions", "seen"), trained.of("base", "seen"))
    unseen = difference(trained.of("learned-positions", "unseen"), trained.of("base", "unseen"))
    alike = seen.low <= 0 <= seen.high
    on_seen = (
        words(
            "Learned positions and sinusoids do alike on lengths that were seen, as in Table 3 (E)",
            "학습된 위치와 사인파는 본 적 있는 길이에서 비슷하고(표 3의 E와 같다)",
        )
        if alike
        else words(
            f"On lengths that were seen, {'sinusoids' if seen.low > 0 else 'learned positions'} do better",
            f"본 적 있는 길이에서는 {'사인파가' if seen.low > 0 else '학습된 위치가'} 더 좋고",
        )
    )
    if unseen.low > 0:
        return words(
            f"{on_seen}; on longer sentences than any seen, sinusoids do better, as the paper hoped.",
            f"{on_seen}, 학습 때보다 긴 문장에서는 논문이 기대한 대로 사인파가 더 좋다.",
        )
    if unseen.high < 0:
        return words(
            f"{on_seen}; on longer sentences than any seen, learned positions do better, against the paper's hope.",
            f"{on_seen}, 학습 때보다 긴 문장에서는 논문의 기대와 달리 학습된 위치가 더 좋다.",
        )
    return words(
        f"{on_seen}; on longer sentences than any seen, there is no clear difference either.",
        f"{on_seen}, 학습 때보다 긴 문장에서도 차이가 뚜렷하지 않다.",
    )


POSITIONS = Question(
    name="positions",
    section="3.5",
    english="What breaks without positions, and why sinusoids?",
    korean="위치가 없으면 무엇이 무너지고, 왜 사인파인가?",
    measure=measure,
    answer=answer,
)
