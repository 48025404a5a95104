"""Where contestants meet: a prepared directory for a corpus and a model, and processes that train in turns."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from measuring import PeakMemory, training_flops
from tongsa.base.devices import usable_cores
from tongsa.base.progress import Silent
from tongsa.config import Recipe, TransformerSection
from tongsa.config.presets import load_recipe
from tongsa.data.prepare import PrepareSettings, prepare_pairs
from tongsa.data.spill import spilled
from tongsa.formats.pairs import Reading, open_corpus
from tongsa.runs.directory import Run
from tongsa.runs.job import Job, TrainOptions
from tongsa.training.fitting import chunk_tokens

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "shared" / "data"

SIZES: dict[str, tuple[str, dict[str, str]]] = {
    "tiny": ("tiny", {"model.norm": "post"}),
    "small": ("small", {"model.norm": "post"}),
    "d512": ("base", {}),
}
"""The models: a recipe, and what differs from it (the peers have the paper's norm). Its base model is 6+6 layers of
d_model 512, d_ff 2048."""


class Text(NamedTuple):
    """A corpus, as `tongsa train` takes it."""

    corpus: str
    source: str
    target: str


def default_text(folder: Path) -> Text:
    """Multi30k where it is, else pairs of the built-in grammar, written into the folder."""
    if (SHARED / "multi30k" / "train.en").is_file():
        return Text(str(SHARED / "multi30k" / "train"), "en", "de")
    from tongsa.demo import grammar

    path = folder / "grammar.tsv"
    path.write_text("".join(f"{ko}\t{en}\n" for ko, en in grammar.write_pairs(30_000, seed=1)), encoding="utf-8")
    return Text(str(path), "ko", "en")


class Shape(NamedTuple):
    """What a prepared corpus is like."""

    pairs: int
    vocabulary: int
    source_length: float
    target_length: float
    """Mean tokens of a sentence, the end included."""


def prepare_text(directory: Path, text: Text, vocabulary: int) -> Shape:
    """Learn subwords and write ids, by the package's own preparation."""
    directory.mkdir(parents=True, exist_ok=True)
    recipe = load_recipe("tiny", {"subwords.size": str(vocabulary)})
    corpus = open_corpus([text.corpus], Reading(source=text.source, target=text.target))
    with spilled(corpus, recipe.corpus, seed=1, folder=directory / "data", show=Silent()) as spill:
        data = prepare_pairs(spill, None, PrepareSettings(directory=directory, recipe=recipe, threads=usable_cores()))
    return Shape(
        pairs=len(data.train),
        vocabulary=data.subwords.target.pad,
        source_length=float(data.train.source.lengths.mean()) + 1,
        target_length=float(data.train.target.lengths.mean()) + 1,
    )


def set_model(directory: Path, size: str, settings: Mapping[str, str]) -> Recipe:
    """Write recipe and job into a prepared directory; what is left open is decided as `tongsa train` does on a CPU."""
    name, differences = SIZES[size]
    cores = usable_cores()
    base = {
        "training.batch_tokens": "4096",
        "training.validate_every": str(10**9),  # training alone is measured
    }
    recipe = load_recipe(name, {**base, **differences, **settings})
    section = recipe.training
    processes = section.processes or cores
    chunk = chunk_tokens(recipe, processes, on_cpu=True)
    recipe = dataclasses.replace(recipe, training=dataclasses.replace(section, processes=processes, chunk_tokens=chunk))
    threads = max(1, cores // recipe.training.processes)
    Run(directory).write_job(recipe, Job(options=TrainOptions(corpora=()), device="cpu", threads=threads))
    return recipe


class Turn(NamedTuple):
    tokens: int
    """Target tokens, without padding."""
    seconds: float
    updates: int

    @property
    def rate(self) -> float:
        return self.tokens / self.seconds


@dataclass
class Contestant:
    """A process that trains when it is its turn."""

    name: str
    process: subprocess.Popen[str]
    memory: int = 0
    """The most bytes it had in a turn where memory was watched."""
    turns: list[Turn] = field(default_factory=list)

    def turn(self, updates: int, seconds: float) -> Turn:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{updates} {seconds}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.name} has ended; what it said stands above")
        return Turn(**json.loads(answer))

    def warm_up(self, updates: int, seconds: float) -> None:
        """A turn that does not count, in which memory is watched: reading it takes time."""
        with PeakMemory(self.process.pid) as memory:
            self.turn(updates, seconds)
        self.memory = memory.bytes


@contextlib.contextmanager
def start(name: str, directory: Path) -> Iterator[Contestant]:
    process = subprocess.Popen(
        [sys.executable, str(HERE / "contestant.py"), name, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Contestant(name, process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def flops_a_token(recipe: Recipe, shape: Shape) -> float:
    """Of training on one target token and its share of the source."""
    assert isinstance(recipe.model, TransformerSection)
    return training_flops(recipe.model, shape.vocabulary, shape.source_length / shape.target_length, 1.0)


def described(recipe: Recipe) -> str:
    model = recipe.model
    assert isinstance(model, TransformerSection)
    values = dataclasses.asdict(model)
    shown = ("encoder_layers", "decoder_layers", "d_model", "d_ff", "heads", "dropout")
    return ", ".join(f"{key} {values[key]}" for key in shown)
