"""Whatever a model prefers, a search over legal actions ends in a tree over the words."""

from __future__ import annotations

import random

import pytest
import torch

from tongsa.data.linearisations import CLOSE, LINEARISATIONS, SHIFT, Linearisation
from tongsa.decoding.legal_actions import MOST_BEGUN, LegalActions
from tongsa.formats.trees import Tree, parse_brackets

LABELS = ("S", "NP", "TOP")
END, SHIFT_ID, CLOSE_ID = 0, 2, 3


def vocabulary(linearisation: Linearisation) -> list[str]:
    return ["</s>", "<unk>", SHIFT, CLOSE, *(linearisation.opening + label for label in LABELS), "XX:NN", "XX:."]


def legal_after(legal: LegalActions, written: list[int]) -> list[int]:
    found = legal.legal(torch.tensor([0]), torch.tensor([written], dtype=torch.long))
    return [int(id) for id in found[0].nonzero().flatten()]


@pytest.mark.parametrize("name", LINEARISATIONS)
@pytest.mark.parametrize("words", [1, 2, 5])
@pytest.mark.parametrize("room", [3, 4, 5, 9, 40])
def test_random_walks_end_within_the_limit_in_a_tree(name: str, words: int, room: int) -> None:
    linearisation = LINEARISATIONS[name]
    actions = vocabulary(linearisation)
    draw = random.Random(words * 100 + room)
    for _ in range(20):
        legal = LegalActions(linearisation, actions, END, [words], [words + room])
        written: list[int] = []
        while (action := draw.choice(legal_after(legal, written))) != END:
            written.append(action)
        assert len(written) + 1 <= words + room
        leaves = [Tree("X", (), f"w{number}") for number in range(words)]
        tree = linearisation.tree([actions[id] for id in written], leaves)
        assert tree.words() == [leaf.word for leaf in leaves]
        assert parse_brackets(str(tree)) == [tree]


@pytest.mark.parametrize("name", LINEARISATIONS)
@pytest.mark.parametrize(
    "text",
    [
        "(TOP (S (NP (DT The) (NN dog)) (NP (VBZ barks)) (. .)))",
        "(TOP (NN x))",
        "(TOP (NP (S (S (NN x) (NN y))) (NN z)))",
    ],
)
def test_every_step_of_a_real_tree_is_legal(name: str, text: str) -> None:
    linearisation = LINEARISATIONS[name]
    (tree,) = parse_brackets(text)
    actions = vocabulary(linearisation)
    ids = [*(actions.index(action) for action in linearisation.actions(tree)), END]
    legal = LegalActions(linearisation, actions, END, [len(tree.leaves())], [300])
    for step, id in enumerate(ids):
        assert id in legal_after(legal, ids[:step])


@pytest.mark.parametrize(("name", "first"), [("brackets", []), ("in-order", [SHIFT_ID])])
def test_constituents_do_not_begin_without_end(name: str, first: list[int]) -> None:
    linearisation = LINEARISATIONS[name]
    legal = LegalActions(linearisation, vocabulary(linearisation), END, [3], [300])
    written, begun = list(first), 0
    while begin := [id for id in legal_after(legal, written) if CLOSE_ID < id <= CLOSE_ID + len(LABELS)]:
        begun += 1
        written += begin[:1] if name == "brackets" else [begin[0], CLOSE_ID]
        if CLOSE_ID not in legal_after(legal, written[:-1]) and name == "in-order":
            break
    assert begun <= MOST_BEGUN + 1


def test_rows_of_several_sentences_are_told_apart() -> None:
    linearisation = LINEARISATIONS["brackets"]
    actions = vocabulary(linearisation)
    legal = LegalActions(linearisation, actions, END, [1, 2], [20, 20])
    written = torch.tensor([[4, SHIFT_ID], [4, SHIFT_ID]])
    log_p = legal(torch.zeros(2, len(actions)), [0, 1], written)
    assert log_p[0, CLOSE_ID] == 0
    assert log_p[0, SHIFT_ID] == -torch.inf
    assert log_p[1, CLOSE_ID] == -torch.inf
    assert log_p[1, SHIFT_ID] == 0
