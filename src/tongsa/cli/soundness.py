"""Whether a run directory is sound: the checks of `tongsa doctor DIR`, each by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tongsa.base.errors import DirectoryError, TongsaError, torch_needed
from tongsa.base.regular import unusual_entries
from tongsa.runs.card import TRANSLATION, Card
from tongsa.runs.directory import Run


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    name: str
    sound: bool
    text: str


def check_directory(directory: Path) -> Iterator[Check]:
    """Check a run directory; checks that need the card are left out if it cannot be read."""
    run = Run(directory)
    yield _checked("files", partial(_files, run))
    cards: list[Card] = []
    yield _checked("card", partial(_card, run, cards))
    for card in cards:
        yield _checked("checksums", partial(_checksums, card))
        yield _checked("vocabulary", partial(_vocabulary, run, card))
        yield _checked("model", partial(_model, run, card))
    if run.job_file.exists():
        yield _checked("training", partial(_training, run))
    if run.old_engines.exists():
        text = f"{run.old_engines} is not used any more: engines are compiled into your cache. You can remove it."
        yield Check("old engines", True, text)


def _checked(name: str, check: Callable[[], str]) -> Check:
    try:
        return Check(name, True, check())
    except TongsaError as error:
        return Check(name, False, error.printable())


def _files(run: Run) -> str:
    count = 0
    for path, what in unusual_entries(run.path) if run.path.is_dir() else ():
        if what != "a link inside the directory":
            raise DirectoryError(f"{path} is {what}")
        count += 1
    return f"regular files{f', and {count} links between them' if count else ''}"


def _card(run: Run, found: list[Card]) -> str:
    card = run.read_card()
    found.append(card)
    languages = f", {card.source} to {card.target}" if card.source else ""
    return f"{card.task}{languages}, {card.recipe.model.architecture}; all values are within their limits"


def _checksums(card: Card) -> str:
    if not card.checksums:
        return "none: an earlier version wrote the card, so that a damaged file may go unnoticed"
    return f"the card has those of {', '.join(card.checksums)}"


def _vocabulary(run: Run, card: Card) -> str:
    if card.task == "qa":
        return f"{len(run.read_words(card)):,} words"
    labels = f"{len(run.read_labels(card)):,} labels" if card.task == "classify" else ""
    if card.recipe.model.architecture == "vit":
        return labels
    subwords = run.read_subwords(card)
    sizes = {len(subwords.source), len(subwords.target)}
    return f"{' and '.join(f'{size:,}' for size in sorted(sizes))} pieces{f', {labels}' if labels else ''}"


def _model(run: Run, card: Card) -> str:
    """Load the model, which checks shapes, checksum and numbers of the weights, and use it once."""
    if card.task == TRANSLATION:
        from tongsa.translation.translator import Translator

        translator = Translator.load(run.path)
        translator.translate(["1"])
        return f"the weights fit and are finite; translates with {translator.made_with}"
    with torch_needed(f"the task {card.task}"):
        from tongsa import Classifier, LanguageModel, MaskedLanguageModel, QuestionAnswerer
    loads: dict[str, Callable[[Path], object]] = {
        "lm": LanguageModel.load,
        "mlm": MaskedLanguageModel.load,
        "classify": Classifier.load,
        "qa": QuestionAnswerer.load,
    }
    if card.task not in loads:
        return f"not checked: the task {card.task} is not built in"
    loads[card.task](run.path)
    return "the weights fit and are finite"


def _training(run: Run) -> str:
    """Check what `tongsa resume` would read."""
    run.read_job()
    run.check_prepared()
    with torch_needed("checking checkpoints"):
        from tongsa.training.checkpoint import checkpoints
    present = checkpoints(run.checkpoints)
    problems = [problem for checkpoint in present if (problem := checkpoint.problem())]
    if problems:
        raise DirectoryError("checkpoints are damaged", *problems)
    return f"the prepared data and all checkpoints ({len(present)}) are whole"
