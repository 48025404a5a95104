"""Fuzz every target in turn: `make fuzz MINUTES=10`, or one:  python tests/fuzz/fuzz.py --minutes 2 document.md

Atheris (pip install 'tongsa[fuzz]') looks for inputs that reach new lines; without it, or with --plain, inputs are
made by random changes alone. Each target runs in a process of its own, with a limit of memory and of time for an
input. What breaks a contract is stored in --findings; mend it, and move the file to tests/fuzz/corpus/TARGET, where
`make test` runs it for ever.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import importlib.util
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

MEMORY = 1 << 30
"""Bytes that a target may take beyond what it has when it starts."""
SECONDS = 60
"""For one input; most take milliseconds, but the machine may be busy."""


class Runner:
    """Runs one target, and keeps the first input for each place where something breaks."""

    def __init__(self, target: Any, findings: Path) -> None:
        self.target, self.findings = target, findings
        self.executions = 0
        self.places: set[str] = set()
        self.current = findings / f"{target.name}.current"

    def run(self, data: bytes) -> None:
        from targets import LONGEST

        data = data[:LONGEST]
        self.executions += 1
        self.current.write_bytes(data)  # a kill by the system leaves it behind
        signal.alarm(SECONDS)
        try:
            self.target.run(data)
        except Exception as error:
            self.keep(error, data)
        finally:
            signal.alarm(0)

    def keep(self, error: Exception, data: bytes) -> None:
        ours = [each for each in traceback.extract_tb(error.__traceback__) if "tongsa" in each.filename]
        place = f"{type(error).__name__} in {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
        place = place or f"{type(error).__name__}: {str(error).partition(':')[0]}"
        if place in self.places:
            return
        self.places.add(place)
        name = self.findings / f"{self.target.name}.{hashlib.sha1(data).hexdigest()[:12]}"
        name.write_bytes(data)
        print(f"  {self.target.name}: {place}: {str(error)[:200]}\n    {name}", file=sys.stderr, flush=True)

    def finish(self) -> None:
        self.current.unlink(missing_ok=True)
        counts = {"executions": self.executions, "findings": len(self.places)}
        (self.findings / f"{self.target.name}.counts").write_text(json.dumps(counts))


def too_slow(*_: object) -> None:
    """Raised inside of the target; where the interpreter is not reached, the process is killed from outside."""
    raise TimeoutError(f"more than {SECONDS} seconds for one input")


def fuzz_one(name: str, seconds: float, findings: Path, *, plain: bool) -> None:
    """The child process: fuzz one target."""
    if not plain:
        import atheris

        with atheris.instrument_imports(include=["tongsa"]):
            import targets
    else:
        import targets
    faulthandler.enable()
    signal.signal(signal.SIGALRM, too_slow)
    target = targets.TARGETS[name]
    runner = Runner(target, findings)
    seeds = [*target.seeds(), *(path.read_bytes() for path in target.cases())]
    for seed in seeds:
        runner.run(seed)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))
    end = time.monotonic() + seconds
    if plain:
        from mutation import mutated

        draw = random.Random(time.time_ns())
        while time.monotonic() < end:
            runner.run(mutated(seeds, target.tokens, draw))
        runner.finish()
        targets.clean_up()
        return
    start = findings / f"{name}.start"
    start.mkdir(exist_ok=True)
    for number, seed in enumerate(seeds):
        (start / str(number)).write_bytes(seed)
    words = findings / f"{name}.dict"
    words.write_text("".join('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n' for word in target.tokens))

    def one(data: bytes) -> None:
        runner.run(data)
        if time.monotonic() >= end:
            runner.finish()
            targets.clean_up()
            os._exit(0)

    options = ["-rss_limit_mb=0", f"-max_len={targets.LONGEST}", f"-artifact_prefix={findings}/"]
    options += [f"-dict={words}"] if target.tokens else []
    atheris.Setup([sys.argv[0], *options, str(start)], one)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help="targets to fuzz, all by default")
    parser.add_argument("--minutes", type=float, default=10, help="for all targets together")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--plain", action="store_true", help="random changes, also if atheris is installed")
    parser.add_argument("--child", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    plain = given.plain or importlib.util.find_spec("atheris") is None
    given.findings.mkdir(parents=True, exist_ok=True)
    if given.child:
        fuzz_one(given.targets[0], given.child, given.findings.resolve(), plain=plain)
        return 0
    from targets import TARGETS

    names = given.targets or list(TARGETS)
    print(f"{len(names)} targets, {given.minutes:g} minutes, {'random changes' if plain else 'atheris'}")
    began, total, broken = time.monotonic(), 0, 0
    for number, name in enumerate(names):
        left = 60 * given.minutes - (time.monotonic() - began)
        seconds = max(30 * given.minutes / len(names), left / (len(names) - number))  # starting takes time, too
        executions, findings = run_child(name, seconds, given.findings, plain=plain)
        print(f"{name:24} {executions:9,} executions  {findings} findings", flush=True)
        total, broken = total + executions, broken + findings
    minutes = (time.monotonic() - began) / 60
    print(
        f"{total:,} executions in {minutes:.1f} minutes, {broken} findings{f' in {given.findings}' if broken else ''}"
    )
    return 1 if broken else 0


def run_child(name: str, seconds: float, findings: Path, *, plain: bool) -> tuple[int, int]:
    """Fuzz a target in a process of its own; its death is a finding, too."""
    counts = findings / f"{name}.counts"
    counts.unlink(missing_ok=True)
    command = [sys.executable, __file__, name, "--child", str(seconds), "--findings", str(findings)]
    log = findings / f"{name}.log"
    with log.open("wb") as output:
        child = subprocess.Popen([*command, "--plain"] if plain else command, stdout=output, stderr=output)
        try:
            child.wait(timeout=seconds + 5 * SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    told = [line for line in log.read_text(errors="replace").splitlines() if line.startswith("  ")]
    print(*told, sep="\n", end="\n" if told else "")
    if counts.is_file():
        values = json.loads(counts.read_text())
        return values["executions"], values["findings"]
    print(f"  {name}: the process died with {child.returncode}; its last input is {findings / name}.current; see {log}")
    return 0, 1


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    sys.exit(main())
