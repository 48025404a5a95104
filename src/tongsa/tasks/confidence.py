"""Fit the confidence of a translator when its training ends; see tongsa.translation.confidence for the formula."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tongsa.base.files import write_atomically
from tongsa.data.prepare import Prepared
from tongsa.evaluation.calibration import fit, make_up
from tongsa.runs.directory import Run
from tongsa.text.frequencies import PieceFrequencies
from tongsa.translation.confidence import Calibration
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Sentence, Translation
from tongsa.translation.translator import Translator


def write_frequencies(run: Run, data: Prepared, init: str | None) -> PieceFrequencies:
    """Count the pieces of the training's source text; fine-tuning adds those of the translator it starts from."""
    size = len(data.subwords.source)
    found = PieceFrequencies.count(data.train.source.ids, size)
    before = Run(Path(init)) if init else None
    if before and before.card_file.is_file():
        earlier = before.read_frequencies(before.read_card(), data.subwords)
        found = found.joined(earlier) if earlier else found
    write_atomically(run.frequencies_file, found.content)
    return found


def read_frequencies(run: Run, data: Prepared) -> PieceFrequencies:
    """Read the frequencies that were counted when the data was prepared; an earlier version counted none."""
    path = run.frequencies_file
    if path.is_file() and path.stat().st_size == len(data.subwords.source):
        return PieceFrequencies(path.read_bytes())
    return write_frequencies(run, data, run.read_job()[1].options.init)


def calibrated(
    translator: Translator,
    frequencies: PieceFrequencies,
    sources: Sequence[str],
    translations: Sequence[Translation],
    qualities: Sequence[float],
) -> Calibration:
    """Fit to translations of known quality, and to made-up sources, which are translated here."""
    ids = [sentence.ids for sentence in translator.encode(sources)]
    made_up = make_up(ids, translator.subwords.source.ordinary_ids())
    others = translator.translate_sentences([Sentence("", each) for _, each, _ in made_up], TranslateOptions())
    weights = fit(
        [(average(each), frequencies.familiarity(source)) for each, source in zip(translations, ids, strict=True)],
        qualities,
        [
            (average(each), frequencies.familiarity(source))
            for each, (_, source, _) in zip(others, made_up, strict=True)
        ],
        [qualities[index] * left for index, _, left in made_up],
    )
    return Calibration(weights, frequencies)


def average(translation: Translation) -> float:
    """The average log-probability of a token of the translation, and the end."""
    return translation.log_probability / (len(translation.tokens) + 1)
