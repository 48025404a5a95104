"""Do all ways of translating give the same text? The native engine is the reference.

    python benchmarks/agreement.py runs/en-de --source data/test.en --reference data/test.de

Prints for CTranslate2 (float32 and int8, greedy and with beam 4) and for Hugging Face's generate on the MarianMT export
(greedy) how many lines are exactly those of the native engine, and BLEU beside it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tongsa.evaluation.metrics import text_metric
from tongsa.translation.translator import Translator
from translating import hugging_face


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a translator directory")
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--reference", type=Path, required=True)
    parser.add_argument("--beams", default="1,4")
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
    }
    language = options.reference.suffix.lstrip(".")
    for beam in map(int, options.beams.split(",")):
        found = {
            name: [one.text for one in engine.translate(sources, replace(engine.search, beam=beam))]
            for name, engine in engines.items()
        }
        if beam == 1:
            found["MarianMT generate"] = generated(options.directory, sources)
        for name, texts in found.items():
            same = sum(a == b for a, b in zip(texts, found["native"], strict=True))
            score = text_metric("bleu").corpus(texts, references, language=language).score
            print(f"beam {beam}  {name:20} {same:6,} of {len(sources):,} lines the same   BLEU {score:.2f}", flush=True)


def generated(directory: Path, sources: list[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "marian"
        command = ["export", str(directory), str(out), "--format", "marian"]
        subprocess.run([sys.executable, "-m", "tongsa", *command], check=True, stdout=subprocess.DEVNULL)
        return hugging_face(out, threads=2)(sources, 1)


if __name__ == "__main__":
    main()
