"""`tongsa demo`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tongsa.cli.options import Threads

if TYPE_CHECKING:
    from tongsa.runs.directory import Run

SENTENCES = 6
MARKER = "made-by-tongsa-demo.txt"
UPDATES = 1000
"""About three minutes on two cores; a slow machine takes longer, but its translator is as good."""


def demo(
    out: Annotated[Path, typer.Option("--out", help="Directory for corpus and translator.")] = Path("runs/demo"),
    minutes: Annotated[
        float | None, typer.Option("--minutes", help=f"Training time, instead of {UPDATES} updates.")
    ] = None,
    pairs: Annotated[int, typer.Option("--pairs", help="Training pairs to generate with the grammar.")] = 40_000,
    threads: Threads = None,
) -> None:
    """Train a Korean-English translator on the built-in corpus, and show it at work.

    Example:  tongsa demo
    """
    import tongsa
    from tongsa.base.files import write_atomically
    from tongsa.base.progress import for_this_stream
    from tongsa.demo.grammar import corpus
    from tongsa.evaluation.metrics import METRICS, score
    from tongsa.runs.directory import Run

    train = tongsa.train  # first: without torch, nothing is written
    show = for_this_stream()
    translator_directory = out / "ko-en"
    _begin(out, Run(translator_directory))
    show.say(f"writing {pairs:,} Korean-English pairs with the built-in grammar to {out / 'corpus'}")
    parts = dict(zip(("train", "valid", "test"), corpus(pairs, 500, 500, seed=1), strict=True))
    for name, part in parts.items():
        for side, language in enumerate(("ko", "en")):
            write_atomically(out / "corpus" / f"{name}.{language}", "".join(pair[side] + "\n" for pair in part))
    translator = train(
        out / "corpus" / "train",
        source="ko",
        target="en",
        valid=out / "corpus" / "valid",
        out=translator_directory,
        recipe="demo",
        settings={"training.updates": str(UPDATES)} if minutes is None else {},
        minutes=minutes,
        threads=threads,
        show=show,
    )
    if translator is None:
        return
    sources, references = [pair[0] for pair in parts["test"]], [pair[1] for pair in parts["test"]]
    translations = [translation.text for translation in translator.translate(sources)]
    for korean, english in list(zip(sources, translations, strict=True))[:SENTENCES]:
        print(f"{korean}\n  {english}")
    found = score(translations, references, "en", ["bleu", "chrf"])
    reached = ", ".join(f"{METRICS[name].title} {value.score:.1f}" for name, value in found.items())
    print(f"\nheld-out sentences: {reached}")
    print(f"report: {Run(translator_directory).report_file}")
    print(f'try it: tongsa translate {translator_directory} "{sources[0]}"')


def _begin(out: Path, run: Run) -> None:
    """Mark the directory as the demo's, and remove what an earlier demo trained there; anything else is an error."""
    from tongsa.base.errors import UsageError
    from tongsa.base.files import write_atomically

    marker = out / MARKER
    if not marker.is_file() and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(
            f"{out} holds files that the demo did not make", "Choose another --out: nothing is overwritten."
        )
    run.remove()
    write_atomically(marker, "`tongsa demo` made this directory, and replaces its corpus and translator.\n")
