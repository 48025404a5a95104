"""Alignment: from attention weights to places."""

from __future__ import annotations

from tongsa.decoding.alignment import most_attended


def test_a_token_belongs_to_the_place_that_most_attention_falls_on() -> None:
    assert most_attended([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]]) == (2, 0, 0)


def test_without_a_source_there_is_no_place() -> None:
    assert most_attended([[], []]) == ()
