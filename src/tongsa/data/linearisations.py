"""Trees as sequences of actions, which a decoder writes.

    (TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks))))

    brackets   (S (NP XX XX ) (VP XX ) )            the paper's (§6.3), after Vinyals et al. 2015: words become XX
    in-order   XX *NP XX ) *S XX *VP ) )            Liu and Zhang 2017: a label comes after its first child

Both have three kinds of action: XX takes the next word, a label begins a constituent (`*NP`: whose first child is what
was completed last), and `)` ends one. In-order sequences are as long, but a label is chosen when its first child has
been read. With tags, XX:DT takes the next word and gives it a tag; sequences are as long as without.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from tongsa.formats.trees import Tree

SHIFT = "XX"
TAGGED = "XX:"
"""What stands before the tag in an action that takes a word and gives it a tag."""
CLOSE = ")"


def takes_word(action: str) -> bool:
    return action == SHIFT or action.startswith(TAGGED)


class Linearisation(ABC):
    name: str
    opening: str
    """What stands before the label in an action."""

    @abstractmethod
    def steps(self, tree: Tree, *, tags: bool = False) -> list[tuple[str, Tree]]:
        """Return the actions that build a tree with the root TOP, each with the node that it begins, takes or ends.

        With `tags`, an action that takes a word gives it a tag.
        """

    def actions(self, tree: Tree, *, tags: bool = False) -> list[str]:
        """Return the actions alone."""
        return [action for action, _ in self.steps(tree, tags=tags)]

    @abstractmethod
    def tree(self, actions: Sequence[str], leaves: Sequence[Tree]) -> Tree:
        """Build a tree with the root TOP from legal actions; a leaf keeps its tag unless its action gives another."""

    def label(self, action: str) -> str:
        """Return the label that an action begins; empty for actions that take a word and `)`."""
        return "" if takes_word(action) or action == CLOSE else action.removeprefix(self.opening)


class Brackets(Linearisation):
    """Top-down: a constituent begins before its first word."""

    name = "brackets"
    opening = "("

    def steps(self, tree: Tree, *, tags: bool = False) -> list[tuple[str, Tree]]:
        found = []
        for node, begins in _sentence(tree).nodes():
            if node.is_leaf:
                found += [(_taking(node, tags), node)] if begins else []
            else:
                found.append((f"({node.label}" if begins else CLOSE, node))
        return found

    def tree(self, actions: Sequence[str], leaves: Sequence[Tree]) -> Tree:
        rest = iter(leaves)
        built: list[tuple[str, list[Tree]]] = [("TOP", [])]
        for action in actions:
            if takes_word(action):
                built[-1][1].append(_taken(action, next(rest)))
            elif action == CLOSE:
                label, children = built.pop()
                built[-1][1].append(Tree(label, tuple(children)))
            else:
                built.append((self.label(action), []))
        return _with_root(built[0][1])


class InOrder(Linearisation):
    """A constituent begins after its first child."""

    name = "in-order"
    opening = "*"

    def steps(self, tree: Tree, *, tags: bool = False) -> list[tuple[str, Tree]]:
        found: list[tuple[str, Tree]] = []
        firsts: list[bool] = []  # for each open constituent: is its first child still to come?
        opened: list[Tree] = []
        for node, begins in _sentence(tree).nodes():
            if begins and not node.is_leaf:
                firsts.append(True)
                opened.append(node)
                continue
            if begins:
                found.append((_taking(node, tags), node))
                continue
            if not node.is_leaf:
                found.append((CLOSE, node))
                firsts.pop()
                opened.pop()
            if firsts and firsts[-1]:  # what ended was the first child of the constituent around it
                found.append((f"*{opened[-1].label}", opened[-1]))
                firsts[-1] = False
        return found

    def tree(self, actions: Sequence[str], leaves: Sequence[Tree]) -> Tree:
        rest = iter(leaves)
        stack: list[Tree | str] = []  # completed trees, and the label of each open constituent after its first child
        for action in actions:
            if takes_word(action):
                stack.append(_taken(action, next(rest)))
            elif action == CLOSE:
                stack.append(_close(stack))
            else:
                stack.append(self.label(action))
        return _with_root([each for each in stack if isinstance(each, Tree)])


def _close(stack: list[Tree | str]) -> Tree:
    """Take the youngest open constituent off the stack: first child, label, other children."""
    others: list[Tree] = []
    while isinstance(top := stack.pop(), Tree):
        others.append(top)
    first = stack.pop()
    assert isinstance(first, Tree)
    return Tree(top, (first, *reversed(others)))


def _taking(leaf: Tree, tags: bool) -> str:
    return TAGGED + leaf.label if tags else SHIFT


def _taken(action: str, leaf: Tree) -> Tree:
    return leaf if action == SHIFT else Tree(action.removeprefix(TAGGED), (), leaf.word)


LINEARISATIONS: dict[str, Linearisation] = {each.name: each for each in (Brackets(), InOrder())}


def _sentence(tree: Tree) -> Tree:
    """Return the part of a tree that is written: the root TOP goes without saying where it has one constituent."""
    if len(tree.children) == 1 and not tree.children[0].is_leaf:
        return tree.children[0]
    return tree


def _with_root(trees: Sequence[Tree]) -> Tree:
    if len(trees) == 1 and trees[0].label == "TOP":
        return trees[0]
    return Tree("TOP", tuple(trees))
