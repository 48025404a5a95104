"""`tongsa corpus split`: split a corpus into parts that share no sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import numpy as np

from tongsa.base.errors import CorpusError, UsageError
from tongsa.base.files import replacing_together
from tongsa.corpus.duplicates import BLOCK, hashes
from tongsa.formats.pairs import Corpus
from tongsa.formats.writers import writing
from tongsa.text.lines import tidy


def split(corpus: Corpus, sizes: dict[str, int], rest: str, out: Callable[[str], Path], seed: int) -> Counter[str]:
    """Write parts of the given sizes, and the remaining pairs as `rest`; return the number of pairs in each.

    No sentence is in two parts: pairs that share a source or a target (ignoring case and blanks) stay together.
    """
    groups = _groups(corpus)
    part_of = _assigned(groups, list(sizes.values()), seed)
    names = [*sizes, rest]
    counts: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    with replacing_together(), ExitStack() as stack:
        writes = [stack.enter_context(writing(out(name), corpus.reading, changed)) for name in names]
        for pair, group in zip(corpus, groups, strict=True):
            part = part_of[group]
            writes[part](pair)
            counts[names[part]] += 1
    return counts


def _groups(corpus: Corpus) -> np.ndarray:
    """A group number for each pair; pairs that share a sentence, directly or through other pairs, have the same one."""
    sides: list[list[np.ndarray]] = [[], []]
    rest = iter(corpus)
    while block := list(islice(rest, BLOCK)):
        for number in (0, 1):
            sides[number].append(hashes([tidy(str(pair[number])).casefold() for pair in block]))
    if not sides[0]:
        raise CorpusError(f"{corpus.name} has no pairs", *corpus.left_out.lines())
    ids = []
    base = 0
    for side in sides:
        values, numbered = np.unique(np.concatenate(side), return_inverse=True)
        ids.append(numbered + base)
        base += len(values)
    parent = np.arange(base)
    for source, target in zip(ids[0].tolist(), ids[1].tolist(), strict=True):
        first, second = _root(parent, source), _root(parent, target)
        if first != second:
            parent[max(first, second)] = min(first, second)
    roots = np.array([_root(parent, source) for source in ids[0].tolist()])
    return np.unique(roots, return_inverse=True)[1]


def _root(parent: np.ndarray, node: int) -> int:
    while (above := int(parent[node])) != node:
        parent[node] = parent[above]  # path halving: the next lookup is shorter
        node = above
    return node


def _assigned(groups: np.ndarray, sizes: list[int], seed: int) -> list[int]:
    """The part of each group: groups in a random order fill each part up to its size; the others are the rest."""
    weights = np.bincount(groups)
    if sum(sizes) >= len(groups):
        raise UsageError(
            f"the parts need {sum(sizes):,} pairs, but the corpus has {len(groups):,}", "Choose smaller parts."
        )
    order = np.random.default_rng(seed).permutation(len(weights))
    left = list(sizes)
    part_of = [len(sizes)] * len(weights)
    for group in order.tolist():
        weight = int(weights[group])
        for part, room in enumerate(left):
            if weight <= room and weight <= max(1, sizes[part] // 20):  # no group may make up much of a part
                part_of[group] = part
                left[part] -= weight
                break
    return part_of
