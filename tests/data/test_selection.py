"""Filters over pairs, and masking: placeholders become alike on both sides of a pair, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.data.selection import clean, has_text, mask, not_seen_before, shorter_than
from tongsa.formats.pairs import EXAMPLES, Pair, Place, Tally


def pair(source: str, target: str, line: int = 1) -> Pair:
    return Pair(source, target, Place(Path("a.en"), line))


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=50))
def test_every_pair_is_either_kept_or_counted(texts: list[tuple[str, str]]) -> None:
    tally = Tally()
    pairs = [pair(*text, line=number) for number, text in enumerate(texts, 1)]
    filters = {"blank": has_text, "long": shorter_than(3), "again": not_seen_before()}
    kept = list(clean(pairs, filters, tally))
    assert tally.seen == len(pairs)
    assert tally.kept == len(kept)
    assert len(kept) + sum(tally.dropped.values()) == len(pairs)
    assert all(has_text(each) and max(len(each.source), len(each.target)) <= 3 for each in kept)
    assert len({each[:2] for each in kept}) == len(kept)


def test_what_was_left_out_is_told_with_its_first_places() -> None:
    tally = Tally()
    list(clean([pair("", "x", line) for line in range(1, 2001)], {"with an empty side": has_text}, tally))
    assert EXAMPLES == 3
    assert tally.lines() == ["left out 2,000 with an empty side (first: a.en, line 1; a.en, line 2; a.en, line 3)"]


@pytest.mark.parametrize("nothing", ["", " ", "\t", "\u3000", "\u200b", "\ufeff", "\x00", "\u2028"])
def test_a_side_of_nothing_but_blanks_and_controls_has_no_text(nothing: str) -> None:
    assert not has_text(pair(nothing, "x"))
    assert not has_text(pair("x", nothing))
    assert has_text(pair(f"x{nothing}", "x"))


HERE = Place(Path("here"), 1)


def test_placeholders_become_numbers_in_the_order_of_the_source_in_about_half_of_the_pairs() -> None:
    names = [f"name{number}" for number in range(200)]
    pairs = [Pair(f"Copy %s to {{{name}}}.", f"Kopiere nach {{{name}}}: %s.", HERE) for name in names]
    found = [mask(pair) for pair in pairs]
    changed = [new for old, new in zip(pairs, found, strict=True) if new != old]
    assert {pair[:2] for pair in changed} == {("Copy {1} to {2}.", "Kopiere nach {2}: {1}.")}
    assert 60 <= len(changed) <= 140
    assert [mask(pair) for pair in pairs] == found


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
