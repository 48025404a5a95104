"""`tongsa lab babi`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import Threads, grouped


@grouped
def babi(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The folder with qa1_..._train.txt, ..._test.txt etc.")],
    out: Annotated[Path, typer.Option("--out", help="Where to write networks and errors.")] = Path("runs/babi"),
    joint: Annotated[bool, typer.Option("--joint/--alone", help="One network for all tasks, or one for each.")] = True,
    tasks: Annotated[str | None, typer.Option("--tasks", help="Only these, with commas: 1,2,6.")] = None,
    hops: Annotated[int, typer.Option("--hops", help="Looks over the story.")] = 3,
    tying: Annotated[
        Literal["adjacent", "layerwise"], typer.Option("--tying", help="Which matrices of the hops are the same.")
    ] = "adjacent",
    encoding: Annotated[
        Literal["position", "bag"],
        typer.Option("--encoding", help="Of a sentence: with the order of words, or without."),
    ] = "position",
    d: Annotated[int, typer.Option("--width", help="Of the embeddings (0: 50 for all tasks, 20 for one).")] = 0,
    memories: Annotated[int, typer.Option("--memories", help="Sentences in the memory: the most recent ones.")] = 50,
    linear_start: Annotated[
        bool, typer.Option("--linear-start/--no-linear-start", help="Begin without the softmax of the hops.")
    ] = True,
    noise: Annotated[float, typer.Option("--noise", help="Share of empty memories while training.")] = 0.1,
    epochs: Annotated[int, typer.Option("--epochs", help="With softmax (0: 60 for all tasks, 100 for one).")] = 0,
    restarts: Annotated[int, typer.Option("--restarts", help="Trainings; that with the lowest loss counts.")] = 1,
    seed: Annotated[int, typer.Option("--seed", help="Of the first training; the others count on from it.")] = 1,
    show: Annotated[int, typer.Option("--show", help="Print where the hops look, for so many questions a task.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Keep the networks in --out, train those missing.")] = False,
    threads: Threads = None,
) -> None:
    """Train and test the memory network on the bAbI tasks: a table of errors by task, beside the paper's.

    Example:  tongsa lab babi data/babi-en --restarts 3 --out runs/babi
    """
    wanted = _numbers(tasks)

    from tongsa.base.progress import for_this_stream
    from tongsa.data.stories import read_tasks
    from tongsa.lab.babi import Settings, report

    settings = Settings(
        joint=joint,
        hops=hops,
        tying=tying,
        encoding=encoding,
        d=d,
        memories=memories,
        linear_start=linear_start,
        noise=noise,
        epochs=epochs,
        restarts=restarts,
        seed=seed,
        threads=threads,
    )
    found = read_tasks(data, wanted)
    print(report(data, found, settings, out, resume=resume, shown=show, show=for_this_stream()), end="")


def _numbers(text: str | None) -> set[int] | None:
    if text is None:
        return None
    try:
        return {int(number) for number in text.split(",")}
    except ValueError as error:
        raise UsageError(f"--tasks takes numbers with commas between them, not {text!r}") from error
