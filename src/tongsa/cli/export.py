"""`tongsa export`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import Directory, Precision

FORMATS = ("compact", "ctranslate2", "marian", "gpt2", "bert")


def export(
    directory: Directory,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The directory to write.")],
    to_format: Annotated[
        str,
        typer.Option(
            "--format",
            help="ctranslate2; marian, gpt2 (--task lm), bert (--task mlm): for transformers; "
            "compact: our own, with weights of 8 bits.",
        ),
    ],
    precision: Precision = "auto",
    shortlist: Annotated[
        bool, typer.Option("--shortlist", help="With ctranslate2: also vmap.txt, learnt from the training text.")
    ] = False,
    licence: Annotated[
        str, typer.Option("--licence", help="With compact: licence and attribution of the training text, for the card.")
    ] = "",
) -> None:
    """Write a translator or language model in the format of another program, or in a compact form to pass on.

    Example:  tongsa export runs/en-de --format marian exported/en-de
    """
    if shortlist and to_format != "ctranslate2":
        raise UsageError("--shortlist needs --format ctranslate2")
    if licence and to_format != "compact":
        raise UsageError("--licence needs --format compact")
    if to_format not in FORMATS:
        raise UsageError(f"unknown export format: {to_format}", f"Formats: {', '.join(FORMATS)}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} already exists", "Choose another directory: nothing is overwritten.")
    from tongsa.engines import PRECISIONS
    from tongsa.runs.directory import Run

    run = Run(directory)
    if to_format == "compact":
        from tongsa.runs.compact import write_compact

        write_compact(run, out, licence=licence)
        print(out)
        return
    if to_format in ("gpt2", "bert"):
        from tongsa.engines.huggingface.export import write_bert, write_gpt2

        (write_gpt2 if to_format == "gpt2" else write_bert)(out, run)
        print(out)
        return
    card = run.read_card()
    subwords = run.read_subwords(card)
    if to_format == "marian":
        from tongsa.engines.marian.export import write_marian

        write_marian(out, directory, card, subwords)
    else:
        from tongsa.base.files import replacing
        from tongsa.engines.compiled import transformer
        from tongsa.engines.ctranslate2_export import write_ctranslate2
        from tongsa.engines.weights import read_weights

        if precision not in PRECISIONS:
            raise UsageError(f"unknown precision: {precision}", f"Precisions: {', '.join(PRECISIONS)}")
        chosen = "int8" if precision == "auto" else precision
        config = transformer(card)
        weights = read_weights(run, card, config, subwords)
        with replacing(out) as temporary:
            write_ctranslate2(temporary, weights, config, subwords, chosen, forbid=True)
            subwords.save(temporary)
            if shortlist:
                from tongsa.engines.shortlist import write_shortlist

                write_shortlist(temporary, directory, subwords)
    print(out)
