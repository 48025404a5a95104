"""`tongsa generate`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tongsa.cli.options import Device, SearchOptions, grouped

MAX_TOKENS = 100_000


@grouped
def generate(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a language model (--task lm).")],
    prompt: Annotated[
        list[str] | None, typer.Argument(metavar="PROMPT...", help="Beginnings of lines (lines of standard input).")
    ] = None,
    tokens: Annotated[int, typer.Option("--tokens", help="Most tokens to add to a line.", min=1, max=MAX_TOKENS)] = 100,
    only_new: Annotated[bool, typer.Option("--only-new", help="Print what was added, without the prompt.")] = False,
    device: Device = "auto",
    *,
    options: SearchOptions,
) -> None:
    """Continue lines with a language model: greedily, or with --beam or --sample.

    Example:  tongsa generate runs/english "The weather" --sample --top-p 0.9 --seed 3
    """
    from tongsa.decoding.search import Search
    from tongsa.tasks.language_model import LanguageModel

    model = LanguageModel.load(directory, device=device)
    search = options.over(Search(beam=1))
    for number, line in enumerate(prompt or (line.rstrip("\n") for line in sys.stdin), 1):
        for found in model.continue_line(line, tokens, search):
            text = found.text if only_new else found.line
            print(f"{number}\t{found.log_probability:.4f}\t{text}" if options.nbest > 1 else text, flush=True)
