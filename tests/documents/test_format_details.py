"""Corners of the formats: who speaks in subtitles, how lines are cut, what of an office document is text."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path

import pytest
from fakes import Fake, upper
from lxml import etree
from samples import XLIFF_1, XLIFF_2, zipped

from tongsa.base.errors import CorpusError
from tongsa.documents import Options, read_document, translate_document
from tongsa.formats.wrapping import balance

TIMING = "00:00:01,000 --> 00:00:02,000"


def translated(folder: Path, name: str, text: str, translator: Fake | None = None) -> str:
    (folder / name).write_bytes(text.encode())
    return translate_document(translator or upper(), folder / name).target.read_bytes().decode()


def cue(*lines: str) -> str:
    return "\n".join(["1", TIMING, *lines, ""])


def test_each_speaker_of_a_cue_is_translated_without_the_dash(options: Options) -> None:
    found = read_document(cue("- who is there?", "– me again,", "and you").encode(), Path("a.srt"), options)
    assert [segment.content for segment in found.segments] == [("who is there?",), ("me again, and you",)]


def test_a_dash_on_a_later_line_is_no_speaker(options: Options) -> None:
    found = read_document(cue("who is there", "- or was there?").encode(), Path("a.srt"), options)
    assert [segment.content for segment in found.segments] == [("who is there - or was there?",)]


@pytest.mark.parametrize(("letters", "lines"), [(42, 1), (43, 2)])
def test_a_line_of_subtitles_has_at_most_42_columns(tmp_path: Path, letters: int, lines: int) -> None:
    text = f"{'a' * 20} {'b' * (letters - 21)}"
    new = translated(tmp_path, "a.srt", cue("some words"), Fake(lambda _: text))
    assert new == cue(*([text] if lines == 1 else text.split()))


def test_a_file_with_longer_lines_keeps_its_own_longest(tmp_path: Path) -> None:
    text = f"{'a' * 25} {'b' * 24}"
    assert translated(tmp_path, "a.srt", cue("x" * 50), Fake(lambda _: text)) == cue(text)


def test_the_dash_of_a_speaker_takes_its_room_on_the_line(tmp_path: Path) -> None:
    text = f"{'a' * 20} {'b' * 21}"
    new = translated(tmp_path, "a.srt", cue("- some words", "- more"), Fake(lambda t: text if "some" in t else t))
    assert new == cue(f"- {'a' * 20}", "b" * 21, "- more")


def test_lines_are_never_longer_than_they_may_be_even_if_there_are_more_of_them() -> None:
    words = ["aaaaaaa", "bbbbbbb", "ccccccc", "ddddddd"]
    assert balance(" ".join(words), 2, 10) == words
    assert balance("aaaaaa bbbbbb cccccc", 1, 10) == ["aaaaaa", "bbbbbb", "cccccc"], "two lines would hold its letters"
    assert balance("日" * 12, 1, 10) == ["日" * 4] * 3
    assert balance("short words", 2, 42) == ["short words"]


@pytest.mark.parametrize(
    ("name", "text"), [("a.srt", cue("some \U00100003 <i>words</i> \U00100000")), ("a.md", "some \U00100003 *words*\n")]
)
def test_private_characters_of_the_text_are_no_tags(tmp_path: Path, name: str, text: str) -> None:
    assert translated(tmp_path, name, text) == text.replace("some", "SOME").replace("words", "WORDS")


def test_what_was_deleted_from_an_open_document_is_not_translated(options: Options, tmp_path: Path) -> None:
    text = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    body = (
        f'<o xmlns:text="{text}"><text:tracked-changes><text:p>old words</text:p></text:tracked-changes>'
        "<text:p>new words</text:p></o>"
    )
    translator = upper()
    (tmp_path / "a.odt").write_bytes(zipped({"content.xml": body.encode()}))
    translate_document(translator, tmp_path / "a.odt")
    assert translator.asked == ["new words"]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("<p>  <b>some words</b>  </p>", ("some words",)),
        ("<p> </i> some words <b> </p>", ("some words",)),
        ("<p><b> <i>some words</i> </b></p>", ("some words",)),
        ("<p> some words </p>", ("some words",)),
    ],
)
def test_blanks_and_tags_around_a_text_are_no_part_of_it(
    options: Options, text: str, content: tuple[str, ...], tmp_path: Path
) -> None:
    (segment,) = read_document(text.encode(), Path("a.html"), options).segments
    assert segment.content == content
    assert translated(tmp_path, "a.html", text) == text.replace("some words", "SOME WORDS")


@pytest.mark.parametrize("first", ['<?xml version="1.0"?>\n', "<?xml version='1.0' encoding='utf-8'?>\r\n\n", ""])
def test_xml_keeps_its_first_and_last_lines(tmp_path: Path, first: str) -> None:
    text = f'{first}<xliff version="1.2"><file source-language="en" target-language="de"><body><trans-unit id="1">'
    text += "<source>some words</source></trans-unit></body></file></xliff>\n\n"
    new = translated(tmp_path, "a.xlf", text)
    assert new.startswith(f"{first}<xliff")
    assert new.endswith("</xliff>\n\n")
    assert "<target" in new


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "euc-kr"])
def test_xml_keeps_its_encoding(tmp_path: Path, encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><tmx version="1.4"><header srclang="en"/><body><tu>'
    text += '<tuv xml:lang="en"><seg>some words</seg></tuv></tu></body></tmx>'
    (tmp_path / "a.tmx").write_bytes(text.encode(encoding))
    new = translate_document(upper(), tmp_path / "a.tmx").target.read_bytes()
    root = etree.fromstring(new)
    assert root.getroottree().docinfo.encoding.lower() == encoding
    assert [seg.text for seg in root.iter("seg")] == ["some words", "SOME WORDS"]


def test_the_match_of_an_xliff_unit_holds_its_texts(tmp_path: Path) -> None:
    (tmp_path / "a.xlf").write_bytes(XLIFF_1)
    root = etree.fromstring(translate_document(upper(), tmp_path / "a.xlf").target.read_bytes())
    unit = root.find(".//{*}trans-unit[@id='1']")
    match = unit.find("{*}alt-trans/{*}target")
    assert "".join(match.itertext()) == "".join(unit.find("{*}target").itertext()) != ""
    assert match.get("state") is None
    (tmp_path / "a.xliff").write_bytes(XLIFF_2)
    root = etree.fromstring(translate_document(upper(), tmp_path / "a.xliff").target.read_bytes())
    match = root.find(".//{urn:oasis:names:tc:xliff:matches:2.0}match")
    segment = root.find(f".//{{*}}segment[@id='{match.get('ref')[1:]}']")
    for name in ("source", "target"):
        assert "".join(match.find(f"{{*}}{name}").itertext()) == "".join(segment.find(f"{{*}}{name}").itertext()) != ""


def bomb() -> bytes:
    """A part that is packed to less than a two-hundredth."""
    return zipped({"mimetype": "", "content.xml": "a" * (2 << 20)})


def twins() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            archive.writestr("content.xml", "<a/>")
    return written.getvalue()


def crowd(parts: int) -> bytes:
    return zipped({"content.xml": "<a/>"} | {f"{number}": "" for number in range(parts - 1)})


def locked() -> bytes:
    """The flag of a password, in the local header and in the directory."""
    data = bytearray(zipped({"content.xml": "<a/>"}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (bomb(), "times its size"),
        (twins(), "two parts of the same name"),
        (crowd(10_001), "10,001 parts"),
        (locked(), "parts under a password"),
    ],
    ids=["bomb", "twins", "crowd", "locked"],
)
def test_archives_that_are_a_danger_are_refused(options: Options, data: bytes, problem: str) -> None:
    with pytest.raises(CorpusError, match=f"is refused: it has .*{problem}"):
        read_document(data, Path("a.odt"), options)


def test_an_archive_of_exactly_as_many_parts_as_allowed_is_read(options: Options) -> None:
    assert read_document(crowd(10_000), Path("a.odt"), options).segments == []


@pytest.mark.parametrize(
    ("kept", "text"),
    [
        (False, '<meta name="description" content="some words">'),
        (False, "<meta property='og:title' content='some words'>"),
        (True, '<meta name="viewport" content="some words">'),
        (True, '<div name="description" content="some words"></div>'),
        (False, '<input type="submit" value="some words">'),
        (True, '<input type="text" value="some words">'),
        (False, '<img alt="some words">'),
        (True, '<img id="some words">'),
    ],
)
def test_attributes_that_people_read_are_translated_and_no_others(tmp_path: Path, kept: bool, text: str) -> None:
    assert translated(tmp_path, "a.html", text) == (text if kept else text.replace("some words", "SOME WORDS"))


def test_an_encoding_or_a_byte_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"some words\nand \xff\n")
    with pytest.raises(CorpusError, match="unknown encoding: klingon"):
        translate_document(upper(), tmp_path / "a.txt", encoding="klingon")
    with pytest.raises(CorpusError, match=r"a\.txt, line 2: not utf-8 \(0xff"):
        translate_document(upper(), tmp_path / "a.txt")
