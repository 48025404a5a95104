"""Rounds of back-translation: both directions are trained in turns, each with the synthetic pairs that the other makes.

    out/1/de-en            trained on the corpora alone
    out/1/synthetic-en-de  text in German, with sources that it made
    out/1/en-de            trained on the corpora and these pairs: the translator, if there is one round
    out/2/synthetic-de-en  text in English, with sources that out/1/en-de made
    out/2/de-en ...        and so on

Without further text, the corpora are translated themselves (data diversification, Nguyen et al. 2020):

    out/1/de-en, out/1/en-de  trained on the corpora alone, at the same time if there are two cores
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

from tongsa.base.devices import device_name, usable_cores
from tongsa.base.errors import UsageError
from tongsa.base.files import make_directory, replacing
from tongsa.base.progress import Show
from tongsa.corpus.synthetic import TAG, Synthetic
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.text.lines import read_lines
from tongsa.training.beside import training_beside
from tongsa.training.run import train_with
from tongsa.translation.options import TranslateOptions
from tongsa.translation.translator import Translator

BLOCK = 4096
"""Lines translated at a time."""

FIRST = 0.4
"""Share of the time in which a diversification trains its first two translators; the third one has the rest."""


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """What is trained, in how many rounds, from which text in one language."""

    options: TrainOptions
    """Of the direction that is wanted; the other one is trained with the same recipe and seed. The minutes are those of
    all trainings together."""
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
            pairs = _synthetic(backward, target_text, folder, show)
            forward = _trained(_mixed(wanted, pairs), folder, show)
            if forward is None:
                return None
        return forward

    def _diversify(self, show: Show) -> Translator | None:
        """Translate the corpora in both directions, and train with all these pairs as if they were real."""
        wanted, folder = self.options, self.out / "1"
        both = _both_trained(wanted, folder, show)
        if both is None:
            return None
        made: list[Path] = []
        for number, corpus in enumerate(wanted.corpora, start=1):
            for translator, is_forward in zip(both, (False, True), strict=True):
                text = Path(f"{corpus}.{translator.card.source}")
                name = f"{'forward' if is_forward else 'synthetic'}-{number}"
                made.append(_synthetic(translator, text, folder, show, name=name, forward=is_forward, tag=""))
        everything = dataclasses.replace(wanted, corpora=(*wanted.corpora, *map(str, made)))
        return _trained(for_a_share(everything, 1 - FIRST), self.out / "2", show)


def reverse(options: TrainOptions) -> TrainOptions:
    """The options of the other direction."""
    return dataclasses.replace(options, source=options.target, target=options.source)


def for_a_share(options: TrainOptions, share: float) -> TrainOptions:
    """The options of one of several trainings, which has this share of their minutes."""
    return dataclasses.replace(options, minutes=options.minutes * share if options.minutes else None)


def _mixed(options: TrainOptions, pairs: Path | None) -> TrainOptions:
    return dataclasses.replace(options, mix=(str(pairs),) if pairs else ())


def _both_trained(options: TrainOptions, folder: Path, show: Show) -> tuple[Translator, Translator] | None:
    """Translators of the other direction and of the one that is wanted.

    On a CPU they are trained at the same time, each on half of the cores: two trainings have nothing to exchange.
    """
    cores = options.threads or usable_cores()
    if cores == 1 or device_name(options.device) != "cpu":
        half = for_a_share(options, FIRST / 2)
        backward = _trained(reverse(half), folder, show)
        forward = _trained(half, folder, show) if backward else None
        return (backward, forward) if backward and forward else None
    both = for_a_share(options, FIRST)
    here = dataclasses.replace(both, threads=cores - cores // 2)
    beside = reverse(dataclasses.replace(both, threads=cores // 2))
    run = _run(beside, folder)
    if _is_finished(run):
        if _trained(here, folder, show) is None:
            return None
    else:
        show.say(f"training {run.path} at the same time, of which nothing is shown")
        make_directory(folder)
        with training_beside(beside, run) as other:
            if _trained(here, folder, show) is None:
                other.stop()
                return None
            if not other.wait():
                return None
    # loaded with all cores, which are theirs now
    return _loaded(run, options), _loaded(_run(here, folder), options)


def _trained(options: TrainOptions, folder: Path, show: Show) -> Translator | None:
    """Train one direction, if that is not done yet."""
    run = _run(options, folder)
    if _is_finished(run):
        return _loaded(run, options)
    show.say(f"training {run.path}")
    make_directory(folder)
    found: Translator | None = train_with(options, run, show, resume=True)
    return found


def _run(options: TrainOptions, folder: Path) -> Run:
    return Run(folder / f"{options.source}-{options.target}")


def _is_finished(run: Run) -> bool:
    return run.examples_file.is_file()  # written at the very end


def _loaded(run: Run, options: TrainOptions) -> Translator:
    return Translator.load(run.path, device=options.device, threads=options.threads)


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
