"""`tongsa parse`: constituency trees of sentences"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer.core import TyperGroup

from tongsa.base.errors import UsageError
from tongsa.cli.options import MachineOptions, Valid, grouped
from tongsa.cli.train import BudgetOptions, TextOptions, run_training, train_options

if TYPE_CHECKING:
    from tongsa.evaluation.parseval import ParsevalScore

AT_ONCE = 500
"""Sentences that are parsed together, sorted by length."""
MOST_DRAWN = 1_000
"""Trees of one picture or page."""
SENTENCES = "sentences"


class _WithDefault(TyperGroup):
    """`tongsa parse DIR` is `tongsa parse sentences DIR`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            args = [SENTENCES, *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="parse",
    cls=_WithDefault,
    help="Trees of sentences: train a parser on a treebank, parse, score (§6.3 of the paper).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The directory of the parser.")]
Beam = Annotated[int | None, typer.Option("--beam", help="Hypotheses kept at each step (the paper's parser: 21).")]
Device = Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")]


@dataclass(frozen=True, kw_only=True)
class SilverOptions:
    panel: ClassVar[str] = "Text"

    silver: Annotated[
        list[str] | None, typer.Option("--silver", help="Trees that a parser made, mixed with the right ones.")
    ] = None
    silver_ratio: Annotated[float, typer.Option("--silver-ratio", help="Silver trees for each right one.")] = 1.0


@app.command("train")
@grouped
def train(
    trees: Annotated[list[str], typer.Argument(metavar="TREES...", help="Files of trees in brackets.")],
    out: Annotated[Path, typer.Option("--out", help="The directory to write.")],
    valid: Valid = None,
    recipe: Annotated[str, typer.Option("--recipe", help="auto, the name of a recipe, or a TOML file.")] = "auto",
    *,
    silver: SilverOptions,
    budget: BudgetOptions,
    machine: MachineOptions,
) -> None:
    """Train a parser on a treebank.

    Example:  tongsa parse train train.trees --valid valid.trees --out runs/parser --minutes 60
    """
    options = train_options(trees, budget, TextOptions(valid=valid), machine)
    options = replace(options, silver=tuple(silver.silver or ()), silver_ratio=silver.silver_ratio)
    run_training(replace(options, task="parsing", recipe=recipe), out, resume=budget.resume)


@app.command(SENTENCES)
def sentences(
    directory: Directory,
    input: Annotated[Path | None, typer.Option("--input", help="Sentences, one a line (standard input).")] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Separate ordinary text into sentences and words, as the training trees do.")
    ] = False,
    draw: Annotated[bool, typer.Option("--draw", help="Draw the trees as text instead of writing brackets.")] = False,
    svg: Annotated[Path | None, typer.Option("--svg", help="Also write a picture of the trees to this file.")] = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="Also write a page: the trees, and what each bracket attended to.")
    ] = None,
    beam: Beam = None,
    device: Device = "auto",
) -> None:
    """Write the tree of each sentence; without --raw, words and punctuation marks are separated by blanks.

    The name of this command may be left out:  tongsa parse runs/parser

    Example:  echo "The dog can't bark." | tongsa parse sentences runs/parser --raw --page trees.html
    """
    from tongsa.base.files import write_atomically
    from tongsa.formats.trees import draw_tree
    from tongsa.pages.trees import DrawnTree, tree_page, tree_pictures
    from tongsa.tasks.parser import Parser
    from tongsa.text.lines import read_lines

    parser = Parser.load(directory, device=device)
    search = parser.search(beam)
    lines = read_lines(input) if input else (line.rstrip("\n") for line in sys.stdin)
    drawn: list[DrawnTree] = []
    for block in _blocks(words for line in lines for words in (parser.separate(line) if raw else [line.split()])):
        for parsed in parser.parse(block, search):
            print(f"{draw_tree(parsed.tree)}\n" if draw else parsed.tree)
            if (svg or page) and parsed.tree.children:
                drawn.append(DrawnTree(parsed.tree, parser.attention(parsed.tree) if page else ()))
            if len(drawn) > MOST_DRAWN:
                raise UsageError(f"--svg and --page draw at most {MOST_DRAWN:,} trees", "Give fewer sentences.")
    if svg:
        write_atomically(svg, tree_pictures(drawn, alone=True))
    if page:
        write_atomically(page, tree_page(drawn))


@app.command("evaluate")
def evaluate(
    directory: Directory,
    trees: Annotated[Path, typer.Argument(metavar="TREES", help="Right trees in brackets.")],
    beam: Beam = None,
    output: Annotated[Path | None, typer.Option("--output", help="Write the parser's trees to this file.")] = None,
    device: Device = "auto",
) -> None:
    """Parse the sentences of a treebank and score the trees by PARSEVAL, as EVALB does with COLLINS.prm.

    Only the words are parsed. Tags, which tell EVALB what punctuation is, are taken from the right trees.

    Example:  tongsa parse evaluate runs/parser test.trees
    """
    import time

    from tongsa.base.files import write_atomically
    from tongsa.evaluation.parseval import COLLINS, add_up, compare
    from tongsa.formats.trees import plain_tree, read_trees, with_leaves
    from tongsa.tasks.parser import Parser

    parser = Parser.load(directory, device=device)
    gold = [tree for tree in (plain_tree(read) for read, _ in read_trees(trees)) if tree]
    began = time.perf_counter()
    found = [parsed.tree for parsed in parser.parse([tree.words() for tree in gold], parser.search(beam))]
    seconds = time.perf_counter() - began
    if output:
        write_atomically(output, "".join(f"{tree}\n" for tree in found))
    whole = sum(a.words() == b.words() for a, b in zip(gold, found, strict=True))
    print(f"{len(gold):,} sentences, {len(gold) / max(seconds, 1e-9):.1f} a second; {whole:,} trees over their words")
    counts = [compare([a], [with_leaves(b, a.leaves())]) for a, b in zip(gold, found, strict=True)]
    for title, total in (
        ("all", add_up(counts)),
        (f"at most {COLLINS.cut_off} words", add_up(counts, COLLINS.cut_off)),
    ):
        print(f"{title}: {_summary(total)}")


def _summary(total: ParsevalScore) -> str:
    return (
        f"labelled F1 {total.f1:.2f}, recall {total.recall:.2f}, precision {total.precision:.2f}, "
        f"complete match {total.complete_match:.2f} ({total.valid:,} sentences)"
    )


def _blocks(lines: Iterator[list[str]]) -> Iterator[list[list[str]]]:
    while block := list(islice(lines, AT_ONCE)):
        yield block
