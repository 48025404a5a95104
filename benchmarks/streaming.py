"""Translating a long file: how much memory, by how many lines are done.

    python benchmarks/streaming.py runs/en-de --source data/train.en --lines 200000

One run of `tongsa translate` over a file of so many different lines (those of --source, made different by a number at
their end). Its memory is read whenever the note beside its output says that more lines are done; what is printed is the
highest so far. Texts are remembered for when they come again, up to a bound (65,536), so memory grows until then.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

MEGABYTE = 1 << 20


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a translator directory")
    parser.add_argument("--source", type=Path, required=True, help="text to translate, a sentence a line")
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--marks", default="20000,50000,100000,150000,200000", help="where to tell the memory")
    parser.add_argument("--beam", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory() as place:
        source, output = Path(place) / "in", Path(place) / "out"
        source.write_text("".join(different(options.source, options.lines)), encoding="utf-8")
        command = ["translate", str(options.directory), "-i", str(source), "-o", str(output), "--beam"]
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "tongsa", *command, str(options.beam)], stderr=subprocess.DEVNULL
        )
        points = list(watched(process, output.with_name("out.part.json")))
        seconds = time.perf_counter() - began
        if process.wait() or sum(1 for _ in output.open("rb")) != options.lines:
            raise SystemExit("the translation went wrong")
    report(points, [int(mark) for mark in options.marks.split(",")], options.lines, seconds)


def different(path: Path, count: int) -> Iterator[str]:
    lines = cycle(path.read_text(encoding="utf-8").splitlines())
    return (f"{line} {n}\n" for n, line in enumerate(islice(lines, count)))


def watched(process: subprocess.Popen[bytes], note: Path) -> Iterator[tuple[int, int]]:
    """Lines done, and the most bytes that the process has had so far."""
    lines = 0
    while process.poll() is None:
        try:
            now = json.loads(note.read_text())["lines"]
            status = Path(f"/proc/{process.pid}/status").read_text()
        except (OSError, ValueError):
            now, status = lines, ""
        peak = next((int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM")), 0)
        if now > lines and peak:
            lines = now
            yield lines, peak
        time.sleep(0.05)


def report(points: list[tuple[int, int]], marks: list[int], lines: int, seconds: float) -> None:
    print(f"{lines:,} lines in {seconds:.0f} s")
    print("   lines      MB (highest so far)")
    for mark in marks:
        done = [peak for count, peak in points if count <= mark]
        if done:
            print(f"{mark:8,} {done[-1] / MEGABYTE:8.1f}")
    late = [(count, peak) for count, peak in points if count >= lines // 2]
    (first, low), (last, high) = late[0], late[-1]
    slope = (high - low) / max(1, last - first)
    print(f"from line {first:,} to {last:,}: {slope:.1f} bytes a line")
    print(f"a million lines at that rate: {(high + slope * (1_000_000 - last)) / MEGABYTE:.0f} MB")


if __name__ == "__main__":
    main()
