"""The recurrent systems must learn: to copy and to reverse sequences that they have not seen."""

from __future__ import annotations

from pathlib import Path

import pytest

import tongsa
from lessons import TASKS, Lesson, rightness
from tongsa.demo.grammar import write_pairs
from tongsa.models.attentional import AttentionalSection
from tongsa.models.recurrent import RecurrentSection

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


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", LESSONS)
def test_a_small_one_learns_to(name: str, task: str) -> None:
    lesson = LESSONS[name]._replace(warmup=30, smoothing=0.0, source_ends=True)
    right, long = rightness(lesson, TASKS[task])
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
