"""Compare the memory network's language model with a trigram model: same vocabulary, same text, every word counted.

Sukhbaatar et al. 2015, §5. Uses the common trainer, with the task `lm` over words; `--set model.architecture=...` in
`tongsa train --task lm` trains any other language model on the same text.
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
from tongsa.config.presets import load_recipe
from tongsa.data.streams import cut
from tongsa.lab.trigram import Trigram
from tongsa.models.memory_language_model import MemoryLanguageModel
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks.language_model import LANGUAGE_MODEL, LanguageModel
from tongsa.text.lines import read_lines, tidy
from tongsa.text.subwords import END
from tongsa.training.run import fit_and_publish, prepare

RECIPE = "memory-language-model"
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
    d: int = 150
    hops: int = 6
    memories: int = 50
    epochs: int = 5
    dropout: float = 0.2
    seed: int = 1
    encoding: str = "utf-8"
    threads: int | None = None
    changes: Mapping[str, str] = field(default_factory=dict)
    """Further changes to the recipe."""

    def problems(self) -> list[str]:
        least = {"lines": 1, "vocabulary": 3, "d": 2, "hops": 1, "memories": 1, "epochs": 1}
        values = {name: getattr(self, name) for name in least}
        found = [
            f"{n} must be at least {least[n]}" for n, value in values.items() if value is not None and value < least[n]
        ]
        return found + ([] if 0 <= self.dropout < 1 else ["dropout must be at least 0 and below 1"])

    def recipe(self, words: int) -> dict[str, str]:
        """Changes to the recipe for a text of this many words (including ends of lines)."""
        given = load_recipe(RECIPE, self.changes)
        pieces = math.ceil(words / given.corpus.max_tokens)
        an_epoch = math.ceil(pieces * given.corpus.max_tokens / given.training.batch_tokens)
        return {
            "subwords.size": str(self.vocabulary + 1),  # SentencePiece adds its own unknown token
            "model.d_model": str(self.d),
            "model.hops": str(self.hops),
            "model.memories": str(self.memories),
            "model.dropout": str(self.dropout),
            "training.updates": str(self.epochs * an_epoch),
            "training.warmup": str(min(given.training.warmup, max(1, self.epochs * an_epoch // 2))),
            "training.validate_every": str(an_epoch),
            **self.changes,
        }


@dataclass(frozen=True)
class Result:
    """Results of both models."""

    words: int
    """Number of words in the training text, including the ends of lines."""
    vocabulary: int
    held_out: dict[str, int]
    """Number of words in each held-out text, by name; all of them are counted."""
    unknown: dict[str, float]
    """Fraction of <rare> in each held-out text."""
    trigram: dict[str, float]
    """Perplexity on each held-out text."""
    memory_network: dict[str, float]
    parameters: int
    minutes: float
    """Training time of the memory network, in minutes."""
    distances: list[list[float]]
    """By hop: mean weight of the word just before, of the one before that, ... (the paper's Figure 3)."""


def run(settings: Settings, held_out: Mapping[str, Path], out: Path, resume: bool, show: Show) -> Result:
    """Count trigrams, train the memory network and measure both; the first held-out text is the validation text."""
    if problems := settings.problems():
        raise UsageError("this language model cannot be trained", *problems)
    training = Run(out / "model")
    if not resume and training.job_file.exists():
        raise UsageError(f"{out} already contains a language model", "Choose another --out, or continue:  --resume")
    lines = read_words(Path(settings.text), settings.encoding, settings.lines)
    known = vocabulary(lines, settings.vocabulary)
    texts = {"train": lines} | {name: read_words(path, settings.encoding) for name, path in held_out.items()}
    files = {name: _write(out / "text" / f"{name}.txt", words, known) for name, words in texts.items()}
    first = next(iter(held_out))
    options = TrainOptions(
        corpora=(str(files["train"]),),
        valid=(str(files[first]),),
        task=LANGUAGE_MODEL,
        recipe=RECIPE,
        settings=settings.recipe(sum(len(words) + 1 for words in lines)),
        seed=settings.seed,
        threads=settings.threads,
    )
    model = _trained(training, options, show)
    streams = {name: _stream(model, path) for name, path in files.items()}
    trigram = Trigram(streams["train"], len(model.vocabulary))
    held = {name: streams[name] for name in held_out}
    result = Result(
        words=len(streams["train"]) - 1,
        vocabulary=len(known) + SPECIAL_WORDS,
        held_out={name: len(stream) - 1 for name, stream in held.items()},
        unknown={name: _share_unknown(files[name], len(stream) - 1) for name, stream in held.items()},
        trigram={name: trigram.perplexity(stream) for name, stream in held.items()},
        memory_network={name: perplexity(model, stream) for name, stream in held.items()},
        parameters=sum(parameter.numel() for parameter in model.decoder.parameters()),
        minutes=model.card.training.minutes,
        distances=distances(model, held[first]),
    )
    values: dict[str, Any] = {"settings": asdict(settings), **asdict(result)}
    write_atomically(out / "results.json", json.dumps(values, indent=2) + "\n")
    return result


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


def _stream(model: LanguageModel, path: Path) -> Ids:
    """The ids of a text, starting with an end token, so that the first word also follows an end."""
    encoded = model.vocabulary.encode_many(path.read_text(encoding="utf-8").splitlines(), 1)
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
    names = list(result.held_out)
    rows = {
        "trigram, modified Kneser-Ney": result.trigram,
        f"memory network, {settings.hops} hops, d = {settings.d}": result.memory_network,
    }
    width = max(map(len, rows))
    lines = [f"{'perplexity':{width}}" + "".join(f"  {name:>8}" for name in names)]
    lines += [f"{name:{width}}" + "".join(f"  {row[part]:8.2f}" for part in names) for name, row in rows.items()]
    lines += [f"{'words, every one counted':{width}}" + "".join(f"  {result.held_out[part]:8,}" for part in names)]
    lines += [f"{'of these <rare>':{width}}" + "".join(f"  {100 * result.unknown[part]:7.2f}%" for part in names)]
    learnt = f"learnt from {result.words:,} words, a vocabulary of {result.vocabulary:,}"
    return "\n".join([*lines, learnt, "", *_distances(result)]) + "\n"


def _distances(result: Result) -> list[str]:
    """A table of where the hops attend (the paper's Figure 3)."""
    memories = len(result.distances[0])
    spans = [(low, min(high, memories)) for low, high in DISTANCES if low <= memories]
    heads = [str(low) if low == high else f"{low}-{high}" for low, high in spans]
    lines = ["weight by words back" + "".join(f"  {head:>6}" for head in heads)]
    for hop, weights in enumerate(result.distances, 1):
        cells = "".join(f"  {sum(weights[low - 1 : high]):6.2f}" for low, high in spans)
        lines.append(f"{f'hop {hop}':20}{cells}")
    return lines
