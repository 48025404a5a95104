"""What differs between heads (§3.2.2, Table 3 A)? One against many at equal cost; and every head of a trained model:
how far it looks, how sharply, what it looks at, and what BLEU is without it.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections import Counter
from typing import TYPE_CHECKING

from tongsa.base.errors import UsageError
from tongsa.lab.figures import lines
from tongsa.lab.question import Answer, Lab, Question, Values, Words
from tongsa.lab.variants import Variants, worse_or_not

if TYPE_CHECKING:
    from torch import Tensor

    from tongsa.lab.interventions import Place
    from tongsa.lab.trained import Trained

TRAINED = {"base": {}, "one-head": {"model.heads": "1"}, "sixteen-heads": {"model.heads": "16"}}
SENTENCES = 100
"""Held-out pairs whose weights are looked at, and that are translated without each head."""
ROLES = ("previous", "itself", "next", "aligned", "rarest", "first", "end")
CLEAR = 0.4
"""Mean weight from which a head has a role."""


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import train_variants

    return {"trained": train_variants(lab, TRAINED), "of_run": lab.run is not None, "heads": _anatomy_of(lab)}


def _anatomy_of(lab: Lab) -> list[Values]:
    """Of the user's translator, or of the first small model."""
    if lab.run:
        from tongsa.lab.trained import Trained

        return anatomy(Trained.of_run(lab.run))["heads"]  # type: ignore[no-any-return]
    from tongsa.lab.small_trainings import train_variants

    first = train_variants(
        Lab(folder=lab.folder, show=lab.show, seeds=1, effort=lab.effort), {"base": {}}, look=anatomy
    )
    return first["base"][0]["heads"]  # type: ignore[no-any-return]


def anatomy(trained: Trained) -> Values:
    """For each head: kind, layer, number, mean distance, entropy in bits, mean weight on each role, BLEU without it."""
    from tongsa.lab.interventions import PLACES, Head, Intervention, intervene

    pairs = trained.pairs[:SENTENCES]
    if not pairs:
        raise UsageError(
            "this translator has no held-out pairs", "Its directory needs validation.jsonl, as training writes it."
        )
    counts = Counter(id for source, _ in trained.pairs for id in trained.subwords.source.encode(source))
    seen: dict[tuple[Place, int], list[list[Values]]] = {}
    for source, target in pairs:
        rarity = [-counts[id] for id in trained.subwords.source.encode(source)]
        weights = trained.attention(source, target)
        for kind in PLACES:
            for layer, of_heads in enumerate(getattr(weights, kind)):
                seen.setdefault((kind, layer), []).append([_look(kind, head, rarity) for head in of_heads[0]])
    whole = trained.bleu(pairs)
    found = []
    for (kind, layer), sentences in seen.items():
        for head, looks in enumerate(zip(*sentences, strict=True)):
            off = intervene(trained.transformer, Intervention(heads_off=(Head(kind, layer, head),)))
            without = dataclasses.replace(trained, model=off).bleu(pairs)
            means = {name: statistics.fmean(look[name] for look in looks) for name in looks[0]}
            found.append({"kind": kind, "layer": layer + 1, "head": head + 1, **means, "lost": whole - without})
    return {"heads": found, "whole": whole}


def _look(kind: str, weights: Tensor, rarity: list[int]) -> Values:
    """One head (queries, keys) in one sentence."""
    import torch

    queries, keys = weights.shape
    row, column = torch.arange(queries)[:, None], torch.arange(keys)[None, :]
    entropy = -(weights * weights.clamp_min(1e-12).log2()).sum(dim=-1).mean()
    found = {"entropy": float(entropy), "first": float(weights[:, 0].mean()), "end": float(weights[:, -1].mean())}
    found["aligned"] = float(weights.max(dim=-1).values.mean()) if kind == "cross" else 0.0
    if kind == "cross":
        scaled = (row * (keys - 1) / max(1, queries - 1) - column).abs()  # places along both sentences
        found |= {"distance": float((weights * scaled).sum(dim=-1).mean()), "previous": 0.0, "itself": 0.0, "next": 0.0}
    else:
        found["distance"] = float((weights * (row - column).abs()).sum(dim=-1).mean())
        for name, offset in (("previous", -1), ("itself", 0), ("next", 1)):
            diagonal = weights.diagonal(offset)
            found[name] = float(diagonal.mean()) if len(diagonal) else 0.0
    rare = max(range(len(rarity)), key=lambda place: rarity[place]) if rarity and kind != "decoder" else None
    found["rarest"] = float(weights[:, rare].mean()) if rare is not None else 0.0
    if kind == "decoder":
        found["end"] = 0.0  # its last key is the query itself
    return found


def answer(values: Values, words: Words) -> Answer:
    names = {
        "base": words("4 heads", "헤드 4개"),
        "one-head": words("1 head", "헤드 1개"),
        "sixteen-heads": words("16 heads", "헤드 16개"),
    }
    trained = Variants(results=values["trained"], names=names, words=words)
    one = worse_or_not(
        trained.verdict("one-head"),
        words(
            "At equal cost one head is worse than four, as in Table 3 (A).",
            "비용이 같을 때 헤드 하나는 넷보다 나쁘다. 표 3의 A와 같다.",
        ),
        words(
            "At equal cost one head is not clearly worse than four here.",
            "여기서는 비용이 같을 때 헤드 하나가 넷보다 확실히 나쁘지는 않다.",
        ),
        words("At equal cost one head is better than four here.", "여기서는 비용이 같을 때 헤드 하나가 넷보다 좋다."),
    )
    heads = values["heads"]
    kinds = {
        "encoder": words("encoder", "인코더"),
        "decoder": words("decoder", "디코더"),
        "cross": words("cross", "교차"),
    }
    return Answer(
        conclusion=f"{one} {_roles(heads, words)} {_needed(heads, kinds, words)} {trained.all_told()}",
        head=[
            words("head", "헤드"),
            words("mean distance", "평균 거리"),
            words("entropy, bits", "엔트로피, 비트"),
            words("looks at", "보는 곳"),
            words("BLEU lost without it", "껐을 때 잃는 BLEU"),
        ],
        rows=[
            [
                f"{kinds[head['kind']]} {head['layer']}.{head['head']}",
                f"{head['distance']:.1f}",
                f"{head['entropy']:.2f}",
                _role(head, words),
                f"{head['lost']:+.1f}",
            ]
            for head in heads
        ],
        figures=[_without(values, kinds, words), *trained.figures()],
    )


def _without(values: Values, kinds: dict[str, str], words: Words) -> str:
    lost = {
        said: sorted((head["lost"] for head in values["heads"] if head["kind"] == kind), reverse=True)
        for kind, said in kinds.items()
    }
    return lines(
        words("BLEU lost without a head", "헤드를 껐을 때 잃는 BLEU"),
        words("heads, from the most needed", "헤드, 가장 필요한 것부터"),
        {said: list(enumerate(each, 1)) for said, each in lost.items()},
        note=words("your translator", "지정한 번역기") if values["of_run"] else words("small model", "작은 모델"),
    )


def _role(head: Values, words: Words) -> str:
    said = {
        "previous": words("the word before", "앞 단어"),
        "itself": words("the word itself", "자기 자신"),
        "next": words("the word after", "뒤 단어"),
        "aligned": words("one source word each: alignment", "원문 단어 하나씩(정렬)"),
        "rarest": words("the rarest word", "가장 드문 단어"),
        "first": words("the first word", "첫 단어"),
        "end": words("the end", "문장 끝"),
    }
    best = max(ROLES, key=lambda role: float(head[role]))
    return f"{said[best]} ({head[best]:.2f})" if head[best] >= CLEAR else "–"


def _roles(heads: list[Values], words: Words) -> str:
    clear = [max(ROLES, key=lambda role: float(head[role])) for head in heads if max(head[r] for r in ROLES) >= CLEAR]
    if not clear:
        return words("No head has a clear role.", "뚜렷한 역할을 맡은 헤드는 없다.")
    kinds = len(set(clear))
    return words(
        f"{len(clear)} of {len(heads)} heads mostly look at one kind of place; such kinds: {kinds}.",
        f"헤드 {len(heads)}개 중 {len(clear)}개가 주로 한 종류의 위치를 보며, 그 종류는 {kinds}가지다.",
    )


def _needed(heads: list[Values], kinds: dict[str, str], words: Words) -> str:
    most = max(heads, key=lambda head: float(head["lost"]))
    idle = sum(head["lost"] < 1 for head in heads)
    name = f"{kinds[most['kind']]} {most['layer']}.{most['head']}"
    if most["lost"] < 1:
        return words(
            "Without any single head BLEU hardly changes: the others do its work.",
            "어느 헤드 하나를 꺼도 BLEU는 거의 변하지 않는다. 나머지가 대신한다.",
        )
    return words(
        f"The most needed head is {name}: without it {most['lost']:.1f} BLEU are lost; {idle} of {len(heads)} can be "
        "switched off for less than 1 BLEU each.",
        f"가장 필요한 헤드는 {name}이다. 끄면 BLEU {most['lost']:.1f}점을 잃는다. {len(heads)}개 중 {idle}개는 "
        "하나씩 꺼도 1점을 잃지 않는다.",
    )


HEADS = Question(
    name="heads",
    section="3.2.2",
    english="What differs between heads?",
    korean="헤드마다 무엇이 다른가?",
    measure=measure,
    answer=answer,
    takes_run=True,
)
