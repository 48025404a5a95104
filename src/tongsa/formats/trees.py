"""Constituency trees in brackets, as the Penn Treebank writes them:

    (TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)))

A file may hold a tree per line or spread a tree over lines. Trees are built and walked without recursion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tongsa.base.errors import CorpusError
from tongsa.text.lines import read_lines

ROOTS = ("", "TOP", "ROOT", "S1")
"""Labels of a node above the sentence. The Penn Treebank leaves it without a label."""

MAX_DEPTH = 500
"""Deepest tree that is read; trees of real sentences have fewer than 60 levels."""

TRACE = "-NONE-"
"""The tag of empty elements, which stand for no word."""

_TOKEN = re.compile(r"[()]|[^\s()]++")
_LABEL_END = re.compile(r"(?<=.)[-=]")


@dataclass(frozen=True)
class Tree:
    """A constituent with children, or a tag with its word."""

    label: str
    children: tuple[Tree, ...] = ()
    word: str = ""

    @property
    def is_leaf(self) -> bool:
        return bool(self.word)

    def nodes(self) -> Iterator[tuple[Tree, bool]]:
        """Walk the tree in the order of its brackets: each node as it begins (True) and as it ends (False)."""
        waiting = [(self, True)]
        while waiting:
            node, begins = waiting.pop()
            yield node, begins
            if begins:
                waiting.append((node, False))
                waiting += [(child, True) for child in reversed(node.children)]

    def leaves(self) -> list[Tree]:
        return [node for node, begins in self.nodes() if begins and node.is_leaf]

    def words(self) -> list[str]:
        return [leaf.word for leaf in self.leaves()]

    def __str__(self) -> str:
        written: list[str] = []
        for node, begins in self.nodes():
            if begins:
                written.append(f" ({node.label}{' ' if node.is_leaf else ''}{node.word}")
            else:
                written.append(")")
        return "".join(written).lstrip()


class BracketsError(ValueError):
    """Text that is not a sequence of trees."""


def parse_brackets(text: str) -> list[Tree]:
    """Read the trees of a text."""
    trees: list[Tree] = []
    reader = _Reader()
    for token in _TOKEN.findall(text):
        if tree := reader.take(token):
            trees.append(tree)
    if reader.open:
        raise BracketsError("a bracket is not closed")
    return trees


class _Reader:
    """Builds trees from tokens."""

    def __init__(self) -> None:
        self.open: list[tuple[list[str], list[Tree]]] = []
        """Label and word, and children, of every node that has begun."""

    def take(self, token: str) -> Tree | None:
        """Return the tree that ends with this token, if one does."""
        if token == "(":
            self.open.append(([], []))
            if len(self.open) > MAX_DEPTH:
                raise BracketsError(f"brackets are nested deeper than {MAX_DEPTH}")
            return None
        if not self.open:
            raise BracketsError(
                "a bracket is closed that was never opened" if token == ")" else "text outside brackets"
            )
        words, children = self.open[-1]
        if token != ")":
            words.append(token)
            if len(words) > 2 or children:
                raise BracketsError(f"{token!r} stands where a bracket is expected")
            return None
        self.open.pop()
        if len(words) == 2 and children:
            raise BracketsError(f"a bracket holds the word {words[1]!r} and other brackets")
        tree = Tree(words[0] if words else "", tuple(children), words[1] if len(words) == 2 else "")
        if not self.open:
            return tree
        if len(self.open[-1][0]) == 2:
            raise BracketsError(f"a bracket holds the word {self.open[-1][0][1]!r} and other brackets")
        self.open[-1][1].append(tree)
        return None


def read_trees(path: Path) -> Iterator[tuple[Tree, int]]:
    """Read the trees of a file, each with the number of its first line."""
    if not path.is_file():
        raise CorpusError(f"{path} is not a file of trees", "It does not exist, or is a directory or a pipe.")
    reader = _Reader()
    first = 0
    for number, line in enumerate(read_lines(path), 1):
        for token in _TOKEN.findall(line):
            first = first if reader.open else number
            try:
                tree = reader.take(token)
            except BracketsError as error:
                raise CorpusError(
                    f"{path}, line {number:,}: {error}", "A tree is written (S (NP (NN dog)) ...)."
                ) from error
            if tree:
                yield tree, first
    if reader.open:
        raise CorpusError(f"{path}: the tree that begins in line {first:,} is not closed")


def plain_tree(tree: Tree) -> Tree | None:
    """Return the tree without traces, without functions (NP-SBJ becomes NP) and with the root TOP; None if nothing is
    left."""
    built: list[list[Tree]] = [[]]
    for node, begins in tree.nodes():
        if begins:
            built.append([])
            continue
        children = built.pop()
        if node.is_leaf and node.label != TRACE:
            built[-1].append(node)
        elif children:
            built[-1].append(Tree(_LABEL_END.split(node.label, maxsplit=1)[0], tuple(children)))
    if not built[0]:
        return None
    (plain,) = built[0]
    if plain.label in ROOTS and not plain.is_leaf:
        return Tree("TOP", plain.children)
    return Tree("TOP", (plain,))


def with_leaves(tree: Tree, leaves: Sequence[Tree]) -> Tree:
    """Return the tree with other leaves, as many as it has."""
    rest = iter(leaves)
    built: list[list[Tree]] = [[]]
    for node, begins in tree.nodes():
        if begins:
            built.append([])
            continue
        children = built.pop()
        built[-1].append(next(rest) if node.is_leaf else Tree(node.label, tuple(children)))
    return built[0][0]


def draw_tree(tree: Tree) -> str:
    """Draw a tree as text, a node per line."""
    lines: list[str] = []
    waiting: list[tuple[Tree, str, str]] = [(tree, "", "")]
    while waiting:
        node, before, under = waiting.pop()
        lines.append(f"{before}{node.label}{' ' if node.is_leaf else ''}{node.word}")
        last = len(node.children) - 1
        waiting += [
            (child, under + ("└─ " if i == last else "├─ "), under + ("   " if i == last else "│  "))
            for i, child in reversed(list(enumerate(node.children)))
        ]
    return "\n".join(lines)
