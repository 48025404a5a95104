"""Trees as pictures and pages."""

from __future__ import annotations

import re
from itertools import pairwise

from lxml import etree

from tongsa.formats.trees import Tree, parse_brackets
from tongsa.pages.trees import DrawnTree, tree_page, tree_pictures

SVG = "{http://www.w3.org/2000/svg}"
(TREE,) = parse_brackets("(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks) (ADVP (RB <b>loudly))) (. .)))")


def drawn(tree: Tree, attention: list[list[float]] | None = None) -> etree._Element:
    return etree.fromstring(tree_pictures([DrawnTree(tree, attention or [])]).encode())


def test_every_label_tag_and_word_is_written_once_and_escaped() -> None:
    texts = [element.text or "" for element in drawn(TREE).iter(f"{SVG}text")]
    labels = [node.label for node, begins in TREE.nodes() if begins]
    assert sorted(texts) == sorted([*labels, *TREE.words()])


def test_parents_stand_above_their_children_and_words_do_not_touch() -> None:
    places = {
        element.text: (float(element.get("x") or 0), float(element.get("y") or 0))
        for element in drawn(TREE).iter(f"{SVG}text")
    }
    assert places["TOP"][1] < places["S"][1] < places["VP"][1] < places["ADVP"][1] < places["RB"][1]
    inks = list(drawn(TREE).iter(f"{SVG}rect"))
    spans = [(float(ink.get("x") or 0), float(ink.get("width") or 0)) for ink in inks]
    assert len(spans) == len(TREE.words())
    assert all(left + width < right for (left, width), (right, _) in pairwise(spans))


def test_nodes_carry_what_they_attended_to() -> None:
    nodes = [node for node, begins in TREE.nodes() if begins]
    attention = [[] if node.label == "TOP" else [0.2] * 5 for node in nodes]
    weighted = [element for element in drawn(TREE, attention).iter(f"{SVG}text") if element.get("data-weights")]
    assert len(weighted) == len(nodes) - 1
    assert {element.get("data-weights") for element in weighted} == {"0.200 0.200 0.200 0.200 0.200"}
    assert not [element for element in drawn(TREE).iter(f"{SVG}text") if element.get("data-weights")]


def test_several_trees_stand_below_each_other_in_one_picture() -> None:
    one, two = (etree.fromstring(tree_pictures([DrawnTree(TREE)] * count, alone=True).encode()) for count in (1, 2))
    assert float(two.get("height") or 0) == 2 * float(one.get("height") or 0)
    assert two.find(f"{SVG}style") is not None


def test_a_page_holds_everything_and_loads_nothing() -> None:
    whole = tree_page([DrawnTree(TREE)])
    assert "&lt;b&gt;loudly" in whole
    assert not re.search(r'(?:src|href)="(?!#|data:)', whole)
    assert str(TREE).replace("<", "&lt;").replace(">", "&gt;") in whole
