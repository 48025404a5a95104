"""Any format to any other: what was written reads back as it was."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tongsa.base.errors import UsageError
from tongsa.formats.pairs import Pair, Place, Reading, open_corpus
from tongsa.formats.writers import write_corpus
from tongsa.text.lines import nfc

READING = Reading(source="en", target="ko")
SUFFIXES = ["", ".tsv", ".csv", ".jsonl", ".tmx", ".xliff", ".po", ".mo", ".tsv.gz", ".tmx.xz", ".gz"]
PAIRS = [
    ("Hello.", "안녕하세요."),
    ('Press <b>"OK"</b> & go, %s!', '<b>"확인"</b> & 가세요, %s!'),
    ("Hello.", "안녕."),
    ("a\\b", "역 \\ 슬래시"),
    ('<g id="1">x</g><x id="2"/>', '<x id="2"/><g id="1">가</g>'),
]


def pairs(texts: list[tuple[str, str]]) -> list[Pair]:
    return [Pair(source, target, Place(Path("x"), number)) for number, (source, target) in enumerate(texts, 1)]


def written(path: Path, texts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    write_corpus(pairs(texts), path, READING)
    prefix = path.with_suffix("") if path.suffix == ".gz" and not path.exists() else path
    return [pair[:2] for pair in open_corpus([prefix], READING)]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_was_written_reads_back_as_it_was(tmp_path: Path, suffix: str) -> None:
    assert sorted(written(tmp_path / f"a{suffix}", PAIRS)) == sorted(PAIRS)


def test_parquet_reads_back_as_it_was(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    assert written(tmp_path / "a.parquet", PAIRS * 2000) == PAIRS * 2000


def test_a_struct_of_translations_in_parquet_is_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"id": [1, 2], "translation": [{"en": "one", "ko": "하나"}, {"en": None, "ko": "둘"}]})
    parquet.write_table(table, tmp_path / "a.parquet")
    corpus = open_corpus([tmp_path / "a.parquet"], READING)
    assert [pair[:2] for pair in corpus] == [("one", "하나")]
    assert dict(corpus.left_out.dropped) == {"rows without text": 1}


@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1).map(nfc)] * 2),
        min_size=1,
        max_size=6,
    ),
    suffix=st.sampled_from([".csv", ".jsonl", ".tmx", ".xliff"]),
)
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]], suffix: str) -> None:
    path = tmp_path_factory.mktemp("any") / f"a{suffix}"
    kept = [both for both in texts if all(text.strip() for text in both)] if suffix in (".tmx", ".xliff") else texts
    assert written(path, texts) == kept


def test_what_a_format_cannot_hold_is_counted(tmp_path: Path) -> None:
    changed = write_corpus(pairs([("two\nlines", "a\tb")]), tmp_path / "a.tsv", READING)
    assert changed == Counter({"texts with line ends or tabs, which became blanks": 2, "written": 1})
    assert [pair[:2] for pair in open_corpus([tmp_path / "a.tsv"], READING)] == [("two lines", "a b")]
    changed = write_corpus(pairs([("bell \a", "b")]), tmp_path / "a.tmx", READING)
    assert changed["texts with control characters that XML forbids, which were left out"] == 1


@pytest.mark.skipif(not shutil.which("msgfmt"), reason="needs msgfmt of gettext")
def test_msgfmt_accepts_the_catalog(tmp_path: Path) -> None:
    write_corpus(pairs([*PAIRS, ("line\n", "줄"), *PAIRS]), tmp_path / "a.po", READING)
    subprocess.run(["msgfmt", "--check", "-o", str(tmp_path / "a.mo"), str(tmp_path / "a.po")], check=True)
    assert len(list(open_corpus([tmp_path / "a.mo"], READING))) == 2 * len(PAIRS) + 1


def test_an_error_in_the_middle_leaves_no_file(tmp_path: Path) -> None:
    def failing():  # type: ignore[no-untyped-def]
        yield from pairs(PAIRS)
        raise RuntimeError

    for suffix in ("", ".tmx"):
        with pytest.raises(RuntimeError):
            write_corpus(failing(), tmp_path / f"a{suffix}", READING)
    assert list(tmp_path.iterdir()) == []


def test_a_kind_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Writable: \.tsv"):
        write_corpus([], tmp_path / "a.docx", READING)
