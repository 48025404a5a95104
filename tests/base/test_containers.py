"""Packed files and archives: names that lead outside, damage, files that are not regular."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zipfile
import zlib
from pathlib import Path

import pytest

from tongsa.base.containers import DamagedFileError, files_in, is_there, open_bytes
from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Reading, open_corpus

READING = Reading(source="en", target="de")
PACK = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}


@pytest.mark.parametrize("name", ["{secret}", "../secret.tsv", "a/../../secret.tsv", "C:\\secret.tsv", "\\secret.tsv"])
def test_a_member_whose_name_leads_outside_of_the_archive_is_refused(tmp_path: Path, name: str) -> None:
    """Joined to the archive's path, an absolute name is the path of a local file."""
    secret = tmp_path / "secret.tsv"
    secret.write_text("local\tfile\n")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("good.tsv", "one\teins\n")
        archive.writestr(name.format(secret=secret), "two\tzwei\n")
    with pytest.raises(CorpusError, match=r"a\.zip is refused: .* outside of the archive"):
        list(open_corpus([tmp_path / "a.zip"], READING))
    with pytest.raises(CorpusError, match=r"a\.zip is refused"):
        files_in(tmp_path / "a.zip")


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("kind", [".tsv", ".po", ".mo", ".tmx", ".jsonl"])
def test_damage_is_one_error_with_the_name_of_the_file(tmp_path: Path, kind: str, suffix: str) -> None:
    packed = bytearray(PACK[suffix](b"one\teins\n" * 20_000))
    packed[len(packed) // 2] ^= 0xFF
    path = tmp_path / f"a{kind}{suffix}"
    path.write_bytes(bytes(packed[:-4]))
    with pytest.raises(CorpusError, match=rf"a{kind}{suffix}"):
        list(open_corpus([path], READING))


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("inside", [False, True])
def test_every_truncation_of_a_packed_file_is_damage(tmp_path: Path, suffix: str, inside: bool) -> None:
    packed = PACK[suffix](b"".join(b"line %d\n" % (n * n) for n in range(200)))
    for end in range(1, len(packed), max(1, len(packed) // 40)):
        path = tmp_path / f"cut{suffix}"
        path.write_bytes(packed[:end])
        if inside:
            with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
                archive.write(path, path.name)
            os.utime(tmp_path / "a.zip", ns=(end, end))
            path = tmp_path / "a.zip" / path.name
        with pytest.raises(DamagedFileError, match=rf"cut{suffix} is damaged"), open_bytes(path) as file:
            file.read()


def test_xz_may_not_ask_for_much_memory(tmp_path: Path) -> None:
    """Unpacking needs a dictionary of the size that the file names."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 20}]
    packed = bytearray(lzma.compress(b"one\teins\n" * 100, filters=filters))
    size = packed.index(b"\x21\x01") + 2  # the filter, the length of its properties, then 2 ** (n / 2 + 12) bytes
    header = slice(12, 12 + 4 * (packed[12] + 1))
    packed[size] = 38
    packed[header.stop - 4 : header.stop] = zlib.crc32(packed[header.start : header.stop - 4]).to_bytes(4, "little")
    (tmp_path / "a.tsv.xz").write_bytes(packed)
    assert len(lzma.decompress(packed)) == 900, "the file is valid, only greedy"
    with pytest.raises(DamagedFileError, match=r"a\.tsv\.xz is damaged after line 0: Memory usage limit exceeded"):
        list(open_corpus([tmp_path / "a.tsv.xz"], READING))


def test_xz_in_several_streams_is_read_whole(tmp_path: Path) -> None:
    packed = lzma.compress(b"one\teins\n") + bytes(8) + lzma.compress(b"") + lzma.compress(b"two\tzwei\n" * 50_000)
    (tmp_path / "a.tsv.xz").write_bytes(packed + bytes(4))
    assert len(list(open_corpus([tmp_path / "a.tsv.xz"], READING))) == 50_001


def test_members_packed_with_lzma_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.tsv", "one\teins\n")
    with pytest.raises(CorpusError, match=r"a\.tsv is packed in a way that cannot be read: LZMA"):
        list(open_corpus([tmp_path / "a.zip"], READING))


def test_every_byte_of_a_zip_archive_may_be_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.tsv", "one\teins\n" * 50)
        archive.writestr("b.tsv.bz2", bz2.compress(b"two\tzwei\n" * 50))
    whole = path.read_bytes()
    told = []
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        os.utime(path, ns=(place, place))
        try:
            list(open_corpus([path], READING))
        except CorpusError as error:
            told.append(str(error))
    assert len(told) > 20
    assert all("a.zip" in error for error in told)


def test_a_named_pipe_in_a_directory_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("one\teins\n")
    os.mkfifo(tmp_path / "b.tsv")
    corpus = open_corpus([tmp_path], READING)
    assert len(list(corpus)) == 1
    assert [path for path, _ in corpus.unread] == [tmp_path / "b.tsv"]


def test_a_named_pipe_is_no_corpus(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.tsv")
    with pytest.raises(CorpusError, match=r"there is no corpus .*a\.tsv\n.*neither a regular file"):
        open_corpus([tmp_path / "a.tsv"], READING)


def test_a_name_that_is_too_long_is_no_file(tmp_path: Path) -> None:
    assert not is_there(tmp_path / ("x" * 300))
    with pytest.raises(CorpusError, match="there is no corpus"):
        open_corpus([tmp_path / ("x" * 300)], READING)
    longest = tmp_path / ("x" * 251 + ".tsv")  # with a language behind it, it would be too long
    longest.write_text("one\teins\n")
    assert len(list(open_corpus([longest], READING))) == 1


def test_a_directory_named_like_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").mkdir()
    with pytest.raises(CorpusError, match="there is no corpus in"):
        open_corpus([tmp_path / "a.tsv"], READING)
