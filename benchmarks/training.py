"""How fast Tongsa trains, side by side with peers, and how time and memory grow.

    python benchmarks/training.py            a few minutes
    python benchmarks/training.py --full     growth with batch, depth, width, vocabulary and sentence length too

All train on the same pairs and subwords, in turns, for several rounds; rates are medians of the rounds.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import torch

import growth
import peers
from arena import SIZES, Contestant, Shape, Text, default_text, described, flops_a_token, prepare_text, set_model, start
from measuring import FORMULA, MEGABYTE, gemm_peak
from tongsa.base.devices import usable_cores

BARS = {"tiny": 2.0, "small": 1.5, "d512": 1.2}
"""Times the fastest peer's rate that Tongsa should reach."""


OURS = ("tongsa", "readable")
"""Contestants that are no peers."""


def main() -> None:
    given = _arguments()
    print(f"{platform.processor() or platform.machine()}, {usable_cores()} cores, torch {torch.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        text = Text(given.corpus, given.source, given.target) if given.corpus else default_text(Path(folder))
        directory = Path(folder) / "prepared"
        shape = prepare_text(directory, text, given.vocabulary)
        print(
            f"{text.corpus} {text.source}-{text.target}: {shape.pairs:,} pairs, {shape.vocabulary:,} joint subwords, "
            f"{shape.source_length:.1f} and {shape.target_length:.1f} tokens a sentence"
        )
        _explain()
        settings = dict(each.split("=", 1) for each in given.set)
        for size in given.sizes.split(","):
            compare(directory, shape, size, settings, given)
        if given.full:
            growth.tables(Path(folder), text, given.seconds)


def compare(directory: Path, shape: Shape, size: str, settings: dict[str, str], given: argparse.Namespace) -> None:
    """One model: everybody in turns, and the table."""
    recipe = set_model(directory, size, settings)
    names = [name for name in given.contestants.split(",") if name == "tongsa" or peers.present(name)]
    peaks = []
    with ExitStack() as stack:
        contestants = [stack.enter_context(start(name, directory)) for name in names]
        for each in contestants:
            each.warm_up(2, given.seconds / 2)
        for number in range(given.rounds):
            peaks.append(gemm_peak(usable_cores()))
            # The one that comes first is another one each round.
            for each in contestants[number % len(names) :] + contestants[: number % len(names)]:
                each.turns.append(each.turn(1, given.seconds))
    print(f"\n{size}: {described(recipe)}; Tongsa: {_ours(recipe.training.processes, recipe.training.chunk_tokens)}")
    _print_table(size, contestants, flops_a_token(recipe, shape), median(peaks))


def _ours(processes: int, chunk: int) -> str:
    return f"{processes} processes, chunks of {chunk:,} target tokens"


def _print_table(size: str, contestants: list[Contestant], flops: float, peak: float) -> None:
    rates = {each.name: median(turn.rate for turn in each.turns) for each in contestants}
    others = {name: rate for name, rate in rates.items() if name not in OURS}
    fastest = max(others.values(), default=0.0)
    print(
        f"{'':22} {'tokens/s':>9} {'of the rounds':>17} {'to fastest peer':>16} {'GFLOPS':>7} {'of peak':>8} {'MB':>6}"
    )
    for each in contestants:
        rounds = [turn.rate for turn in each.turns]
        rate = rates[each.name]
        ratio = f"{rate / fastest:.2f}" if fastest else "-"
        span = f"{min(rounds):,.0f}-{max(rounds):,.0f}"
        title = "Tongsa" if each.name == "tongsa" else peers.PEERS[each.name].title
        print(
            f"{title:22} {rate:9,.0f} {span:>17} {ratio:>16} {rate * flops / 1e9:7.0f} "
            f"{rate * flops / peak:8.0%} {each.memory / MEGABYTE:6,.0f}"
        )
    if fastest and "tongsa" in rates:
        by_round = [_ratio(contestants, number) for number in range(len(contestants[0].turns))]
        leanest = min(each.memory for each in contestants if each.name not in OURS)
        ours = next(each.memory for each in contestants if each.name == "tongsa")
        print(
            f"GEMM peak {peak / 1e9:.0f} GFLOPS; ratio in each round: {', '.join(f'{r:.2f}' for r in by_round)}; "
            f"bar {BARS[size]}: {_met(rates['tongsa'] / fastest >= BARS[size])}; "
            f"memory no more than the leanest: {_met(ours <= leanest)}"
        )


def _ratio(contestants: list[Contestant], number: int) -> float:
    ours = next(each.turns[number].rate for each in contestants if each.name == "tongsa")
    return ours / max(each.turns[number].rate for each in contestants if each.name not in OURS)


def _met(is_so: bool) -> str:
    return "met" if is_so else "NOT met"


def _explain() -> None:
    for name, peer in peers.PEERS.items():
        if not peers.present(name):
            print(f"{peer.title} is left out: {peer.needs} is not installed  (pip install {peer.needs})")
    print(
        f"""
Tongsa runs as `tongsa train` does: a process a core, an update made of chunks shared among them. The peers run as one
process with all threads, on batches sorted by target, then source length, of at most 4,096 target tokens, assembled
beforehand. Everybody has their own way of batching, and the same tokens an update, dropout and label smoothing.
tokens/s: target tokens without padding. GFLOPS: {FORMULA},
without attention scores. MB: the most proportional set size of all of a contestant's processes together."""
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", help="as for `tongsa train`; default: Multi30k, else the built-in grammar")
    parser.add_argument("--from", dest="source", default="en")
    parser.add_argument("--to", dest="target", default="de")
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--contestants", default=",".join(["tongsa", *peers.PEERS]))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="of a turn, at least; whole updates are timed")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the recipe")
    parser.add_argument("--full", action="store_true", help="growth tables as well (about 15 minutes)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
