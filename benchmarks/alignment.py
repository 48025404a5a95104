"""Which layer of the decoder tells best which source token a target token was written for.

    python benchmarks/alignment.py runs/en-de

There are no alignments made by hand for a corpus of one's own, so a statistical one stands in: the lexicon that
shortlists are made of, in both directions, with a preference for the diagonal; the links that both directions have are
taken for sure. Told is how many of them the most attended source token meets, layer by layer, with the target given.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from tongsa.data.ids import PairIds
from tongsa.engines.shortlist import lexicon
from tongsa.translation.translator import Translator

DIAGONAL = 4.0
"""How fast the preference falls with the distance from the diagonal."""

Ints = NDArray[np.int64]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a translator directory with its training ids")
    parser.add_argument("--pairs", type=int, default=400, help="of the training text that are looked at")
    return parser.parse_args()


class Links:
    """Which source token most likely wrote a target token, by a lexicon and a preference for the diagonal."""

    def __init__(self, pairs: PairIds, width: int) -> None:
        self.width = width
        left, right, self.chances = lexicon(pairs, width)
        self.keys = left * width + right

    def best_sources(self, source: Ints, target: Ints) -> list[int]:
        """The place of one for each target token."""
        wanted = source[None] * self.width + target[:, None]
        found = np.searchsorted(self.keys, wanted).clip(max=len(self.keys) - 1)
        chances = np.where(self.keys[found] == wanted, self.chances[found], 0.0)
        away = np.abs(np.arange(len(target))[:, None] / len(target) - np.arange(len(source))[None] / len(source))
        return [int(place) for place in (chances * np.exp(-DIAGONAL * away)).argmax(axis=1)]


def main() -> None:
    options = arguments()
    translator = Translator.load(options.directory, engine="native")
    train = PairIds.open(options.directory / "data" / "train")
    forth = Links(train, len(translator.subwords.target))
    back = Links(PairIds(train.target, train.source), len(translator.subwords.source))
    met: Counter[str] = Counter()
    sure = 0
    for number in range(min(options.pairs, len(train))):
        source, target = train.source[number].astype(np.int64), train.target[number].astype(np.int64)
        if not len(source) or not len(target):
            continue
        written_by, wrote = forth.best_sources(source, target), back.best_sources(target, source)
        links = [(s, t) for t, s in enumerate(written_by) if wrote[s] == t]
        sure += len(links)
        layers = [each[0].mean(dim=0) for each in translator.native.attention(source.tolist(), target.tolist()).cross]
        ways = {f"layer {layer}": weights for layer, weights in enumerate(layers, 1)}
        ways["mean of all"] = torch.stack(layers).mean(dim=0)
        for name, weights in ways.items():
            most = weights[:-1, :-1].argmax(dim=-1).tolist()
            met[name] += sum(most[t] == s for s, t in links)
    print(f"{options.directory}: {sure:,} sure links")
    for name, count in met.items():
        print(f"  {name}: {count / sure:.3f}")


if __name__ == "__main__":
    main()
