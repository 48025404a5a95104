"""How sure a translation is: of its sentences by their length, less where a sentence was cut into pieces."""

from __future__ import annotations

import re

import pytest
from fakes import CONFIDENCE, Fake, FakeCard

from tongsa.documents.translate import translate_segments
from tongsa.formats.segments import Outcome, Segment


def outcome_of(text: str, translator: Fake) -> Outcome:
    return translate_segments([Segment(id="x", content=(text,))], translator)[0]


def needs_pieces() -> Fake:
    """Translates "cannot open" and "now" apart, but not together."""
    return Fake(lambda text: "" if re.search("%s|[{]1[}]|open now", text) else text.upper())


def test_a_sentence_in_pieces_is_trusted_four_fifths_of_one_in_one_piece() -> None:
    whole = outcome_of("cannot open it now", needs_pieces())
    pieces = outcome_of("cannot open %s now", needs_pieces())
    assert whole.confidence == pytest.approx(CONFIDENCE)
    assert pieces.notes == ("translated in pieces",)
    assert pieces.confidence == pytest.approx(0.8 * CONFIDENCE)


def test_pieces_left_in_the_source_language_are_counted_and_told() -> None:
    some = Fake(lambda text: text.upper() if text == "cannot open" else "")
    outcome = outcome_of("cannot open %s now", some)
    assert outcome.text == "CANNOT OPEN %s now"
    assert "1 of its pieces left in the source language" in outcome.notes
    assert outcome.confidence == pytest.approx(0.8 * CONFIDENCE * len("cannot open ") / len("cannot open  now"))


def test_a_segment_is_as_sure_as_its_sentences_by_their_length() -> None:
    some = Fake(lambda text: "" if text.startswith("Short") else text.upper())
    outcome = outcome_of("Short one. This is the other of the two.", some)
    assert outcome.text == "Short one. THIS IS THE OTHER OF THE TWO."
    lengths = len("Short one."), len("This is the other of the two.")
    assert outcome.confidence == pytest.approx(CONFIDENCE * lengths[1] / sum(lengths))
    assert "a sentence left in the source language" in outcome.notes


def test_memory_is_sure_and_what_is_left_alone_is_not() -> None:
    assert outcome_of("42", Fake(str.upper)).confidence == 1.0
    assert outcome_of("some words", Fake(lambda text: "")).confidence == 0.0
    icu = "{count, plural, one {# file} other {# files}}"
    left = outcome_of(icu, Fake(str.upper, card=FakeCard()))
    assert (left.text, left.state, left.confidence) == (icu, "source", 0.0)
    around = outcome_of(f"you have {icu} here", Fake(lambda text: text.replace("you have", "SIE HABEN")))
    assert around.confidence == 0.0
    assert "the branches of an ICU message left in the source language" in around.notes
