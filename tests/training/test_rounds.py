"""Rounds of back-translation: both directions in turns, each step once."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.training.conftest import SETTINGS

from tongsa.base.errors import UsageError
from tongsa.base.progress import Silent
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.training import rounds
from tongsa.training.rounds import Rounds


@pytest.fixture
def given(corpus: Path, tmp_path: Path) -> Rounds:
    options = TrainOptions(corpora=(str(corpus),), source="ko", target="en", valid=(str(corpus),))
    text = {code: tmp_path / f"text.{code}" for code in ("ko", "en")}
    for code, path in text.items():
        path.write_text(corpus.with_suffix(f".{code}").read_text(encoding="utf-8"), encoding="utf-8")
    return Rounds(options=options, out=tmp_path / "out", target_text=text["en"], source_text=text["ko"], rounds=2)


class Steps:
    """Replaces training and translating, which are tested elsewhere, by notes of what was asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[str] = []
        self.minutes: list[float | None] = []
        self.stops_at: str | None = None
        monkeypatch.setattr(rounds, "_trained", self.train)
        monkeypatch.setattr(rounds, "_synthetic", self.translate)

    def train(self, options: TrainOptions, folder: Path, show: object) -> Any:
        name = f"{folder.name}/{options.source}-{options.target}"
        self.done.append(f"{name} with {', '.join((*options.corpora[1:], *options.mix)) or 'nothing'}")
        self.minutes.append(options.minutes)
        assert options.settings["training.diversify"] == "false"
        return None if name == self.stops_at else self.translator(folder.name, options.source, options.target)

    def translator(self, number: str, source: str, target: str) -> Any:
        card = SimpleNamespace(source=source, target=target)
        return SimpleNamespace(name=f"{number}/{source}-{target}", card=card)

    def translate(self, translator: Any, text: Path, folder: Path, show: object) -> Any:
        return f"{text.name} by {translator.name}"


def test_each_direction_learns_from_what_the_other_made(given: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Steps(monkeypatch)
    assert given.run(Silent()) is not None
    assert steps.done == [
        "1/en-ko with nothing",
        "1/ko-en with text.en by 1/en-ko",
        "2/en-ko with text.ko by 1/ko-en",
        "2/ko-en with text.en by 2/en-ko",
    ]
    assert given.result == given.out / "2" / "ko-en"


def test_the_minutes_are_those_of_all_rounds(given: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Steps(monkeypatch)
    options = dataclasses.replace(given.options, minutes=10)
    assert dataclasses.replace(given, options=options).run(Silent()) is not None
    assert steps.minutes == [2.5] * 4


def test_an_interrupted_training_ends_the_rounds(given: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Steps(monkeypatch)
    steps.stops_at = "1/ko-en"
    assert given.run(Silent()) is None
    assert len(steps.done) == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"source_text": None}, "more than one round needs text in the source language"),
        ({"target_text": Path("nowhere.en")}, "nowhere.en is not a file"),
        ({"valid": ()}, "need --valid"),
        ({"corpora": ("nowhere",)}, "is not the prefix of two files"),
        ({"init": "runs/old"}, "neither --mix nor --init"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_trained(
    given: Rounds, changes: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps(monkeypatch)
    own = {name: value for name, value in changes.items() if hasattr(given, name)}
    options = dataclasses.replace(given.options, **{name: changes[name] for name in changes if name not in own})
    with pytest.raises(UsageError, match=said):
        dataclasses.replace(given, options=options, **own).run(Silent())
    assert steps.done == []


def keep_broken_translations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two updates teach nothing."""
    monkeypatch.setattr("tongsa.corpus.synthetic.foreign_text", lambda *given: None)
    monkeypatch.setattr("tongsa.corpus.synthetic.is_loop", lambda *given: False)


def test_a_round_is_trained_and_a_second_run_repeats_nothing(given: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    options = dataclasses.replace(
        given.options, recipe="tiny", settings={**SETTINGS, "training.updates": "2"}, threads=1, device="cpu"
    )
    work = dataclasses.replace(given, options=options, rounds=1)
    assert work.target_text
    lines = work.target_text.read_text(encoding="utf-8").splitlines()[:4]
    work.target_text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    keep_broken_translations(monkeypatch)
    translator = work.run(Silent())
    assert translator is not None
    assert (translator.card.source, translator.card.target) == ("ko", "en")
    run = Run(work.out / "1" / "ko-en")
    assert run.read_job()[1].options.mix == (str(work.out / "1" / "synthetic-ko-en"),)
    monkeypatch.setattr(rounds, "train_with", lambda *given, **options: pytest.fail("trained again"))
    assert work.run(Silent()) is not None
