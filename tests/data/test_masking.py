"""Placeholders are masked alike on both sides of a training pair, or not at all."""

from __future__ import annotations

from pathlib import Path

from tongsa.data.masking import mask
from tongsa.formats.pairs import Pair, Place

HERE = Place(Path("here"), 1)


def test_placeholders_become_numbers_in_the_order_of_the_source() -> None:
    pair = mask(Pair("Copy %s to {name}.", "Kopiere nach {name}: %s.", HERE))
    assert pair[:2] == ("Copy {1} to {2}.", "Kopiere nach {2}: {1}.")


def test_a_pair_whose_sides_disagree_stays_as_it_is() -> None:
    for pair in (
        Pair("Copy %s.", "Kopieren.", HERE),
        Pair("Copy %s.", "Kopiere %d.", HERE),
        Pair("%s and %s", "%s und %s", HERE),
        Pair("No marks.", "Keine.", HERE),
    ):
        assert mask(pair) == pair


def test_a_url_is_masked_too() -> None:
    pair = mask(Pair("See https://example.org/a now", "https://example.org/a 를 보세요", HERE))
    assert pair[:2] == ("See {1} now", "{1} 를 보세요")
