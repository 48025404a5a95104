"""Why a feed-forward network after attention (§3.3)? Without it, wider, and attention layers in its place.

First one layer has to learn facts about pairs of words by heart: an answer drawn at random for each. Then the small
translator is trained without the networks. There LayerNorm stands before the sublayers (pre-norm), so that more layers
are not worse for another reason.
"""

from __future__ import annotations

import dataclasses

from tongsa.lab.figures import intervals
from tongsa.lab.question import Answer, Lab, Question, Values, Words, difference, mean_of
from tongsa.lab.variants import Variants, worse_or_not

WORDS, WIDTH, STEPS = 32, 32, 400
"""Words of which every two make a fact, d_model, and steps of the training."""
LEARNERS = {"with": (1, "position-wise"), "without": (1, "none"), "deeper": (3, "none")}
"""Layers, and their feed-forward networks; three without have as many parameters as one with it."""

PRE_NORM = {"model.norm": "pre"}
WITHOUT = {**PRE_NORM, "model.feed_forward": "none"}
TRAINED = {
    "pre-norm": PRE_NORM,
    "no-feed-forward": WITHOUT,
    "attention-only-deep": {**WITHOUT, "model.encoder_layers": "6", "model.decoder_layers": "4"},
    "wide-feed-forward": {**PRE_NORM, "model.d_ff": "1024"},
}
"""Six and four layers of attention have as many parameters as two and two with their networks."""


def measure(lab: Lab) -> Values:
    from tongsa.lab.small_trainings import train_variants

    facts = {name: [_known(name, seed) for seed in range(1, lab.seeds + 1)] for name in LEARNERS}
    return {"facts": facts, "trained": train_variants(lab, TRAINED)}


def _known(name: str, seed: int) -> float:
    """The share of the facts that an encoder knows after its training."""
    import torch
    from torch import nn

    from tongsa.config import TransformerSection
    from tongsa.models.layers import EncoderLayer, initialise

    layers, network = LEARNERS[name]
    config = TransformerSection(
        d_model=WIDTH,
        d_ff=4 * WIDTH,
        heads=4,
        dropout=0.0,
        feed_forward=network,  # type: ignore[arg-type]
    )
    torch.manual_seed(seed)
    first, second = (
        every.flatten() for every in torch.meshgrid(torch.arange(WORDS), torch.arange(WORDS), indexing="ij")
    )
    facts = torch.randint(WORDS, (WORDS**2,))
    asked = torch.stack([first, second, torch.full_like(first, WORDS)], dim=1)
    words, places = nn.Embedding(WORDS + 1, WIDTH), nn.Embedding(asked.shape[1], WIDTH)
    encoder = nn.Sequential(*(EncoderLayer(config) for _ in range(layers))).apply(initialise)
    answer = nn.Linear(WIDTH, WORDS)
    optimizer = torch.optim.Adam(nn.ModuleList([words, places, encoder, answer]).parameters(), lr=0.01)
    known = torch.zeros(())
    for _ in range(STEPS):
        x = words(asked) + places.weight
        for layer in encoder:
            x = layer(x, None)
        logits = answer(x[:, -1])
        optimizer.zero_grad()
        nn.functional.cross_entropy(logits, facts).backward()
        optimizer.step()
        known = (logits.argmax(dim=1) == facts).float().mean()
    return 100 * float(known)


def answer(values: Values, words: Words) -> Answer:
    trained = Variants(
        results=values["trained"],
        names={
            "pre-norm": words("d_ff = 4 d_model", "d_ff = 4 d_model"),
            "no-feed-forward": words("none", "없음"),
            "attention-only-deep": words("none, but more layers", "없음, 층을 늘림"),
            "wide-feed-forward": words("d_ff = 16 d_model", "d_ff = 16 d_model"),
        },
        words=words,
    )
    lead = worse_or_not(
        trained.verdict("no-feed-forward"),
        words("Without it the small translator is worse.", "없으면 작은 번역기가 나빠진다."),
        words(
            "The small translator has little to remember and does without it: the difference is not clear.",
            "작은 번역기는 외울 것이 적어서 없어도 뚜렷한 차이가 없다.",
        ),
        words("The small translator is even better without it.", "작은 번역기는 없는 쪽이 오히려 더 좋다."),
    )
    instead = worse_or_not(
        trained.verdict("attention-only-deep"),
        words(
            "More attention layers with as many parameters do not replace it there.",
            "거기서는 같은 수의 매개변수를 어텐션 층에 더 써도 대신하지 못한다.",
        ),
        words(
            "More attention layers with as many parameters do about as well there.",
            "거기서는 같은 수의 매개변수를 어텐션 층에 써도 비슷하다.",
        ),
        words(
            "More attention layers with as many parameters do better there.",
            "거기서는 같은 수의 매개변수를 어텐션 층에 쓰면 더 좋다.",
        ),
    )
    answer = trained.answer(f"{_remembers(values['facts'], words)} {lead} {instead}")
    names = {
        "with": words("attention and network", "어텐션과 네트워크"),
        "without": words("attention alone", "어텐션만"),
        "deeper": words("three layers of attention", "어텐션 3층"),
    }
    figure = intervals(
        words(f"Known of {WORDS**2:,} facts about two words", f"두 단어에 대한 사실 {WORDS**2:,}개 가운데 외운 것"),
        words("percent", "퍼센트"),
        {said: mean_of(values["facts"][name]) for name, said in names.items()},
        note=words("means and 95% intervals over seeds", "시드 평균과 95% 구간"),
        digits=1,
    )
    return dataclasses.replace(answer, figures=[figure, *answer.figures])


def _remembers(facts: Values, words: Words) -> str:
    """What a layer knows with and without the network."""
    means = {name: mean_of(found).mean for name, found in facts.items()}
    numbers = words(
        f"{means['without']:.0f}% of {WORDS**2:,} facts about two words without it, {means['with']:.0f}% with it",
        f"두 단어에 대한 사실 {WORDS**2:,}개 가운데 없을 때 {means['without']:.0f}%, 있을 때 {means['with']:.0f}%",
    )
    if difference(facts["with"], facts["without"]).low <= 0:
        return words(
            f"A layer does not clearly remember more with the network ({numbers}).",
            f"네트워크가 있다고 한 층이 확실히 더 많이 외우지는 않는다({numbers}).",
        )
    first = words(
        f"Attention mixes words, and the network after it computes and remembers: a layer learns {numbers}.",
        f"어텐션은 단어를 섞고, 뒤의 네트워크는 그 결과로 계산하고 외운다. 한 층은 {numbers}를 외운다.",
    )
    if means["deeper"] > means["with"] - 5:
        return first + words(
            f" As many parameters in three layers of attention do it too ({means['deeper']:.0f}%).",
            f" 같은 수의 매개변수를 어텐션 3층에 써도 된다({means['deeper']:.0f}%).",
        )
    return first + words(
        f" As many parameters in three layers of attention know {means['deeper']:.0f}%.",
        f" 같은 수의 매개변수를 어텐션 3층에 쓰면 {means['deeper']:.0f}%다.",
    )


FEED_FORWARD = Question(
    name="feed-forward",
    section="3.3",
    english="Why a feed-forward network after attention?",
    korean="왜 어텐션 뒤에 피드포워드 네트워크를 두는가?",
    measure=measure,
    answer=answer,
)
