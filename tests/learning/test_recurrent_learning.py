"""The recurrent systems must learn: to copy and to reverse sequences that they have not seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

import tongsa
from tongsa.config import AttentionalSection, ModelSection, RecurrentSection, TrainingSection
from tongsa.decoding import Search, Special, decode
from tongsa.models import build
from tongsa.models.contract import Seq2Seq
from tongsa.text.grammar import write_pairs
from tongsa.training.loss import linear_cross_entropy
from tongsa.training.optimizer import FlatAdam
from tongsa.training.schedule import learning_rate

LETTERS, PAD, END = 10, 12, 0

Task = Callable[[Tensor], Tensor]


class Lesson(NamedTuple):
    config: ModelSection
    length: int
    peak: float = 0.01
    updates: int = 250


LESSONS = {
    # One vector has to hold the whole sequence: short ones.
    "rnn": Lesson(RecurrentSection(architecture="rnn", d_model=64, dropout=0.0), 3, peak=0.003),
    "gru": Lesson(RecurrentSection(architecture="gru", d_model=64, dropout=0.0, feed_context=True), 4),
    "lstm": Lesson(RecurrentSection(architecture="lstm", d_model=64, dropout=0.0, reverse=True), 4),
    "gru-attention": Lesson(
        AttentionalSection(architecture="gru-attention", d_model=48, dropout=0.0, score="additive", feed="context"),
        6,
        updates=150,
    ),
    "lstm-attention": Lesson(
        AttentionalSection(architecture="lstm-attention", d_model=48, dropout=0.0, feed="attentional"),
        6,
        updates=150,
    ),
    "lstm-attention, nothing fed": Lesson(
        AttentionalSection(architecture="lstm-attention", d_model=48, dropout=0.0, score="dot"), 6
    ),
}


def draw(rows: int, length: int, generator: torch.Generator) -> Tensor:
    return torch.randint(2, 2 + LETTERS, (rows, length), generator=generator)


def with_end(source: Tensor) -> Tensor:
    return torch.cat([source, torch.full((len(source), 1), END)], dim=1)


def taught(lesson: Lesson, task: Task) -> Seq2Seq:
    torch.manual_seed(1)
    model = build(lesson.config, PAD + 1, None)
    section = TrainingSection(schedule="cosine", peak=lesson.peak, warmup=30, updates=lesson.updates)
    adam = FlatAdam(model, section)
    generator = torch.Generator().manual_seed(1)
    for update in range(1, lesson.updates + 1):
        source = draw(64, lesson.length, generator)
        target = task(source)
        read, labels = torch.cat([torch.full((64, 1), PAD), target], dim=1), with_end(target)
        adam.clear()
        source = with_end(source)
        features = model.features(source, torch.ones_like(source, dtype=torch.bool), read).flatten(0, 1)
        linear_cross_entropy(features, model.projection(), labels.flatten(), 0.0).smoothed.backward()
        adam.gradient /= labels.numel()
        adam.gradient *= min(1.0, 1.0 / float(adam.gradient.norm()))
        adam.step(learning_rate(section, lesson.config.d_model, update, update / lesson.updates))
    return model.eval()


def rightness(lesson: Lesson, task: Task) -> tuple[float, float]:
    """Of new sequences: the share of tokens that are right, and of outputs that are as long as they should be."""
    model = taught(lesson, task)
    source = draw(200, lesson.length, torch.Generator().manual_seed(99))
    read = with_end(source)
    mask = torch.ones_like(read, dtype=torch.bool)
    found = decode(model, read, mask, Search(beam=4, max_extra=3), Special(start=PAD, end=END))
    right = sum(
        a == b
        for (best, *_), row in zip(found, task(source).tolist(), strict=True)
        for a, b in zip(best.ids, row, strict=False)
    )
    return right / source.numel(), sum(len(best.ids) == lesson.length for best, *_ in found) / 200


@pytest.mark.parametrize("task", [lambda x: x, lambda x: x.flip(1)], ids=["copy", "reverse"])
@pytest.mark.parametrize("name", LESSONS)
def test_a_small_one_learns_to(name: str, task: Task) -> None:
    right, long = rightness(LESSONS[name], task)
    assert right > 0.95
    assert long > 0.95


RUN = {
    "subwords.size": "700",
    "model.d_model": "16",
    "model.hidden": "16",
    "training.updates": "3",
    "training.processes": "1",
    "training.average": "1",
}


@pytest.mark.parametrize("recipe", ["rnn", "gru", "lstm", "gru-attention", "lstm-attention"])
def test_its_recipe_goes_the_whole_way_from_text_to_a_report(recipe: str, tmp_path: Path) -> None:
    """Trained, saved, loaded, searched and looked into by the code that the Transformer goes through."""
    for language, side in (("ko", 0), ("en", 1)):
        text = "".join(f"{pair[side]}\n" for pair in write_pairs(300, seed=1))
        (tmp_path / f"train.{language}").write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    made = tongsa.train(
        tmp_path / "train", source="ko", target="en", out=out, recipe=recipe, settings=RUN, threads=1, device="cpu"
    )
    assert made is not None
    assert (out / "report.html").is_file()
    text = "고양이가 물을 마신다."
    loaded = tongsa.Translator.load(out)
    assert loaded.engine.name == "native"
    assert loaded.translate([text]) == made.translate([text])
    cross = loaded.inspect(text, "the cat drinks water").attention.cross
    assert [weights.shape[1] for weights in cross] == ([1] if recipe.endswith("attention") else [])
