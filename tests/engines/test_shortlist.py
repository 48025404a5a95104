"""Shortlists: which pieces a source's pieces can become, and translating with nothing else."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from small_translators import learnt_translator, sentences, small_subwords
from tongsa.base.errors import DirectoryError, UsageError
from tongsa.config import CorpusSection
from tongsa.data.ids import PairIds, Sentences, write_ids
from tongsa.engines import shortlist
from tongsa.formats.pairs import Pair, Place, Tally
from tongsa.runs.directory import Run
from tongsa.translation.translator import Translator


def ids_of(rows: list[list[int]]) -> Sentences:
    ends = np.cumsum([0, *map(len, rows)])
    return Sentences(np.array([id for row in rows for id in row], np.uint16), ends.astype(np.int64))


def test_a_piece_keeps_the_pieces_that_it_becomes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every source id n is written as n + 100, in another order; one target piece stands in every sentence."""
    monkeypatch.setattr(shortlist, "LIKELIEST", 2)
    monkeypatch.setattr(shortlist, "COMMON", 1)
    draw = np.random.default_rng(0)
    rows = [draw.choice(np.arange(10, 40), 5, replace=False).tolist() for _ in range(400)]
    pairs = PairIds(ids_of(rows), ids_of([[*(id + 100 for id in row[::-1]), 99] for row in rows]))
    found = shortlist.learn(pairs, small_subwords())
    assert found[None] == [99]
    assert all(id + 100 in found[id] for id in range(10, 40))
    assert all(len(found[id]) <= 3 for id in range(10, 40))
    assert found[50] == [50], "what was never seen may be copied"


def test_the_file_is_as_ctranslate2_reads_it() -> None:
    subwords = small_subwords()
    pieces = subwords.source.all_pieces()
    text = shortlist.as_text({None: [5, 6], 300: [7], 301: []}, subwords)
    assert text == f"\t{pieces[5]} {pieces[6]}\n{pieces[300]}\t{pieces[7]}\n"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translator with the ids of the text that it has learnt from."""
    path: Path = learnt_translator(tmp_path_factory.mktemp("translators") / "learnt")
    pairs = [Pair(ko, en, Place(Path("grammar"), 1)) for ko, en in sentences(300)]
    write_ids(
        path / "data" / "train",
        pairs,
        Run(path).read_subwords(Run(path).read_card()),
        CorpusSection(),
        key="",
        threads=1,
        tally=Tally(),
        advance=lambda amount: None,
    )
    return path


@pytest.mark.parametrize("beam", [1, 4])
def test_a_shortlist_changes_little_of_what_was_learnt(directory: Path, beam: int) -> None:
    texts = [ko for ko, _ in sentences(200)]
    plain, short = (Translator.load(directory, shortlist=short) for short in (False, True))
    search = replace(plain.search, beam=beam)
    before, after = ([one.text for one in each.translate(texts, search)] for each in (plain, short))
    # it has hardly begun to learn, and scores over fewer pieces rank hypotheses that are nearly equal anew
    assert sum(a == b for a, b in zip(before, after, strict=True)) >= 150


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of compiled engines."""
    monkeypatch.setenv("TONGSA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "engines"


def test_only_pieces_of_the_shortlist_are_written(
    directory: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With everything but one piece and the end taken off the list, nothing else can be written."""
    piece = small_subwords().target.pieces([400])[0]
    monkeypatch.setattr(shortlist, "as_text", lambda *_: f"\t{piece}\n")
    (found,) = Translator.load(directory, shortlist=True, precision="int8").translate([sentences(1)[0][0]])
    assert set(found.tokens) <= {piece, "<unk>"}


def test_engines_with_and_without_stand_side_by_side(directory: Path, cache: Path) -> None:
    for short in (True, False, True):
        Translator.load(directory, shortlist=short, precision="int8")
    assert sorted(folder.name.partition("-")[0] for folder in cache.iterdir()) == ["int8", "shortlist.int8"]


def test_damaged_training_ids_are_told(directory: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(directory, tmp_path / "copy")
    folder = Run(copy).training_ids
    for name in ("about.json", "source.ids", "target.offsets"):
        content = (folder / name).read_bytes()
        for wrong in (b"", b"\xff" * len(content), content[: len(content) // 2]):
            (folder / name).write_bytes(wrong)
            with pytest.raises(DirectoryError, match="is damaged"):
                shortlist.write_shortlist(tmp_path, copy, small_subwords())
        (folder / name).unlink()
        os.mkfifo(folder / name)
        with pytest.raises(DirectoryError, match="is not a regular file"):
            shortlist.write_shortlist(tmp_path, copy, small_subwords())
        (folder / name).unlink()
        (folder / name).write_bytes(content)


def test_what_a_shortlist_needs_is_told(directory: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs CTranslate2"):
        Translator.load(directory, engine="native", shortlist=True)
    copy = shutil.copytree(directory, tmp_path / "copy", ignore=shutil.ignore_patterns("data"))
    with pytest.raises(DirectoryError, match="no training text"):
        Translator.load(copy, shortlist=True)


def test_a_job_with_a_shortlist_is_another_job(directory: Path) -> None:
    made = [Translator.load(directory, shortlist=short, precision="int8").made_with for short in (False, True)]
    assert made == ["ctranslate2 int8", "ctranslate2 int8 with a shortlist"]
