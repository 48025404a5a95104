"""`tongsa evaluate`: one translator, or several compared with the first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Tongsa
from small_translators import learnt_translator, random_translator, sentences


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return learnt_translator(tmp_path_factory.mktemp("good") / "good")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for side, language in enumerate(("ko", "en")):
        lines = "".join(f"{pair[side]}\n" for pair in sentences(20))
        (tmp_path / f"test.{language}").write_text(lines, encoding="utf-8")
    return tmp_path / "test"


def test_scores_say_whether_the_search_was_a_beam_or_greedy(tongsa: Tongsa, good: Path, corpus: Path) -> None:
    greedy = tongsa("evaluate", good, corpus, "--beam", "1").out
    assert "20 sentences, greedy" in greedy
    found = json.loads(tongsa("evaluate", good, corpus, "--beam", "3", "--json", "--metric", "bleu").out)
    assert found["bleu"]["search"] == "beam 3, length penalty 0.6"


def test_several_translators_are_tested_against_the_first(
    tongsa: Tongsa, good: Path, whole_translator: Path, corpus: Path, tmp_path: Path
) -> None:
    given = ("evaluate", whole_translator, good, corpus, "--metric", "chrf", "--beam", "1")
    shown = tongsa(*given, "--save", tmp_path / "saved").out
    first, second = (line.split() for line in shown.split("\n")[1:3])
    assert first[0] == str(whole_translator)
    assert first[-2:] == ["first", "greedy"]
    assert second[0] == str(good)
    assert second[-2].endswith("*"), "significantly different"
    assert f"against {whole_translator}" in shown
    assert {path.name for path in (tmp_path / "saved").iterdir()} == {f"{whole_translator.name}.en", "good.en"}
    found = json.loads(tongsa(*given, "--json").out)
    assert found[str(whole_translator)]["chrf"]["p"] is None
    assert found[str(good)]["chrf"]["p"] < 0.01
    assert found[str(good)]["chrf"]["score"] > found[str(whole_translator)]["chrf"]["score"]


def test_translators_of_other_languages_or_named_twice_are_refused(
    tongsa: Tongsa, good: Path, corpus: Path, tmp_path: Path
) -> None:
    assert "is named twice" in tongsa.refuses("evaluate", good, good, corpus)
    other = random_translator(tmp_path / "other")
    card = other / "translator.json"
    card.write_text(card.read_text(encoding="utf-8").replace('"source": "ko"', '"source": "ja"'), encoding="utf-8")
    said = tongsa.refuses("evaluate", good, other, corpus)
    assert "translators of different languages cannot be compared" in said
    assert "ja to en" in said
