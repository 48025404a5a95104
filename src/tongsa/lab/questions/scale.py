"""Why are dot products divided by sqrt(d_k) (§3.2.1)? Entropy of the softmax and the gradient through it, as d_k grows;
and a model trained without it.

Queries and keys have independent components of mean 0 and variance 1, as the paper's footnote 4 assumes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from tongsa.lab.figures import lines
from tongsa.lab.question import Answer, Lab, Mean, Question, Values, Words, mean_of
from tongsa.lab.variants import Variants, worse_or_not

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)
KEYS = 32
QUERIES = 256
TRAINED = {"one-head": {"model.heads": "1"}, "unscaled": {"model.heads": "1", "model.attention": "dot-product"}}
"""One head, so that d_k is 64 as in the paper."""


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import train_variants

    return {**_softmax(lab), "trained": train_variants(lab, TRAINED)}


def _softmax(lab: Lab) -> Values:
    """For each d_k, with and without the scale, one value per seed: entropy of the weights in bits, and the length of
    the gradient of the output with respect to the scores."""
    import torch

    found: Values = {"widths": list(WIDTHS), "keys": KEYS}
    for name in ("scaled", "unscaled"):
        rows = []
        for width in WIDTHS:
            seeds = []
            for seed in range(1, lab.seeds + 1):
                random = torch.Generator().manual_seed(seed)
                queries = torch.randn(QUERIES, width, generator=random)
                keys = torch.randn(KEYS, width, generator=random)
                values = torch.randn(KEYS, generator=random)
                scores = queries @ keys.T / (math.sqrt(width) if name == "scaled" else 1.0)
                weights = scores.requires_grad_().softmax(dim=-1)
                (gradient,) = torch.autograd.grad((weights @ values).sum(), scores)
                entropy = -(weights * weights.clamp_min(1e-30).log2()).sum(dim=-1).mean()
                seeds.append([float(entropy.detach()), float(gradient.norm(dim=-1).median())])
            rows.append(seeds)
        found[name] = rows
    return found


def answer(values: Values, words: Words) -> Answer:
    widths = values["widths"]
    names = {
        "scaled": words("divided by sqrt(d_k)", "sqrt(d_k)로 나눔"),
        "unscaled": words("not divided", "나누지 않음"),
    }
    means = {
        name: [[mean_of([seed[what] for seed in row]) for what in (0, 1)] for row in values[name]] for name in names
    }
    trained = Variants(
        results=values["trained"], names={"one-head": names["scaled"], "unscaled": names["unscaled"]}, words=words
    )
    after = worse_or_not(
        trained.verdict("unscaled"),
        words("Trained without the scale, the small model is worse.", "나누지 않고 학습하면 작은 모델은 더 나쁘다."),
        words(
            "Trained without it, the small model is not clearly worse: it learns smaller queries and keys.",
            "나누지 않고 학습해도 작은 모델은 확실히 나쁘지 않다. 쿼리와 키를 작게 배운다.",
        ),
        words(
            "Trained without the scale, the small model is even better.",
            "나누지 않고 학습한 작은 모델이 오히려 더 좋다.",
        ),
    )
    rows = [
        [str(width)] + [means[name][place][what].text(3) for what in (0, 1) for name in names]
        for place, width in enumerate(widths)
    ]
    entropy, gradient = words("entropy", "엔트로피"), words("gradient", "그래디언트")

    def curves(what: int) -> dict[str, list[tuple[float, float]]]:
        return {
            said: [(width, row[what].mean) for width, row in zip(widths, means[name], strict=True)]
            for name, said in names.items()
        }

    return Answer(
        conclusion=f"{_about_softmax(values, means, words)} {after} {trained.all_told()}",
        head=["d_k", *(f"{what}, {name}" for what in (entropy, gradient) for name in names.values())],
        rows=rows,
        figures=[
            lines(
                words("Entropy of the weights", "가중치의 엔트로피"),
                "d_k",
                curves(0),
                note=words("bits", "비트"),
                across_logarithmic=True,
                from_zero=True,
            ),
            lines(
                words("Gradient through the softmax", "소프트맥스를 통과하는 그래디언트"),
                "d_k",
                curves(1),
                note=words("median length", "길이의 중앙값"),
                across_logarithmic=True,
                logarithmic=True,
            ),
            *trained.figures(),
        ],
    )


def _about_softmax(values: Values, means: Mapping[str, list[list[Mean]]], words: Words) -> str:
    widths = values["widths"]
    first, last = {name: rows[0] for name, rows in means.items()}, {name: rows[-1] for name, rows in means.items()}
    steady = last["scaled"][1].low > first["scaled"][1].high / 3
    lost = last["unscaled"][1].high < last["scaled"][1].low / 3
    ratio = last["scaled"][1].mean / max(last["unscaled"][1].mean, 1e-30)
    if steady and lost:
        return words(
            f"Without the scale the softmax picks a single key when d_k = {widths[-1]} (entropy "
            f"{last['unscaled'][0].mean:.2f} of {math.log2(values['keys']):.0f} bits), and the median gradient "
            f"through it is {ratio:.3g} times smaller than with the scale. With it, neither depends much on d_k. "
            "The reason that the paper suspects is right here.",
            f"나누지 않으면 d_k = {widths[-1]}에서 소프트맥스가 키 하나만 고르고(엔트로피 "
            f"{last['unscaled'][0].mean:.2f}비트, 최대 {math.log2(values['keys']):.0f}비트), 이를 통과하는 "
            f"그래디언트의 중앙값은 나눌 때의 {ratio:.3g}분의 1이다. "
            "나누면 둘 다 d_k에 거의 영향을 받지 않는다. 논문이 추측한 이유가 여기서 확인된다.",
        )
    return words(
        f"Here the scale makes no clear difference: at d_k = {widths[-1]} the median gradient with the scale is "
        f"{ratio:.3g} times that without. The reason that the paper suspects is not confirmed.",
        f"여기서는 스케일의 효과가 뚜렷하지 않다. d_k = {widths[-1]}에서 나눌 때의 그래디언트 중앙값은 "
        f"나누지 않을 때의 {ratio:.3g}배다. 논문이 추측한 이유는 확인되지 않는다.",
    )


SCALE = Question(
    name="scale",
    section="3.2.1",
    english="Why are the dot products divided by sqrt(d_k)?",
    korean="왜 내적을 sqrt(d_k)로 나누는가?",
    measure=measure,
    answer=answer,
)
