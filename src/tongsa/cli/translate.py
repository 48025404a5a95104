"""`tongsa translate`"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from tongsa.cli.options import Beam, Device, Directory, LengthPenalty, Threads, set_threads
from tongsa.errors import UsageError
from tongsa.text.lines import decode

if TYPE_CHECKING:
    from tongsa.decoding.search import Sampling, Search
    from tongsa.translator import Translation, Translator

BLOCK = 1024
"""Lines translated together where the input is a file."""


def translate(
    directory: Directory,
    text: Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", help="Otherwise standard input, a line each.")] = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    nbest: Annotated[int, typer.Option("--nbest", help="Print so many hypotheses: number, tab, score, tab, text.")] = 1,
    sample: Annotated[bool, typer.Option("--sample", help="Draw translations instead of searching for the best.")] = False,
    temperature: Annotated[float, typer.Option("--temperature", help="With --sample: below 1 is tamer, above 1 wilder.")] = 1.0,
    top_k: Annotated[int, typer.Option("--top-k", help="With --sample: draw from the k likeliest tokens.")] = 0,
    top_p: Annotated[float, typer.Option("--top-p", help="With --sample: draw from the likeliest tokens that sum to p.")] = 1.0,
    seed: Annotated[int, typer.Option("--seed", help="With --sample.")] = 0,
    scores: Annotated[bool, typer.Option("--scores", help="Print the score before each line, with a tab.")] = False,
    alignment: Annotated[bool, typer.Option("--alignment", help="Print source-target token pairs after each line, with a tab.")] = False,
    device: Device = "auto",
    threads: Threads = None,
) -> None:
    """Translate text. Output line n belongs to input line n, always.

    Examples:  tongsa translate runs/en-de "Good morning."      tongsa translate runs/en-de < news.en > news.de
    """
    set_threads(threads)
    from tongsa.decoding.search import Sampling
    from tongsa.translator import Translator

    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p, seed=seed) if sample else None
    if not sample and (temperature != 1.0 or top_k or top_p != 1.0):
        raise UsageError("--temperature, --top-k and --top-p go with --sample")
    translator = Translator.load(directory, device=device)
    search = _search(translator, beam, length_penalty, nbest, sampling)
    notes: Counter[str] = Counter()
    number = 0
    for block in [text] if text else blocks(sys.stdin.buffer):
        for translation in translator.translate(block, search, alignment=alignment):
            number += 1
            notes.update(translation.notes)
            for line in lines(translation, number, nbest=nbest, scores=scores, alignment=alignment):
                sys.stdout.write(line + "\n")
        sys.stdout.flush()
    for note, count in notes.items():
        if note != "blank":
            print(f"{count:,} of {number:,} lines: {note}", file=sys.stderr)


def _search(
    translator: Translator, beam: int | None, length_penalty: float | None, nbest: int, sampling: Sampling | None
) -> Search:
    """The translator's own settings, but for what the command says."""
    search = replace(translator.search, nbest=nbest, sampling=sampling)
    if beam is not None:
        search = replace(search, beam=beam)
    return search if length_penalty is None else replace(search, length_penalty=length_penalty)


def lines(translation: Translation, number: int, *, nbest: int, scores: bool, alignment: bool) -> Iterator[str]:
    """One line, or with `nbest` one for each hypothesis that begins with the input line's number."""
    for hypothesis in (translation, *translation.alternatives):
        columns = [hypothesis.text]
        if nbest > 1:
            columns = [str(number), f"{hypothesis.score:.4f}", *columns]
        elif scores:
            columns = [f"{hypothesis.score:.4f}", *columns]
        if alignment:
            columns.append(" ".join(f"{source}-{target}" for source, target in hypothesis.alignment))
        yield "\t".join(columns)


def blocks(stream: BinaryIO) -> Iterator[list[str]]:
    """Lines as they come: what is there is translated together, and nobody waits for more.

    On a pipe that somebody types into, `read1` gives a line at a time; on a file it gives many.
    """
    rest = b""
    number = 0
    while data := stream.read1(1 << 16):  # type: ignore[attr-defined]
        *whole, rest = (rest + data).split(b"\n")
        for first in range(0, len(whole), BLOCK):
            block = whole[first : first + BLOCK]
            yield [_decoded(line, number + i) for i, line in enumerate(block, 1)]
            number += len(block)
    if rest:
        yield [_decoded(rest, number + 1)]


def _decoded(line: bytes, number: int) -> str:
    return decode(line, Path("standard input"), number, "utf-8").removesuffix("\r")
