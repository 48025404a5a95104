"""Why are embeddings multiplied by sqrt(d_model) (§3.4)? Their size beside the positions', and trained without it.

The same matrix gives the logits, so its numbers are small (variance 1 / d_model); sinusoids have a length of
sqrt(d_model / 2).
"""

from __future__ import annotations

from tongsa.lab.figures import lines
from tongsa.lab.question import Answer, Lab, Question, Values, Words, mean_of
from tongsa.lab.variants import Variants, worse_or_not

WIDTHS = (16, 64, 256, 1024)
WORDS, POSITIONS = 500, 50
TRAINED = {"base": {}, "unscaled-embeddings": {"model.scale_embeddings": "false"}}


def measure(lab: Lab) -> Values:
    """For each d_model, with and without the factor, one value per seed: the words' share of the input's square."""
    from tongsa.lab.small_trainings import train_variants

    return {"widths": list(WIDTHS), **_shares(lab), "trained": train_variants(lab, TRAINED)}


def _shares(lab: Lab) -> Values:
    import torch

    from tongsa.models.embeddings import sinusoids, table
    from tongsa.models.layers import initialise

    found: Values = {"scaled": [], "unscaled": []}
    for width in WIDTHS:
        positions = float(sinusoids(POSITIONS, width).square().sum(dim=1).mean())
        rows: dict[str, list[float]] = {"scaled": [], "unscaled": []}
        for seed in range(1, lab.seeds + 1):
            torch.manual_seed(seed)
            embedding = table(WORDS, width)
            embedding.apply(initialise)
            words = float(embedding.weight[:-1].detach().square().sum(dim=1).mean())
            rows["scaled"].append(width * words / (width * words + positions))
            rows["unscaled"].append(words / (words + positions))
        for name, row in rows.items():
            found[name].append(row)
    return found


def answer(values: Values, words: Words) -> Answer:
    names = {"scaled": words("times sqrt(d_model)", "sqrt(d_model)을 곱함"), "unscaled": words("as they are", "그대로")}
    widths = values["widths"]
    means = {name: [mean_of(row).mean for row in values[name]] for name in names}
    trained = Variants(
        results=values["trained"],
        names={
            "base": words("with the factor", "곱함"),
            "unscaled-embeddings": words("without the factor", "곱하지 않음"),
        },
        words=words,
    )
    if means["unscaled"][-1] < 0.1 < means["scaled"][-1]:
        lead = words(
            f"Without the factor a word is drowned by its position: at d_model = {widths[-1]} it has "
            f"{100 * means['unscaled'][-1]:.1f}% of the input, with the factor {100 * means['scaled'][-1]:.0f}%.",
            f"곱하지 않으면 단어가 위치에 묻힌다. d_model = {widths[-1]}에서 입력의 "
            f"{100 * means['unscaled'][-1]:.1f}%만 단어의 몫이고, 곱하면 {100 * means['scaled'][-1]:.0f}%다.",
        )
    else:
        lead = words(
            f"The factor changes a word's share of the input little here: {100 * means['unscaled'][-1]:.0f}% without, "
            f"{100 * means['scaled'][-1]:.0f}% with it.",
            f"여기서는 곱해도 단어의 몫이 별로 달라지지 않는다. 곱하지 않으면 {100 * means['unscaled'][-1]:.0f}%, "
            f"곱하면 {100 * means['scaled'][-1]:.0f}%다.",
        )
    after = worse_or_not(
        trained.verdict("unscaled-embeddings"),
        words("Trained without it, the small model is worse.", "곱하지 않고 학습하면 작은 모델은 더 나쁘다."),
        words(
            "Training makes up for it: the small model without the factor is not clearly worse.",
            "학습하면 만회된다. 곱하지 않은 작은 모델도 확실히 나쁘지는 않다.",
        ),
        words("Trained without it, the small model is even better.", "곱하지 않고 학습한 작은 모델이 오히려 더 좋다."),
    )
    return Answer(
        conclusion=f"{lead} {after} {trained.all_told()}",
        head=trained.head(),
        rows=trained.rows(),
        figures=[
            lines(
                words("A word's share of the first input", "첫 입력에서 단어의 몫"),
                "d_model",
                {said: list(zip(widths, means[name], strict=True)) for name, said in names.items()},
                note=words("the rest is the position's", "나머지는 위치의 몫"),
                across_logarithmic=True,
                from_zero=True,
            ),
            *trained.figures(),
        ],
    )


EMBEDDING_SCALE = Question(
    name="embedding-scale",
    section="3.4",
    english="Why are embeddings multiplied by sqrt(d_model)?",
    korean="왜 임베딩에 sqrt(d_model)을 곱하는가?",
    measure=measure,
    answer=answer,
)
