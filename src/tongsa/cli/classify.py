"""`tongsa classify`"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import Device, Encoding

if TYPE_CHECKING:
    from tongsa.tasks.classifier import Classifier, Label

AT_ONCE = 256


def classify(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a classifier (--task classify).")],
    pictures: Annotated[
        list[Path] | None, typer.Argument(metavar="PICTURE...", help="Pictures; texts are lines of standard input.")
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Also print the probability of the label.")] = False,
    test: Annotated[
        Path | None,
        typer.Option(
            "--test", help="Labelled texts (label, tab, text) or a folder of pictures: print how many are right."
        ),
    ] = None,
    against: Annotated[
        Path | None, typer.Option("--against", help="With --test: compare with this classifier, by McNemar's test.")
    ] = None,
    attention: Annotated[
        Path | None, typer.Option("--attention", help="Draw where it looks in the pictures, as an HTML page.")
    ] = None,
    encoding: Encoding = "utf-8",
    device: Device = "auto",
) -> None:
    """Print the label of each line or picture.

    Example:  tongsa classify runs/domains < sentences.txt
    """
    from tongsa.tasks.classifier import Classifier

    if against and not test:
        raise UsageError("--against needs --test")
    classifier = Classifier.load(directory, device=device)
    if test:
        _test(classifier, test, Classifier.load(against, device=device) if against else None, encoding)
        return
    if attention:
        _draw(classifier, pictures or [], attention)
    if pictures:
        _print(classifier.classify_pictures(pictures), scores)
        return
    lines = (line.rstrip("\n") for line in sys.stdin)
    cut = 0
    for block in _blocks(lines):
        labels = classifier.classify(block)
        cut += sum(label.cut for label in labels)
        _print(labels, scores)
    if cut:
        longest = classifier.card.recipe.corpus.max_tokens
        print(f"{cut:,} lines were cut to {longest} tokens, the most that this classifier reads", file=sys.stderr)


def _print(labels: list[Label], scores: bool) -> None:
    for label in labels:
        print(f"{label.name}\t{label.probability:.4f}" if scores else label.name)


def _blocks(lines: Iterator[str]) -> Iterator[list[str]]:
    while block := list(islice(lines, AT_ONCE)):
        yield block


def _test(classifier: Classifier, test: Path, other: Classifier | None, encoding: str) -> None:
    from tongsa.data.labelled import labelled_texts
    from tongsa.evaluation.labels import Confusion, McNemar
    from tongsa.formats.pairs import Tally
    from tongsa.formats.pictures import labelled_pictures

    left_out = Tally()
    if test.is_dir():
        found = list(labelled_pictures(test))
        right = [label for label, _ in found]
        given = [
            [label.name for label in each.classify_pictures([path for _, path in found])]
            for each in (classifier, other)
            if each
        ]
    else:
        texts = list(labelled_texts([test], encoding, left_out))
        right = [each.label for each in texts]
        given = [
            [label.name for label in each.classify([one.text for one in texts])] for each in (classifier, other) if each
        ]
    if not right:
        raise UsageError(f"{test} has no labelled examples")
    for line in left_out.lines():
        print(line, file=sys.stderr)
    print(Confusion.of(classifier.labels, right, given[0]).as_text())
    if other:
        theirs = sum(a == b for a, b in zip(right, given[1], strict=True))
        print(f"\nthe other classifier: accuracy {100 * theirs / len(right):.2f}% ({theirs:,} of {len(right):,})")
        test_of = McNemar.of(right, given[0], given[1])
        print(
            f"right in one alone: {test_of.only_first:,} and {test_of.only_second:,}; "
            f"McNemar's test, exact and two-sided: p = {test_of.p:.2g}"
        )


def _draw(classifier: Classifier, pictures: list[Path], out: Path) -> None:
    from tongsa.base.files import write_atomically
    from tongsa.pages.labels import attention_page

    if not pictures:
        raise UsageError(
            "--attention draws pictures, but none are given", "For example:  tongsa classify DIR 1.png 2.png"
        )
    shown = classifier.pixels(pictures)
    labels = classifier.classify_pictures(pictures)
    titles = [
        f"{path.name}: {label.name} {label.probability:.2f}" for path, label in zip(pictures, labels, strict=True)
    ]
    name = classifier.card.recipe.model.architecture
    write_atomically(out, attention_page(shown, classifier.attention(shown), titles, name))
