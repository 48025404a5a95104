"""Two aligned files."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Reading
from tongsa.formats.plain import read_pairs as read_aligned
from tongsa.formats.plain import where_lengths_part

READING = Reading(source="en", target="de")


def test_plain_and_compressed_sides_may_be_mixed(tmp_path: Path) -> None:
    (tmp_path / "train.en").write_text("one\ntwo\n")
    (tmp_path / "train.de.gz").write_bytes(gzip.compress(b"eins\nzwei\n"))
    assert [pair[:2] for pair in read_aligned(tmp_path / "train", READING)] == [("one", "eins"), ("two", "zwei")]


def test_blank_lines_keep_their_place(tmp_path: Path) -> None:
    (tmp_path / "train.en").write_text("one\n\nthree\n")
    (tmp_path / "train.de").write_text("eins\nzwei\n\n")
    assert [pair[:2] for pair in read_aligned(tmp_path / "train", READING)] == [
        ("one", "eins"),
        ("", "zwei"),
        ("three", ""),
    ]


@given(seed=st.integers(0, 10_000), lines=st.integers(200, 600), gap=st.integers(1, 5), left=st.booleans())
def test_the_place_of_missing_lines_is_found_within_a_few_lines(seed: int, lines: int, gap: int, left: bool) -> None:
    draw = random.Random(seed)
    source = [draw.randint(5, 200) for _ in range(lines)]
    target = [max(1, round(length * draw.gauss(1.15, 0.12))) for length in source]
    place = draw.randint(20, lines - 20 - gap)
    cut = source if left else target
    del cut[place : place + gap]
    assert abs(where_lengths_part(source, target) - (place + 1)) <= 15


def test_files_that_differ_in_length_name_both_counts_and_the_place(tmp_path: Path) -> None:
    draw = random.Random(3)
    lines = ["x" * draw.randint(5, 150) for _ in range(1500)]
    (tmp_path / "train.en").write_text("".join(line + "\n" for line in lines))
    (tmp_path / "train.de").write_text("".join(line + "\n" for line in lines[:700] + lines[703:]))
    with pytest.raises(CorpusError) as caught:
        list(read_aligned(tmp_path / "train", READING))
    what, where, advice = str(caught.value).split("\n")
    assert what == f"{tmp_path}/train.en has 1,500 lines, {tmp_path}/train.de has 1,497"
    near = int(where.split("near line ")[1].rstrip(".").replace(",", ""))
    assert abs(near - 701) <= 3
    assert f"'{near - 3},{near + 3}p'" in advice


def test_one_empty_side_is_a_difference_of_lengths(tmp_path: Path) -> None:
    (tmp_path / "train.en").write_text("")
    (tmp_path / "train.de").write_text("eins\nzwei\n")
    with pytest.raises(CorpusError, match=r"train\.en has 0 lines, .*train\.de has 2"):
        list(read_aligned(tmp_path / "train", READING))
