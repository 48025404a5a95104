"""Which layer of the decoder tells best which source token a target token was written for.

    python benchmarks/alignment.py runs/en-de

There are no alignments made by hand for a corpus of one's own, so a statistical one stands in: IBM model 1 with a
preference for the diagonal, learnt in both directions from the training ids; the links that both directions have are
taken for sure. Told is how many of them the most attended source token meets, layer by layer, with the target given.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from tongsa.ids import PairIds
from tongsa.translator import Translator

ROUNDS = 6
DIAGONAL = 4.0
"""How fast the preference falls with the distance from the diagonal."""

Ints = NDArray[np.int64]
Pair = tuple[Ints, Ints]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a translator directory with its training ids")
    parser.add_argument("--learn", type=int, default=30_000, help="pairs that the links are learnt from")
    parser.add_argument("--pairs", type=int, default=400, help="pairs that are looked at")
    return parser.parse_args()


def best_sources(pairs: list[Pair]) -> list[Ints]:
    """For each target token of each pair, the place of the source token that most likely wrote it."""
    sources = np.concatenate([np.tile(source, len(target)) for source, target in pairs])
    targets = np.concatenate([np.repeat(target, len(source)) for source, target in pairs])
    tokens = np.repeat(
        np.arange(sum(len(target) for _, target in pairs)),
        np.concatenate([np.full(len(target), len(source)) for source, target in pairs]),
    )
    prior = np.concatenate([near_the_diagonal(len(source), len(target)) for source, target in pairs])
    width = int(targets.max()) + 1
    kinds, cells = np.unique(sources * width + targets, return_inverse=True)
    left = kinds // width
    t = np.ones(len(kinds))
    for _ in range(ROUNDS):
        chances = t[cells] * prior
        chances /= np.bincount(tokens, chances)[tokens]
        counts = np.bincount(cells, chances, len(kinds))
        t = counts / np.bincount(left, counts)[left]
    ends = np.cumsum([len(source) * len(target) for source, target in pairs])[:-1]
    parts = np.split(t[cells] * prior, ends)
    return [
        part.reshape(len(target), len(source)).argmax(axis=1)
        for part, (source, target) in zip(parts, pairs, strict=True)
    ]


def near_the_diagonal(source: int, target: int) -> NDArray[np.float64]:
    away = np.abs(np.arange(target)[:, None] / target - np.arange(source)[None] / source)
    return np.exp(-DIAGONAL * away).ravel()


def main() -> None:
    options = arguments()
    translator = Translator.load(options.directory, engine="native")
    ids = PairIds.open(options.directory / "data" / "train")
    pairs = [(ids.source[i].astype(np.int64), ids.target[i].astype(np.int64)) for i in range(len(ids))][: options.learn]
    pairs = [pair for pair in pairs if len(pair[0]) and len(pair[1])]
    forth, back = best_sources(pairs), best_sources([(target, source) for source, target in pairs])
    met: Counter[str] = Counter()
    sure = 0
    for (source, target), written_by, wrote in list(zip(pairs, forth, back, strict=True))[: options.pairs]:
        links = [(int(written_by[t]), t) for t in range(len(target)) if wrote[written_by[t]] == t]
        sure += len(links)
        layers = [each[0].mean(dim=0) for each in translator.native.attention(source.tolist(), target.tolist()).cross]
        ways = {f"layer {number}": weights for number, weights in enumerate(layers, 1)}
        ways["mean of all"] = torch.stack(layers).mean(dim=0)
        for name, weights in ways.items():
            most = weights[:-1, :-1].argmax(dim=-1).tolist()
            met[name] += sum(most[t] == s for s, t in links)
    print(f"{options.directory}: {sure:,} sure links in {min(options.pairs, len(pairs))} pairs")
    for name, count in met.items():
        print(f"  {name}: {count / sure:.3f}")


if __name__ == "__main__":
    main()
