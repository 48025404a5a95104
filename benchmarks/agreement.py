"""Do all ways of translating give the same text? The native engine is the reference.

    python benchmarks/agreement.py runs/en-de --source data/test.en --reference data/test.de

Prints for CTranslate2 (float32 and int8, greedy and with beam 4) and for Hugging Face's generate on the MarianMT export
(greedy) how many lines are exactly those of the native engine, and BLEU beside it; and how far the log-probabilities
of the references are from the native ones. As on a CPU without AVX-512 and VNNI:

    CT2_FORCE_CPU_ISA=AVX2 CT2_USE_MKL=0 ONEDNN_MAX_CPU_ISA=AVX2 python benchmarks/agreement.py ...
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tongsa.engines.precision import weight_bits
from tongsa.evaluation.metrics import text_metric
from tongsa.translation.translator import Translator
from translating import hugging_face


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a translator directory")
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--reference", type=Path, required=True)
    parser.add_argument("--beams", default="1,4")
    parser.add_argument("--hugging-face", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    sources, references = (
        path.read_text(encoding="utf-8").splitlines() for path in (options.source, options.reference)
    )
    engines = {
        "native": Translator.load(options.directory, engine="native", device="cpu"),
        "ctranslate2 float32": Translator.load(options.directory, engine="ctranslate2", precision="float32"),
        "ctranslate2 int8": Translator.load(options.directory, engine="ctranslate2", precision="int8"),
        "auto": Translator.load(options.directory, device="cpu"),
    }
    print(f"int8 weights have {weight_bits()} bits on this CPU; auto is {engines['auto'].engine.precision}")
    for name, difference in differences(engines, sources, references).items():
        print(f"{name:20} log-probabilities differ by {difference:.2%}", flush=True)
    language = options.reference.suffix.lstrip(".")
    for beam in map(int, options.beams.split(",")):
        found = {
            name: [one.text for one in engine.translate(sources, replace(engine.search, beam=beam))]
            for name, engine in engines.items()
        }
        if beam == 1 and options.hugging_face:
            found["MarianMT generate"] = generated(options.directory, sources)
        for name, texts in found.items():
            same = sum(a == b for a, b in zip(texts, found["native"], strict=True))
            score = text_metric("bleu").corpus(texts, references, language=language).score
            print(f"beam {beam}  {name:20} {same:6,} of {len(sources):,} lines the same   BLEU {score:.2f}", flush=True)


def differences(engines: dict[str, Translator], sources: list[str], references: list[str]) -> dict[str, float]:
    """Mean difference of the log-probabilities of the references from the native ones, by their mean."""
    subwords = engines["native"].subwords
    pairs = subwords.source.encode_many(sources, threads=1), subwords.target.encode_many(references, threads=1)
    scores = {name: [sum(tokens) for tokens in each.engine.score(*pairs)] for name, each in engines.items()}
    exact = scores.pop("native")
    return {
        name: sum(abs(a - b) for a, b in zip(found, exact, strict=True)) / sum(map(abs, exact))
        for name, found in scores.items()
    }


def generated(directory: Path, sources: list[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "marian"
        command = ["export", str(directory), str(out), "--format", "marian"]
        subprocess.run([sys.executable, "-m", "tongsa", *command], check=True, stdout=subprocess.DEVNULL)
        return hugging_face(out, threads=2)(sources, 1)


if __name__ == "__main__":
    main()
