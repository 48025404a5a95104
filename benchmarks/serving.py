"""The service under load: against the bulk engine on the same sentences, and at twice what it can do.

    python benchmarks/serving.py runs/en-de --source data/test.en --overload-minutes 0

The clients share the cores with the service. What is held against what:

    throughput   64 clients, each sending its next sentence when it has its answer, over `Translator.translate` of all
                 sentences at once
    p95          of those 64 clients, over the median of one client alone. 64 requests always under way cannot be
                 answered faster than 64 / throughput, whatever the service does: that floor is printed beside it.
                 So it is also measured for 64 clients that together ask for 0.6 of what the bulk engine does
    overload     twice the requests a second that 64 clients got answered: statuses, memory, and the latency of one
                 client some seconds after it ends
"""

from __future__ import annotations

import argparse
import html
import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from load import Tally, closed_loop, messages, open_loop
from measuring import MEGABYTE, proportional_set_size
from tongsa.translation.translator import Translator

CLIENTS = 64
SHARE = 0.6
"""Of the bulk engine's sentences a second, asked for by clients that do not all wait all the time."""
PACED_SECONDS = 10.0
SLICES = 10
"""Looks at the memory during the overload."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a translator directory")
    parser.add_argument("--source", type=Path, required=True, help="text to translate, a sentence a line")
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--overload-minutes", type=float, default=0.0)
    parser.add_argument("--tags", action="store_true", help="clients put a tag around the second word of each sentence")
    parser.add_argument("--limits", default="", help="of the service, as `tongsa serve` takes them")
    return parser.parse_args()


@contextmanager
def service(directory: Path, limits: str) -> Iterator[tuple[int, int]]:
    """Its port and its process."""
    port = free_port()
    command = [sys.executable, "-m", "tongsa", "serve", str(directory), "--port", str(port), "--limits", limits]
    began = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
    try:
        while not healthy(port):
            time.sleep(0.02)
        print(f"started in {time.perf_counter() - began:.2f} s")
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def tagged(text: str) -> str:
    first, *rest = html.escape(text).split()
    return " ".join([first, *(f"<b>{word}</b>" for word in rest[:1]), *rest[1:]])


def bulk_rate(translator: Translator, texts: list[str]) -> float:
    began = time.perf_counter()
    translator.translate(texts)
    return len(texts) / (time.perf_counter() - began)


def told(name: str, tally: Tally) -> str:
    statuses = ", ".join(f"{count:,} x {status}" for status, count in sorted(tally.statuses.items()))
    lost = f"{len(tally.lost)} lost"
    if tally.lost:
        lost += f" on connections idle for {min(tally.lost):.3f} to {max(tally.lost):.3f} s"
    return (
        f"{name}: {tally.rate:.0f} translations/s, median {1000 * tally.percentile(0.5):.1f} ms, "
        f"p95 {1000 * tally.percentile(0.95):.1f} ms ({statuses}, {lost})"
    )


def overload(port: int, process: int, sent: list[bytes], rate: float, minutes: float) -> None:
    """Clients that do not care, and one that comes back afterwards."""
    print(f"overload: {rate:.0f} requests/s for {minutes:g} minutes")
    for tally in open_loop(port, sent, rate, 60 * minutes, slices=SLICES):
        print(told(f"  {proportional_set_size(process) / MEGABYTE:.0f} MB", tally), flush=True)
    time.sleep(3)
    print(told("three seconds later, one client", closed_loop(port, sent[:100], 1)))


def main() -> None:
    options = arguments()
    texts = options.source.read_text(encoding="utf-8").splitlines()[: options.lines]
    translator = Translator.load(options.directory)
    languages = translator.card.source, translator.card.target
    sent = (
        messages([tagged(text) for text in texts], *languages, "html") if options.tags else messages(texts, *languages)
    )
    translator.translate(texts[:64])
    with service(options.directory, options.limits) as (port, process):
        closed_loop(port, sent[:200], 8)
        bulk, together, alone, paced = [], [], [], []
        for _ in range(options.rounds):
            bulk.append(bulk_rate(translator, texts))
            alone.append(closed_loop(port, sent[:100], 1))
            together.append(closed_loop(port, sent, CLIENTS))
            paced += open_loop(port, sent, SHARE * bulk[-1], PACED_SECONDS, connections=CLIENTS)
        print(f"bulk: {statistics.median(bulk):.0f} translations/s ({', '.join(f'{each:.0f}' for each in bulk)})")
        for one, many, some in zip(alone, together, paced, strict=True):
            print(told("1 client", one))
            print(told(f"{CLIENTS} clients", many))
            print(told(f"{CLIENTS} clients at {SHARE} of the bulk rate", some))
        rate = statistics.median(each.rate for each in together)
        single = statistics.median(each.percentile(0.5) for each in alone)
        p95, gentle = (statistics.median(each.percentile(0.95) for each in them) for them in (together, paced))
        floor = CLIENTS / statistics.median(bulk)
        print(f"throughput ratio {rate / statistics.median(bulk):.2f}")
        print(f"p95 ratio {p95 / single:.1f} (floor at the bulk engine's own rate: {floor / single:.1f})")
        print(f"p95 ratio at {SHARE} of the bulk rate {gentle / single:.1f}")
        if options.overload_minutes:
            overload(port, process, sent, 2 * rate, options.overload_minutes)


if __name__ == "__main__":
    main()
