"""The translator that is shipped with the package: it is whole, small, licensed, and translates everyday sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

import tongsa
from tongsa.evaluation.metrics import score
from tongsa.runs.directory import Run
from tongsa.runs.names import SHIPPED, shipped
from tongsa.translation.translator import Translator

ROOT = Path(__file__).resolve().parents[2]

SENTENCES = {
    "Where is the station?": "Wo ist der Bahnhof?",
    "Good morning.": "Guten Morgen.",
    "I don't have any money.": "Ich habe kein Geld.",
    "She is reading a book.": "Sie liest ein Buch.",
    "Can you help me?": "Können Sie mir helfen?",
    "My brother lives in Berlin.": "Mein Bruder wohnt in Berlin.",
    "It is raining today.": "Heute regnet es.",
    "We were very tired yesterday.": "Wir waren gestern sehr müde.",
}


@pytest.fixture(scope="module")
def translator() -> Translator:
    return tongsa.load("en-de", threads=1)


def test_everyday_sentences_are_translated(translator: Translator) -> None:
    found = [each.text for each in translator.translate(SENTENCES)]
    assert found[0] == "Wo ist der Bahnhof?"
    assert found[1].rstrip(".!") == "Guten Morgen"
    assert score(found, list(SENTENCES.values()), "de", ["chrf"])["chrf"].score > 60, found


def test_the_phrases_that_everybody_tries_first_are_right(translator: Translator) -> None:
    phrases = {
        "How are you?": "Wie geht es dir?",
        "Good night.": "Gute Nacht.",
        "Thank you very much.": "Vielen Dank.",
        "What time is it?": "Wie spät ist es?",
        "Happy birthday!": "Alles Gute zum Geburtstag!",
        "Where are you from?": "Woher kommst du?",
    }
    found = [each.text for each in translator.translate(phrases)]
    wrong = [(phrase, text) for phrase, text in zip(phrases, found, strict=True) if text != phrases[phrase]]
    assert len(wrong) <= 1, wrong  # weights of 8 bits are not rounded alike on every machine


def test_the_translations_have_a_confidence(translator: Translator) -> None:
    sure, unsure = translator.translate(
        ["Where is the station?", "Qxv zzkrp wob, frnd glyph?"], tongsa.TranslateOptions(tokens=True)
    )
    assert sure.confidence is not None
    assert unsure.confidence is not None
    assert sure.confidence > unsure.confidence


def test_it_is_small_and_has_nothing_of_its_training_text() -> None:
    folder = SHIPPED / "en-de"
    files = {path.name: path.stat().st_size for path in folder.iterdir()}
    assert set(files) <= {"translator.json", "weights.safetensors", "subwords.model", "frequencies.bin"}
    assert sum(files.values()) < 8_000_000


@pytest.mark.parametrize("name", shipped())
def test_licence_and_attribution_are_in_the_card_and_in_the_notice(name: str) -> None:
    card = Run(shipped()[name]).read_card()
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    assert f"runs/shipped/{name}" in notice
    for words in ("CC BY 2.0 FR", "tatoeba.org", "manythings.org/anki"):
        assert words in card.training.licence
        assert words in notice
    assert not any(Path(corpus).is_absolute() for corpus in card.training.corpora)
    assert card.compact
