"""Lines of text files, pleasant and unpleasant."""

from __future__ import annotations

import gzip
import lzma
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.base.errors import CorpusError
from tongsa.text.lines import _tidy_by_patterns, read_lines, tidy


def written(tmp_path: Path, content: bytes, name: str = "text.en") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


@given(st.lists(st.text(st.characters(blacklist_characters="\n\r", blacklist_categories=["Cs"]))))
def test_lines_come_back_in_nfc_whatever_they_hold(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = written(tmp_path_factory.mktemp("lines"), "".join(line + "\n" for line in lines).encode())
    expected = [unicodedata.normalize("NFC", line) for line in lines]
    if expected:
        expected[0] = unicodedata.normalize("NFC", lines[0].removeprefix("\ufeff"))
    assert list(read_lines(path)) == expected


def test_only_newlines_end_a_line(tmp_path: Path) -> None:
    content = "one\u2028still one\u0085and\x0c\x1cstill\ntwo\rstill two\n"
    assert list(read_lines(written(tmp_path, content.encode()))) == [
        "one\u2028still one\u0085and\x0c\x1cstill",
        "two\rstill two",
    ]


def test_carriage_returns_before_newlines_and_the_byte_order_mark_are_dropped(tmp_path: Path) -> None:
    assert list(read_lines(written(tmp_path, b"\xef\xbb\xbfone\r\n\r\nthree"))) == ["one", "", "three"]


def test_a_last_line_needs_no_newline_and_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    assert list(read_lines(written(tmp_path, b"one\ntwo"))) == ["one", "two"]
    assert list(read_lines(written(tmp_path, b""))) == []


def test_korean_typed_on_a_mac_becomes_whole_syllables(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "통사는 통역관이다")
    assert list(read_lines(written(tmp_path, decomposed.encode()))) == ["통사는 통역관이다"]


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_compressed_files_read_alike_and_say_where_they_were_cut(tmp_path: Path, suffix: str, pack) -> None:
    lines = [f"line {number} {number * 7919 % 1000}" for number in range(20_000)]
    packed = pack("".join(line + "\n" for line in lines).encode())
    assert list(read_lines(written(tmp_path, packed, f"whole{suffix}"))) == lines
    cut = written(tmp_path, packed[: len(packed) // 2], f"cut{suffix}")
    with pytest.raises(CorpusError, match=r"cut.* is damaged after line [\d,]+: Compressed file ended"):
        list(read_lines(cut))


@pytest.mark.parametrize("name", ["text.gz", "text.xz"])
def test_files_that_only_claim_to_be_compressed_are_damage(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorpusError, match="is damaged after line 0"):
        list(read_lines(written(tmp_path, b"plain text\n", name)))


def test_bytes_flipped_inside_a_gz_are_damage(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(bytes(range(256)) * 400, 9))
    for place in range(12, len(packed) - 8):
        packed[place] ^= 0xFF
    with pytest.raises(CorpusError, match="is damaged"):
        list(read_lines(written(tmp_path, bytes(packed), "text.gz"), "latin-1"))


def test_undecodable_bytes_are_told_with_file_line_and_byte(tmp_path: Path) -> None:
    path = written(tmp_path, b"fine\n\xec\xa2\x8b\xeb\x8b\xa4 caf\xe9 noir\n")
    with pytest.raises(CorpusError) as caught:
        list(read_lines(path))
    assert str(caught.value).startswith(f"{path}, line 2, byte 11: not utf-8 (0xe9")
    assert "좋다 caf" in str(caught.value)
    assert "--encoding cp1252" in str(caught.value)


@pytest.mark.parametrize("encoding", ["cp949", "euc-kr", "utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_the_named_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    lines = ["한국어 문장", "", "둘째 줄 in English"]
    path = written(tmp_path, "".join(line + "\r\n" for line in lines).encode(encoding))
    assert list(read_lines(path, encoding)) == lines


def test_utf_16_read_as_utf_8_is_recognised(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="--encoding utf-16"):
        list(read_lines(written(tmp_path, "text\n".encode("utf-16"))))


def test_utf_16_cut_in_the_middle_of_a_character_is_told(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="after line 1: not utf-16"):
        list(read_lines(written(tmp_path, "one\ntwo".encode("utf-16")[:-1]), "utf-16"))


@pytest.mark.parametrize("encoding", ["utf-nine", "hex", "base64"])
def test_an_unknown_encoding_is_named(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(CorpusError, match=f"unknown encoding: {encoding}"):
        list(read_lines(written(tmp_path, b"text\n"), encoding))


def test_a_directory_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot be read: Is a directory"):
        list(read_lines(tmp_path))


@given(st.text())
def test_tidy_text_is_tidy_and_encodable(text: str) -> None:
    found = tidy(text)
    assert tidy(found) == found
    assert unicodedata.is_normalized("NFC", found)
    assert "  " not in found
    assert found == found.strip()
    assert not set(found) & set("\n\r\t\x00\u2028\u2029\u0085\u00a0\u3000\u200b\ufeff\u2581")
    found.encode()


@given(st.text(st.characters(codec="ascii", min_codepoint=33, max_codepoint=126), min_size=1))
def test_tidy_leaves_plain_words_alone(word: str) -> None:
    assert tidy(f" {word}\t{word} ") == f"{word} {word}"


def test_tidy_keeps_what_languages_need() -> None:
    for text in ("می‌خواهم", "👩‍👩‍👧 family", "שלום \u200fעולם", "ไม่มีช่องว่าง", "没有空格。", "각"):
        assert tidy(text) == text


def test_tidy_composes_letters_that_a_control_character_kept_apart() -> None:
    assert tidy("cafe\x00\u0301") == "café"
    assert tidy("word\u2060joiner") == "wordjoiner"
    assert tidy("half \ud83d of an emoji") == "half \ufffd of an emoji"


@given(st.text() | st.text("ab \u2581\u0301\u00e9\u200b\u00a0\u3000통\u1110", max_size=8))
def test_tidying_printable_text_without_patterns_changes_nothing(text: str) -> None:
    assert tidy(text) == _tidy_by_patterns(text)


def test_every_character_is_tidied_alike_with_and_without_patterns() -> None:
    unassigned_or_private = range(0x34000, 0x110000)
    for code in (*range(0x34000), *range(0xE0000, 0xE0200), *unassigned_or_private[::97]):
        text = f" a{chr(code)}  {chr(code)}\u0301b{chr(code)} "
        assert tidy(text) == _tidy_by_patterns(text), hex(code)
