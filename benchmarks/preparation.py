"""How fast a corpus becomes subwords and ids, and with how much memory, beside SentencePiece's own rate.

    python benchmarks/preparation.py                       50,000, 150,000 and 500,000 pairs of Europarl
    python benchmarks/preparation.py --corpus data/train --from en --to ko --pairs 10000,100000

Every size runs in a process of its own, whose memory is watched from outside.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from arena import SHARED
from measuring import MEGABYTE, PeakMemory, slope
from tongsa.base.devices import usable_cores
from tongsa.base.progress import Silent
from tongsa.config.presets import load_recipe
from tongsa.data.ids import BLOCK, write_ids
from tongsa.data.prepare import PrepareSettings, prepare_pairs
from tongsa.data.spill import spilled
from tongsa.formats.pairs import Pair, Reading, Tally, open_corpus
from tongsa.text.subwords import Subwords


def main() -> None:
    given = _arguments()
    if given.measure:
        print(json.dumps(measure(Path(given.corpus), Path(given.measure), given)), flush=True)
        return
    if not list(Path(given.corpus).parent.glob(Path(given.corpus).name + "*")):
        raise SystemExit(f"there is no {given.corpus}: name another corpus with --corpus, --from and --to")
    print(f"{given.corpus}, vocabulary {given.vocabulary:,}, {usable_cores()} threads; rates in pairs a second")
    print(f"{'pairs':>8} {'all, s':>8} {'all':>8} {'ids':>8} {'SentencePiece alone':>20} {'ids of it':>10} {'MB':>6}")
    sizes, memory = [int(size) for size in given.pairs.split(",")], []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = Path(folder) / f"{size}.tsv"
            count = _write(path, size, given)
            found, peak = _in_a_process(path, Path(folder) / str(size), given)
            memory.append(peak)
            ids, alone = count / found["ids"], count / found["alone"]
            print(
                f"{count:8,} {found['all']:8.1f} {count / found['all']:8,.0f} {ids:8,.0f} {alone:20,.0f} "
                f"{ids / alone:10.0%} {peak / MEGABYTE:6,.0f}",
                flush=True,
            )
    print(
        "all: reading, holding out, learning subwords, writing ids of training and validation. ids: reading,\n"
        "encoding and writing alone. SentencePiece alone: encoding lines that lie in memory, on the same threads.\n"
        f"slope of memory over pairs, log against log: {slope(sizes, memory):.2f}"
    )


def measure(corpus_file: Path, directory: Path, given: argparse.Namespace) -> dict[str, float]:
    """Seconds of each part; memory is that of the whole process, so nothing here holds the corpus."""
    recipe = load_recipe("small", {"subwords.size": str(given.vocabulary)})
    corpus = open_corpus([corpus_file], Reading(source=given.source, target=given.target))
    threads = usable_cores()
    directory.mkdir()
    began = time.perf_counter()
    with spilled(corpus, recipe.corpus, seed=1, folder=directory / "data", show=Silent()) as text:
        prepare_pairs(text, None, PrepareSettings(directory=directory, recipe=recipe, threads=threads))
    everything = time.perf_counter() - began
    subwords = Subwords.load(directory)
    began = time.perf_counter()
    write_ids(
        directory / "again",
        corpus,
        subwords,
        recipe.corpus,
        key="",
        threads=threads,
        tally=Tally(),
        advance=lambda count: None,
    )
    ids = time.perf_counter() - began
    alone = 0.0
    pairs = iter(corpus)
    while block := list(islice(pairs, BLOCK)):
        for side in (0, 1):
            lines = [str(pair[side]) for pair in block]
            began = time.perf_counter()
            subwords.source.encode_many(lines, threads)
            alone += time.perf_counter() - began
    return {"all": everything, "ids": ids, "alone": alone}


def _in_a_process(path: Path, directory: Path, given: argparse.Namespace) -> tuple[dict[str, Any], int]:
    command = [sys.executable, __file__, "--measure", str(directory), "--corpus", str(path)]
    command += ["--from", given.source, "--to", given.target, "--vocabulary", str(given.vocabulary)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with PeakMemory(process.pid) as memory:
        answer, _ = process.communicate()
    if process.returncode:
        raise SystemExit("the preparation failed; what it said stands above")
    return json.loads(answer), memory.bytes


def _write(path: Path, count: int, given: argparse.Namespace) -> int:
    """The first pairs of the corpus as a file of their own."""
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for pair in islice(_pairs(given), count):
            file.write("\t".join(side.replace("\t", " ") for side in (pair.source, pair.target)) + "\n")
            written += 1
    return written


def _pairs(given: argparse.Namespace) -> Iterator[Pair]:
    return iter(open_corpus([given.corpus], Reading(source=given.source, target=given.target)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default=str(SHARED / "europarl-ende" / "train"))
    parser.add_argument("--from", dest="source", default="en")
    parser.add_argument("--to", dest="target", default="de")
    parser.add_argument("--pairs", default="50000,150000,500000")
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
