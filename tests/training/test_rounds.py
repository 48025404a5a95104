"""Rounds of back-translation: both directions in turns, each step once; and corpora that are translated themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
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
        self.cores: list[int | None] = []
        self.stops_at: str | None = None
        monkeypatch.setattr(rounds, "_trained", self.train)
        monkeypatch.setattr(rounds, "_synthetic", self.translate)
        monkeypatch.setattr(rounds, "_loaded", lambda run, options: self.translator("1", *run.path.name.split("-")))
        monkeypatch.setattr(rounds, "training_beside", self.train_beside)

    def train(self, options: TrainOptions, folder: Path, show: object) -> Any:
        name = f"{folder.name}/{options.source}-{options.target}"
        self.done.append(f"{name} with {', '.join((*options.corpora[1:], *options.mix)) or 'nothing'}")
        self.minutes.append(options.minutes)
        self.cores.append(options.threads)
        return None if name == self.stops_at else self.translator(folder.name, options.source, options.target)

    def translator(self, number: str, source: str, target: str) -> Any:
        card = SimpleNamespace(source=source, target=target)
        return SimpleNamespace(name=f"{number}/{source}-{target}", card=card)

    @contextmanager
    def train_beside(self, options: TrainOptions, run: Run) -> Iterator[Any]:
        ended = self.train(options, run.path.parent, None)
        yield SimpleNamespace(wait=lambda: ended is not None, stop=lambda: self.done.append("stopped"))

    def translate(self, translator: Any, text: Path, folder: Path, show: object, **how: Any) -> Any:
        kind = f" {how['name']} {how['forward']}" if how else ""
        return f"{text.name} by {translator.name}{kind}"


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


@pytest.fixture
def without_text(given: Rounds) -> Rounds:
    options = dataclasses.replace(given.options, minutes=10, threads=1, device="cpu")
    return dataclasses.replace(given, options=options, target_text=None, source_text=None, rounds=1)


def test_without_text_the_corpora_are_translated_in_both_directions(
    without_text: Rounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps(monkeypatch)
    assert without_text.run(Silent()) is not None
    assert steps.minutes == [2, 2, 6]
    name = Path(without_text.options.corpora[0]).name
    assert steps.done == [
        "1/en-ko with nothing",
        "1/ko-en with nothing",
        f"2/ko-en with {name}.en by 1/en-ko synthetic-1 False, {name}.ko by 1/ko-en forward-1 True",
    ]
    assert without_text.result == without_text.out / "2" / "ko-en"


def test_with_several_cores_both_directions_are_trained_at_once(
    without_text: Rounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps(monkeypatch)
    options = dataclasses.replace(without_text.options, threads=5)
    assert dataclasses.replace(without_text, options=options).run(Silent()) is not None
    assert [step.partition(" ")[0] for step in steps.done] == ["1/en-ko", "1/ko-en", "2/ko-en"]
    assert steps.minutes == [4, 4, 6]
    assert steps.cores == [2, 3, 5]


@pytest.mark.parametrize(("stops_at", "left"), [("1/ko-en", ["stopped"]), ("1/en-ko", [])])
def test_of_two_trainings_at_once_either_can_be_interrupted(
    stops_at: str, left: list[str], without_text: Rounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps(monkeypatch)
    steps.stops_at = stops_at
    options = dataclasses.replace(without_text.options, threads=2)
    assert dataclasses.replace(without_text, options=options).run(Silent()) is None
    assert steps.done[2:] == left


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
        ({"target_text": None}, "need text in the target language"),
        ({"target_text": None, "source_text": None}, "need text in the target language"),
        ({"target_text": None, "source_text": None, "rounds": 1, "mix_ratio": 2.0}, "--mix-ratio needs --target-text"),
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


def test_a_training_learns_from_its_text_in_both_directions(
    given: Rounds, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for code in ("ko", "en"):
        lines = corpus.with_suffix(f".{code}").read_text(encoding="utf-8").splitlines()[:200]
        (tmp_path / f"few.{code}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = {**SETTINGS, "training.updates": "2", "decoding.max_extra": "2"}
    options = dataclasses.replace(
        given.options, corpora=(str(tmp_path / "few"),), recipe="tiny", settings=settings, threads=2, device="cpu"
    )
    work = Rounds(options=options, out=tmp_path / "out")
    keep_broken_translations(monkeypatch)
    translator = work.run(Silent())
    assert translator is not None
    assert (translator.card.source, translator.card.target) == ("ko", "en")
    folder = work.out / "1"
    for code in ("ko", "en"):
        real = (tmp_path / f"few.{code}").read_text(encoding="utf-8")
        same, other = ("forward", "synthetic") if code == "ko" else ("synthetic", "forward")
        assert (folder / f"{same}-1-ko-en.{code}").read_text(encoding="utf-8") == real
        assert (folder / f"{other}-1-ko-en.{code}").read_text(encoding="utf-8") != real
    corpora = Run(work.result).read_job()[1].options.corpora
    assert corpora == (options.corpora[0], f"{folder}/synthetic-1-ko-en", f"{folder}/forward-1-ko-en")
