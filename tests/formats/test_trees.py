"""Trees in brackets: read, written, made plain, drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tongsa.base.errors import CorpusError
from tongsa.formats.trees import (
    MAX_DEPTH,
    BracketsError,
    Tree,
    draw_tree,
    parse_brackets,
    plain_tree,
    read_trees,
    with_leaves,
)

SENTENCE = "(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)))"


def test_a_tree_is_read_and_written_as_it_was() -> None:
    (tree,) = parse_brackets(SENTENCE)
    assert str(tree) == SENTENCE
    assert tree.words() == ["The", "dog", "barks", "."]
    assert [leaf.label for leaf in tree.leaves()] == ["DT", "NN", "VBZ", "."]


def test_trees_over_several_lines_have_the_number_of_their_first(tmp_path: Path) -> None:
    file = tmp_path / "a.trees"
    file.write_text("\n( (S (NP (NN Dogs))\n   (VP (VBP bark))))\n(NP (NN x)) (NP (NN y))\n", encoding="utf-8")
    assert [(str(tree), line) for tree, line in read_trees(file)] == [
        ("( (S (NP (NN Dogs)) (VP (VBP bark))))", 2),
        ("(NP (NN x))", 4),
        ("(NP (NN y))", 4),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "(S (NP",
        "(S))",
        "word",
        "(S (NN a b))",
        "(S (NN a (X b)))",
        "(S (X a) b)",
        "(NN a (X b))",
        "(" * (MAX_DEPTH + 1),
    ],
)
def test_what_is_no_tree_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(BracketsError):
        parse_brackets(text)
    file = tmp_path / "a.trees"
    file.write_text(f"{SENTENCE}\n{text}\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="line 2"):
        list(read_trees(file))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="is not a file of trees"):
        list(read_trees(tmp_path / "none.trees"))


def test_a_plain_tree_has_no_traces_no_functions_and_a_root() -> None:
    (tree,) = parse_brackets("( (S-1 (NP-SBJ=2 (-NONE- *T*)) (VP (VB Go) (NP (-NONE- *))) (-LRB- -LRB-)))")
    assert str(plain_tree(tree)) == "(TOP (S (VP (VB Go)) (-LRB- -LRB-)))"
    assert str(plain_tree(parse_brackets("(NN x)")[0])) == "(TOP (NN x))"
    assert plain_tree(parse_brackets("(S (-NONE- *))")[0]) is None


def test_leaves_are_exchanged_in_their_order() -> None:
    (tree,) = parse_brackets("(S (NP (X a)) (X b))")
    assert str(with_leaves(tree, [Tree("DT", (), "a"), Tree("NN", (), "b")])) == "(S (NP (DT a)) (NN b))"


def test_a_drawn_tree_has_a_node_a_line() -> None:
    assert draw_tree(parse_brackets("(S (NP (DT The) (NN dog)) (VP (VBZ barks)))")[0]).split("\n") == [
        "S",
        "├─ NP",
        "│  ├─ DT The",
        "│  └─ NN dog",
        "└─ VP",
        "   └─ VBZ barks",
    ]
