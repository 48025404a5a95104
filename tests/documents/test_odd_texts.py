"""Texts that people seldom write: stand-in characters, very many marks, very long attributes, odd encodings."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import Fake, identity, upper

from tongsa.base.errors import CorpusError, TongsaError
from tongsa.documents import Options, read_document, translate_document
from tongsa.documents.placeholders import MOST_MARKS, mask
from tongsa.documents.translate import translate_segments
from tongsa.formats.segments import Mark, Segment
from tongsa.translation.glossary import Glossary

STAND_INS = "\U000f0000\U000f0001\U000ffffd\U00100000\U00100001\U0010fffd\ue000\uf8ff\ufffc\ufdd0\x00\x01\u2581"
"""Characters that mean something inside Tongsa, and others like them."""

TEXTS = {
    ".txt": "some %s words {0}\n",
    ".md": "some *words* `code` and\nmore [words](x y) here  \nand %s\n",
    ".html": "<p>some <b>words</b> &amp; more <i>of %s</i> <img alt='a picture'> here</p>\n",
    ".srt": "1\n00:00:01,000 --> 00:00:02,000\nsome <i>words</i> here\nand {\\an8}more\n",
    ".vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\nsome <c.a>words</c> here\n",
}


def translated(text: str, suffix: str, translator: Fake, options: Options) -> str:
    document = read_document(text.encode(), Path(f"x{suffix}"), options)
    return document.write(translate_segments(list(document.segments), translator)).decode()


@pytest.mark.parametrize("character", STAND_INS, ids=ascii)
@pytest.mark.parametrize("suffix", TEXTS)
def test_stand_in_characters_of_the_source_come_back(suffix: str, character: str, options: Options) -> None:
    for text in (
        TEXTS[suffix].replace("words", f"{character}words{character}"),
        TEXTS[suffix].replace("some ", f"some {character} "),
        TEXTS[suffix].replace("<", f"{character}<").replace("*", f"{character}*").replace("[", f"{character}["),
        TEXTS[suffix].replace("some ", f"some https://a.example/{character} "),
    ):
        assert translated(text, suffix, identity(), options) == text
        new = translated(text, suffix, upper(), options)
        assert sorted("".join(new.upper().split())) == sorted("".join(text.upper().split()))


def test_any_number_of_placeholders_comes_back(options: Options) -> None:
    text = "some words " + "%s" * (MOST_MARKS + 500) + " and more\n"
    assert translated(text, ".txt", upper(), options) == text.replace("some words", "SOME WORDS").replace(
        "and more", "AND MORE"
    )


def test_more_marks_than_characters_are_masked_in_parts() -> None:
    content = tuple(Mark(number=number) for number in range(MOST_MARKS + 1))
    parts = mask(content)
    assert [len(part.marks) for part in parts] == [MOST_MARKS, 1]
    assert tuple(mark for part in parts for mark in part.content()) == content


def test_parts_of_a_segment_are_accepted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tongsa.documents.placeholders.MOST_MARKS", 2)
    content = ("one %s two %s three %s four",)
    (outcome,) = translate_segments([Segment(id="", content=content)], upper())
    assert (outcome.content, outcome.state) == (("ONE %s TWO %s THREE %s FOUR",), "translated")
    seen: list[str] = []
    refused = Segment(id="", content=content, accepts=lambda text: bool(seen.append(text)))
    (outcome,) = translate_segments([refused], upper())
    assert (outcome.content, outcome.state) == (content, "source")
    assert seen == ["ONE %s TWO %s THREE %s FOUR"]


def test_any_number_of_tags_in_a_cue_comes_back(options: Options) -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\nsome words " + "<i></i>" * 35_000 + "\n"
    new = translated(text, ".srt", upper(), options)
    assert (new.count("<i>"), new.count("</i>"), new.count("SOME"), new.count("WORDS")) == (35_000, 35_000, 1, 1)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_long_attribute_is_part_of_its_tag(quote: str, options: Options) -> None:
    tag = f"<img src={quote}data:image/png;base64,{'iVBORw0KGgo' * 3_000}{quote}>"
    text = f"<p>some {tag} words</p>"
    translator = upper()
    assert translated(text, ".html", translator, options).split() == f"<p>SOME {tag} WORDS</p>".split()
    assert not any("iVBOR" in asked for asked in translator.asked)


def test_quotes_have_a_meaning_only_around_values(options: Options) -> None:
    text = "<p it's>some words</p><p id=it's>it's</p><a \"b>more words</a> <i title=\"1>2\">here</i>"
    new = "<p it's>SOME WORDS</p><p id=it's>IT's</p><a \"b>MORE WORDS</a> <i title=\"1>2\">HERE</i>"
    assert translated(text, ".html", upper(), options) == new


def test_a_tag_that_never_ends_is_kept(options: Options) -> None:
    assert translated("<p>some words</p><a b='>' c", ".html", upper(), options) == "<p>SOME WORDS</p><a b='>' c"
    assert translated("<p>some words <b", ".html", upper(), options).startswith("<p>SOME WORDS")


def test_comments_are_kept(options: Options) -> None:
    text = "<!-- <img alt='a picture'> --><p>some words</p><![CDATA[<img alt='a picture'>]]>"
    assert translated(text, ".html", upper(), options) == text.replace("some words", "SOME WORDS")


CUES = [
    ("srt", "1\n00:00:01,000 --> 00:00:02,000\none {}\n2\n00:00:03,000 --> 00:00:04,000\n- two {}\n- three {}\n"),
    ("srt", "00:00:01,000 --> 00:00:02,000\none {}\n00:00:03,000 --> 00:00:04,000\ntwo {}\n"),
    ("srt", "1\r\n00:00:01,000 --> 00:00:02,000\r\none {}\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\ntwo {}\r\n\r\n"),
    ("vtt", "WEBVTT\n\n00:01.000 --> 00:02.000 line:0\none {}\n00:03.000 --> 00:04.000\ntwo {}"),
]


@pytest.mark.parametrize(("suffix", "form"), CUES)
def test_a_cue_ends_where_the_next_timing_begins(suffix: str, form: str, options: Options) -> None:
    text, new = form.replace("{}", "words"), form.replace("{}", "WORDS")
    translator = upper()
    written = translated(text, f".{suffix}", translator, options)
    assert written == new.replace("one", "ONE").replace("two", "TWO").replace("three", "THREE")
    assert not any("-->" in asked for asked in translator.asked)


@pytest.mark.parametrize(
    "text",
    ["`a" + "`" * 40 + "b\n", "some words `code  \nmore` here\nand there\n", "some words $a  \nb$ `c`\nand there\n"],
)
def test_code_spans_leave_no_characters_behind(text: str, options: Options) -> None:
    new = translated(text, ".md", upper(), options)
    assert new.isprintable() or not any(c for c in new if not c.isprintable() and c != "\n")
    assert new.upper().split() == text.upper().split()


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("a `b` c", ["`b`"]),
        ("a ``b ` c`` d", ["``b ` c``"]),
        ("a ``b` c", []),
        ("a `b``c` d", ["`b``c`"]),
        (r"a \`b` c `d` e", [r"\`", "` c `"]),
    ],
)
def test_back_ticks_are_closed_by_as_many(text: str, spans: list[str], options: Options) -> None:
    (segment,) = read_document(text.encode(), Path("x.md"), options).segments
    assert [part.text for part in segment.content if isinstance(part, Mark)] == spans


@pytest.mark.parametrize("charset", ["nonsense", "hex", "idna", "punycode", "undefined", "utf-16", "utf-7", "rot13"])
def test_a_page_with_an_odd_charset_is_read_as_utf_8(charset: str, options: Options) -> None:
    text = f"<meta charset={charset}><p>some wörds</p>"
    assert translated(text, ".html", upper(), options) == f"<meta charset={charset}><p>SOME WÖRDS</p>"
    with pytest.raises(CorpusError, match="not utf-8"):
        read_document(text.encode("latin-1"), Path("x.html"), options)


@pytest.mark.parametrize(("term", "text"), [("ırk", "Irk"), ("µm", "Μm"), ("ǆ", "Ǆ"), ("straße", "Straße")])
def test_a_term_with_an_odd_capital_is_found(term: str, text: str) -> None:
    (found,) = Glossary({term: "x"}).find(text)
    assert text[found.start : found.end] == text


@pytest.mark.parametrize("letters", [250, 300])
def test_a_name_that_is_too_long_is_a_clear_error(letters: int, tmp_path: Path) -> None:
    source = tmp_path / f"{'a' * letters}.txt"
    if letters < 255:
        source.write_text("some words")
    with pytest.raises(TongsaError, match="too long"):
        translate_document(upper(), source)
