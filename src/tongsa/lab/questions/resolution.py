"""Averaging blurs, several heads repair it (§2, §3.2.2): how much?

A position has to copy what stands at four places around it. One head can only average the four; heads of their own can
look at one each. A single attention layer of the paper is trained for it, at equal width and parameters.
"""

from __future__ import annotations

from tongsa.lab.figures import intervals
from tongsa.lab.question import Answer, Lab, Question, Values, Words, difference, mean_of

HEADS = (1, 2, 4, 8)
OFFSETS = (-2, -1, 1, 2)
CONTENT, LENGTH, WIDTH = 8, 12, 64
"""Numbers to copy from each place, positions of a sequence, d_model."""
ROWS = 32


def measure(lab: Lab) -> Values:
    """For each number of heads, one value per seed: the share of the variance of what is to be copied that is lost."""
    steps = 2 * lab.effort.updates
    return {
        "heads": list(HEADS),
        "places": len(OFFSETS),
        "lost": [[_lost(heads, seed, steps) for seed in range(1, lab.seeds + 1)] for heads in HEADS],
    }


def _lost(heads: int, seed: int, steps: int) -> float:
    import torch
    from torch import nn

    from tongsa.models.attention import MultiHeadAttention
    from tongsa.models.embeddings import sinusoids
    from tongsa.models.layers import initialise

    torch.manual_seed(seed)
    attention = MultiHeadAttention(WIDTH, heads, WIDTH // heads, WIDTH // heads)
    read = nn.Linear(WIDTH, CONTENT * len(OFFSETS))
    for module in (attention, read):
        module.apply(initialise)
    places = sinusoids(LENGTH, WIDTH - CONTENT)
    optimizer = torch.optim.Adam([*attention.parameters(), *read.parameters()], lr=0.005)
    lost = 1.0
    for _ in range(steps):
        content = torch.randn(ROWS, LENGTH, CONTENT)
        wanted = torch.cat([content.roll(-offset, dims=1) for offset in OFFSETS], dim=-1)
        x = torch.cat([content, places.expand(ROWS, -1, -1)], dim=-1)
        middle = slice(max(OFFSETS), LENGTH - max(OFFSETS))  # the places around it are in the sequence
        loss = (read(attention(x, x, None)) - wanted)[:, middle].square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        lost = 0.95 * lost + 0.05 * float(loss.detach())
    return lost


def answer(values: Values, words: Words) -> Answer:
    heads, places = values["heads"], values["places"]
    names = {count: words(f"{count} heads" if count > 1 else "1 head", f"헤드 {count}개") for count in heads}
    means = {count: mean_of(lost) for count, lost in zip(heads, values["lost"], strict=True)}
    by_heads = dict(zip(heads, values["lost"], strict=True))
    best = min(heads, key=lambda count: means[count].mean)
    gained = difference(by_heads[heads[0]], by_heads[best])
    blurred = 1 - 1 / places
    if best != heads[0] and gained.low > 0:
        conclusion = words(
            f"One head loses {100 * means[heads[0]].mean:.0f}% of what it should copy from {places} places (a plain "
            f"average would lose {100 * blurred:.0f}%), {best} heads of the same cost lose "
            f"{100 * means[best].mean:.0f}%. Several heads repair what averaging blurs.",
            f"헤드 하나는 {places}곳에서 복사해야 할 것의 {100 * means[heads[0]].mean:.0f}%를 잃고(단순 평균이면 "
            f"{100 * blurred:.0f}%), 비용이 같은 헤드 {best}개는 {100 * means[best].mean:.0f}%를 잃는다. "
            "평균으로 흐려진 것을 여러 헤드가 되살린다.",
        )
    else:
        conclusion = words(
            f"Here several heads are not clearly better than one, which loses {100 * means[heads[0]].mean:.0f}% of "
            f"what it should copy from {places} places.",
            f"여기서는 여러 헤드가 하나보다 확실히 낫지 않다. 헤드 하나는 {places}곳에서 복사해야 할 것의 "
            f"{100 * means[heads[0]].mean:.0f}%를 잃는다.",
        )
    return Answer(
        conclusion=conclusion,
        head=[words("heads", "헤드"), "d_k", words("lost", "손실된 비율")],
        rows=[[str(count), str(WIDTH // count), means[count].text(3)] for count in heads],
        figures=[
            intervals(
                words(f"Copying from {places} places at once", f"{places}곳에서 동시에 복사하기"),
                words("lost share of the variance", "손실된 분산의 비율"),
                {names[count]: means[count] for count in heads},
                note=words("means and 95% intervals over seeds", "시드 평균과 95% 구간"),
            )
        ],
    )


RESOLUTION = Question(
    name="resolution",
    section="2",
    english="Averaging blurs; how much do several heads repair?",
    korean="평균은 정보를 흐린다. 여러 헤드는 이를 얼마나 되살리는가?",
    measure=measure,
    answer=answer,
)
