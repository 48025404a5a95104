"""The end of a training: which weights to publish, how good they are, what to look at next."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path

from torch import Tensor

from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.data.prepare import Prepared
from tongsa.evaluation.calibration import fit, sentence_quality
from tongsa.evaluation.metrics import METRICS, TRANSLATION_METRICS, score
from tongsa.pages.report import write_report
from tongsa.runs.card import Card, Score
from tongsa.runs.directory import Run
from tongsa.runs.log import RunLog
from tongsa.training.checkpoint import Progress, average, checkpoints, latest, to_average
from tongsa.training.finetune import scores_before_and_after
from tongsa.training.watch import provenance
from tongsa.translation.translator import Translation, Translator

EXAMPLES = 10
SELECTING = "bleu"
"""The metric that decides which weights are published."""


def finish(directory: Path, device: str, show: Show) -> Translator:
    """Publish the average of the checkpoints or the last one, whichever translates the validation set better."""
    recipe, job = Run(directory).read_job()
    data = Prepared.open(directory)
    newest = latest(directory / "checkpoints")
    assert newest, "a training that has ended has saved"
    progress = newest.progress()
    section = recipe.training
    chosen = to_average(checkpoints(directory / "checkpoints"), section.average, section.average_of == "best")
    candidates = {"the last checkpoint": newest.weights()}
    if len(chosen) > 1:
        candidates[f"the average of {len(chosen)} checkpoints"] = average(chosen)
    card = Card(source=job.options.source, target=job.options.target, recipe=recipe)
    results = {}
    selecting = METRICS[SELECTING]
    for name, weights in candidates.items():
        results[name] = _evaluate(card, weights, data, device)
        reached = results[name][0][SELECTING].score
        show.say(f"{name}: validation {selecting.title} {selecting.format(reached)} (beam {recipe.decoding.beam})")
    best = selecting.ranking({name: result[0][SELECTING].score for name, result in results.items()})[0]
    scores, confidence, translations = results[best]
    origin = dataclasses.replace(provenance(job, progress, len(data.train)), weights=best)
    card = dataclasses.replace(card, training=origin, scores=scores, confidence=confidence)
    Run(directory).write_translator(card, candidates[best])
    translator = Translator.load(directory, device=device)
    if job.options.begins_with:
        _compare_domains(translator, Path(job.options.begins_with), directory, data, device, show)
    _tell(directory, card, data, translations, progress, show)
    show.say(f"report: {write_report(directory, translator)}")
    show.say(f"\nthe translator is {directory}. Next:")
    show.say(f'  tongsa translate {directory} "..."')
    show.say(f"  tongsa evaluate {directory} TEST_CORPUS")
    return translator


def _evaluate(
    card: Card, weights: dict[str, Tensor], data: Prepared, device: str
) -> tuple[dict[str, Score], tuple[tuple[float, float], ...], list[Translation]]:
    """Scores and translations of the validation set, from a directory of its own that is thrown away."""
    sources, references = ([pair[side] for pair in data.valid_text] for side in (0, 1))
    with tempfile.TemporaryDirectory() as folder:
        data.subwords.save(Path(folder))
        Run(Path(folder)).write_translator(card, weights)
        translations = Translator.load(folder, device=device).translate(sources)
    texts = [translation.text for translation in translations]
    scores = score(texts, references, card.target, sources=sources)
    # What the model's own probability is worth: documents turn it into a confidence.
    sure = [translation.log_probability / (len(translation.tokens) + 1) for translation in translations]
    confidence = tuple((x, y) for x, y in fit(sure, sentence_quality(texts, references)))
    return scores, confidence, translations


def _compare_domains(after: Translator, init: Path, directory: Path, data: Prepared, device: str, show: Show) -> None:
    """Say what fine-tuning gained on the new text and lost on the old."""
    if not Run(init).card_file.is_file():
        show.say(f"{init} is gone, so nothing can be said of before and after")
        return
    found = scores_before_and_after(Translator.load(init, device=device), after, directory, data.valid_text)
    for domain, scores in found.items():
        show.say(
            f"{domain} text: {METRICS[SELECTING].title} {scores['before']:.2f} before, {scores['after']:.2f} after"
        )
    write_atomically(Run(directory).domains_file, json.dumps(found, indent=2))


def _tell(
    directory: Path, card: Card, data: Prepared, translations: list[Translation], progress: Progress, show: Show
) -> None:
    log = RunLog(Run(directory).log_file)
    scored = {name: each.to_values() for name, each in card.scores.items()}
    log.write("finish", progress.update, progress.seconds, scores=scored, weights=card.training.weights)
    log.close()
    examples = [
        {"source": source, "reference": reference, "translation": translation.text, "score": translation.score}
        for (source, reference), translation in zip(data.valid_text, translations, strict=True)
    ]
    lines = "".join(json.dumps(example, ensure_ascii=False) + "\n" for example in examples)
    write_atomically(Run(directory).examples_file, lines)
    for example in examples[:: max(1, len(examples) // EXAMPLES)][:EXAMPLES]:
        show.say(f"\n  {example['source']}\n  > {example['translation']}\n  = {example['reference']}")
    scores = ", ".join(f"{name} {card.scores[name].score:.2f}" for name in TRANSLATION_METRICS)
    show.say(f"\nscores on the validation set: {scores}")
