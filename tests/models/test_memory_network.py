from __future__ import annotations

import dataclasses

import torch
from torch import Tensor

import small_stories as town
from tongsa.data.stories import Question, words
from tongsa.models.memory_network import (
    Encoding,
    MemoryNetwork,
    MemoryNetworkSection,
    Tying,
    position_encoding,
    released_encoding,
)
from tongsa.tasks.story_encoding import Lexicon, StoryBatch, encode

QUESTIONS = town.stories(12, seed=4)
LEXICON = Lexicon.of(QUESTIONS)
MEMORIES = 7
LONGEST = 9


def network(tying: Tying = "adjacent", hops: int = 3, encoding: Encoding = "position") -> MemoryNetwork:
    torch.manual_seed(1)
    section = MemoryNetworkSection(
        d_model=6, hops=hops, memories=MEMORIES, tying=tying, encoding=encoding, max_words=LONGEST
    )
    return MemoryNetwork(section, len(LEXICON)).double()


def everything(model: MemoryNetwork) -> StoryBatch:
    batch = encode(QUESTIONS, LEXICON, model.config).batch(torch.arange(len(QUESTIONS)))
    batch.sentences.__dict__.update(alpha=batch.sentences.alpha.double(), beta=batch.sentences.beta.double())
    return batch


def answer(model: MemoryNetwork, batch: StoryBatch, linear: bool = False, seen: list[Tensor] | None = None) -> Tensor:
    found: Tensor = model(batch.sentences, batch.story, batch.times, batch.question, linear, seen)
    return found


def by_the_paper(model: MemoryNetwork, question: Question, linear: bool) -> Tensor:
    """§2 and §4.1 as they are written: a story, a sentence and a word at a time."""
    shape = model.config
    table = {name: model.embeddings[:, place] for name, place in tables(shape).items()}
    time = model.times

    def sentence(text: str, matrix: Tensor) -> Tensor:
        ids = [LEXICON.places[word] for word in words(text)]
        weights = (
            released_encoding(len(ids), shape.d_model, LONGEST)
            if shape.encoding == "released"
            else position_encoding(len(ids), shape.d_model)
        )
        return (weights.double() * matrix[ids]).sum(dim=0)

    u = sentence(question.text, table["B"])
    recent = question.story[::-1][: shape.memories]
    for hop in range(1, shape.hops + 1):
        a, c = table[f"A{hop}"], table[f"C{hop}"]
        t_a, t_c = (time[:, hop - 1], time[:, hop]) if shape.tying == "adjacent" else (time[:, 0], time[:, 1])
        empty = [torch.zeros(shape.d_model).double()] * (shape.memories - len(recent))
        m = torch.stack([sentence(text, a) + t_a[i] for i, text in enumerate(recent)] + empty)
        o = torch.stack([sentence(text, c) + t_c[i] for i, text in enumerate(recent)] + empty)
        scores = m @ u
        p = scores if linear else torch.softmax(scores, dim=0)
        u = (u if model.h is None else model.h(u)) + p @ o
    return u @ table["W"].T


def tables(shape: MemoryNetworkSection) -> dict[str, int]:
    """§2.2: which of the matrices are one."""
    hops = range(1, shape.hops + 1)
    if shape.tying == "layerwise":
        return {"B": 2, "W": 3} | {f"A{hop}": 0 for hop in hops} | {f"C{hop}": 1 for hop in hops}
    return {"B": 0, "W": shape.hops} | {f"A{hop}": hop - 1 for hop in hops} | {f"C{hop}": hop for hop in hops}


def test_batched_products_equal_the_equations_of_the_paper_word_by_word() -> None:
    cases: list[tuple[Tying, Encoding]] = [
        ("adjacent", "position"),
        ("layerwise", "position"),
        ("adjacent", "released"),
    ]
    for tying, encoding in cases:
        for linear in (False, True):
            model = network(tying, encoding=encoding)
            found = answer(model, everything(model), linear)
            expected = torch.stack([by_the_paper(model, question, linear) for question in QUESTIONS])
            assert torch.allclose(found, expected, atol=1e-6), (tying, encoding, linear)


def test_the_position_encoding_is_that_of_the_paper() -> None:
    found = position_encoding(4, 5)
    for j in range(1, 5):
        for k in range(1, 6):
            assert abs(float(found[j - 1, k - 1]) - ((1 - j / 4) - (k / 5) * (1 - 2 * j / 4))) < 1e-6


def test_the_released_encoding_is_one_at_the_centre_and_does_not_depend_on_the_length_of_a_sentence() -> None:
    short, whole = released_encoding(4, 5, LONGEST), released_encoding(LONGEST, 5, LONGEST)
    assert torch.equal(short, whole[:4])
    assert torch.equal(whole[:, 2], torch.ones(LONGEST))  # k = (d+1)/2
    assert torch.equal(whole[LONGEST // 2], torch.ones(5))  # j = (J+1)/2
    assert abs(float(whole[0, 0]) - (1 + 4 * (1 - 3) * (1 - 5) / (5 * 9))) < 1e-6
    many = released_encoding(1000, 1000, 1000)
    assert torch.allclose(many, 2 * position_encoding(1000, 1000), atol=0.005)  # of long sentences, twice the paper's


def test_a_question_is_answered_alike_in_whatever_company() -> None:
    model = network().float()
    encoded = encode(QUESTIONS, LEXICON, model.config)
    together = answer(model, encoded.batch(torch.arange(len(QUESTIONS))))
    alone = torch.cat([answer(model, encoded.batch(torch.tensor([row]))) for row in range(len(QUESTIONS))])
    assert torch.allclose(together, alone, atol=1e-6)


def test_attention_is_a_distribution_over_the_memory_and_one_tensor_a_hop() -> None:
    seen: list[Tensor] = []
    model = network(hops=2)
    answer(model, everything(model), seen=seen)
    assert len(seen) == 2
    for p in seen:
        assert p.shape == (len(QUESTIONS), MEMORIES)
        assert torch.allclose(p.sum(dim=1), torch.ones(len(QUESTIONS)).double())


def test_adjacent_hops_share_matrices_and_layerwise_ones_have_the_same_number_for_any_hops() -> None:
    sizes = {hops: sum(p.numel() for p in network("adjacent", hops).parameters()) for hops in (1, 3)}
    a_hop = (len(LEXICON) + MEMORIES) * 6
    assert sizes == {1: 2 * a_hop, 3: 4 * a_hop}
    one, three = (sum(p.numel() for p in network("layerwise", hops).parameters()) for hops in (1, 3))
    assert one == three


def test_the_order_of_words_counts_with_position_encoding_and_not_in_a_bag() -> None:
    questions = [
        Question(1, (f"{one} saw {other}.",), "Who saw?", "mina", (0,))
        for one, other in (("Mina", "Joon"), ("Joon", "Mina"))
    ]
    lexicon = Lexicon.of(questions)
    torch.manual_seed(1)
    section = MemoryNetworkSection(d_model=6, hops=1, memories=2, max_words=LONGEST)
    model = MemoryNetwork(section, len(lexicon))
    kinds: list[Encoding] = ["position", "released", "bag"]
    logits = {
        kind: answer(
            model, encode(questions, lexicon, dataclasses.replace(section, encoding=kind)).batch(torch.arange(2))
        )
        for kind in kinds
    }
    assert torch.allclose(logits["bag"][0], logits["bag"][1])
    for kind in ("position", "released"):
        assert not torch.allclose(logits[kind][0], logits[kind][1], atol=1e-4)
