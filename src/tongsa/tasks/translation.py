"""Translation: from pairs of sentences to a Translator."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor

from tongsa.base.devices import choose_device, usable_cores
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.config import Recipe
from tongsa.corpus.clean import Cleaned
from tongsa.data.batches import Batch, PairOrder, Rows, assemble
from tongsa.data.ids import Sentences
from tongsa.data.noise import Noise
from tongsa.data.prepare import Prepared, PrepareSettings, prepare_pairs
from tongsa.data.spill import Pairs, Spill, spilled
from tongsa.decoding import Search
from tongsa.engines.base import scored_at_once
from tongsa.engines.native import NativeEngine
from tongsa.evaluation.calibration import sentence_quality
from tongsa.evaluation.contracts import TextMetric
from tongsa.evaluation.metrics import METRICS, TRANSLATION_METRICS, mean_metric, score
from tongsa.formats.pairs import Reading, Tally, open_corpus
from tongsa.models.contracts import Seq2Seq
from tongsa.models.lexical_start import start_as_lexicon
from tongsa.models.loss import Loss, smoothed_cross_entropy
from tongsa.models.transformer import Transformer
from tongsa.models.weights import build_model, load_weights, read_weights
from tongsa.pages.translation import write_translation_report
from tongsa.runs.card import GREEDY, TRANSLATION, Card, Score
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.runs.log import RunLog
from tongsa.tasks.confidence import average, calibrated, read_frequencies, write_frequencies
from tongsa.tasks.contract import (
    Evaluation,
    Objective,
    SingleWorker,
    Task,
    Workers,
    frequent_pieces,
    reduced_precision,
    token_loss,
)
from tongsa.tasks.finetuning import Mixture, scores_before_and_after
from tongsa.tasks.inheriting import write_inherited
from tongsa.tasks.translation_recipe import LOSSES, SELECTS, choose_for, recipe_before_reading, selecting_metric
from tongsa.text.sentences import split
from tongsa.text.subwords import END, Subwords, VocabularySizeError
from tongsa.translation.translator import Translator

PROMISING = 0.75
"""Loss, in entropies of the tokens without context, from which on translations are worth scoring."""

EXAMPLES_SHOWN = 10

LINES_LOOKED_AT = 2000
"""Lines of the training text that tell whether a line is a sentence."""
FEW = 0.02
"""Lines of several sentences, out of all, below which a translator has not learnt to translate them: of sentence by
sentence corpora it is below 1% (captions, Tatoeba, Europarl), of documentation 3 to 8%."""

CLEANED = 15_000
"""Pairs that can be looked at, while cleaning, in 5% of a minute."""


class Translation(Task[Translator]):
    """Parallel text in, a translator out."""

    name = TRANSLATION

    def prepare(self, run: Run, options: TrainOptions, show: Show) -> Recipe:
        """Read the corpora, choose what the recipe leaves open, and write subwords and ids."""
        recipe = recipe_before_reading(options)
        section = recipe.corpus
        reading = Reading(
            source=options.source, target=options.target, encoding=section.encoding, salvage=section.salvage
        )
        whole = open_corpus(options.corpora, reading)
        most = options.minutes * CLEANED if options.minutes else math.inf
        new = Cleaned(whole, show, options.threads, most) if section.clean else whole
        training: Pairs = new
        validation = None
        if options.valid:
            validation = open_corpus(options.valid, dataclasses.replace(reading, left_out=Tally()))
        if options.mix:
            more = open_corpus(options.mix, reading)
            training = Mixture.of(new, more, options.mix_ratio, options.seed, hold_out=bool(options.init))
            show.say(f"mixing in {training.share:.0%} of {more.name}")
        with spilled(training, section, seed=options.seed, folder=run.data, show=show) as text:
            for line in new.left_out.lines():
                show.say(line)
            recipe = _write_ids(run, text, validation, recipe, options, show)
        for line in validation.left_out.lines() if validation else []:
            show.say(f"validation: {line}")
        write_frequencies(run, Prepared.open(run.path), options.init)
        _write_initial_weights(run, recipe, options, show)
        if isinstance(training, Mixture) and options.init:
            training.save_old_to_score(run)
        return recipe

    def open(self, run: Run, recipe: Recipe, options: TrainOptions) -> TranslationObjective:
        return TranslationObjective(Prepared.open(run.path), recipe, options)

    def evaluate(self, run: Run, card: Card, weights: Mapping[str, Tensor], device: str) -> Evaluation:
        """Translate the validation set as the published translator would."""
        data = Prepared.open(run.path)
        card = dataclasses.replace(card, one_sentence=has_single_sentences(data, card.source))
        sources, references = ([pair[side] for pair in data.valid_text] for side in (0, 1))
        translator = Translator.from_weights(card, data.subwords, weights, device=device)
        translations = translator.translate(sources)
        texts = [translation.text for translation in translations]
        qualities = sentence_quality(texts, references)
        calibration = calibrated(translator, read_frequencies(run, data), sources, translations, qualities)
        source_ids = [sentence.ids for sentence in translator.encode(sources)]
        selects = selecting_metric(card.recipe)
        if selects in LOSSES:
            model = build_model(card.recipe.model, data.subwords).to(choose_device(device)).eval()
            load_weights(model, weights)
            scores = {selects: mean_metric(selects).corpus(*log_loss(model, data, SingleWorker()))}
        else:
            scores = score(texts, references, card.target, [selects], sources=sources)
        return Evaluation(
            scores=scores,
            search=translator.search.in_words,
            calibration=calibration.weights,
            one_sentence=card.one_sentence,
            examples=[
                {
                    "source": source,
                    "reference": reference,
                    "translation": translation.text,
                    "score": translation.score,
                    "confidence": calibration(average(translation), ids),
                }
                for source, ids, reference, translation in zip(
                    sources, source_ids, references, translations, strict=True
                )
            ],
        )

    def further_scores(self, card: Card, evaluation: Evaluation) -> dict[str, Score]:
        sources, references, texts = (
            [example[key] for example in evaluation.examples] for key in ("source", "reference", "translation")
        )
        names = [name for name in TRANSLATION_METRICS if name not in evaluation.scores]
        return score(texts, references, card.target, names, sources=sources)

    def publish(self, run: Run, card: Card, evaluation: Evaluation, device: str, show: Show) -> Translator:
        translator = Translator.load(run.path, device=device)
        _, job = run.read_job()
        if job.options.begins_with:
            _compare_domains(translator, Run(Path(job.options.begins_with)), run, device, show)
        examples = evaluation.examples
        for example in examples[:: max(1, len(examples) // EXAMPLES_SHOWN)][:EXAMPLES_SHOWN]:
            show.say(f"\n  {example['source']}\n  > {example['translation']}\n  = {example['reference']}")
        shown = ", ".join(f"{name} {card.scores[name].score:.2f}" for name in TRANSLATION_METRICS)
        show.say(f"\nscores on the validation set ({evaluation.search}): {shown}")
        show.say(f"report: {write_translation_report(run, translator)}")
        show.say(f"\nthe translator is {run.path}. Next:")
        show.say(f'  tongsa translate {run.path} "..."')
        show.say(f"  tongsa evaluate {run.path} TEST_CORPUS")
        return translator


class TranslationObjective(Objective[Seq2Seq, Batch]):
    """Cross-entropy of the target's tokens, with label smoothing (§5.4)."""

    def __init__(self, data: Prepared, recipe: Recipe, options: TrainOptions) -> None:
        self.data, self.recipe = data, recipe
        self.noise = Noise(recipe.training.noise, recipe.corpus.max_tokens) if recipe.training.noise else None
        self.validation_tokens = int(data.valid.target.offsets[-1]) + len(data.valid)
        self.validation_characters = sum(len(target) + 1 for _, target in data.valid_text)
        self.target_language = options.target
        self.seed = options.seed
        self.examples = len(data.train)
        self.selects = selecting_metric(recipe)
        section = recipe.training
        self.frequent = frequent_pieces(section, data.train.target.ids, data.subwords.target.pad)
        self.order = PairOrder.of(
            data.train, batch_tokens=section.batch_tokens, chunk_tokens=section.chunk_tokens, seed=options.seed
        )

    def build(self) -> Seq2Seq:
        return build_model(self.recipe.model, self.data.subwords)

    def initialise(self, model: Seq2Seq) -> None:
        if self.recipe.training.initial_weights == "lexicon":
            assert isinstance(model, Transformer), "the recipe was checked"
            start_as_lexicon(model, self.data.train, self.seed)

    def batch(self, rows: Rows, seed: int) -> Batch:
        sampling = self.recipe.subwords.sampling
        return assemble(self.data.train, rows, self.data.subwords, sampling=sampling, seed=seed, noise=self.noise)

    def loss(self, model: Seq2Seq, batch: Batch) -> Loss:
        section = self.recipe.training
        with reduced_precision(section, batch.source.device):
            features = model.features(model.encode(batch.source, batch.source_mask), batch.target)
        real = batch.labels != self.data.subwords.target.pad
        return token_loss(section, features[real], model.projection(), batch.labels[real], self.frequent)

    def quick_scores(self, model: Seq2Seq, workers: Workers) -> dict[str, Score]:
        total, count = log_loss(model, self.data, workers)
        return {name: mean_metric(name).corpus(total, count) for name in LOSSES}

    def is_promising(self, scores: Mapping[str, Score]) -> bool:
        """Whether the model knows more than which tokens are frequent: before that, it writes to the length limit."""
        return scores["log_loss"].score < PROMISING * unigram_entropy(self.data.valid.target)

    def validate(self, model: Seq2Seq, workers: Workers) -> dict[str, Score]:
        return {**self.quick_scores(model, workers), **self.slow_scores(model, workers)}

    def slow_scores(self, model: Seq2Seq, workers: Workers) -> dict[str, Score]:
        """Greedy decoding: cheaper than a beam, and it ranks checkpoints as beam search would."""
        hypotheses = self._translate(model, workers)
        scores: dict[str, Score] = {}
        sources, references = ([pair[side] for pair in self.data.valid_text] for side in (0, 1))
        for name in dict.fromkeys((SELECTS, self.selects)):
            metric = METRICS.find(name)
            if isinstance(metric, TextMetric):
                found = metric.corpus(hypotheses, references, language=self.target_language, sources=sources)
                scores[name] = Score(found.score, GREEDY)
        return scores

    def _translate(self, model: Seq2Seq, workers: Workers) -> list[str]:
        subwords, valid = self.data.subwords, self.data.valid
        engine = NativeEngine(
            model,
            source_pad=subwords.source.pad,
            target_pad=subwords.target.pad,
            end=END,
            unwritable=subwords.target.unwritable,
        )
        mine = range(workers.rank, len(valid), workers.size)
        search = Search(beam=1, max_ratio=1.5, max_extra=10)
        found = engine.translate([valid.source[i].tolist() for i in mine], search)
        rows = {i: hypotheses[0].ids for i, hypotheses in zip(mine, found, strict=True)}
        return [subwords.target.decode(ids) for ids in workers.gather_rows(rows, len(valid))]


def has_single_sentences(data: Prepared, language: str) -> bool:
    """Whether nearly all sources of the training text are single sentences, by a sample of them."""
    count = len(data.train)
    rows = np.unique(np.linspace(0, count - 1, min(count, LINES_LOOKED_AT)).astype(int))
    texts = data.subwords.source.decode_many([data.train.source[row].tolist() for row in rows])
    return sum(len(split(text, language)) > 1 for text in texts) < FEW * len(texts)


def unigram_entropy(sentences: Sentences) -> float:
    """The loss of a model that knows only how frequent each token is, the end included."""
    counts = np.append(np.bincount(sentences.ids), len(sentences))
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log(p)).sum())


@torch.no_grad()
def log_loss(model: Seq2Seq, data: Prepared, workers: Workers) -> tuple[float, int]:
    """Sum of -log p over the validation tokens, and their number; only pairs that fit into the model count,
    since learned positions are limited."""
    device = next(model.parameters()).device
    tokens = scored_at_once(device.type)
    order = PairOrder.of(data.valid, batch_tokens=tokens, chunk_tokens=tokens, seed=0)
    sums = torch.zeros(2, dtype=torch.float64)
    longest = np.maximum(order.source_lengths, order.target_lengths)
    for chunk in order.chunks(np.random.default_rng(0))[workers.rank :: workers.size]:
        rows = chunk if model.max_length is None else chunk[longest[chunk] <= model.max_length]
        if not len(rows):
            continue
        batch = assemble(data.valid, rows, data.subwords, sampling=0.0, seed=0).to(device)
        logits = model(batch.source, batch.source_mask, batch.target)
        real = batch.labels != data.subwords.target.pad
        loss = smoothed_cross_entropy(logits[real], batch.labels[real], 0.0)
        sums += torch.tensor([float(loss.log_loss), loss.count], dtype=torch.float64)
    workers.sum(sums)
    return float(sums[0]), int(sums[1])


def _write_ids(
    run: Run, text: Spill, validation: Pairs | None, recipe: Recipe, options: TrainOptions, show: Show
) -> Recipe:
    """Write subwords and ids with this recipe, or with the one that `auto` chooses for the corpus."""
    borrowed = options.begins_with or options.subwords
    given = _subwords_of(Run(Path(borrowed))) if borrowed else None

    def log(tally: Tally) -> None:
        events = RunLog(run.log_file)
        events.write("cleaning", 0, 0.0, seen=tally.seen, dropped=dict(tally.dropped))
        events.close()

    def write(using: Recipe) -> Recipe:
        threads = options.threads or usable_cores()
        settings = PrepareSettings(directory=run.path, recipe=using, threads=threads, given=given, show=show, log=log)
        prepare_pairs(text, validation, settings)
        return using

    if options.recipe != "auto" or options.begins_with:
        return write(recipe)
    choice = choose_for(text.survey, options)
    show.say("recipe auto chose")
    for reason in choice.reasons:
        show.say(f"  {reason}")
    try:
        return write(choice.recipe)
    except VocabularySizeError as error:  # the text is too small for so many subwords
        if "subwords.size" in options.settings:
            raise
        show.say(f"  vocabulary {error.bearable:,} instead: {error.what}")
        return write(choice.recipe.with_settings({"subwords.size": str(error.bearable)}))


def _subwords_of(run: Run) -> Subwords:
    """The subwords of another run directory, which may have come from elsewhere."""
    return run.read_subwords(run.read_card())


def _write_initial_weights(run: Run, recipe: Recipe, options: TrainOptions, show: Show) -> None:
    if options.init:
        init = Run(Path(options.init))
        subwords = _subwords_of(init)
        weights = read_weights(init, init.read_card(), lambda: build_model(recipe.model, subwords))
        write_atomically(run.initial_weights_file, save(weights))
    elif options.teacher:
        teacher = Run(Path(options.teacher))
        subwords = _subwords_of(teacher)
        taken, all_ = write_inherited(run.initial_weights_file, teacher, recipe.model, subwords, options.seed)
        show.say(f"starting with the teacher's weights in {taken} of {all_} tensors")


def _compare_domains(after: Translator, init: Run, run: Run, device: str, show: Show) -> None:
    """Report what fine-tuning gained on the new text and lost on the old text."""
    if not init.card_file.is_file():
        show.say(f"{init.path} no longer exists, so the scores before fine-tuning are unknown")
        return
    before = Translator.load(init.path, device=device)
    found = scores_before_and_after(before, after, run, Prepared.open(run.path).valid_text)
    for domain, scores in found.items():
        show.say(f"{domain} text: {METRICS[SELECTS].title} {scores['before']:.2f} before, {scores['after']:.2f} after")
    write_atomically(run.domains_file, json.dumps(found, indent=2))
