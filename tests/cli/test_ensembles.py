"""`tongsa translate A,B` and `tongsa evaluate A,B`: several translators as one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from cli.conftest import Tongsa
from small_translators import SMALL, learnt_translator, random_model, save, sentences, small_subwords
from tongsa.base.errors import UsageError
from tongsa.translation.translator import Translator


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return learnt_translator(tmp_path_factory.mktemp("learnt") / "learnt")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory, learnt: Path) -> Path:
    """The learnt one with other weights."""
    translator = Translator.load(learnt, engine="native")
    model = translator.native.model
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return save(tmp_path_factory.mktemp("other") / "other", model, SMALL, translator.subwords)


def test_an_ensemble_of_one_translator_twice_is_that_translator(
    tongsa: Tongsa, learnt: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = sentences(3)[2][0]
    alone = tongsa("translate", learnt, text, "--engine", "native", "--scores")
    twice = tongsa("translate", f"{learnt},{learnt}", text, "--scores")
    assert twice.out == alone.out
    assert "using the native engine" in caplog.text


def test_a_second_translator_is_not_taken_for_text(tongsa: Tongsa, learnt: Path, other: Path) -> None:
    told = "".join(tongsa.refuses("translate", learnt, other).split())  # a long path may be cut anywhere
    assert f"{other}isatranslator,andtextisexpectedhere" in told
    assert f"tongsatranslate{learnt},{other}" in told


def test_evaluate_compares_members_with_their_ensemble(
    tongsa: Tongsa, learnt: Path, other: Path, tmp_path: Path
) -> None:
    for side, language in enumerate(("ko", "en")):
        lines = "".join(f"{pair[side]}\n" for pair in sentences(4))
        (tmp_path / f"test.{language}").write_text(lines, encoding="utf-8")
    both = f"{learnt},{other}"
    search = ("--beam", "1", "--engine", "native", "--metric", "chrf", "--json")
    found = json.loads(tongsa("evaluate", other, both, tmp_path / "test", *search, "--save", tmp_path / "saved").out)
    assert list(found) == [str(other), both]
    assert {path.name for path in (tmp_path / "saved").iterdir()} == {"other.en", "learnt+other.en"}
    assert found[both]["chrf"]["score"] != found[str(other)]["chrf"]["score"]


def test_other_vocabularies_and_engines_are_refused(tmp_path: Path, learnt: Path, other: Path) -> None:
    unlike = small_subwords(joint=False)
    save(tmp_path / "unlike", random_model(SMALL, unlike), SMALL, unlike)
    with pytest.raises(UsageError, match="different vocabularies") as told:
        Translator.load(f"{learnt},{tmp_path / 'unlike'}")
    assert "--subwords" in str(told.value)
    for settings in ({"engine": "ctranslate2"}, {"shortlist": True}, {"precision": "int8"}):
        with pytest.raises(UsageError, match="native engine"):
            Translator.load(f"{learnt},{other}", **settings)  # type: ignore[arg-type]


def test_a_directory_with_a_comma_in_its_name_is_one_translator(tmp_path: Path) -> None:
    assert Translator.load(learnt_translator(tmp_path / "a,b")).engine.name == "ctranslate2"
