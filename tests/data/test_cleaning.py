"""Filters over pairs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.data.cleaning import EXAMPLES, Tally, clean, has_text, not_seen_before, shorter_than
from tongsa.formats.pairs import Pair, Place


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
