"""What each format promises beyond coming back whole."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from fakes import Fake, FakeCard, losing, upper
from lxml import etree
from samples import CSV, DOCX, HTML, MARKDOWN, ODT, SRT, TMX, XLIFF_1, XLIFF_2, zipped

from tongsa.base.errors import CorpusError, TongsaError, UsageError
from tongsa.documents import Languages, Options, default_target, open_document, translate_document
from tongsa.formats.wrapping import balance, width, wrap


def translated(
    name: str, data: bytes, tmp_path: Path, translator: Fake | None = None, columns: tuple[str, ...] = ()
) -> bytes:
    (tmp_path / name).write_bytes(data)
    done = translate_document(translator or upper(), tmp_path / name, tmp_path / f"new.{name}", columns=columns)
    assert (tmp_path / name).read_bytes() == data, "the source is left alone"
    return done.target.read_bytes()


def test_html_keeps_code_scripts_and_what_says_no(tmp_path: Path) -> None:
    text = translated("a.html", HTML, tmp_path).decode()
    for kept in (
        'var a = "<b>hello</b>"',
        "<pre>keep me</pre>",
        ">keep that<",
        ">and that<",
        "<code>rm -rf</code>",
        "<!-- a comment -->",
    ):
        assert kept in text
    assert '<html lang="de">' in text
    assert 'title="THE LINK">THIS <i>NICE</i>' in text
    assert 'alt="a PICTURE"' in text


def test_markdown_keeps_code_and_addresses(tmp_path: Path) -> None:
    text = translated("a.md", MARKDOWN, tmp_path).decode()
    for kept in (
        'keep = "this"',
        "    indented code",
        "|------|:-----:|",
        "[defined]: http://a.b/c",
    ):
        assert kept in text
    assert '[LINK TEXT](http://x.y/z_a "TIP")' in text
    assert "**BOLD AND _NESTED_ WORDS**" in text
    assert "> QUOTED TEXT" in text


def test_subtitles_keep_timing_and_line_length(tmp_path: Path) -> None:
    long = Fake(lambda text: text + " und noch viele, viele Wörter mehr als vorher hier standen")
    text = translated("a.srt", SRT, tmp_path, long).decode()
    assert [line for line in text.split("\r\n") if "-->" in line] == [
        line for line in SRT.decode().split("\r\n") if "-->" in line
    ]
    assert all(width(line) <= 42 + len("<i></i>") for line in text.split("\r\n"))
    assert "\r\n- " in text


def test_xliff_1_has_states_and_match_quality(tmp_path: Path) -> None:
    root = etree.fromstring(translated("a.xlf", XLIFF_1, tmp_path))
    targets = list(root.iter("{*}target"))
    units = {unit.get("id"): unit for unit in root.iter("{*}trans-unit")}
    first = units["1"].find("{*}target")
    assert first.get("state") == "needs-review-translation"
    assert first.get("state-qualifier") == "mt-suggestion"
    assert units["1"].find("{*}alt-trans").get("match-quality") == "75.00%"
    assert first.find("{*}g").text == "BIG"
    assert units["2"].find("{*}target").text == "fertig"
    assert units["3"].find("{*}target") is None
    assert [mrk.get("mid") for mrk in units["4"].find("{*}target").iter("{*}mrk")] == ["0", "1"]
    assert root.find("{*}file").get("target-language") == "de"
    assert len(targets) == 5


def test_xliff_1_left_in_the_source_language_needs_translation(tmp_path: Path) -> None:
    root = etree.fromstring(translated("a.xlf", XLIFF_1, tmp_path, Fake(lambda text: "")))
    assert root.find(".//{*}trans-unit[@id='1']/{*}target").get("state") == "needs-translation"


def test_xliff_2_has_states_and_match_quality(tmp_path: Path) -> None:
    root = etree.fromstring(translated("a.xliff", XLIFF_2, tmp_path))
    assert root.get("trgLang") == "de"
    match = root.find(".//{urn:oasis:names:tc:xliff:matches:2.0}match")
    assert (match.get("matchQuality"), match.get("type"), match.get("ref")) == ("75.000", "mt", "#s2")
    assert root.find(".//{*}segment").get("state") == "translated"


def test_xliff_of_other_languages_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xlf").write_bytes(XLIFF_1.replace(b'source-language="en"', b'source-language="fr"'))
    with pytest.raises(CorpusError, match="source-language is fr"):
        translate_document(upper(), tmp_path / "a.xlf")


def test_tmx_gets_a_variant_with_confidence(tmp_path: Path) -> None:
    root = etree.fromstring(translated("a.tmx", TMX, tmp_path))
    new = root.find(".//tu[@tuid='7']")[1]
    assert new.find("prop[@type='x-tongsa-confidence']").text == "0.75000"
    assert "".join(new.find("seg").itertext()) == "Press <b>THIS</b> BUTTON %s now."
    assert len(list(root.iter("tuv"))) == 4


@pytest.mark.parametrize("name", ["a.docx", "a.odt"])
def test_office_documents_keep_runs_styles_and_nested_text(name: str, tmp_path: Path) -> None:
    data = translated(name, DOCX if name == "a.docx" else ODT, tmp_path)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        root = etree.fromstring(archive.read("word/document.xml" if name == "a.docx" else "content.xml"))
    text = "|".join("".join(p.itertext()) for p in root.iter("{*}p"))
    assert "THE FIRST" in text
    if name == "a.docx":
        assert "IN a BOX" in text
        bold = next(run for run in root.iter("{*}r") if run.find("{*}rPr/{*}b") is not None)
        assert bold.find("{*}t").text == "FIRST"
        assert len(list(root.iter("{*}footnoteReference"))) == len(list(root.iter("{*}br"))) == 1
        assert root.find(".//{*}hyperlink/{*}r/{*}t").text == "a LINK"
    else:
        assert "WITH a NOTE" in text
        assert root.find(".//{*}span").text == "FIRST"


def test_csv_columns_in_place_or_filled(tmp_path: Path) -> None:
    filled = translated("a.csv", CSV, tmp_path).decode()
    assert '1;"Hello; ""you""";"Hello; ""YOU""";keep\r\n2;Done;Fertig;keep' in filled
    in_place = translated("b.csv", b"1,some text\n2,more text\n", tmp_path, columns=("2",))
    assert in_place == b"1,SOME TEXT\n2,MORE TEXT\n"
    with pytest.raises(UsageError, match="which columns"):
        translated("c.csv", b"a,b\n1,2\n", tmp_path)
    with pytest.raises(UsageError, match="no column z"):
        translated("d.csv", b"a,b\n1,2\n", tmp_path, columns=("z",))


def test_wrapped_lines_are_wrapped_again(tmp_path: Path) -> None:
    line = b"this line was broken by hand because it had become too long for\nits paper and goes on here.\n"
    new = translated(
        "a.txt", line, tmp_path, Fake(lambda text: text + " And more of it comes after that, word by word.")
    )
    assert len(new.splitlines()) == 3
    assert all(len(each) <= 64 for each in new.splitlines())


def test_no_wrapped_line_begins_like_a_list() -> None:
    assert all(not line.startswith(("-", "1.")) for line in wrap("word " * 9 + "- not a list 1. neither", 24))


def test_balanced_lines_of_text_without_blanks() -> None:
    assert balance("가나다라마바사아자차", 2, 42) == ["가나다라마바사아자차"]
    lines = balance("가나다라마바사아자차" * 3, 2, 42)
    assert len(lines) == 2
    assert "".join(lines) == "가나다라마바사아자차" * 3


def test_names_of_new_documents() -> None:
    languages = Languages(source="en", target="de")
    names = {"manual.docx": "manual.de.docx", "manual.en.md": "manual.de.md", "app.pot": "app.de.po"}
    assert {name: str(default_target(Path(name), languages)) for name in names} == names


ATTACKS = {
    "laughs.xlf": b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><xliff version="1.2"><file>&b;</file></xliff>',
    "outside.tmx": b'<!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/passwd">]><tmx><body><tu><tuv><seg>&a;</seg></tuv></tu></body></tmx>',
    "cut.xlf": XLIFF_1[:300],
    "cut.docx": DOCX[: len(DOCX) // 2],
    "bomb.docx": zipped({"x": "", "word/document.xml": " " * (64 << 20)}),
    "laughs.odt": zipped({"mimetype": "", "content.xml": '<!DOCTYPE x [<!ENTITY a "ha">]><x>&a;</x>'}),
    "no.docx": zipped({"a": "b"}),
    "no.xlf": b"<html/>",
    "deep.json": b"[" * 100_000,
    "no.json": b'{"a": ',
    "latin.txt": "café".encode("latin-1"),
    "no.po": b'msgid "a"\nmsgstr "b\n',
    "half.po": b'msgid "a"\n',
    "open.csv": b'en,de\n"never closed,x\n',
    "unknown.xyz": b"",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_is_dangerous_or_damaged_is_refused_with_its_name(name: str, tmp_path: Path, options: Options) -> None:
    (tmp_path / name).write_bytes(ATTACKS[name])
    with pytest.raises(TongsaError) as raised:
        open_document(tmp_path / name, options)
    assert name in str(raised.value)


def test_paths_in_an_archive_are_never_followed(tmp_path: Path) -> None:
    data = zipped({"../../evil.txt": "x", "mimetype": "m", "content.xml": "<x/>"})
    (tmp_path / "a.odt").write_bytes(data)
    translate_document(losing(), tmp_path / "a.odt")
    assert sorted(p.name for p in tmp_path.parent.rglob("evil.txt")) == []


@pytest.mark.parametrize("suffix", [".txt", ".md", ".html", ".srt", ".json"])
def test_encodings_and_line_ends_stay(suffix: str, tmp_path: Path) -> None:
    body = {".json": '{"a": "some words"}\r\n', ".srt": "1\r\n00:01:01,000 --> 00:01:02,000\r\nsome words\r\n"}.get(
        suffix, "\r\nsome words\r\n"
    )
    data = b"\xff\xfe" + body.encode("utf-16-le")
    new = translated(f"a{suffix}", data, tmp_path)
    assert new.startswith(b"\xff\xfe")
    assert new[2:].decode("utf-16-le") == body.replace("some words", "SOME WORDS")


def test_html_in_an_old_charset_writes_what_it_lacks_as_references(tmp_path: Path) -> None:
    data = '<meta charset="iso-8859-1"><p>café here</p>'.encode("latin-1")
    korean = Fake(lambda text: "한 é", card=FakeCard(target="ko"))
    assert translated("a.html", data, tmp_path, korean).endswith("<p>&#54620; é</p>".encode("latin-1"))
