"""Inflected forms of terms among the words of a vocabulary."""

from __future__ import annotations

import pytest

from tongsa.translation.forms import SeenForms

STEMS = ("bild", "brief", "berg", "dieb", "feind", "freund", "hund", "schiff", "spiel", "stein", "tisch", "weg", "arm")
PIECES = [
    "▁",
    *(f"▁{stem}{ending}" for stem in STEMS for ending in ("", "e", "en")),
    *("▁hand", "▁handy", "▁handyman", "▁corn", "▁corner", "▁corne", "e", "en", "▁책", "▁책e", "▁fehler"),
]


@pytest.fixture(scope="module")
def forms() -> SeenForms:
    return SeenForms(PIECES)


def test_an_ending_of_many_words_makes_forms(forms: SeenForms) -> None:
    assert forms.of("hund") == ("hunde", "hunden")


def test_an_ending_of_few_words_makes_another_word(forms: SeenForms) -> None:
    assert forms.of("hand") == ()
    assert forms.of("handy") == ()


def test_a_shorter_word_is_no_form(forms: SeenForms) -> None:
    assert forms.of("corner") == ()
    assert forms.of("hunden") == ()


def test_a_word_that_was_not_seen_has_no_forms(forms: SeenForms) -> None:
    assert forms.of("drahtesel") == ()
    assert forms.of("hu") == ()


def test_only_the_last_word_of_a_term_is_inflected(forms: SeenForms) -> None:
    assert forms.of("roter hund") == ("roter hunde", "roter hunden")


def test_words_with_particles_are_left_to_their_own_rules(forms: SeenForms) -> None:
    assert forms.of("책") == ()


def test_a_vocabulary_without_words_has_no_forms() -> None:
    assert SeenForms(["</s>", "<unk>", "<pad>", "<0x41>"]).of("hund") == ()
