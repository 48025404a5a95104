"""Translating: Tongsa against raw CTranslate2 with the same weights, and against Hugging Face's generate.

    python benchmarks/translation.py runs/en-de --source data/test.en --reference data/test.de --lines 1000,10000

Every contestant is a process of its own that loads once and then translates whole files, text in and text out, in turns
with the others; the median of the rounds counts. Raw CTranslate2 is called as well as we know how: the threads and the
batches that are best on a sample for each beam, SentencePiece on all cores. Ratios are to it, at the same beam.
`--student DIR` adds a distilled translator, `--shortlist` both with a shortlist, `--float32` both without int8.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import MEGABYTE, PeakMemory
from tongsa.evaluation.metrics import text_metric
from tongsa.text.subwords import Subwords

HERE = Path(__file__).resolve()
SINGLE = 100
"""Sentences translated one by one, for the latency."""


class Contestant:
    """A process that answers each line of JSON with one."""

    def __init__(self, name: str, directory: Path, folder: Path, threads: int) -> None:
        self.name = name
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, str(HERE.with_name("translating.py")), name, str(directory), str(folder), str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": str(threads), "TRANSFORMERS_VERBOSITY": "error"},
        )
        self.answer()
        self.start_up = time.perf_counter() - began
        """Seconds until the first sentence is translated."""

    def ask(self, **question: Any) -> dict[str, Any]:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} has ended: {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a translator directory")
    parser.add_argument("--source", type=Path, required=True, help="text to translate, a sentence a line")
    parser.add_argument("--reference", type=Path, required=True, help="its reference translation")
    parser.add_argument("--lines", default="1000,10000", help="how many of them, several with commas")
    parser.add_argument("--beams", default="1,4")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hf-lines", type=int, default=200, help="lines for Hugging Face's generate (0: leave it out)")
    parser.add_argument("--student", type=Path, help="a distilled translator directory")
    parser.add_argument("--shortlist", action="store_true", help="with shortlists too")
    parser.add_argument("--float32", action="store_true", help="without int8 too")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", type=Path, help="write the figures here too")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    sources = options.source.read_text(encoding="utf-8").splitlines()
    references = options.reference.read_text(encoding="utf-8").splitlines()
    names = ["raw-ctranslate2", "tongsa"]
    names += ["raw-ctranslate2-float32", "tongsa-float32"] if options.float32 else []
    names += ["student"] if options.student else []
    names += [f"{name}-shortlist" for name in names if name in ("tongsa", "student")] if options.shortlist else []
    names += ["huggingface"] if options.hf_lines else []
    if shutil.which("marian-decoder"):
        print("marian-decoder is there, but reads neither safetensors nor CTranslate2 models: left out")
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(options.directory, folder, options.float32)
        places = {name: options.student if name.startswith("student") else options.directory for name in names}
        contestants = [Contestant(name, place, folder, options.threads) for name, place in places.items()]
        for contestant in contestants:
            few = SINGLE // 10 if contestant.name == "huggingface" else SINGLE
            latency = contestant.ask(what="single", lines=sources[:few], beam=4)
            print(
                f"{contestant.name:26} start-up {contestant.start_up:6.2f} s   one sentence at beam 4:"
                f" p50 {latency['p50'] * 1000:7.2f} ms, p95 {latency['p95'] * 1000:7.2f} ms"
            )
            rows.append({"contestant": contestant.name, "start_up": contestant.start_up, **latency})
        for count in map(int, options.lines.split(",")):
            for beam in map(int, options.beams.split(",")):
                rows += compare(contestants, sources[:count], references[:count], beam, options, folder)
        for contestant in contestants:
            contestant.end()
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


def prepare(directory: Path, folder: Path, float32: bool) -> None:
    """The same weights in the peers' formats."""
    wanted = [("ctranslate2", "int8"), *([("ctranslate2", "float32")] if float32 else []), ("marian", "auto")]
    for to_format, precision in wanted:
        out = folder / (to_format if to_format == "marian" else precision)
        command = ["export", str(directory), str(out), "--format", to_format, "--precision", precision]
        subprocess.run([sys.executable, "-m", "tongsa", *command], check=True, stdout=subprocess.DEVNULL)


def compare(
    contestants: list[Contestant],
    sources: list[str],
    references: list[str],
    beam: int,
    options: argparse.Namespace,
    folder: Path,
) -> list[dict[str, Any]]:
    seconds: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    memory: dict[str, int] = {}
    found: dict[str, dict[str, Any]] = {}
    for number in range(options.rounds):
        for contestant in contestants:
            lines = sources[: options.hf_lines] if contestant.name == "huggingface" else sources
            if contestant.name == "huggingface" and number:
                continue  # slow, and far away
            path = folder / "input"
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            if number:
                answer = contestant.ask(what="file", path=str(path), beam=beam, round=number)
            else:  # watching takes time, so it is done once
                with PeakMemory(contestant.process.pid) as peak:
                    answer = contestant.ask(what="file", path=str(path), beam=beam, round=number)
                memory[contestant.name] = peak.bytes
            seconds[contestant.name].append(answer["seconds"])
            found[contestant.name] = answer
    rows = []
    vocabulary = Subwords.load(options.directory).target
    raw = len(sources) / statistics.median(seconds["raw-ctranslate2"])
    peer = options.hf_lines / seconds["huggingface"][0] if options.hf_lines else 0.0
    print(f"\n{len(sources):,} sentences, beam {beam}")
    for contestant in contestants:
        output = Path(found[contestant.name]["output"]).read_text(encoding="utf-8").splitlines()
        tokens = sum(map(len, vocabulary.encode_many(output, options.threads)))
        took = statistics.median(seconds[contestant.name])
        row = {
            "contestant": contestant.name,
            "sentences": len(output),
            "beam": beam,
            "sentences_per_second": len(output) / took,
            "tokens_per_second": tokens / took,
            "ratio_to_raw": len(output) / took / raw,
            "ratio_to_huggingface": len(output) / took / peer if peer else None,
            "rounds": [len(output) / each for each in seconds[contestant.name]],
            "megabytes": memory[contestant.name] / MEGABYTE,
            "bleu": text_metric("bleu")
            .corpus(output, references[: len(output)], language=options.reference.suffix.lstrip("."))
            .score,
        }
        print(
            f"  {contestant.name:26}{row['sentences_per_second']:9.1f} sentences/s{row['ratio_to_raw']:8.3f} x raw"
            f"{f'{len(output) / took / peer:8.1f} x HF' if peer else ''}"
            f"{row['tokens_per_second']:10.0f} tokens/s{row['megabytes']:8.0f} MB   BLEU {row['bleu']:.2f}"
            f"{'' if len(output) == len(sources) else f'  (on {len(output)} lines)'}"
        )
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
