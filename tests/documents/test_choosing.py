"""Which of several translations of a sentence with placeholders is taken."""

from __future__ import annotations

import pytest

from tongsa.documents.placeholders import MaskedText, mask, stand_apart
from tongsa.documents.strategies import DIFFERENT, Candidate, best


def masked(text: str) -> MaskedText:
    (found,) = mask((text,))
    return found


@pytest.mark.parametrize(
    "text",
    ["Well done \U0001f389 today.", "A → B", "Some files ({count}) are open.", "Seen [%s].", "{name} If you see it."],
)
def test_a_sentence_is_complete_without_symbols_and_brackets(text: str) -> None:
    assert stand_apart(masked(text))


@pytest.mark.parametrize(
    "text", ["{name} is open.", "Open %s \U0001f389", "Open ({a} or {b}).", "Use {} now.", "See #ff0000."]
)
def test_a_placeholder_may_stand_for_a_word(text: str) -> None:
    assert not stand_apart(masked(text))


def candidate(text: str, average: float) -> Candidate:
    return Candidate(masked=masked(text), average=average, confidence=0.5)


def test_the_sentence_without_placeholders_is_taken_if_they_stand_apart() -> None:
    shown, hidden = candidate("Gut {1} getan.", -0.1), candidate("Gut gemacht {1}.", -0.5)
    assert best(shown, None, hidden, apart=True) == hidden
    chosen = best(shown, None, hidden, apart=False)
    assert chosen
    assert (chosen.masked, chosen.notes) == (shown.masked, (DIFFERENT,)), "and a person should look at it"


def test_the_model_places_what_changes_no_word() -> None:
    shown, hidden = candidate("Gut {1} gemacht.", -0.9), candidate("Gut gemacht {1}.", -0.5)
    assert best(shown, None, hidden, apart=True) == shown
