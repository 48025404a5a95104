"""The report of a run whose task is not translation: the curves and scores of its own metrics, and its own sections."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tongsa.config import Recipe
from tongsa.pages.frame import Section
from tongsa.pages.record import TrainingRecord
from tongsa.pages.report import Subject, command, draw_report
from tongsa.runs.card import Card, Provenance, Score
from tongsa.runs.job import Job, TrainOptions

EVENTS = [
    {"update": n, "seconds": float(n), "log_loss": 5 - n / 10, "rate": 0.1, "gradient_norm": 1.0} for n in range(1, 20)
]


def report(scores: dict[str, Score], validations: list[dict[str, float]], sections: list[Section]) -> str:
    card = Card(task="anything", recipe=Recipe(), training=Provenance(examples=7, updates=19), scores=scores)
    record = TrainingRecord(
        name="lm",
        directory=Path("runs/lm"),
        card=card,
        start={},
        updates=EVENTS,
        validations=[{"update": 5 * n, "seconds": 5.0 * n, **each} for n, each in enumerate(validations, 1)],
        cleaning={},
        diversify={},
        job=None,
        examples=[],
    )
    subject = Subject(
        kind="language model",
        title="English <words>",
        description="A Transformer decoder",
        parameters=1234,
        examples="sentences",
        sections=sections,
    )
    return draw_report(record, subject)


def test_a_language_model_has_curves_of_loss_and_perplexity_and_nothing_of_translation() -> None:
    page = report({"perplexity": Score(20.1, "n:5")}, [{"log_loss": 3.5, "perplexity": 33.1}] * 2, [])
    for words in ("Loss", "perplexity", "20.10", "lower is better", "sentences", "language model", "1,234"):
        assert words in page
    for words in ("BLEU", "chrF", "Attention", "sentence pairs", "validation.jsonl", "--from"):
        assert words not in page
    assert "English &lt;words&gt;" in page


def reproduced(options: TrainOptions) -> str:
    """The command of a report for a training with these options."""
    training = Provenance(corpora=options.corpora, seed=options.seed)
    record = TrainingRecord(
        name="en-de",
        directory=Path("runs/en-de"),
        card=Card(recipe=Recipe(), training=training),
        start={},
        updates=[],
        validations=[],
        cleaning={},
        diversify={},
        job=Job(options=options, device="cpu", threads=1),
        examples=[],
    )
    return command(record, Subject(kind="translator", title="", description="", parameters=0, command=["--from", "en"]))


def test_the_command_to_train_it_again_is_the_one_that_made_it() -> None:
    text = TrainOptions(corpora=("data/train",), valid=("data/valid",), seed=2, threads=3, device="cpu", minutes=1.5)
    end = "--valid data/valid --minutes 1.5 --threads 3 --device cpu --seed 2 --out runs/en-de-again"
    assert reproduced(text) == f"tongsa train data/train --from en --recipe runs/en-de/recipe.toml {end}"
    tuned = replace(text, init="runs/old", mix=("data/old",), mix_ratio=0.5, settings={"training.peak": "0.001"})
    assert reproduced(tuned) == (
        f"tongsa finetune runs/old data/train --mix data/old --mix-ratio 0.5 --set training.peak=0.001 {end}"
    )
    student = replace(text, teacher="runs/old", corpora=("a", "b"))
    assert reproduced(student) == (
        f"tongsa distill runs/old runs/en-de/distilled/references --recipe runs/en-de/recipe.toml {end}"
    )


def test_a_metric_that_falls_has_its_best_at_the_lowest() -> None:
    errors = [{"log_loss": 3.0, "error": value} for value in (40.0, 12.5, 20.0)]
    page = report({"error": Score(12.5, "")}, errors, [])
    assert "best 12.50 at update 10" in page


def test_sections_of_a_task_stand_in_the_page_and_its_navigation() -> None:
    page = report({}, [], [Section(key="stories", title="Stories", content="<p>once</p>")])
    assert '<a href="#stories">Stories</a>' in page
    assert '<section id="stories"><h2>Stories</h2><p>once</p></section>' in page
    assert "No scores are recorded yet." in page
