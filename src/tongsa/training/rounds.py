"""Rounds of back-translation: both directions are trained in turns, each with the synthetic pairs that the other makes.

    out/1/de-en            trained on the corpora alone
    out/1/synthetic-en-de  text in German, with sources that it made
    out/1/en-de            trained on the corpora and these pairs: the translator, if there is one round
    out/2/synthetic-de-en  text in English, with sources that out/1/en-de made
    out/2/de-en ...        and so on

Without further text, the corpora are translated themselves (data diversification, Nguyen et al. 2020):

    out/1/de-en, out/1/en-de  trained on the corpora alone
    out/1/synthetic-1-en-de   the German of the first corpus, with sources that out/1/de-en made
    out/1/forward-1-en-de     its English, with targets that out/1/en-de made
    out/2/en-de               trained on the corpora and all these pairs, for longer: the translator

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
from tongsa.corpus.synthetic import TAG, Synthetic
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.text.lines import read_lines
from tongsa.training.run import train_with
from tongsa.translation.options import TranslateOptions
from tongsa.translation.translator import Translator

BLOCK = 4096
"""Lines translated at a time."""

LONGER = 3
"""How many times as long as each of the first two the third training of a diversification takes."""


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """What is trained, in how many rounds, from which text in one language."""

    options: TrainOptions
    """Of the direction that is wanted; the other one is trained with the same recipe, budget and seed."""
    out: Path
    target_text: Path | None = None
    """Text in the target language; without it, the corpora themselves are translated."""
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
        if self.target_text is None and (self.source_text or self.rounds > 1):
            raise UsageError(
                "these rounds need text in the target language",
                f"Name it:  --target-text TEXT.{options.target}",
                "Or leave out --source-text and --rounds: then the corpora themselves are translated.",
            )
        if self.target_text is None and options.mix_ratio != 1:
            raise UsageError(
                "--mix-ratio needs --target-text", "A corpus that is translated itself gives as many pairs as it has."
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
        last = self.rounds if self.target_text else 2
        return self.out / str(last) / f"{self.options.source}-{self.options.target}"

    def run(self, show: Show) -> Translator | None:
        """Train all rounds; return the translator of the last, or None if the training was interrupted."""
        self.check()
        return self._diversify(show) if self.target_text is None else self._take_turns(self.target_text, show)

    def _take_turns(self, target_text: Path, show: Show) -> Translator | None:
        wanted, other = self.options, reverse(self.options)
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
            pairs = _synthetic(backward, target_text, folder, show)
            forward = _trained(_mixed(wanted, pairs), folder, show)
            if forward is None:
                return None
        return forward

    def _diversify(self, show: Show) -> Translator | None:
        """Translate the corpora in both directions, and train with all these pairs as if they were real."""
        wanted, folder = self.options, self.out / "1"
        backward = _trained(reverse(wanted), folder, show)
        forward = _trained(wanted, folder, show) if backward else None
        if backward is None or forward is None:
            return None
        made: list[Path] = []
        for number, corpus in enumerate(wanted.corpora, start=1):
            for translator, is_forward in ((backward, False), (forward, True)):
                text = Path(f"{corpus}.{translator.card.source}")
                name = f"{'forward' if is_forward else 'synthetic'}-{number}"
                made.append(_synthetic(translator, text, folder, show, name=name, forward=is_forward, tag=""))
        everything = dataclasses.replace(
            wanted,
            corpora=(*wanted.corpora, *map(str, made)),
            minutes=LONGER * wanted.minutes if wanted.minutes else None,
        )
        return _trained(everything, self.out / "2", show)


def reverse(options: TrainOptions) -> TrainOptions:
    """The options of the other direction."""
    return dataclasses.replace(options, source=options.target, target=options.source)


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


def _synthetic(
    translator: Translator,
    text: Path,
    folder: Path,
    show: Show,
    *,
    name: str = "synthetic",
    forward: bool = False,
    tag: str = TAG,
) -> Path:
    """Write the pairs that a translator makes of a text, if they are not there yet; return their prefix."""
    card = translator.card
    direction = f"{card.source}-{card.target}" if forward else f"{card.target}-{card.source}"
    out = folder / f"{name}-{direction}"
    if all(Path(f"{out}.{code}").is_file() for code in (card.source, card.target)):
        return out
    make_directory(folder)
    translations = folder / f"{out.name}.translations"
    _translate(translator, text, translations, show)
    made = Synthetic(
        text=text, translations=translations, language=card.source, other=card.target, forward=forward, tag=tag
    )
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
