"""A contestant of translation.py: loads a translator, then answers questions, a line of JSON each."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Translate = Callable[[list[str], int], list[str]]
"""Sentences and the width of the beam to translations."""

BATCHES = [("tokens", 512), ("tokens", 1024), ("tokens", 2048), ("tokens", 4096), ("examples", 32), ("examples", 64)]


def tongsa(directory: Path, precision: str, threads: int) -> tuple[Translate, Callable[[Path, Path, int], None]]:
    """What `tongsa translate DIR -i INPUT -o OUTPUT` does once it has started."""
    from dataclasses import replace

    from tongsa.cli.job import Form, Job
    from tongsa.directory import WEIGHTS
    from tongsa.translator import Translator

    translator = Translator.load(directory, engine="ctranslate2", precision=precision, threads=threads, device="cpu")

    def translate(texts: list[str], beam: int) -> list[str]:
        return [found.text for found in translator.translate(texts, replace(translator.search, beam=beam))]

    def file(source: Path, output: Path, beam: int) -> None:
        form = Form(nbest=1, scores=False, alignment=False)
        job = Job(translator, replace(translator.search, beam=beam), form, weights=directory / WEIGHTS)
        job.to_file(source, output, resume=False)

    return translate, file


def raw_ctranslate2(folder: Path, precision: str, threads: int) -> Translate:
    """CTranslate2 called directly, with the best batch size that a sample shows."""
    import ctranslate2
    import sentencepiece

    files = sorted(folder.glob("subwords*.model"))
    source, target = (sentencepiece.SentencePieceProcessor(model_file=str(file)) for file in (files[0], files[-1]))
    translator = ctranslate2.Translator(str(folder), compute_type=precision, inter_threads=threads, intra_threads=1)
    best: dict[int, tuple[str, int]] = {}

    def run(texts: list[str], beam: int, kind: str, size: int) -> list[str]:
        tokens = source.encode(texts, out_type=str, num_threads=threads)
        results = translator.translate_batch(
            tokens, beam_size=beam, length_penalty=0.6, max_batch_size=size, batch_type=kind
        )
        return list(target.decode([result.hypotheses[0] for result in results]))

    def translate(texts: list[str], beam: int) -> list[str]:
        if len(texts) < 100:
            return run(texts, beam, "examples", 64)
        if beam not in best:
            sample = texts[: min(len(texts), 1000)]
            best[beam] = min(BATCHES, key=lambda batch: _seconds(lambda: run(sample, beam, *batch)))
            print(f"raw CTranslate2 {precision}, beam {beam}: batches of {best[beam]}", file=sys.stderr)
        return run(texts, beam, *best[beam])

    return translate


def hugging_face(folder: Path, threads: int) -> Translate:
    import warnings

    import torch
    from transformers import MarianMTModel, MarianTokenizer

    warnings.simplefilter("ignore")
    torch.set_num_threads(threads)
    tokenizer, model = MarianTokenizer.from_pretrained(folder), MarianMTModel.from_pretrained(folder).eval()

    @torch.inference_mode()
    def translate(texts: list[str], beam: int) -> list[str]:
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        found = [""] * len(texts)
        for first in range(0, len(order), 32):
            places = order[first : first + 32]
            batch = tokenizer([texts[i] for i in places], return_tensors="pt", padding=True)
            written = model.generate(**batch, num_beams=beam, do_sample=False, max_length=256)
            for i, text in zip(places, tokenizer.batch_decode(written, skip_special_tokens=True), strict=True):
                found[i] = text
        return found

    return translate


def main() -> None:
    name, directory, folder, threads = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    precision = "float32" if name.endswith("float32") else "int8"
    file: Callable[[Path, Path, int], None] | None = None
    if name.startswith("tongsa"):
        translate, file = tongsa(directory, precision, threads)
    elif name.startswith("raw"):
        translate = raw_ctranslate2(folder / precision, precision, threads)
    else:
        translate = hugging_face(folder / "marian", threads)
    translate(["."], 4)
    print("{}", flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(name, json.loads(line), translate, file, folder)), flush=True)


def _answer(
    name: str,
    question: dict[str, Any],
    translate: Translate,
    file: Callable[[Path, Path, int], None] | None,
    folder: Path,
) -> dict[str, Any]:
    beam = question["beam"]
    if question["what"] == "single":
        times = sorted(_seconds(lambda text=text: translate([text], beam)) for text in question["lines"])  # type: ignore[misc]
        return {"p50": statistics.median(times), "p95": times[int(0.95 * len(times))]}
    source, output = Path(question["path"]), folder / f"{name}.output"
    texts = source.read_text(encoding="utf-8").splitlines()
    if question["round"] == 0:
        translate(texts[:500], beam)  # threads, memory, and the tuning of the batch size
    if file:
        seconds = _seconds(lambda: file(source, output, beam))
    else:
        seconds = _seconds(lambda: _to_file(translate, source, output, beam))
    return {"seconds": seconds, "output": str(output)}


def _to_file(translate: Translate, source: Path, output: Path, beam: int) -> None:
    texts = source.read_text(encoding="utf-8").splitlines()
    output.write_text("".join(text + "\n" for text in translate(texts, beam)), encoding="utf-8")


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
