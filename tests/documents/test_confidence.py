"""How sure a translation is: of its sentences by their length, less where a sentence was cut into pieces."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from fakes import Fake, FakeCard

from tongsa.documents.translate import translate_segments
from tongsa.formats.segments import Outcome, Segment
from tongsa.translation.confidence import Calibration, average

TOKEN = math.exp(-0.2)
"""Probability of each token of a `Fake`."""


def outcome_of(text: str, translator: Fake) -> Outcome:
    return translate_segments([Segment(id="x", content=(text,))], translator)[0]


def needs_pieces() -> Fake:
    """Translates "cannot open" and "now" apart, but not together."""
    return Fake(lambda text: "" if re.search("%s|[{]1[}]|open now", text) else text.upper())


def test_a_sentence_in_pieces_is_trusted_four_fifths_of_one_in_one_piece() -> None:
    whole = outcome_of("cannot open it now", needs_pieces())
    pieces = outcome_of("cannot open %s now", needs_pieces())
    assert whole.confidence == pytest.approx(TOKEN)
    assert pieces.notes == ("translated in pieces",)
    assert pieces.confidence == pytest.approx(0.8 * TOKEN)


def test_pieces_left_in_the_source_language_are_counted_and_told() -> None:
    some = Fake(lambda text: text.upper() if text == "cannot open" else "")
    outcome = outcome_of("cannot open %s now", some)
    assert outcome.text == "CANNOT OPEN %s now"
    assert "1 of its pieces left in the source language" in outcome.notes


def test_a_segment_is_as_sure_as_its_sentences_by_their_length() -> None:
    some = Fake(lambda text: "" if text.startswith("Short") else text.upper())
    outcome = outcome_of("Short one. This is the other of the two.", some)
    assert outcome.text == "Short one. THIS IS THE OTHER OF THE TWO."
    lengths = len("Short one."), len("This is the other of the two.")
    assert outcome.confidence == pytest.approx(TOKEN * lengths[1] / sum(lengths))
    assert "a sentence left in the source language" in outcome.notes


def test_every_translation_has_an_end_that_counts_as_a_token() -> None:
    assert average([-1.0, -2.0], [2, 1]) == pytest.approx(-3.0 / 5)
    assert average([], []) == 0.0


def test_confidence_is_never_above_one() -> None:
    class Sure(Fake):
        def translate(self, texts, options):  # type: ignore[no-untyped-def]
            return [replace(each, log_probability=0.5) for each in super().translate(texts, options)]

    assert outcome_of("some words", Sure(str.upper)).confidence == 1.0


def test_between_the_points_of_a_calibration_the_line_is_straight() -> None:
    calibration = Calibration.of([(0.0, 1.0), (-2.0, 0.2), (-1.0, 0.4)])
    expected = {-9.0: 0.2, -2.0: 0.2, -1.5: 0.3, -1.0: 0.4, -0.25: 0.85, 0.0: 1.0, 0.5: 1.0}
    assert {x: pytest.approx(calibration(x)) for x in expected} == expected


def test_points_of_the_same_likelihood_are_no_division_by_zero() -> None:
    calibration = Calibration.of([(-1.0, 0.2), (-1.0, 0.6), (0.0, 0.8)])
    assert calibration(-1.0) == pytest.approx(0.6)
    assert calibration(-0.5) == pytest.approx(0.7)


def test_memory_is_sure_and_what_is_left_alone_is_not() -> None:
    assert outcome_of("42", Fake(str.upper)).confidence == 1.0
    assert outcome_of("some words", Fake(lambda text: "")).confidence == 0.0
    icu = "{count, plural, one {# file} other {# files}}"
    left = outcome_of(icu, Fake(str.upper, card=FakeCard()))
    assert (left.text, left.state, left.confidence) == (icu, "source", 0.0)
    around = outcome_of(f"you have {icu} here", Fake(lambda text: text.replace("you have", "SIE HABEN")))
    assert around.confidence == 0.0
    assert "the branches of an ICU message left in the source language" in around.notes
