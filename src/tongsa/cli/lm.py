"""`tongsa lab lm`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tongsa.cli.options import Encoding, Threads, grouped


@grouped
def lm(
    text: Annotated[Path, typer.Argument(metavar="TEXT", help="Text to learn from, a sentence a line (also .gz .xz).")],
    valid: Annotated[Path, typer.Option("--valid", help="Held-out text, measured after every epoch.")],
    test: Annotated[Path | None, typer.Option("--test", help="Held-out text, measured once at the end.")] = None,
    out: Annotated[Path, typer.Option("--out", help="Where to write the model and its figures.")] = Path("runs/lm"),
    lines: Annotated[int | None, typer.Option("--lines", help="Of the text, from its beginning (all).")] = None,
    vocabulary: Annotated[int, typer.Option("--vocabulary", help="Most frequent words; others are <unk>.")] = 10_000,
    d: Annotated[int, typer.Option("--width", help="Of the embeddings.")] = 150,
    hops: Annotated[int, typer.Option("--hops", help="Looks over the words before.")] = 6,
    memories: Annotated[int, typer.Option("--memories", help="Words that it looks back.")] = 50,
    epochs: Annotated[int, typer.Option("--epochs", help="Passes over the text.")] = 5,
    dropout: Annotated[float, typer.Option("--dropout", help="Not in the paper: 0 leaves it out.")] = 0.2,
    seed: Annotated[int, typer.Option("--seed", help="Seed for all random choices.")] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on after the last whole epoch.")] = False,
    encoding: Encoding = "utf-8",
    threads: Threads = None,
) -> None:
    """Train the memory network as a language model, and measure it against a trigram on held-out text.

    Example:  tongsa lab lm data/train.en --valid data/valid.en --lines 40000 --out runs/lm
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.lab.language_model import Settings, as_text, run

    settings = Settings(
        text=str(text),
        lines=lines,
        vocabulary=vocabulary,
        d=d,
        hops=hops,
        memories=memories,
        epochs=epochs,
        dropout=dropout,
        seed=seed,
        encoding=encoding,
        threads=threads,
    )
    held_out = {"valid": valid} | ({"test": test} if test else {})
    print(as_text(run(settings, held_out, out, resume, for_this_stream()), settings), end="")
