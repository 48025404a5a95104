"""`tongsa paper`: the tables of the paper, made again on your own text"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import (
    Corpora,
    MachineOptions,
    Minutes,
    Seed,
    Settings,
    Valid,
    check_minutes,
    grouped,
    parse_settings,
)
from tongsa.cli.parse import SilverOptions

if TYPE_CHECKING:
    from tongsa.lab.compare.plan import CompareOptions
    from tongsa.lab.paper.document import PaperTable

app = typer.Typer(
    name="paper",
    help="The paper's tables, made again at your scale and on your text, with its own figures beside.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Out = Annotated[Path, typer.Option("--out", help="Directory of the table; run the same command to continue.")]


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    panel: ClassVar[str] = "Text"

    source: Annotated[str, typer.Option("--from", help="Source language, for example en.")]
    target: Annotated[str, typer.Option("--to", help="Target language, for example de.")]
    valid: Valid = None
    test: Annotated[
        list[str] | None, typer.Option("--test", help="Corpus to score (otherwise the validation set).")
    ] = None


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    panel: ClassVar[str] = "Training of each row"

    updates: Annotated[int | None, typer.Option("--updates", help="Updates, as the paper counts steps.", min=1)] = None
    minutes: Minutes = None
    seeds: Annotated[int, typer.Option("--seeds", help="Trainings from different seeds.", min=1)] = 2
    seed: Seed = 1
    setting: Settings = None

    def check(self) -> None:
        check_minutes(self.minutes)
        if (self.updates is None) == (self.minutes is None):
            raise UsageError("a table needs one budget for all rows", "For example:  --updates 2000  or  --minutes 20")


@app.command("table1")
def table1(
    lengths: Annotated[str, typer.Option("--lengths", help="Lengths n to measure.")] = "64,128,256,512",
    widths: Annotated[str, typer.Option("--widths", help="Widths d to measure.")] = "64,128,256,512",
    kernel: Annotated[int, typer.Option("--kernel", help="k of the convolutions.")] = 3,
    neighbourhood: Annotated[int, typer.Option("--neighbourhood", help="r of restricted self-attention.")] = 15,
    repeats: Annotated[int, typer.Option("--repeats", help="Forward passes to time.")] = 9,
    out: Annotated[Path, typer.Option("--out", help="Directory of the table.")] = Path("runs/table1"),
) -> None:
    """Measure layers of each kind: operations and time, sequential operations, path length.

    Example:  tongsa paper table1 --lengths 64,128,256 --widths 64,128,256 --out runs/table1
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.lab.paper.table1 import Table1Options, draw_table_1, measure_table_1

    options = Table1Options(
        lengths=_numbers("--lengths", lengths),
        widths=_numbers("--widths", widths),
        kernel=kernel,
        neighbourhood=neighbourhood,
        repeats=repeats,
    )
    table = draw_table_1(measure_table_1(options, for_this_stream()), options)
    table.write(out)
    _print(table, out)


@app.command("table2")
@grouped
def table2(
    corpus: Corpora,
    out: Out,
    models: Annotated[
        str, typer.Option("--models", help="Recipes or TOML files, with commas (by default one for each system).")
    ] = "",
    *,
    text: TextOptions,
    training: TrainingOptions,
    machine: MachineOptions,
) -> None:
    """Compare the Transformer with the systems before it: BLEU, and what training them costs.

    Example:  tongsa paper table2 data/train --from en --to de --valid data/valid --test data/test --minutes 20
    --out runs/table2
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.lab.paper.table2 import run_table_2

    chosen = tuple(name for name in models.split(",") if name.strip())
    options = _compared(corpus, text, training, machine, chosen)
    _print(run_table_2(options, out, for_this_stream()), out)


@app.command("table3")
@grouped
def table3(
    corpus: Corpora,
    out: Out,
    scale: Annotated[int, typer.Option("--scale", help="Divide the paper's widths by this: 1, 2, 4, 8 or 16.")] = 4,
    depth: Annotated[int, typer.Option("--depth", help="Divide the paper's layers by this: 1 or 2.")] = 2,
    rows: Annotated[str, typer.Option("--rows", help="Rows, with commas (all by default): A1,A2,...,E,big.")] = "",
    *,
    text: TextOptions,
    training: TrainingOptions,
    machine: MachineOptions,
) -> None:
    """Train the variations of the Transformer: heads, keys, depth, widths, dropout, smoothing, positions.

    Example:  tongsa paper table3 data/train --from en --to de --valid data/valid --test data/test --scale 8
    --updates 2000 --seeds 2 --out runs/table3
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.lab.paper.published import TABLE_3
    from tongsa.lab.paper.table3 import Table3Options, run_table_3

    chosen = tuple(name.strip() for name in rows.split(",") if name.strip()) or tuple(TABLE_3)
    options = Table3Options(rows=chosen, scale=scale, depth=depth)
    _print(run_table_3(_compared(corpus, text, training, machine, ()), options, out, for_this_stream()), out)


@app.command("table4")
@grouped
def table4(
    trees: Annotated[list[str], typer.Argument(metavar="TREES...", help="Files of trees in brackets.")],
    out: Out,
    valid: Annotated[list[str], typer.Option("--valid", help="Trees to validate on.")],
    test: Annotated[Path, typer.Option("--test", help="Trees to score.")],
    systems: Annotated[
        str, typer.Option("--systems", help="Parsers, with commas: lstm, transformer, in-order, next-word (all).")
    ] = "",
    beam: Annotated[
        int | None, typer.Option("--beam", help="Hypotheses kept at each step (the paper's parser: 21).", min=1)
    ] = None,
    *,
    silver: SilverOptions,
    training: TrainingOptions,
    machine: MachineOptions,
) -> None:
    """Train parsers on your trees: LSTM and Transformer, brackets and actions, with and without silver trees.

    Example:  tongsa paper table4 train.trees --valid valid.trees --test test.trees --minutes 10 --out runs/table4
    """
    training.check()
    from tongsa.base.progress import for_this_stream
    from tongsa.lab.paper.table4 import SYSTEMS, Table4Options, run_table_4

    options = Table4Options(
        trees=tuple(trees),
        valid=tuple(valid),
        test=str(test),
        silver=tuple(silver.silver or ()),
        silver_ratio=silver.silver_ratio,
        systems=tuple(name.strip() for name in systems.split(",") if name.strip()) or tuple(SYSTEMS),
        settings=parse_settings(training.setting),
        minutes=training.minutes,
        updates=training.updates,
        seed=training.seed,
        seeds=training.seeds,
        beam=beam,
        threads=machine.threads,
        device=machine.device,
    )
    _print(run_table_4(options, out, for_this_stream()), out)


def _compared(
    corpus: list[str], text: TextOptions, training: TrainingOptions, machine: MachineOptions, models: tuple[str, ...]
) -> CompareOptions:
    training.check()
    from tongsa.lab.compare.plan import CompareOptions

    return CompareOptions(
        models=models,
        corpora=tuple(corpus),
        source=text.source,
        target=text.target,
        valid=tuple(text.valid or ()),
        test=tuple(text.test or ()),
        minutes=training.minutes,
        updates=training.updates,
        settings=parse_settings(training.setting),
        seed=training.seed,
        seeds=training.seeds,
        threads=machine.threads,
        device=machine.device,
    )


def _numbers(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"{option} must be whole numbers with commas, not {text}") from error


def _print(table: PaperTable | None, out: Path) -> None:
    if table is None:
        raise typer.Exit(130)
    print(table.text())
    print(f"\nwritten: {out / f'table{table.number}.html'} and table{table.number}.md")
