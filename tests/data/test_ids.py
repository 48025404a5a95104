"""Ids on disk."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from tongsa.base.errors import CorpusError, WriteError
from tongsa.config import CorpusSection, SubwordsSection
from tongsa.data import ids
from tongsa.data.ids import ABOUT, PairIds, stored_key, write_ids
from tongsa.formats.pairs import Pair, Place, Tally
from tongsa.text.subwords import Subwords, Vocabulary, learn


def pair(source: str, target: str, line: int = 1) -> Pair:
    return Pair(source, target, Place(Path("a.en"), line))


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    draw = random.Random(1)
    words = ["".join(draw.choices("abdeiklmnorstu", k=draw.randint(2, 6))) for _ in range(150)]
    lines = [" ".join(draw.choices(words, k=draw.randint(3, 15))) for _ in range(300)]
    return [pair(line, line.upper(), number) for number, line in enumerate(lines, 1)]


@pytest.fixture(scope="module")
def subwords(pairs: list[Pair]) -> Subwords:
    section = SubwordsSection(size=400)
    return Subwords(learn([p.source for p in pairs], section, 1), learn([p.target for p in pairs], section, 1))


def write(
    folder: Path,
    pairs: list[Pair],
    subwords: Subwords,
    tally: Tally | None = None,
    section: CorpusSection | None = None,
) -> PairIds:
    section = section or CorpusSection()
    tally = tally or Tally()
    return write_ids(folder, pairs, subwords, section, key="key", threads=1, tally=tally, advance=lambda count: None)


@pytest.mark.parametrize("block", [1, 7, 8192])
def test_every_sentence_is_read_back_as_it_was_encoded(
    tmp_path: Path, pairs: list[Pair], subwords: Subwords, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ids, "BLOCK", block)
    written = write(tmp_path / "train", pairs, subwords)
    reopened = PairIds.open(tmp_path / "train")
    assert len(written) == len(reopened) == len(pairs)
    for row, each in enumerate(pairs):
        assert subwords.source.decode(reopened.source[row].tolist()) == each.source
        assert subwords.target.decode(reopened.target[row].tolist()) == each.target
    assert reopened.source.lengths.tolist() == [len(reopened.source[row]) for row in range(len(pairs))]


def test_ids_are_mapped_and_not_held(tmp_path: Path, pairs: list[Pair], subwords: Subwords) -> None:
    assert isinstance(write(tmp_path / "train", pairs, subwords).source.ids, np.memmap)


@pytest.mark.parametrize(("size", "dtype", "width"), [(65_536, "uint16", 2), (65_537, "uint32", 4)])
def test_wide_vocabularies_get_wide_numbers(
    tmp_path: Path,
    pairs: list[Pair],
    subwords: Subwords,
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    dtype: str,
    width: int,
) -> None:
    expected = [ids.tolist() for ids in (write(tmp_path / "narrow", pairs, subwords).source[row] for row in (0, 7))]
    monkeypatch.setattr(Vocabulary, "__len__", lambda self: size)
    written = write(tmp_path / "wide", pairs, subwords)
    assert (written.source.ids.dtype, written.source.ids.itemsize) == (dtype, width)
    assert [written.source[row].tolist() for row in (0, 7)] == expected


def test_pairs_too_long_uneven_or_empty_are_left_out_and_counted(tmp_path: Path, subwords: Subwords) -> None:
    tally = Tally()
    kept = pair("a", "B" * 12)  # short sentences may differ by a factor
    given = [pair("a " * 300, "B", 1), pair("a", "BEDI " * 40, 2), pair("", "B", 3), pair("\u200b", "B", 4), kept]
    written = write(tmp_path / "train", given, subwords, tally, CorpusSection(max_tokens=250, max_ratio=9))
    assert len(written) == 1
    assert subwords.target.decode(written.target[0].tolist()) == kept.target
    assert sorted(tally.dropped.values()) == [1, 1, 2]
    assert all(
        each in "\n".join(tally.lines()) for each in ("corpus.max_tokens", "corpus.max_ratio", "line 3; a.en, line 4")
    )


def test_no_pairs_at_all_can_be_opened(tmp_path: Path, subwords: Subwords) -> None:
    written = write(tmp_path / "train", [], subwords)
    assert len(written) == 0
    assert written.source.lengths.tolist() == []


def test_the_key_is_there_only_once_everything_is(tmp_path: Path, pairs: list[Pair], subwords: Subwords) -> None:
    about = tmp_path / "train" / ABOUT
    assert stored_key(about) is None

    def broken() -> object:
        yield from pairs[:50]
        raise CorpusError("damaged after line 50")

    with pytest.raises(CorpusError):
        write(tmp_path / "train", broken(), subwords)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / "train", pairs, subwords)
    assert stored_key(about) == "key"


@pytest.mark.parametrize("content", ["", "{", "[]", "5", "{}", '"key"'])
def test_a_damaged_key_is_no_key(tmp_path: Path, content: str) -> None:
    (tmp_path / ABOUT).write_text(content)
    assert stored_key(tmp_path / ABOUT) is None


def test_old_ids_stay_where_new_ones_cannot_be_written(
    tmp_path: Path, pairs: list[Pair], subwords: Subwords, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "train", pairs, subwords)

    def full(self: object, sentences: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ids._Writer, "write", full)
    with pytest.raises(WriteError, match="No space left"):
        write(tmp_path / "train", pairs[:30], subwords)
    assert len(PairIds.open(tmp_path / "train")) == len(pairs)
    assert json.loads((tmp_path / "train" / ABOUT).read_text())["pairs"] == len(pairs)
    assert [path.name for path in tmp_path.iterdir()] == ["train"]


@pytest.fixture(scope="module")
def of_length(subwords: Subwords) -> dict[int, str]:
    """A text of so many ids on either side."""
    draw = random.Random(2)
    text, found = "", {}
    while len(text) < 60:
        text += draw.choice("0123456789")  # none of the letters that the subwords were learnt from
        found[len(subwords.source.encode(text))] = text
    assert {length: len(subwords.target.encode(text)) for length, text in found.items()} == {n: n for n in found}
    return found


@pytest.mark.parametrize(
    ("source", "target", "section", "kept"),
    [
        (30, 30, CorpusSection(max_tokens=30), True),
        (31, 30, CorpusSection(max_tokens=30), False),
        (30, 31, CorpusSection(max_tokens=30), False),
        (30, 10, CorpusSection(max_ratio=3), True),
        (31, 10, CorpusSection(max_ratio=3), False),
        (10, 31, CorpusSection(max_ratio=3), False),
        (20, 3, CorpusSection(max_ratio=3), True),  # short sentences may differ as they like
        (21, 3, CorpusSection(max_ratio=3), False),
        (50, 3, CorpusSection(max_ratio=0), True),
    ],
)
def test_bounds_of_length_and_ratio_include_themselves(
    tmp_path: Path,
    subwords: Subwords,
    of_length: dict[int, str],
    source: int,
    target: int,
    section: CorpusSection,
    kept: bool,
) -> None:
    tally = Tally()
    written = write(tmp_path / "train", [pair(of_length[source], of_length[target])], subwords, tally, section)
    assert len(written) == int(kept)
    assert sum(tally.dropped.values()) == int(not kept)
