"""Small trainings of the lab: trained once, measured, shared by questions."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from tongsa.base.errors import UsageError
from tongsa.base.progress import Silent
from tongsa.demo import grammar
from tongsa.lab.answering import as_text, measured
from tongsa.lab.question import Effort, Lab, words_in
from tongsa.lab.questions import QUESTIONS, context, heads
from tongsa.lab.questions.projections import weight_on_itself
from tongsa.lab.small_trainings import Text, small_recipe, train_variants
from tongsa.lab.trained import Trained
from tongsa.models import build

LITTLE = Effort(updates=3, pairs=300, held_out=12, subwords=200)


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
        assert all(1 < result["perplexity"] < 1e6 and 0 <= result["right"] <= 100 for result in results)
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


def test_another_text_of_the_same_name_is_prepared_and_trained_anew(lab: Lab) -> None:
    once = dataclasses.replace(lab, seeds=1)
    first, other = (
        train_variants(once, {"base": {}}, text=Text(name="more", added=((korean, "A dog."),)))["base"]
        for korean in ("개.", "새.")
    )
    assert first[0]["perplexity"] != other[0]["perplexity"]
    (prepared,) = (lab.folder / "text").glob("more.*")
    assert (prepared / "train.ko").read_text(encoding="utf-8").endswith("\n새.\n")


def test_a_training_that_diverges_is_an_answer(lab: Lab) -> None:
    settings = {"training.schedule": "constant", "training.warmup": "1", "training.peak": "1000", "model.norm": "none"}
    longer = dataclasses.replace(lab, seeds=1, effort=dataclasses.replace(LITTLE, updates=9))
    (result,) = train_variants(longer, {"diverging": settings})["diverging"]
    assert result["perplexity"] > LITTLE.subwords, "worse than even probabilities"


def test_heads_and_contexts_of_a_translator_are_looked_at(trained_translator: Path) -> None:
    trained = Trained.of_run(trained_translator)
    pairs = grammar.corpus(0, 3, 0, seed=1)[1]
    found = heads.anatomy(dataclasses.replace(trained, pairs=pairs))["heads"]
    section = trained.transformer.config
    assert len(found) == section.heads * (section.encoder_layers + 2 * section.decoder_layers)
    assert all(0 <= head[role] <= 1 + 1e-6 for head in found for role in heads.ROLES)
    right = context.told_apart(trained)["right"]
    assert len(right) == section.encoder_layers + 1
    assert right[0] <= 1
    with pytest.raises(UsageError, match="no held-out pairs"):
        heads.anatomy(trained)


TRAINED = {
    (question.name, row): settings
    for question in QUESTIONS.values()
    for row, settings in getattr(sys.modules[question.measure.__module__], "TRAINED", {}).items()
}
"""The variants of all questions."""


def _parameters(question: str, row: str) -> int:
    model = build(small_recipe(TRAINED[question, row], Effort()).model, 241, None)
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(("question", "row"), TRAINED)
def test_every_variant_can_be_built(question: str, row: str) -> None:
    assert _parameters(question, row) > 20_000


def test_a_name_means_the_same_training_everywhere() -> None:
    """Questions share trainings by their names."""
    settings: dict[str, set[str]] = {}
    for (_, row), changes in TRAINED.items():
        settings.setdefault(row, set()).add(str(sorted(changes.items())))
    assert {row for row, found in settings.items() if len(found) > 1} == set()


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("heads", "one-head"),
        ("heads", "sixteen-heads"),
        ("feed-forward", "attention-only-deep"),
        ("add-or-concatenate", "concatenated"),
    ],
)
def test_what_is_compared_at_equal_cost_has_as_many_parameters(question: str, row: str) -> None:
    baseline = next(row for asked, row in TRAINED if asked == question)
    assert _parameters(question, row) == pytest.approx(_parameters(question, baseline), rel=0.02)
