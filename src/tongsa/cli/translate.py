"""`tongsa translate`"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import (
    Beam,
    Device,
    Directory,
    EngineName,
    LengthPenalty,
    Precision,
    Shortlist,
    Threads,
    check_threads,
)

if TYPE_CHECKING:
    from tongsa.decoding.search import Sampling, Search
    from tongsa.translation.translator import Translator


def translate(
    directory: Directory,
    text: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="Otherwise --input or standard input, a line each.")
    ] = None,
    input_file: Annotated[
        Path | None, typer.Option("--input", "-i", help="Translate the lines of this file; also .gz and .xz.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here instead of to standard output.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="With --output: go on with a job that was cut off.")] = False,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    nbest: Annotated[int, typer.Option("--nbest", help="Print so many hypotheses: number, tab, score, tab, text.")] = 1,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw translations instead of searching for the best.")
    ] = False,
    temperature: Annotated[
        float, typer.Option("--temperature", help="With --sample: below 1 is tamer, above 1 wilder.")
    ] = 1.0,
    top_k: Annotated[int, typer.Option("--top-k", help="With --sample: draw from the k likeliest tokens.")] = 0,
    top_p: Annotated[
        float, typer.Option("--top-p", help="With --sample: draw from the likeliest tokens that sum to p.")
    ] = 1.0,
    seed: Annotated[int, typer.Option("--seed", help="With --sample.")] = 0,
    scores: Annotated[bool, typer.Option("--scores", help="Print the score before each line, with a tab.")] = False,
    alignment: Annotated[
        bool, typer.Option("--alignment", help="Print source-target token pairs after each line, with a tab.")
    ] = False,
    document: Annotated[
        list[Path] | None,
        typer.Option("--document", help="Translate files with structure: Markdown, HTML, PO, XLIFF, DOCX, ODT, ..."),
    ] = None,
    glossary: Annotated[
        Path | None, typer.Option("--glossary", help="With --document: terms to use, SOURCE, tab, TARGET.")
    ] = None,
    do_not_translate: Annotated[
        list[Path] | None, typer.Option("--do-not-translate", help="With --document: terms to keep, a line each.")
    ] = None,
    memory: Annotated[
        list[Path] | None, typer.Option("--memory", help="With --document: translations to take, TMX, PO, TSV, ...")
    ] = None,
    review: Annotated[
        Path | None, typer.Option("--review", help="With --document: write the least certain here, as TSV.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", help="With a CSV document: columns to translate, with commas.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="With --document: for text that is not UTF-8.")
    ] = None,
    engine: EngineName = "auto",
    precision: Precision = "auto",
    shortlist: Shortlist = False,
    device: Device = "auto",
    threads: Threads = None,
) -> None:
    """Translate text, or documents. Output line n belongs to input line n, always.

    Examples:  tongsa translate runs/en-de "Good morning."      tongsa translate runs/en-de < news.en > news.de
    """
    if document and (input_file or resume or nbest > 1 or sample or scores or alignment):
        raise UsageError("--document goes without --input, --resume, --nbest, --sample, --scores and --alignment")
    if not document and (glossary or do_not_translate or memory or review or columns or encoding):
        raise UsageError(
            "--glossary, --do-not-translate, --memory, --review, --columns and --encoding go with --document"
        )
    if text and not document and (input_file or output or resume):
        raise UsageError("text on the command line goes without --input, --output and --resume")
    if resume and not output:
        raise UsageError("--resume goes with --output: the file whose job is to go on")
    if not sample and (temperature != 1.0 or top_k or top_p != 1.0):
        raise UsageError("--temperature, --top-k and --top-p go with --sample")
    check_threads(threads)
    from tongsa.cli.job import Form, Job
    from tongsa.decoding.search import Sampling
    from tongsa.runs.directory import Run
    from tongsa.translation.translator import Translator

    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p, seed=seed) if sample else None
    translator = Translator.load(
        directory, engine=engine, precision=precision, threads=threads, device=device, shortlist=shortlist
    )
    search = _search(translator, beam, length_penalty, nbest, sampling)
    if document:
        from tongsa.base.progress import for_this_stream
        from tongsa.cli.document import translate_documents

        translator.search = search
        translate_documents(
            translator,
            [*document, *map(Path, text or [])],  # `--document *.md`: the shell's further names arrive as text
            out=output,
            glossary=glossary,
            do_not_translate=do_not_translate or (),
            memory=memory or (),
            review=review,
            encoding=encoding,
            columns=tuple(columns.split(",")) if columns else (),
            show=for_this_stream(),
        )
        return
    form = Form(nbest=nbest, scores=scores, alignment=alignment)
    job = Job(translator, search, form, weights=Run(directory).weights_file)
    if text:
        job.texts(text)
    elif output is None:
        job.to_standard_output(input_file)
    else:
        job.to_file(input_file, output, resume=resume)
    job.tell_notes()


def _search(
    translator: Translator, beam: int | None, length_penalty: float | None, nbest: int, sampling: Sampling | None
) -> Search:
    """The translator's own settings, but for what the command says."""
    search = replace(translator.search, nbest=nbest, sampling=sampling)
    if beam is not None:
        search = replace(search, beam=beam)
    return search if length_penalty is None else replace(search, length_penalty=length_penalty)
