"""Documents that would take much memory or raise: each is refused with one clear error, or translated."""

from __future__ import annotations

import io
import json
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import upper
from lxml import etree

from tongsa.base.errors import CorpusError
from tongsa.documents.files import open_document, read_document
from tongsa.documents.translate import translate_segments
from tongsa.formats.segments import Languages, Options
from tongsa.formats.xml_tree import MOST_TAGS

OPTIONS = Options(languages=Languages(source="en", target="de"))
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
NOISE = random.Random(1).randbytes(1 << 17).hex()
"""Text that cannot be packed, so that the ratio of a bomb looks ordinary."""


def translated(data: bytes, name: str) -> bytes:
    document = read_document(data, Path(name), OPTIONS)
    return document.write(translate_segments(document.segments, upper()))


def docx(*bodies: str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, body in enumerate(bodies):
            name = f"word/header{number}.xml" if number else "word/document.xml"
            archive.writestr(name, f"<w:document {W}><w:body>{body}</w:body></w:document>")
        archive.writestr("noise", NOISE)
    return written.getvalue()


@pytest.mark.parametrize("tag", ["<w:p/>", '<w:p a=""/>', "&amp;"])
def test_a_word_document_of_very_many_tags_is_refused(tag: str) -> None:
    """A megabyte packed took 2.5 GB."""
    body = tag * (MOST_TAGS // 5)
    parts = [f"<!--{NOISE[:60_000]}-->{body}"] * 6  # none alone is too much
    with pytest.raises(CorpusError, match=r"a\.docx, word/header\d\.xml is refused: it has more than 1,500,000 tags"):
        translated(docx(*parts), "a.docx")


def test_parts_that_are_parsed_share_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tongsa.formats.zipped.LARGEST_TEXT", 1 << 20)
    with pytest.raises(CorpusError, match="its text has more than 1 MB"):
        translated(docx(*["x" * 300_000] * 4), "a.docx")


def test_parts_packed_as_no_document_is_are_refused() -> None:
    """LZMA has no limit of memory in a zip archive."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("word/document.xml", "<a/>")
    with pytest.raises(CorpusError, match="packed in a way that documents are not"):
        translated(written.getvalue(), "a.docx")


def test_many_small_parts_that_unpack_to_much_are_a_bomb() -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(20):
            archive.writestr(f"word/header{number}.xml", b"x" * (1 << 20))
    with pytest.raises(CorpusError, match=r"parts that unpack to [\d,]+ times its size"):
        translated(written.getvalue(), "a.docx")


def test_formatting_that_would_be_copied_very_often_is_refused() -> None:
    """The formatting of a run is written again for each of its parts: 60 KB, 20,000 times."""
    run = f'<w:r><w:rPr><w:x a="{NOISE[:60_000]}"/></w:rPr><w:t>text</w:t>{"<w:br/>" * 20_000}</w:r>'
    with pytest.raises(CorpusError, match="its formatting has more than 128 MB"):
        translated(docx(f"<w:p>{run}</w:p>"), "a.docx")


@pytest.mark.parametrize("encoding", ["utf-7", "cp037", "foo", "idna", "undefined"])
def test_xml_in_an_odd_encoding_is_refused(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><xliff version="1.2"/>'
    with pytest.raises(CorpusError, match=r"unknown encoding|not XML in an encoding"):
        translated(text.encode(), "a.xliff")
    with pytest.raises(CorpusError, match="not XML in an encoding"):
        translated(text.encode("cp037"), "a.xliff")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "iso-8859-1", "euc-kr", "cp1252"])
def test_xml_in_an_ordinary_encoding_is_translated(encoding: str) -> None:
    name = {"utf-8-sig": "utf-8", "utf-16-le": "utf-16", "cp1252": "windows-1252"}.get(encoding, encoding)
    unit = '<file source-language="en"><body><trans-unit id="1"><source>good day</source></trans-unit></body></file>'
    text = f'<?xml version="1.0" encoding="{name}"?><xliff version="1.2">{unit}</xliff>'
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    root = etree.fromstring(translated((mark + text).encode(encoding), "a.xliff"))
    assert root.findtext(".//target") == "GOOD DAY"


def test_a_number_of_thousands_of_digits_stays_in_json() -> None:
    number = "9" * 5000
    assert translated(f'{{"n": {number}, "text": "good day"}}'.encode(), "a.json").decode() == (
        f'{{"n": {number}, "text": "GOOD DAY"}}'
    )


@pytest.mark.parametrize("depth", [101, 900, 100_000])
def test_deep_json_is_refused(depth: int) -> None:
    with pytest.raises(CorpusError, match=r"a\.json is refused: objects and lists are nested more than 100 deep"):
        translated(b"[" * depth + b'"a"' + b"]" * depth, "a.json")


def test_a_long_key_is_not_repeated_in_the_name_of_every_place() -> None:
    data = json.dumps({"k" * 100_000: ["good day"] * 100}).encode()
    assert all(len(segment.id) < 100 for segment in read_document(data, Path("a.json"), OPTIONS).segments)
    data = (b'{"' + b"k" * 50 + b'": ') * 99 + json.dumps(["good day"] * 10).encode() + b"}" * 99
    assert all(len(segment.id) < 250 for segment in read_document(data, Path("a.json"), OPTIONS).segments)
    data = f"{'k' * 100_000},source,target\n".encode() + b"a,b,\n" * 10
    columns = Options(languages=OPTIONS.languages, columns=("1",))
    assert all(len(segment.id) < 100 for segment in read_document(data, Path("a.csv"), columns).segments)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_only_a_regular_file_is_a_document(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "a.txt")
    with pytest.raises(CorpusError, match=r"a\.txt is not a file"):
        open_document(tmp_path / "a.txt", OPTIONS)


def test_a_name_that_is_too_long_is_told(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot be read: File name too long"):
        open_document(tmp_path / ("x" * 300 + ".txt"), OPTIONS)


def test_a_row_with_very_many_columns_is_refused() -> None:
    with pytest.raises(CorpusError, match=r"a\.csv, row 2: more than 16,384 columns"):
        translated(b"en,de\n" + b"," * 20_000 + b"\n", "a.csv")


def xliff(segments: str, target: str = "", source: str = "one two") -> bytes:
    unit = f"<source>{source}</source><seg-source>{segments}</seg-source>{target}"
    return (
        '<xliff version="1.2"><file source-language="en" target-language="de"><body>'
        f'<trans-unit id="1">{unit}</trans-unit></body></file></xliff>'
    ).encode()


@pytest.mark.parametrize("mids", ["", ' mid="1"', ' mid=""'])
def test_segments_of_xliff_without_ids_of_their_own_are_translated_as_one(mids: str) -> None:
    data = xliff(f'<mrk mtype="seg"{mids}>one</mrk> <mrk mtype="seg"{mids}>two</mrk>')
    root = etree.fromstring(translated(data, "a.xliff"))
    assert "".join(root.find(".//trans-unit/target").itertext()) == "ONE TWO"


def test_segments_that_the_target_lacks_do_not_undo_the_others() -> None:
    cut = '<mrk mtype="seg" mid="1">one</mrk> <mrk mtype="seg" mid="2">two</mrk>'
    data = xliff(cut, '<target><mrk mtype="seg" mid="1"/></target>')
    root = etree.fromstring(translated(data, "a.xliff"))
    assert "".join(root.find(".//trans-unit/target").itertext()) == "ONE TWO"


def test_a_match_of_ours_with_an_odd_quality_is_replaced() -> None:
    unit = '<source>good day</source><alt-trans origin="Tongsa" match-quality="good"/>'
    data = f'<xliff version="1.2"><file><body><trans-unit id="1">{unit}</trans-unit></body></file></xliff>'.encode()
    root = etree.fromstring(translated(data, "a.xliff"))
    assert root.find(".//alt-trans").get("match-quality").endswith("%")


@pytest.mark.parametrize("version", ["1.2", "2.0"])
def test_the_work_for_a_unit_grows_with_its_segments(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many segments in a unit are twice as much work, not four times."""
    looks = 0

    def counting(element: object) -> str:
        nonlocal looks
        looks += 1
        return local(element)

    from tongsa.formats import xliff as module
    from tongsa.formats.xml_tree import local

    monkeypatch.setattr(module, "local", counting)
    counts = []
    for number in (50, 100, 200):
        looks = 0
        if version == "1.2":
            data = xliff("".join(f'<mrk mtype="seg" mid="{n}">word</mrk>' for n in range(number)))
        else:
            parts = "<segment><source>word</source></segment>" * number
            data = f'<xliff version="2.0"><file id="f"><unit id="u">{parts}</unit></file></xliff>'.encode()
        translated(data, "a.xliff")
        counts.append(looks)
    assert counts[2] - counts[1] < 2.5 * (counts[1] - counts[0]), counts


def test_the_charset_that_a_catalog_gets_is_the_one_it_is_written_in() -> None:
    message = 'msgid "charset=utf-7 for all"\nmsgstr ""\n'
    assert b"charset=UTF-8" in translated(message.encode(), "a.po")
    western = Options(languages=OPTIONS.languages, encoding="cp1252")
    document = read_document('msgid "déjà vu"\nmsgstr ""\n'.encode("cp1252"), Path("a.po"), western)
    written = document.write(translate_segments(document.segments, upper()))
    assert "charset=CP1252" in written.decode("cp1252")
    assert "DÉJÀ VU" in written.decode("cp1252")


@pytest.mark.parametrize("charset", ["utf-7", "utf-16", "cp037"])
def test_a_charset_that_is_not_like_ascii_is_refused_for_catalogs(charset: str) -> None:
    text = f'msgid ""\nmsgstr "Content-Type: text/plain; charset={charset}\\n"\n\nmsgid "a"\nmsgstr ""\n'
    with pytest.raises(CorpusError, match=rf"a\.po: not a charset for catalogs: {charset}"):
        translated(text.encode(), "a.po")
