"""Batch, layer, instance and group normalisation: what each averages over, and what a token's state then depends on."""

from __future__ import annotations

from tongsa.lab.figures import intervals
from tongsa.lab.question import Answer, Lab, Question, Values, Words, mean_of

ROWS, POSITIONS, WIDTH, GROUPS = 8, 12, 64, 4
TOUCHED = ("others", "later", "padding")


def measure(lab: Lab) -> Values:
    """For each kind, one value per seed: how much the first half of a sentence changes (largest change of a number)

    others    when the other sentences of the batch are different ones
    later     when the second half of the same sentence is a different one
    padding   when zeros are appended to the sentence
    """
    import torch
    from torch import Tensor, nn

    kinds = {
        "batch": (nn.BatchNorm1d(WIDTH, affine=False), ROWS * POSITIONS),
        "layer": (nn.LayerNorm(WIDTH, elementwise_affine=False), WIDTH),
        "instance": (nn.InstanceNorm1d(WIDTH), POSITIONS),
        "group": (nn.GroupNorm(GROUPS, WIDTH, affine=False), POSITIONS * WIDTH // GROUPS),
    }

    def first_half(norm: nn.Module, x: Tensor) -> Tensor:
        y = norm(x) if isinstance(norm, nn.LayerNorm) else norm(x.transpose(1, 2)).transpose(1, 2)
        return y[0, : POSITIONS // 2]  # type: ignore[no-any-return]

    found: Values = {}
    for name, (norm, numbers) in kinds.items():
        seen: dict[str, list[float]] = {touched: [] for touched in TOUCHED}
        for seed in range(1, lab.seeds + 1):
            random = torch.Generator().manual_seed(seed)
            x = torch.randn(ROWS, POSITIONS, WIDTH, generator=random)
            other = 1 + 2 * torch.randn(ROWS, POSITIONS, WIDTH, generator=random)
            before = first_half(norm, x)
            changed = {
                "others": torch.cat([x[:1], other[1:]]),
                "later": torch.cat([x[:, : POSITIONS // 2], other[:, POSITIONS // 2 :]], dim=1),
                "padding": torch.cat([x, torch.zeros_like(x)], dim=1),
            }
            if name == "batch":  # of its batch, only this sentence changes
                changed["later"] = torch.cat([changed["later"][:1], x[1:]])
            for touched, y in changed.items():
                seen[touched].append(float((first_half(norm, y) - before).abs().max()))
        found[name] = {"numbers": numbers, **seen}
    return found


def answer(values: Values, words: Words) -> Answer:
    names = {
        "batch": words("batch", "배치"),
        "layer": words("layer", "레이어"),
        "instance": words("instance", "인스턴스"),
        "group": words("group", "그룹"),
    }
    over = {
        "batch": words("all positions of all sentences, for each feature", "특징마다 모든 문장의 모든 위치"),
        "layer": words("the features of one position", "한 위치의 특징들"),
        "instance": words("the positions of one sentence, for each feature", "특징마다 한 문장의 위치들"),
        "group": words(
            "the positions of one sentence and a quarter of the features", "한 문장의 위치들과 특징의 4분의 1"
        ),
    }
    asked = {
        "others": words("other sentences", "다른 문장"),
        "later": words("later words", "뒤의 단어"),
        "padding": words("padding", "패딩"),
    }
    depends = {name: [what for what in asked if max(values[name][what]) > 1e-5] for name in names}
    alone = [said for name, said in names.items() if not depends[name]]
    told = [
        words(
            f"With {said} normalisation the state of a word changes with {_listed([asked[w] for w in depends[name]])}.",
            f"{said} 정규화에서는 단어의 상태가 {_listed([asked[w] for w in depends[name]])}에 따라 바뀐다.",
        )
        for name, said in names.items()
        if depends[name]
    ]
    return Answer(
        conclusion=" ".join([_lead(alone, names["layer"], words), *told]),
        head=[
            words("normalisation", "정규화"),
            words("averages over", "평균을 내는 범위"),
            words("numbers", "값의 개수"),
            *asked.values(),
        ],
        rows=[
            [said, over[name], str(values[name]["numbers"]), *(f"{max(values[name][what]):.2g}" for what in asked)]
            for name, said in names.items()
        ],
        figures=[
            intervals(
                words(f"Change of a word's state: {asked[what]}", f"단어 상태의 변화: {asked[what]}"),
                words("largest change of a number", "값 하나의 최대 변화"),
                {said: mean_of(values[name][what]) for name, said in names.items()},
            )
            for what in asked
        ],
    )


def _lead(alone: list[str], layer: str, words: Words) -> str:
    if alone == [layer]:
        return words(
            "Only layer normalisation treats every position by itself: what a word becomes does not depend on the rest "
            "of the batch, on later words or on padding. That is why it suits sentences of different lengths and a "
            "decoder that must not see the future.",
            "레이어 정규화만이 각 위치를 따로 다룬다. 단어의 상태가 배치의 나머지, 뒤의 단어, 패딩에 영향을 받지 "
            "않는다. 그래서 길이가 제각각인 문장과 미래를 보면 안 되는 디코더에 맞는다.",
        )
    if alone:
        return words(
            f"Here {_listed(alone)} normalisation treats every position by itself.",
            f"여기서는 {_listed(alone)} 정규화가 각 위치를 따로 다룬다.",
        )
    return words(
        "Here no normalisation treats every position by itself.",
        "여기서는 어떤 정규화도 각 위치를 따로 다루지 않는다.",
    )


def _listed(parts: list[str]) -> str:
    return ", ".join(parts)


NORMALISATION = Question(
    name="normalisation",
    section="3.1",
    english="Why layer normalisation, and not batch normalisation?",
    korean="왜 배치 정규화가 아니라 레이어 정규화인가?",
    measure=measure,
    answer=answer,
)
