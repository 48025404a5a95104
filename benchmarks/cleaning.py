"""What `tongsa corpus clean` removes from real corpora, by fault, and how much it finds of what was planted.

    python -m benchmarks.cleaning                                  all corpora of ../shared/data, 20,000 pairs of each
    python -m benchmarks.cleaning --corpora msdocs-enko --removed removed      also writes what was removed, to look at
    python -m benchmarks.cleaning --planted                        recall of planted faults instead

The pairs are runs of 1,000 lines, drawn evenly over the corpus: some corpora are sorted. A pair is counted once, by its
first fault. Planted are the five faults of benchmarks/faults.py and two more: pairs with the target of a line far away
(`random`), and targets in a third language (`foreign`: French or German of newstest). Found means removed, whatever the
reason.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path

from benchmarks.faults import CORPORA, SHARED, found_faults
from tests.corpus.planting import FAULTS as PLANTED
from tests.corpus.planting import Both, plant

from tongsa.base.devices import usable_cores
from tongsa.corpus.faults import FAULTS, REMOVED
from tongsa.formats.pairs import Reading, open_corpus
from tongsa.text.lines import read_lines

RUN = 1000
SHARE = 0.01
"""Share of the pairs that is damaged in each way."""
FOREIGN = {"de": "newstest2013.en-fr.fr", "fr": "newstest2013.en-de.de", "ko": "newstest2013.en-de.de"}


def read(name: str, pairs: int) -> list[Both]:
    """Runs of consecutive pairs, evenly over the corpus."""
    part, target = CORPORA[name]
    corpus = open_corpus([SHARED / name.removesuffix("-fr") / part], Reading(source="en", target=target))
    texts = [(pair.source, pair.target) for pair in corpus]
    if len(texts) <= pairs:
        return texts
    starts = [int(place) for place in range(0, len(texts) - RUN, max(RUN, len(texts) * RUN // pairs))]
    return [text for start in starts for text in texts[start : start + RUN]]


def plant_all(texts: list[Both], target: str, seed: int) -> tuple[list[Both], dict[str, set[int]]]:
    damaged, truth = plant(texts, SHARE, seed)
    taken = {place for places in truth.values() for place in places}
    draw = random.Random(seed)
    count = int(SHARE * len(texts))
    foreign = list(islice(read_lines(SHARED / "newstest" / FOREIGN[target]), count))
    for name in ("random", "foreign"):
        places = draw.sample([place for place in range(len(texts)) if place not in taken], count)
        for number, place in enumerate(places):
            other = texts[draw.randrange(len(texts))][1] if name == "random" else foreign[number % len(foreign)]
            damaged[place] = (texts[place][0], other)
        truth[name] = set(places)
        taken.update(places)
    return damaged, truth


def removed_share(task: tuple[str, int, Path | None]) -> tuple[int, Counter[str]]:
    name, pairs, folder = task
    texts = read(name, pairs)
    found = found_faults(texts, "en", CORPORA[name][1])
    reasons = [next((fault for fault in REMOVED if fault in faults), "") for faults in found]
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        rows = [f"{why}\t{n}\t{s}\t{t}\n" for n, ((s, t), why) in enumerate(zip(texts, reasons, strict=True)) if why]
        (folder / f"{name}.tsv").write_text("".join(rows), encoding="utf-8")
    return len(texts), Counter(filter(None, reasons))


def recalls(task: tuple[str, int, int]) -> dict[str, float]:
    name, pairs, seed = task
    damaged, truth = plant_all(read(name, pairs), CORPORA[name][1], seed)
    found = found_faults(damaged, "en", CORPORA[name][1])
    removed = {place for place, faults in enumerate(found) if set(faults) & set(REMOVED)}
    return {fault: len(places & removed) / len(places) for fault, places in truth.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--removed", type=Path, help="folder for the removed pairs")
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=usable_cores())
    given = parser.parse_args()
    names = given.corpora.split(",")
    with ProcessPoolExecutor(given.workers) as pool:
        if given.planted:
            print("| corpus | " + " | ".join((*PLANTED, "random", "foreign")) + " |")
            for name, rates in zip(
                names, pool.map(recalls, [(n, given.pairs, given.seed) for n in names]), strict=True
            ):
                print(f"| {name} | " + " | ".join(f"{rate:.2f}" for rate in rates.values()) + " |", flush=True)
            return
        print("| corpus | pairs | removed, % | " + " | ".join(fault for fault in FAULTS if fault in REMOVED) + " |")
        tasks = [(name, given.pairs, given.removed) for name in names]
        for name, (pairs, counts) in zip(names, pool.map(removed_share, tasks), strict=True):
            shares = [f"{100 * count / pairs:.2f}" for count in (counts.total(), *(counts[fault] for fault in REMOVED))]
            print(f"| {name} | {pairs:,} | " + " | ".join(shares) + " |", flush=True)


if __name__ == "__main__":
    main()
