"""Trees as actions, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.data.linearisations import LINEARISATIONS
from tongsa.formats.trees import Tree, parse_brackets

SENTENCE = "(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks))))"

LEAVES = st.sampled_from(["a", "b"]).map(lambda word: Tree("X", (), word))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        Tree, st.sampled_from(["S", "NP", "TOP"]), st.lists(inner, min_size=1, max_size=3).map(tuple)
    ),
    max_leaves=8,
).map(lambda tree: Tree("TOP", (tree,)))


def test_the_sequences_are_those_of_the_papers() -> None:
    (tree,) = parse_brackets(SENTENCE)
    assert " ".join(LINEARISATIONS["brackets"].actions(tree)) == "(S (NP XX XX ) (VP XX ) )"
    assert " ".join(LINEARISATIONS["in-order"].actions(tree)) == "XX *NP XX ) *S XX *VP ) )"


@pytest.mark.parametrize("name", LINEARISATIONS)
def test_tags_are_written_with_the_words_and_replace_those_of_the_leaves(name: str) -> None:
    linearisation = LINEARISATIONS[name]
    (tree,) = parse_brackets(SENTENCE)
    actions = linearisation.actions(tree, tags=True)
    assert [action for action in actions if action.startswith("XX")] == ["XX:DT", "XX:NN", "XX:VBZ"]
    assert linearisation.tree(actions, [Tree("X", (), word) for word in tree.words()]) == tree


@pytest.mark.parametrize("name", LINEARISATIONS)
@given(tree=TREES)
def test_a_tree_comes_back_from_its_actions(name: str, tree: Tree) -> None:
    linearisation = LINEARISATIONS[name]
    inner = tree.children[0]
    whole = tree if inner.is_leaf or inner.label != "TOP" else inner  # TOP alone over TOP is one root
    if whole.label == "TOP" and len(whole.children) == 1 and whole.children[0].label == "TOP":
        return  # a chain of roots is not kept apart
    assert linearisation.tree(linearisation.actions(whole), whole.leaves()) == whole


@pytest.mark.parametrize("name", LINEARISATIONS)
def test_a_root_over_words_or_several_constituents_is_kept(name: str) -> None:
    linearisation = LINEARISATIONS[name]
    for text in ("(TOP (NN x))", "(TOP (NP (NN x)) (NP (NN y)))", "(TOP (NN x) (NP (NN y)))"):
        (tree,) = parse_brackets(text)
        assert linearisation.tree(linearisation.actions(tree), tree.leaves()) == tree
