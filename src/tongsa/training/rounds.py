"""Rounds of back-translation: both directions are trained in turns, each with the synthetic pairs that the other makes.

    out/1/de-en            trained on the corpora alone
    out/1/synthetic-en-de  text in German, with sources that it made
    out/1/en-de            trained on the corpora and these pairs: the translator, if there is one round
    out/2/synthetic-de-en  text in English, with sources that out/1/en-de made
    out/2/de-en ...        and so on

A step that is finished is not repeated, so the same command continues after an interruption.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tongsa.base.errors import UsageError
from tongsa.base.files import make_directory, replacing
from tongsa.base.progress import Show
from tongsa.corpus.synthetic import Synthetic
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.text.lines import read_lines
from tongsa.training.run import train_with
from tongsa.translation.options import TranslateOptions
from tongsa.translation.translator import Translator

BLOCK = 4096
"""Lines translated at a time."""

DIVERSIFY = "training.diversify"


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """What is trained, in how many rounds, from which text in one language."""

    options: TrainOptions
    """Of the direction that is wanted; the other one is trained with the same recipe and seed. The minutes are those of
    all trainings together."""
    out: Path
    target_text: Path
    """Text in the target language."""
    source_text: Path | None = None
    """Text in the source language, which improves the other direction; needed for more than one round."""
    rounds: int = 1

    def check(self) -> None:
        """Raise an error for what cannot work, before anything is trained."""
        options = self.options
        options.check()
        if options.mix or options.init:
            raise UsageError("rounds of back-translation take neither --mix nor --init")
        if not options.valid:
            raise UsageError(
                "rounds of back-translation need --valid", "Synthetic pairs cannot tell how good a model is."
            )
        if self.rounds > 1 and self.source_text is None:
            raise UsageError(
                "more than one round needs text in the source language too",
                f"Without it the other direction does not improve:  --source-text TEXT.{options.source}",
            )
        for text in filter(None, (self.target_text, self.source_text)):
            if not text.is_file():
                raise UsageError(f"{text} is not a file")
        for corpus in (*options.corpora, *options.valid):
            if not all(Path(f"{corpus}.{code}").is_file() for code in (options.source, options.target)):
                raise UsageError(
                    f"{corpus} is not the prefix of two files, {corpus}.{options.source} and {corpus}.{options.target}",
                    "Both directions are trained, so the names must say which side is which:  tongsa corpus convert",
                )

    @property
    def result(self) -> Path:
        """Directory of the translator of the last round."""
        return self.out / str(self.rounds) / f"{self.options.source}-{self.options.target}"

    def run(self, show: Show) -> Translator | None:
        """Train all rounds; return the translator of the last, or None if the training was interrupted."""
        self.check()
        wanted = for_a_share(self.options, 1 / (2 * self.rounds))
        other = reverse(wanted)
        forward: Translator | None = None
        for number in range(1, self.rounds + 1):
            folder = self.out / str(number)
            show.say(f"round {number} of {self.rounds}")
            pairs = None
            if forward and self.source_text:
                pairs = _synthetic(forward, self.source_text, folder, show)
            backward = _trained(_mixed(other, pairs), folder, show)
            if backward is None:
                return None
            pairs = _synthetic(backward, self.target_text, folder, show)
            forward = _trained(_mixed(wanted, pairs), folder, show)
            if forward is None:
                return None
        return forward


def reverse(options: TrainOptions) -> TrainOptions:
    """The options of the other direction."""
    return dataclasses.replace(options, source=options.target, target=options.source)


def for_a_share(options: TrainOptions, share: float) -> TrainOptions:
    """The options of one of several trainings, which has this share of their minutes and makes no pairs of its own."""
    minutes = options.minutes and options.minutes * share
    return dataclasses.replace(options, minutes=minutes, settings={DIVERSIFY: "false", **options.settings})


def _mixed(options: TrainOptions, pairs: Path | None) -> TrainOptions:
    return dataclasses.replace(options, mix=(str(pairs),) if pairs else ())


def _trained(options: TrainOptions, folder: Path, show: Show) -> Translator | None:
    """Train one direction, if that is not done yet."""
    run = Run(folder / f"{options.source}-{options.target}")
    if run.examples_file.is_file():  # written at the very end
        return Translator.load(run.path, device=options.device, threads=options.threads)
    show.say(f"training {run.path}")
    make_directory(folder)
    found: Translator | None = train_with(options, run, show, resume=True)
    return found


def _synthetic(translator: Translator, text: Path, folder: Path, show: Show) -> Path:
    """Write the pairs that a translator makes of a text, if they are not there yet; return their prefix."""
    card = translator.card
    out = folder / f"synthetic-{card.target}-{card.source}"
    if all(Path(f"{out}.{code}").is_file() for code in (card.source, card.target)):
        return out
    make_directory(folder)
    translations = folder / f"{out.name}.translations"
    _translate(translator, text, translations, show)
    made = Synthetic(text=text, translations=translations, language=card.source, other=card.target)
    tally = made.write(out)
    translations.unlink()
    for line in tally.lines():
        show.say(line)
    show.say(f"{tally.kept:,} synthetic pairs: {out}")
    return out


def _translate(translator: Translator, text: Path, out: Path, show: Show) -> None:
    options = TranslateOptions(search=dataclasses.replace(translator.search, scores=False), tokens=False)
    rest = read_lines(text)
    with (
        replacing(out) as temporary,
        show.bar("translating", None, "lines") as bar,
        temporary.open("w", encoding="utf-8") as file,
    ):
        while block := list(islice(rest, BLOCK)):
            # a text that was copied unchanged may contain line ends
            found = [" ".join(each.text.split()) for each in translator.translate(block, options)]
            file.writelines(f"{line}\n" for line in found)
            bar.advance(len(block))
