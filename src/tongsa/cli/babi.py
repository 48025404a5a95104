"""`tongsa lab babi`"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import Threads, grouped


@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    panel: ClassVar[str] = "Network"

    hops: Annotated[int, typer.Option("--hops", help="Times that the memory is read.")] = 3
    tying: Annotated[
        Literal["adjacent", "layerwise"], typer.Option("--tying", help="Matrices that the hops share.")
    ] = "adjacent"
    encoding: Annotated[
        Literal["position", "released", "bag"],
        typer.Option("--encoding", help="Word weights: of the paper, of its authors' program, or all equal."),
    ] = "position"
    d: Annotated[int, typer.Option("--width", help="Width of embeddings (0: 50 for all tasks, 20 for one).")] = 0
    memories: Annotated[int, typer.Option("--memories", help="Sentences in the memory: the most recent.")] = 50


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    panel: ClassVar[str] = "Training"

    joint: Annotated[bool, typer.Option("--joint/--alone", help="One network for all tasks, or one for each.")] = True
    linear_start: Annotated[
        bool, typer.Option("--linear-start/--no-linear-start", help="Start without the softmax of the hops.")
    ] = True
    linear_epochs: Annotated[
        int, typer.Option("--linear-epochs", help="Epochs of the linear start (0: until the loss stops falling).")
    ] = 0
    noise: Annotated[float, typer.Option("--noise", help="Share of empty memories while training.")] = 0.1
    epochs: Annotated[int, typer.Option("--epochs", help="Epochs with softmax (0: 60 jointly, 100 alone).")] = 0
    seeds: Annotated[
        int, typer.Option("--seeds", "--restarts", help="Trainings from different weights: their mean, and the best.")
    ] = 1
    seed: Annotated[int, typer.Option("--seed", help="Seed of the first training; the next ones add 1 each.")] = 1
    threads: Threads = None


@grouped
def babi(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The folder with qa1_..._train.txt, ..._test.txt etc.")],
    out: Annotated[Path, typer.Option("--out", help="Directory for networks and errors.")] = Path("runs/babi"),
    tasks: Annotated[
        str | None, typer.Option("--tasks", help="Tasks to run, with commas: 1,2,6 (default: all).")
    ] = None,
    show: Annotated[int, typer.Option("--show", help="Print what the hops attend to, for N questions per task.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Keep the networks in --out, train those missing.")] = False,
    *,
    network: NetworkOptions,
    fit: FitOptions,
) -> None:
    """Train and test the memory network on the bAbI tasks: a table of errors by task, beside the paper's.

    Example:  tongsa lab babi data/babi-en --seeds 3 --out runs/babi
    """
    wanted = _numbers(tasks)

    from tongsa.base.progress import for_this_stream
    from tongsa.data.stories import read_tasks
    from tongsa.lab.babi import Settings, report

    settings = Settings(**asdict(network), **asdict(fit))
    found = read_tasks(data, wanted)
    print(report(data, found, settings, out, resume=resume, shown=show, show=for_this_stream()), end="")


def _numbers(text: str | None) -> set[int] | None:
    if text is None:
        return None
    try:
        return {int(number) for number in text.split(",")}
    except ValueError as error:
        raise UsageError(f"--tasks must be numbers with commas between them, not {text!r}") from error
