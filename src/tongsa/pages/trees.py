"""Constituency trees as pictures. On a page, pointing at a bracket inks the words that it attended to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tongsa.formats.trees import Tree
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.markup import escape, scrollable

LEVEL, LINE, LETTER, GAP = 42, 20, 8.2, 18
"""Height of a level and of a line of text, width of a letter, and space between two words, in pixels."""

STYLE = (
    "text{font:14px system-ui,sans-serif;text-anchor:middle;fill:#1c2230}.edge{stroke:#8d8778;fill:none}"
    ".tag{fill:#565e6d}.label{font-weight:600;fill:#b23424}.ink{fill:none}svg{background:#fbfaf7}"
)
"""The colours of the kit, for a picture that stands alone."""

NOTE = (
    "Point at a bracket (or reach it with the Tab key) to see which words the decoder attended to when it wrote it: "
    "the mean of all layers and heads."
)


@dataclass(frozen=True)
class DrawnTree:
    """A tree, and for each of its nodes, in the order of `nodes()`, the weights over its words that it attended to."""

    tree: Tree
    attention: Sequence[Sequence[float]] = ()


@dataclass
class _Node:
    tree: Tree
    x: float = 0.0
    height: int = 0
    """Levels below it."""
    children: list[_Node] = field(default_factory=list)


def tree_pictures(trees: Sequence[DrawnTree], *, alone: bool = False) -> str:
    """One SVG of all trees, one below the other; `alone` gives it a style of its own, for a file."""
    drawn = [_draw(each) for each in trees]
    width, height = max((w for _, w, _ in drawn), default=0.0), 0.0
    groups = []
    for content, _, high in drawn:
        groups.append(f'<g transform="translate(0 {height:.0f})">{content}</g>')
        height += high
    style = f"<style>{STYLE}</style>" if alone else ""
    spoken = escape(" ".join(" ".join(each.tree.words()) for each in trees))
    box = f"0 0 {width:.0f} {height:.0f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tree" role="img" aria-label="Tree of: {spoken}" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="{box}">{style}{"".join(groups)}</svg>'
    )


def tree_page(trees: Sequence[DrawnTree]) -> str:
    """A self-contained page with a section for each tree."""
    return page(
        "Trees",
        heading=heading("Trees", over="Tongsa", text=escape(NOTE) if any(each.attention for each in trees) else ""),
        sections=[Section(key="trees", title="Trees", content=tree_figures(trees))],
        footer="Made by Tongsa.",
    )


def tree_figures(trees: Sequence[DrawnTree]) -> str:
    """Each tree as a figure, with its brackets as text below."""
    return "".join(
        f'<figure class="parsed"><figcaption>{escape(" ".join(each.tree.words()))}</figcaption>'
        f"{scrollable(tree_pictures([each]), 'tree')}"
        f"<details><summary>as brackets</summary><code>{escape(each.tree)}</code></details></figure>"
        for each in trees
    )


def _draw(drawn: DrawnTree) -> tuple[str, float, float]:
    """The elements of one tree, its width and its height."""
    nodes, width = _placed(drawn.tree)
    top = LINE + LEVEL * max(node.height for node in nodes)

    def y(node: _Node) -> float:
        return top - LEVEL * node.height

    inks = "".join(
        f'<rect class="ink" x="{node.x - _wide(node.tree.word) / 2 - 4:.1f}" y="{top + 7}" '
        f'width="{_wide(node.tree.word) + 8:.1f}" height="{LINE}" rx="4"/>'
        for node in nodes
        if node.tree.is_leaf
    )
    edges = "".join(_edges(node, y) for node in nodes if node.children)
    texts = []
    for number, node in enumerate(nodes):
        weights = drawn.attention[number] if drawn.attention else ()
        shown = f' tabindex="0" data-weights="{" ".join(f"{weight:.3f}" for weight in weights)}"' if weights else ""
        kind = "tag" if node.tree.is_leaf else "label"
        texts.append(f'<text class="{kind}"{shown} x="{node.x:.1f}" y="{y(node):.1f}">{escape(node.tree.label)}</text>')
        if node.tree.is_leaf:
            texts.append(f'<text x="{node.x:.1f}" y="{top + LINE + 2:.1f}">{escape(node.tree.word)}</text>')
    return f'{inks}<path class="edge" d="{edges}"/>{"".join(texts)}', width, top + 2.2 * LINE


def _edges(node: _Node, y: Callable[[_Node], float]) -> str:
    """A bar over the children, hung below the node: lines down to them cross nothing, however deep they are."""
    bar = y(node) + LEVEL / 4
    drops = "".join(f"M{child.x:.1f} {bar:.1f}V{y(child) - 15:.1f}" for child in node.children)
    return (
        f"M{node.x:.1f} {y(node) + 5:.1f}V{bar:.1f}M{node.children[0].x:.1f} {bar:.1f}H{node.children[-1].x:.1f}{drops}"
    )


def _placed(tree: Tree) -> tuple[list[_Node], float]:
    """All nodes in the order in which they begin, with their places, and the width of the picture."""
    nodes: list[_Node] = []
    open_nodes: list[_Node] = []
    x = GAP / 2
    for each, begins in tree.nodes():
        if begins:
            node = _Node(each)
            nodes.append(node)
            if open_nodes:
                open_nodes[-1].children.append(node)
            open_nodes.append(node)
            continue
        node = open_nodes.pop()
        if node.children:
            node.x = (node.children[0].x + node.children[-1].x) / 2
            node.height = 1 + max(child.height for child in node.children)
        else:
            room = max(_wide(each.word), _wide(each.label))
            node.x = x + room / 2
            x += room + GAP
    return nodes, x - GAP / 2


def _wide(text: str) -> float:
    """The width of a text, about; East Asian letters take two."""
    return LETTER * sum(2 if ord(letter) >= 0x1100 else 1 for letter in text)
