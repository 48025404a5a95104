"""Compare language models of one text: same vocabulary, same words, every word counted.

A trigram model is counted; a memory network (Sukhbaatar et al. 2015, §5), an LSTM and a decoder-only Transformer are
trained by the common trainer, with the task `lm` over words.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tongsa.base.errors import CorpusError, UsageError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.config import Recipe, SubwordsSection
from tongsa.config.presets import load_recipe
from tongsa.data.streams import cut
from tongsa.evaluation.significance import aligned
from tongsa.lab.trigram import Trigram
from tongsa.models.memory_language_model import MemoryLanguageModel
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks.language_model import LANGUAGE_MODEL, LanguageModel
from tongsa.text.lines import read_lines, tidy
from tongsa.text.subwords import END, Vocabulary, learn
from tongsa.training.run import fit_and_publish, prepare

MEMORY_NETWORK = "memory-network"
RECIPES = {MEMORY_NETWORK: "memory-language-model", "lstm": "lstm-language-model", "transformer": "lm"}
"""The recipe of each network."""
TITLES = {MEMORY_NETWORK: "memory network", "lstm": "LSTM", "transformer": "Transformer, decoder only"}
ENDLESS = 1_000_000
"""Updates of a training that ends by its minutes."""
UNKNOWN = "<rare>"
"""Replaces words outside the vocabulary and is counted like any word; SentencePiece would merge several <unk>."""
SPECIAL_WORDS = 2
"""Number of special words: the end of a line and <rare>."""
DISTANCES = ((1, 1), (2, 2), (3, 5), (6, 10), (11, 20), (21, 10**9))
"""Ranges of distances, in words back."""
PIECES_LOOKED_AT = 40

_WORD = re.compile(r"\w+(?:['’.-]\w+)*|[^\w\s]")

Ids = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings that the experiment varies; everything else comes from the recipe."""

    text: str
    lines: int | None = None
    """Number of lines to use from the beginning of the text (None: all)."""
    vocabulary: int = 10_000
    """Number of most frequent words in the vocabulary, including the end of a line and <rare>."""
    models: tuple[str, ...] = tuple(RECIPES)
    """The networks that are compared with the trigram, by the names of RECIPES."""
    d: int | None = None
    """Width of all networks (None: that of each recipe)."""
    hops: int = 6
    """K of the memory network."""
    memories: int = 50
    """N of the memory network."""
    epochs: int = 5
    minutes: float | None = None
    """Training time of each network, instead of epochs."""
    dropout: float | None = None
    """Dropout of all networks (None: that of each recipe)."""
    seed: int = 1
    encoding: str = "utf-8"
    threads: int | None = None
    changes: Mapping[str, str] = field(default_factory=dict)
    """Further changes to every recipe."""

    def problems(self) -> list[str]:
        least = {"lines": 1, "vocabulary": 3, "d": 2, "hops": 1, "memories": 1, "epochs": 1}
        values = {name: getattr(self, name) for name in least}
        found = [
            f"{n} must be at least {least[n]}" for n, value in values.items() if value is not None and value < least[n]
        ]
        unknown = [name for name in self.models if name not in RECIPES]
        if unknown:
            found.append(f"unknown network: {', '.join(unknown)} (known: {', '.join(RECIPES)})")
        if self.dropout is not None and not 0 <= self.dropout < 1:
            found.append("dropout must be at least 0 and below 1")
        return found

    def recipe(self, model: str, words: int) -> dict[str, str]:
        """Changes to the recipe of a network for a text of this many words (including ends of lines)."""
        chosen = {
            "subwords.kind": "word",
            "subwords.byte_fallback": "false",  # a word outside the vocabulary is <rare>
            "subwords.size": str(self.vocabulary + 1),  # SentencePiece adds its own unknown token
        }
        if self.d is not None:
            chosen["model.d_model"] = str(self.d)
        if self.dropout is not None:
            chosen["model.dropout"] = str(self.dropout)
        if model == MEMORY_NETWORK:
            chosen |= {"model.hops": str(self.hops), "model.memories": str(self.memories)}
        return {**chosen, **self._budget(load_recipe(RECIPES[model], self.changes), words), **self.changes}

    def _budget(self, given: Recipe, words: int) -> dict[str, str]:
        if self.minutes:
            return {"training.updates": str(ENDLESS)}
        pieces = math.ceil(words / given.corpus.max_tokens)
        an_epoch = math.ceil(pieces * given.corpus.max_tokens / given.training.batch_tokens)
        return {
            "training.updates": str(self.epochs * an_epoch),
            "training.warmup": str(min(given.training.warmup, max(1, self.epochs * an_epoch // 2))),
            "training.validate_every": str(an_epoch),
        }


@dataclass(frozen=True)
class Result:
    """Results of all models; dictionaries by model hold `trigram` and the names of RECIPES."""

    words: int
    """Number of words in the training text, including the ends of lines."""
    vocabulary: int
    held_out: dict[str, int]
    """Number of words in each held-out text, by name; all of them are counted."""
    unknown: dict[str, float]
    """Fraction of <rare> in each held-out text."""
    perplexity: dict[str, dict[str, float]]
    """By model, on each held-out text."""
    parameters: dict[str, int]
    """Number of weights of each network."""
    minutes: dict[str, float]
    """Training time of each network, in minutes."""
    distances: list[list[float]]
    """By hop of the memory network: mean weight of the word just before, of the one before that, ... (its Figure 3)."""


def run(settings: Settings, held_out: Mapping[str, Path], out: Path, resume: bool, show: Show) -> Result:
    """Count trigrams, train the networks and measure all; the first held-out text is the validation text."""
    if problems := settings.problems():
        raise UsageError("these language models cannot be trained", *problems)
    trainings = {name: Run(out / name) for name in settings.models}
    if not resume and any(training.job_file.exists() for training in trainings.values()):
        raise UsageError(f"{out} already contains language models", "Choose another --out, or continue:  --resume")
    lines = read_words(Path(settings.text), settings.encoding, settings.lines)
    known = vocabulary(lines, settings.vocabulary)
    texts = {"train": lines} | {name: read_words(path, settings.encoding) for name, path in held_out.items()}
    files = {name: _write(out / "text" / f"{name}.txt", words, known) for name, words in texts.items()}
    first = next(iter(held_out))
    words = sum(len(line) + 1 for line in lines)
    models = {}
    for name, training in trainings.items():
        show.say(f"{TITLES[name]}: {training.path}")
        models[name] = _trained(training, _options(settings, name, words, files, first), show)
    encode = _encoder(models, files["train"], known)
    streams = {name: _stream(encode, path) for name, path in files.items()}
    trigram = Trigram(streams["train"], encode.pad + 1)
    held = {name: streams[name] for name in held_out}
    perplexities = {"trigram": {part: trigram.perplexity(stream) for part, stream in held.items()}}
    for name, model in models.items():
        perplexities[name] = {part: perplexity(model, stream) for part, stream in held.items()}
    memory_network = models.get(MEMORY_NETWORK)
    result = Result(
        words=len(streams["train"]) - 1,
        vocabulary=len(known) + SPECIAL_WORDS,
        held_out={name: len(stream) - 1 for name, stream in held.items()},
        unknown={name: _share_unknown(files[name], len(stream) - 1) for name, stream in held.items()},
        perplexity=perplexities,
        parameters={name: sum(each.numel() for each in model.decoder.parameters()) for name, model in models.items()},
        minutes={name: model.card.training.minutes for name, model in models.items()},
        distances=distances(memory_network, held[first]) if memory_network else [],
    )
    values: dict[str, Any] = {"settings": asdict(settings), **asdict(result)}
    write_atomically(out / "results.json", json.dumps(values, indent=2) + "\n")
    return result


def _options(settings: Settings, name: str, words: int, files: Mapping[str, Path], valid: str) -> TrainOptions:
    return TrainOptions(
        corpora=(str(files["train"]),),
        valid=(str(files[valid]),),
        task=LANGUAGE_MODEL,
        recipe=RECIPES[name],
        settings=settings.recipe(name, words),
        minutes=settings.minutes,
        seed=settings.seed,
        threads=settings.threads,
    )


def _encoder(models: Mapping[str, LanguageModel], train: Path, known: set[str]) -> Vocabulary:
    """The vocabulary of the networks, all of which have learnt the same one; without any, a vocabulary of its own."""
    found = [model.vocabulary for model in models.values()]
    if not found:
        size = len(known) + SPECIAL_WORDS + 1
        section = SubwordsSection(kind="word", size=size, byte_fallback=False, character_coverage=1.0)
        return learn(train.read_text(encoding="utf-8").splitlines(), section, 1)
    assert all(each.all_pieces() == found[0].all_pieces() for each in found), "they have read the same text"
    return found[0]


def _trained(training: Run, options: TrainOptions, show: Show) -> LanguageModel:
    if not training.job_file.is_file():
        prepare(training, options, show)
    elif training.read_job()[1].options != options:
        raise UsageError(
            f"{training.path} was started with other settings", "Choose another --out, or the same options."
        )
    if training.card_file.is_file() and training.read_card().training.weights:  # its training has ended
        return LanguageModel.load(training.path)
    model = fit_and_publish(training, show)
    if model is None:
        raise KeyboardInterrupt
    assert isinstance(model, LanguageModel)
    return model


def split(line: str) -> list[str]:
    """Split a line into lower-case words and punctuation marks."""
    return _WORD.findall(line.lower())


def read_words(path: Path, encoding: str = "utf-8", lines: int | None = None) -> list[list[str]]:
    """The lines of a file (or the first ones) as words; empty lines are left out."""
    kept = [words for line in islice(read_lines(path, encoding), lines) if (words := split(tidy(line)))]
    if not kept:
        raise CorpusError(f"{path} contains no words")
    return kept


def vocabulary(lines: Iterable[Sequence[str]], size: int) -> set[str]:
    """The most frequent words, ties in alphabetical order. The end and <rare> count as words.

    At least the rarest word is left out, so that <rare> occurs in training.
    """
    counts = Counter(word for line in lines for word in line)
    most = min(size - SPECIAL_WORDS, len(counts) - 1)
    return set(sorted(counts, key=lambda word: (-counts[word], word))[:most])


def _write(path: Path, lines: Sequence[Sequence[str]], known: set[str]) -> Path:
    """Write the words separated by blanks, with <rare> for those outside the vocabulary."""
    text = "".join(" ".join(word if word in known else UNKNOWN for word in line) + "\n" for line in lines)
    write_atomically(path, text)
    return path


def _stream(words: Vocabulary, path: Path) -> Ids:
    """The ids of a text, starting with an end token, so that the first word also follows an end."""
    encoded = words.encode_many(path.read_text(encoding="utf-8").splitlines(), 1)
    return np.array([END, *(id for ids in encoded for id in (*ids, END))], dtype=np.int64)


def _share_unknown(path: Path, words: int) -> float:
    return path.read_text(encoding="utf-8").split().count(UNKNOWN) / words


def perplexity(model: LanguageModel, stream: Ids) -> float:
    """Perplexity over every word of a stream except the first, which is an end."""
    total, count = model.log_loss(stream[1:].astype(np.uint32))
    return math.exp(total / count)


@torch.no_grad()
def distances(model: LanguageModel, stream: Ids) -> list[list[float]]:
    """By hop: mean weight of the word just before, of the one before that, and so on."""
    network, section = model.decoder, model.card.recipe
    assert isinstance(network, MemoryLanguageModel)
    length = section.corpus.max_tokens
    starts = np.arange(0, len(stream), length)[:PIECES_LOOKED_AT]
    pieces = cut(stream.astype(np.uint32), starts, length, section.model.context, model.vocabulary.pad)
    assert pieces.memory is not None
    return [p.mean(dim=(0, 1)).flip(0).tolist() for p in network.attend(pieces.memory, pieces.target)]


def as_text(result: Result, settings: Settings) -> str:
    """The result of the comparison, as text."""
    parts = list(result.held_out)
    rows = [["perplexity", *parts, "weights", "minutes"]]
    for name, found in result.perplexity.items():
        title = TITLES.get(name, "trigram, modified Kneser-Ney")
        if name == MEMORY_NETWORK:
            title += f", {settings.hops} hops"
        cost = [f"{result.parameters[name]:,}", f"{result.minutes[name]:.1f}"] if name in TITLES else ["", ""]
        rows.append([title, *(f"{found[part]:.2f}" for part in parts), *cost])
    rows.append(["words, every one counted", *(f"{result.held_out[part]:,}" for part in parts), "", ""])
    rows.append(["of these <rare>", *(f"{100 * result.unknown[part]:.2f}%" for part in parts), "", ""])
    learnt = f"learnt from {result.words:,} words, a vocabulary of {result.vocabulary:,}"
    lines = [*(line.rstrip() for line in aligned(rows)), learnt]
    return "\n".join(lines + (["", *_distances(result)] if result.distances else [])) + "\n"


def _distances(result: Result) -> list[str]:
    """A table of where the hops attend (the paper's Figure 3)."""
    memories = len(result.distances[0])
    spans = [(low, min(high, memories)) for low, high in DISTANCES if low <= memories]
    heads = [str(low) if low == high else f"{low}-{high}" for low, high in spans]
    lines = ["memory network: weight by words back" + "".join(f"  {head:>6}" for head in heads)]
    for hop, weights in enumerate(result.distances, 1):
        cells = "".join(f"  {sum(weights[low - 1 : high]):6.2f}" for low, high in spans)
        lines.append(f"{f'hop {hop}':36}{cells}")
    return lines
