"""Length penalty, limits, and what a search refuses."""

from __future__ import annotations

import pytest
import torch

from tongsa.base.errors import UsageError
from tongsa.config import DecodingSection
from tongsa.decoding.search import Sampling, Search, length_limits, length_penalty, most_attended


@pytest.mark.parametrize(
    ("length", "alpha", "expected"), [(1, 0.6, 1.0), (7, 1.0, 2.0), (13, 0.6, 3**0.6), (40, 0.0, 1.0)]
)
def test_the_length_penalty_is_that_of_the_paper(length: int, alpha: float, expected: float) -> None:
    assert float(length_penalty(length, alpha)) == pytest.approx(expected)


def test_a_higher_alpha_favours_longer_outputs() -> None:
    short, long = (5, -4.0), (12, -6.0)

    def best(alpha: float) -> tuple[int, float]:
        return max(short, long, key=lambda h: h[1] / float(length_penalty(h[0], alpha)))

    assert best(0.0) == short
    assert best(1.0) == long


def test_limits_are_relative_to_the_source_and_count_the_end() -> None:
    lengths = torch.tensor([1, 10])
    assert length_limits(lengths, Search(max_extra=50, max_ratio=1.0), None).tolist() == [52, 61]
    assert length_limits(lengths, Search(max_extra=3, max_ratio=1.5), None).tolist() == [5, 19]


def test_limits_stay_within_the_positions_that_a_model_has() -> None:
    assert length_limits(torch.tensor([1, 10]), Search(max_extra=5), 9).tolist() == [7, 9]


def test_a_search_takes_its_defaults_from_the_recipe() -> None:
    section = DecodingSection(beam=7, length_penalty=0.3, max_extra=9, max_ratio=2.0)
    search = Search.of(section)
    assert (search.beam, search.length_penalty, search.max_extra, search.max_ratio) == (7, 0.3, 9, 2.0)
    assert Search.of(DecodingSection()) == Search()


@pytest.mark.parametrize("wrong", [{"beam": 0}, {"nbest": 0}])
def test_impossible_searches_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        Search(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"temperature": 0.0}, {"top_k": -1}, {"top_p": 0.0}, {"top_p": 1.1}])
def test_impossible_sampling_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="sampling needs"):
        Sampling(**wrong)  # type: ignore[arg-type]


def test_a_token_aligns_to_the_place_that_most_attention_falls_on() -> None:
    assert most_attended([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]]) == (2, 0, 0)


def test_without_a_source_there_is_no_place_to_align_to() -> None:
    assert most_attended([[], []]) == ()
