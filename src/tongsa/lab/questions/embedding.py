"""An embedding is a linear map of a one-hot vector: shown to the last bit, and what each costs."""

from __future__ import annotations

import time

from tongsa.lab.figures import lines
from tongsa.lab.question import Answer, Lab, Question, Values, Words

SIZES = (500, 2000, 8000, 32000)
WIDTH = 64
TOKENS = 256


def measure(lab: Lab) -> Values:
    """For each size of the vocabulary: the largest difference of outputs and of gradients, and milliseconds of both."""
    import torch
    from torch import nn
    from torch.nn.functional import one_hot

    rows = []
    for size in SIZES:
        torch.manual_seed(1)
        embedding, linear = nn.Embedding(size, WIDTH), nn.Linear(size, WIDTH, bias=False)
        with torch.no_grad():
            linear.weight.copy_(embedding.weight.T)
        tokens = torch.randint(size, (TOKENS,))
        weights = torch.randn(TOKENS, WIDTH)
        times: dict[str, list[float]] = {"lookup": [], "product": []}
        for _ in range(max(3, lab.seeds)):
            begun = time.perf_counter()
            looked_up = embedding(tokens)
            times["lookup"].append(1000 * (time.perf_counter() - begun))
            begun = time.perf_counter()
            multiplied = linear(one_hot(tokens, size).float())
            times["product"].append(1000 * (time.perf_counter() - begun))
        (looked_up * weights).sum().backward()
        (multiplied * weights).sum().backward()
        assert embedding.weight.grad is not None, "it took part in the sum"
        assert linear.weight.grad is not None, "it took part in the sum"
        rows.append(
            {
                "size": size,
                "output": float((looked_up - multiplied).detach().abs().max()),
                "gradient": float((embedding.weight.grad - linear.weight.grad.T).abs().max()),
                **times,
            }
        )
    return {"rows": rows, "width": WIDTH, "tokens": TOKENS}


def answer(values: Values, words: Words) -> Answer:
    rows = values["rows"]
    worst = max(max(row["output"], row["gradient"]) for row in rows)
    largest = rows[-1]
    times = {name: min(largest[name]) for name in ("lookup", "product")}
    ratio = times["product"] / max(times["lookup"], 1e-9)
    same = worst < 1e-5
    if same:
        said = words(
            f"Looking a row up and multiplying a one-hot vector give the same outputs and gradients (largest "
            f"difference {worst:.1g}). ",
            f"행을 찾는 것과 원-핫 벡터를 곱하는 것은 출력도 그래디언트도 같다(최대 차이 {worst:.1g}). ",
        )
    else:
        said = words(
            f"The two are not the same here: they differ by {worst:.2g}. ",
            f"여기서는 둘이 같지 않다. 차이는 {worst:.2g}다. ",
        )
    cost = (
        words(
            f"The product is {ratio:.0f} times slower with {largest['size']:,} words: it multiplies by zeros.",
            f"단어가 {largest['size']:,}개일 때 행렬 곱은 {ratio:.0f}배 느리다. 0을 곱하기 때문이다.",
        )
        if ratio > 1
        else words("The product is not slower here.", "여기서는 행렬 곱이 느리지 않다.")
    )
    names = {
        "lookup": words("nn.Embedding", "nn.Embedding"),
        "product": words("one-hot × nn.Linear", "원-핫 × nn.Linear"),
    }
    return Answer(
        conclusion=said + cost,
        head=[words("vocabulary", "어휘"), words("difference", "차이"), *(f"{name}, ms" for name in names.values())],
        rows=[
            [f"{row['size']:,}", f"{max(row['output'], row['gradient']):.1g}"]
            + [f"{min(row[name]):.3f}" for name in names]
            for row in rows
        ],
        figures=[
            lines(
                words(f"Time for {values['tokens']} tokens", f"토큰 {values['tokens']}개에 걸린 시간"),
                words("words of the vocabulary", "어휘의 단어 수"),
                {said: [(row["size"], min(row[name])) for row in rows] for name, said in names.items()},
                note=words("milliseconds", "밀리초"),
                logarithmic=True,
                across_logarithmic=True,
            )
        ],
    )


EMBEDDING = Question(
    name="embedding",
    section="3.4",
    english="Is an embedding something other than a linear layer?",
    korean="임베딩은 선형 층과 다른 것인가?",
    measure=measure,
    answer=answer,
)
