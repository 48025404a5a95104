"""Two versions of Tongsa side by side: nothing may get slower, and the same recipe and seed give the same weights.

    git worktree add ../before COMMIT
    python benchmarks/versions.py ../before . --train data/train --test data/test --from en --to de

Every measurement runs the commands of both source trees by turns, in processes of their own, and prints the ratio of
the medians, above 1 where the second tree is faster:

    help, start-up   `tongsa --help`; `tongsa translate RUN TEXT` with a compiled engine
    preparation      from the command to the first update: reading, subwords, ids (`--prepare CORPUS` for a larger one)
    training         target tokens a second of the recipe `tiny`, as log.jsonl has them; then the weights are compared
    translation      lines a second of `tongsa translate RUN --input FILE --output FILE`
    service          answers a second for 64 clients
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from load import closed_loop, messages
from serving import CLIENTS, free_port, healthy

PARTS = ("startup", "preparation", "training", "translation", "service")


@dataclass(frozen=True)
class Tree:
    """A source tree, and a folder for what its commands write."""

    root: Path
    work: Path

    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.root / "src"), "OMP_NUM_THREADS": "1"}

    def command(self, *arguments: str | Path) -> list[str]:
        return [sys.executable, "-m", "tongsa", *map(str, arguments)]

    def run(self, *arguments: str | Path) -> float:
        """Seconds of a command."""
        began = time.perf_counter()
        done = subprocess.run(self.command(*arguments), env=self.environment(), capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"{self.root}: tongsa {' '.join(map(str, arguments))}\n{done.stderr.decode()[-2000:]}")
        return time.perf_counter() - began


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--train", required=True, help="prefix of a parallel corpus")
    parser.add_argument("--test", required=True, help="prefix of another, to translate")
    parser.add_argument("--from", dest="source", required=True)
    parser.add_argument("--to", dest="target", required=True)
    parser.add_argument("--prepare", nargs="*", default=[], help="corpora to prepare, instead of --train")
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, default=4000, help="to translate; the test set is repeated, with marks")
    parser.add_argument("--translator", type=Path, help="a translator directory, instead of the one trained here")
    parser.add_argument("--only", nargs="*", choices=PARTS, default=PARTS)
    return parser.parse_args()


def compared(name: str, trees: list[Tree], rounds: int, measure: Callable[[Tree], float], unit: str) -> None:
    """Measure by turns; `measure` gives something of which more is better."""
    found: list[list[float]] = [[], []]
    for turn in range(rounds):
        for place in (0, 1) if turn % 2 == 0 else (1, 0):
            found[place].append(measure(trees[place]))
    before, after = (statistics.median(values) for values in found)
    each = "  ".join(f"{one / other:.2f}" for other, one in zip(*found, strict=True))
    print(
        f"{name:14} {before:12,.2f} {after:12,.2f} {unit:12} ratio {after / before:.3f}   (rounds {each})", flush=True
    )


def training_command(options: argparse.Namespace, out: Path, corpora: list[str], updates: int) -> list[str]:
    settings = {"updates": updates, "validation_pairs": 64, "validate_every": 10 * updates}
    command = ["train", *corpora, "--from", options.source, "--to", options.target, "--valid", options.test]
    command += ["--out", str(out), "--recipe", "tiny", "--seed", "1"]
    return command + [each for key, value in settings.items() for each in ("--set", f"training.{key}={value}")]


def preparation_seconds(tree: Tree, options: argparse.Namespace) -> float:
    """Until the training says in its log that it has started; then it is killed."""
    out = tree.work / "prepared"
    shutil.rmtree(out, ignore_errors=True)
    command = tree.command(*training_command(options, out, options.prepare or [options.train], 1_000_000))
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=tree.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while not started(out / "log.jsonl"):
            if process.poll() is not None:
                sys.exit(f"{tree.root}: the training ended by itself")
            time.sleep(0.02)
        return time.perf_counter() - began
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def started(log: Path) -> bool:
    return log.is_file() and any('"start"' in line for line in log.read_text(encoding="utf-8").splitlines())


def training_rate(tree: Tree, options: argparse.Namespace) -> float:
    out = tree.work / "trained"
    shutil.rmtree(out, ignore_errors=True)
    tree.run(*training_command(options, out, [options.train], options.updates))
    events = [json.loads(line) for line in (out / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    updates = [event for event in events if event["event"] == "update"]
    first, last = updates[len(updates) // 10], updates[-1]  # not the first ones, in which buffers are made
    return float((last["target_tokens"] - first["target_tokens"]) / (last["seconds"] - first["seconds"]))


def weights(tree: Tree) -> str:
    return blake2b((tree.work / "trained" / "weights.safetensors").read_bytes(), digest_size=8).hexdigest()


def translation_rate(tree: Tree, translator: Path, text: Path, lines: int) -> float:
    output = tree.work / "output"
    output.unlink(missing_ok=True)
    return lines / tree.run("translate", translator, "--input", text, "--output", output)


@contextmanager
def service(tree: Tree, translator: Path) -> Iterator[int]:
    port = free_port()
    command = tree.command("serve", translator, "--port", str(port))
    process = subprocess.Popen(command, env=tree.environment(), stderr=subprocess.DEVNULL)
    try:
        while not healthy(port):
            time.sleep(0.02)
        yield port
    finally:
        process.terminate()
        process.wait()


def service_rate(tree: Tree, translator: Path, sent: list[bytes]) -> float:
    with service(tree, translator) as port:
        closed_loop(port, sent[:200], 8)
        return closed_loop(port, sent, CLIENTS).rate


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        trees = [
            Tree(options.before.resolve(), Path(folder) / "before"),
            Tree(options.after.resolve(), Path(folder) / "after"),
        ]
        for tree in trees:
            tree.work.mkdir()
        measure(options, trees)


def measure(options: argparse.Namespace, trees: list[Tree]) -> None:
    rounds, parts = options.rounds, options.only
    print(f"{'':14} {'before':>12} {'after':>12}")
    if "preparation" in parts:
        compared("preparation", trees, rounds, lambda tree: 1 / preparation_seconds(tree, options), "per second")
    if "training" in parts or not options.translator:
        compared("training", trees, rounds, lambda tree: training_rate(tree, options), "tokens/s")
        same = weights(trees[0]) == weights(trees[1])
        print(f"weights after {options.updates} updates: {'identical' if same else 'different'}", flush=True)
    translator = options.translator or trees[0].work / "trained"
    copies = [tree.work / "translator" for tree in trees]  # each version compiles its own engine
    for copy in copies:
        shutil.copytree(translator, copy, ignore=shutil.ignore_patterns("checkpoints", "data", "ctranslate2"))
    at = dict(zip(trees, copies, strict=True))
    sentences = Path(f"{options.test}.{options.source}").read_text(encoding="utf-8").split("\n")[:-1]
    for tree in trees:
        tree.run("translate", at[tree], sentences[0])
    if "startup" in parts:
        compared("help", trees, 3 * rounds, lambda tree: 1 / tree.run("--help"), "per second")
        compared(
            "start-up", trees, 3 * rounds, lambda tree: 1 / tree.run("translate", at[tree], sentences[0]), "per second"
        )
    if "translation" in parts:
        # A number behind each line: lines that come again would be translated once.
        text = trees[0].work.parent / "text"
        many = [f"{sentences[i % len(sentences)]} {i}" for i in range(options.lines)]
        text.write_text("".join(line + "\n" for line in many), encoding="utf-8")
        compared(
            "translation", trees, rounds, lambda tree: translation_rate(tree, at[tree], text, len(many)), "lines/s"
        )
    if "service" in parts:
        sent = messages(sentences[:1000], options.source, options.target)
        compared(f"{CLIENTS} clients", trees, rounds, lambda tree: service_rate(tree, at[tree], sent), "answers/s")


if __name__ == "__main__":
    main()
