"""Small trainings of the lab: trained once, measured, shared by questions."""

from __future__ import annotations

import dataclasses

import pytest

from tongsa.base.progress import Silent
from tongsa.lab.answering import as_text, measured
from tongsa.lab.question import Effort, Lab, words_in
from tongsa.lab.questions import QUESTIONS
from tongsa.lab.questions.projections import weight_on_itself
from tongsa.lab.small_trainings import train_variants

LITTLE = Effort(updates=3, pairs=300, held_out=12, subwords=700)


class Told(Silent):
    """Keeps what was said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(folder=tmp_path_factory.mktemp("small"), show=Silent(), seeds=2, effort=LITTLE)


def test_a_question_trains_its_variants_and_answers(lab: Lab) -> None:
    question = QUESTIONS["mask"]
    values = measured(question, lab)
    for results in values["trained"].values():
        assert len(results) == 2
        assert all(1 < result["perplexity"] < 1e6 and 0 <= result["bleu"] <= 100 for result in results)
        assert results[0]["perplexity"] != results[1]["perplexity"], "seeds differ"
    assert "not masked" in as_text(question, question.answer(values, words_in("en")), "en")


def test_a_finished_training_is_only_looked_at(lab: Lab) -> None:
    first = train_variants(lab, {"base": {}})["base"]
    told = Told()
    again = Lab(folder=lab.folder, show=told, seeds=2, effort=LITTLE)
    assert train_variants(again, {"base": {}})["base"] == first
    assert sum("finished before" in line for line in told.lines) == 2
    file = next((lab.folder / "trainings").glob("base.*.1/checkpoints/*/weights.safetensors"))
    before = file.stat().st_mtime_ns
    looked = train_variants(lab, {"base": {}}, look=weight_on_itself)["base"]
    assert file.stat().st_mtime_ns == before, "not trained again"
    assert looked[0]["perplexity"] == first[0]["perplexity"]
    assert 0 < looked[0]["own"] < 1


def test_another_recipe_is_another_training(lab: Lab) -> None:
    once = dataclasses.replace(lab, seeds=1)
    first, other = (train_variants(once, {"variant": {"model.heads": heads}})["variant"] for heads in ("4", "1"))
    assert first[0]["perplexity"] != other[0]["perplexity"]


def test_a_training_that_diverges_is_an_answer(lab: Lab) -> None:
    settings = {"training.schedule": "constant", "training.warmup": "1", "training.peak": "1000", "model.norm": "none"}
    longer = dataclasses.replace(lab, seeds=1, effort=dataclasses.replace(LITTLE, updates=9))
    (result,) = train_variants(longer, {"diverging": settings})["diverging"]
    assert result["perplexity"] > LITTLE.subwords, "worse than even probabilities"
