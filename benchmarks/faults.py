"""How surely `tongsa corpus` finds faults: 1% each of five kinds planted into real corpora, recall and precision.

    python -m benchmarks.faults                                  all corpora of ../shared/data, 10,000 pairs of each
    python -m benchmarks.faults --pairs 2000 --seeds 1,2,3 --corpora tatoeba-ende,enko-mix --ways

What a corpus has wrong with it by itself counts against precision. `--ways` prints a line for each way of cutting and
shifting (tests/corpus/planting.py) instead of their sum.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from tests.corpus.planting import FAULTS, WAYS, Both, Way, plant

from tongsa.base.devices import usable_cores
from tongsa.base.progress import Silent
from tongsa.corpus.scan import scan, take_sample
from tongsa.formats.pairs import Corpus, Pair, Place, Reading, open_corpus

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
CORPORA = {
    "europarl-ende": ("train", "de"),
    "tatoeba-ende": ("train", "de"),
    "multi30k": ("train", "de"),
    "multi30k-fr": ("train", "fr"),
    "newstest": ("newstest2014.en-de", "de"),
    "newstest-fr": ("newstest2014.en-fr", "fr"),
    "enko-mix": ("train", "ko"),
    "tatoeba-enko": ("train", "ko"),
    "msdocs-enko": ("train", "ko"),
}


@dataclass
class Rates:
    """Planted, found of those, and found at all, of each fault."""

    planted: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)

    def add(self, other: Rates) -> None:
        self.planted += other.planted
        self.right += other.right
        self.found += other.found

    def __str__(self) -> str:
        cells = []
        for name in FAULTS:
            recall = self.right[name] / max(1, self.planted[name])
            precision = self.right[name] / max(1, self.found[name])
            cells.append(f"{recall:4.2f} {precision:4.2f}{'*' if min(recall, precision) < 0.9 else ' '}")
        return "   ".join(cells)


def rates(texts: list[Both], target: str, seed: int, way: Way) -> Rates:
    damaged, truth = plant(texts, seed=seed, way=way)
    faults = found_faults(damaged, "en", target)
    made = Rates()
    for name, places in truth.items():
        found = {place for place, marks in enumerate(faults) if name in marks}
        if name == "shifted":  # a line that got the target of another is found, too, where it is called unrelated
            found |= {place for place in places if "unrelated" in faults[place]}
        made.planted[name], made.right[name], made.found[name] = len(places), len(found & places), len(found)
    return made


def found_faults(texts: list[Both], source: str, target: str) -> list[list[str]]:
    def read(path: Path, reading: Reading) -> Iterator[Pair]:
        return (Pair(*both, Place(path, number)) for number, both in enumerate(texts, 1))

    corpus = Corpus(((Path("planted"), read),), Reading(source=source, target=target))
    sample = take_sample(corpus, Silent())
    return [faults for block in scan(corpus, sample, workers=1, show=Silent()) for faults in block.faults]


def read(name: str, pairs: int, first: int) -> list[Both]:
    part, target = CORPORA[name]
    corpus = open_corpus([SHARED / name.removesuffix("-fr") / part], Reading(source="en", target=target))
    return [(pair.source, pair.target) for pair in islice(corpus, first, first + pairs)]


def work(task: tuple[str, int, int, int, Way]) -> Rates:
    name, pairs, first, seed, way = task
    return rates(read(name, pairs, first), CORPORA[name][1], seed, way)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="pairs of each corpus to pass over")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--ways", action="store_true")
    given = parser.parse_args()
    tasks = [
        (name, given.pairs, given.first, int(seed), way)
        for name in given.corpora.split(",")
        for way in WAYS
        for seed in given.seeds.split(",")
    ]
    sums: dict[str, Rates] = {}
    with ProcessPoolExecutor(usable_cores()) as pool:
        for task, one in zip(tasks, pool.map(work, tasks), strict=True):
            label = f"{task[0]}: {task[4]}" if given.ways else task[0]
            sums.setdefault(label, Rates()).add(one)
    width = max(map(len, sums))
    print(f"{'recall, precision':{width}}   " + "   ".join(f"{name:10}" for name in FAULTS))
    for label, total in sums.items():
        print(f"{label:{width}}   {total}")


if __name__ == "__main__":
    main()
