"""Why are positions added, not concatenated (§3.5)? Both trained at equal parameters, and whether adding mixes them up.

A trained model keeps words and positions apart if their directions differ: the measure is the overlap of the subspaces
that hold most of each, the mean squared cosine of their principal angles, against random subspaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tongsa.lab.figures import intervals
from tongsa.lab.question import Answer, Lab, Mean, Question, Values, Words, mean_of
from tongsa.lab.variants import Variants, worse_or_not

if TYPE_CHECKING:
    from torch import Tensor

    from tongsa.lab.trained import Trained

TRAINED = {"base": {}, "concatenated": {"model.join_positions": "concatenate", "model.d_ff": "224"}}
"""A narrower d_ff pays for the two matrices that bring words and positions back to d_model."""
DIMENSIONS = 8
"""Directions that are compared: the first principal components of each."""
POSITIONS = 40


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import train_variants

    found: Values = {"trained": train_variants(lab, TRAINED, look=overlap)}
    if lab.run:
        from tongsa.lab.trained import Trained

        found["run"] = overlap(Trained.of_run(lab.run))
    return found


def overlap(trained: Trained) -> Values:
    """Overlap of word and position subspaces, and that of random ones of the same size, which chance gives."""
    import torch

    positions = trained.transformer.position_table(POSITIONS)
    if positions is None:
        return {"overlap": 0.0, "chance": 0.0}
    embeddings = trained.transformer.source_embedding.weight.detach()[:-1]
    random = torch.Generator().manual_seed(1)
    width = embeddings.shape[1]
    chances = [
        _overlap(*(_orthogonal(torch.randn(width, DIMENSIONS, generator=random)) for _ in range(2))) for _ in range(20)
    ]
    return {
        "overlap": _overlap(_principal(embeddings), _principal(positions.detach())),
        "chance": sum(chances) / len(chances),
    }


def _principal(rows: Tensor) -> Tensor:
    """The first principal components (width, DIMENSIONS)."""
    import torch

    directions: Tensor = torch.linalg.svd(rows - rows.mean(dim=0), full_matrices=False).Vh
    return directions[:DIMENSIONS].T


def _orthogonal(matrix: Tensor) -> Tensor:
    import torch

    found: Tensor = torch.linalg.qr(matrix).Q
    return found


def _overlap(first: Tensor, second: Tensor) -> float:
    """Mean squared cosine of the principal angles: 0 for orthogonal subspaces, 1 for equal ones."""
    return float((first.T @ second).square().sum() / first.shape[1])


def answer(values: Values, words: Words) -> Answer:
    names = {"base": words("added", "더함"), "concatenated": words("concatenated", "이어 붙임")}
    trained = Variants(results=values["trained"], names=names, words=words)
    found, chance = trained.mean("base", "overlap"), trained.mean("base", "chance").mean
    lead = worse_or_not(
        trained.verdict("concatenated"),
        words(
            "At equal parameters concatenating is worse than adding.",
            "매개변수가 같을 때 이어 붙이기는 더하기보다 나쁘다.",
        ),
        words(
            "At equal parameters concatenating is not clearly better or worse than adding, and adding is cheaper.",
            "매개변수가 같을 때 이어 붙이기와 더하기의 차이는 뚜렷하지 않고, 더하기가 비용이 덜 든다.",
        ),
        words(
            "At equal parameters concatenating is better here: adding is cheaper, not better.",
            "여기서는 매개변수가 같을 때 이어 붙이기가 더 좋다. 더하기의 장점은 품질이 아니라 비용이다.",
        ),
    )
    if found.high < 2 * chance:
        apart = words(
            f"Adding does not mix them up: the directions of words and positions overlap by {found.mean:.2f}, random "
            f"ones by {chance:.2f}.",
            f"더해도 섞이지 않는다. 단어와 위치의 방향은 {found.mean:.2f}만큼 겹치고, 무작위 방향은 {chance:.2f}만큼 "
            "겹친다.",
        )
    else:
        apart = words(
            f"Words and positions share directions: they overlap by {found.mean:.2f}, random ones by {chance:.2f}.",
            f"단어와 위치가 같은 방향을 함께 쓴다. {found.mean:.2f}만큼 겹치고, 무작위 방향은 {chance:.2f}만큼 겹친다.",
        )
    overlaps = {words("small model", "작은 모델"): found, words("chance", "우연"): Mean(chance, 0.0)}
    told = ""
    if "run" in values:
        run = values["run"]
        overlaps[words("your translator", "지정한 번역기")] = mean_of([run["overlap"]])
        told = words(
            f" In your translator: {run['overlap']:.2f}, by chance {run['chance']:.2f}.",
            f" 지정한 번역기에서는 {run['overlap']:.2f}, 우연은 {run['chance']:.2f}이다.",
        )
    return Answer(
        conclusion=f"{lead} {apart}{told} {trained.all_told()}",
        head=trained.head(),
        rows=trained.rows(),
        figures=[
            intervals(
                words("Overlap of words and positions", "단어와 위치가 겹치는 정도"),
                words("0: orthogonal, 1: the same directions", "0: 직교, 1: 같은 방향"),
                overlaps,
            ),
            *trained.figures(),
        ],
    )


ADD_OR_CONCATENATE = Question(
    name="add-or-concatenate",
    section="3.5",
    english="Why are positions added, and not concatenated?",
    korean="왜 위치를 이어 붙이지 않고 더하는가?",
    measure=measure,
    answer=answer,
    takes_run=True,
)
