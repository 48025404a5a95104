"""A contestant of translation.py: loads a translator, then answers questions, a line of JSON each."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

Translate = Callable[[list[str], int], list[str]]
"""Sentences and the width of the beam to translations."""

BATCHES = [
    *(("tokens", size) for size in (256, 512, 1024, 2048, 4096)),
    *(("examples", size) for size in (8, 16, 32, 64, 128)),
]
"""What raw CTranslate2 is tried with: how batches are counted, and how large they are."""

SAMPLE = 600
"""Sentences that every setting is tried on."""


ToFile = Callable[[Path, Path, int], None]
"""Input, output and the width of the beam."""


def tongsa(directory: Path, precision: str, threads: int, shortlist: bool) -> tuple[Translate, ToFile]:
    """What `tongsa translate DIR -i INPUT -o OUTPUT` does once it has started."""
    from dataclasses import replace

    from tongsa.cli.lines import LineTranslation, OutputFormat
    from tongsa.runs.directory import Run
    from tongsa.translation.translator import Translator

    translator = Translator.load(
        directory, engine="ctranslate2", precision=precision, threads=threads, device="cpu", shortlist=shortlist
    )

    def translate(texts: list[str], beam: int) -> list[str]:
        return [found.text for found in translator.translate(texts, replace(translator.search, beam=beam))]

    def file(source: Path, output: Path, beam: int) -> None:
        output_format = OutputFormat(nbest=1, scores=False, alignment=False)
        search = replace(translator.search, beam=beam)
        lines = LineTranslation(translator, search, output_format, weights=[Run(directory).weights_file])
        lines.to_file(source, output, resume=False)

    return translate, file


class Setting(NamedTuple):
    """How raw CTranslate2 is called."""

    inter: int
    intra: int
    kind: str
    size: int


def raw_ctranslate2(folder: Path, precision: str, threads: int) -> Translate:
    """CTranslate2 called directly, with the best threads and batches that a sample shows for each beam."""
    import ctranslate2
    import sentencepiece

    files = sorted(folder.glob("subwords*.model"))
    source, target = (sentencepiece.SentencePieceProcessor(model_file=str(file)) for file in (files[0], files[-1]))
    splits = sorted({(threads, 1), (1, threads)}, reverse=True)
    loaded: dict[tuple[int, int], Any] = {}
    best: dict[int, Setting] = {}

    def translator(inter: int, intra: int) -> Any:
        if (inter, intra) not in loaded:
            loaded[inter, intra] = ctranslate2.Translator(
                str(folder), compute_type=precision, inter_threads=inter, intra_threads=intra
            )
        return loaded[inter, intra]

    def run(texts: list[str], beam: int, setting: Setting) -> list[str]:
        tokens = source.encode(texts, out_type=str, num_threads=threads)
        results = translator(setting.inter, setting.intra).translate_batch(
            tokens, beam_size=beam, length_penalty=0.6, max_batch_size=setting.size, batch_type=setting.kind
        )
        return list(target.decode([result.hypotheses[0] for result in results]))

    def tuned(texts: list[str], beam: int) -> Setting:
        """Every batch with the first split of threads, the best of them with the others; the three best once more."""
        sample = texts[:: max(1, len(texts) // SAMPLE)][:SAMPLE]

        def timed(setting: Setting) -> float:
            return _seconds(lambda: run(sample, beam, setting))

        first = [Setting(*splits[0], *batch) for batch in BATCHES]
        timed(first[0])  # threads and memory
        took = {setting: timed(setting) for setting in first}
        for split in splits[1:]:
            best_batch = min(took, key=lambda s: took[s])
            other = Setting(*split, best_batch.kind, best_batch.size)
            timed(other)
            took[other] = timed(other)
        finalists = sorted(took, key=lambda s: took[s])[:3]
        again = {setting: min(took[setting], timed(setting)) for setting in finalists}
        return min(again, key=lambda s: again[s])

    def translate(texts: list[str], beam: int) -> list[str]:
        if len(texts) < 100:
            return run(texts, beam, Setting(*splits[0], "examples", 64))
        if beam not in best:
            best[beam] = tuned(texts, beam)
            print(f"raw CTranslate2 {precision}, beam {beam}: {best[beam]}", file=sys.stderr)
        return run(texts, beam, best[beam])

    return translate


def hugging_face(folder: Path, threads: int) -> Translate:
    import warnings

    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    warnings.simplefilter("ignore")
    torch.set_num_threads(threads)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()

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
    file: ToFile | None = None
    if name.startswith(("tongsa", "student")):
        translate, file = tongsa(directory, precision, threads, name.endswith("shortlist"))
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
    file: ToFile | None,
    folder: Path,
) -> dict[str, Any]:
    beam = question["beam"]
    if question["what"] == "single":
        times = sorted(_seconds(lambda text=text: translate([text], beam)) for text in question["lines"])  # type: ignore[misc]
        return {"p50": statistics.median(times), "p95": times[int(0.95 * len(times))]}
    source, output = Path(question["path"]), folder / f"{name}.output"
    texts = source.read_text(encoding="utf-8").splitlines()
    if question["round"] == 0:
        translate(texts if name.startswith("raw") else texts[:500], beam)  # threads, memory, tuning
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
