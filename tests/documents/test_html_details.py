"""HTML: elements without letters, character references, and everything on a page that people read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fakes import Fake, identity, upper

from tongsa.documents import Options, read_document, translate_document
from tongsa.documents.translate import translate_segments
from tongsa.formats.segments import Mark, Outcome, Segment, visible


def translated(text: str, options: Options, translator: Fake | None = None) -> str:
    document = read_document(text.encode(), Path("a.html"), options)
    return document.write(translate_segments(list(document.segments), translator or upper())).decode()


def without_digits() -> Fake:
    """Upper-cases words, and loses digits and brackets, as a small model does."""
    return Fake(lambda text: " ".join(re.sub(r"[\d\[\]]", "", text).upper().split()))


@pytest.mark.parametrize(
    ("text", "new"),
    [
        (
            '<p>some words<sup><a href="#fn1">1</a></sup> more of them</p>',
            '<p>SOME WORDS<sup><a href="#fn1">1</a></sup> MORE OF THEM</p>',
        ),
        ("<p>some words[1] more of them [2, 3].</p>", "<p>SOME WORDS[1] MORE OF THEM [2, 3].</p>"),
        (
            '<p>some words<a href="#fn1">[1]</a> more of them</p>',
            '<p>SOME WORDS<a href="#fn1">[1]</a> MORE OF THEM</p>',
        ),
        ('<p>some <i class="icon"></i> more words</p>', '<p>SOME <i class="icon"></i> MORE WORDS</p>'),
        (
            '<p>some <a href="x"><img src="a.png"></a> more words</p>',
            '<p>SOME <a href="x"><img src="a.png"></a> MORE WORDS</p>',
        ),
    ],
)
def test_an_element_without_letters_comes_out_whole(options: Options, text: str, new: str) -> None:
    assert translated(text, options, without_digits()) == new


def test_a_number_in_an_element_is_seen_by_the_model_and_kept(options: Options) -> None:
    translator = upper()
    assert translated("<p>take <b>5</b> of them</p>", options, translator) == "<p>TAKE <b>5</b> OF THEM</p>"
    assert translator.asked == ["take 5 of them"]


def test_an_element_without_letters_is_one_mark(options: Options) -> None:
    text = '<p>some<sup><a href="#a" title="a note">1</a></sup> words</p>'
    (segment, title) = read_document(text.encode(), Path("a.html"), options).segments
    assert [type(part) for part in segment.content] == [str, Mark, str]
    assert visible(title.content) == "a note"
    assert 'title="a NOTE">1</a></sup> WORDS' in translated(text, options)


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("some&nbsp;words and&nbsp;more of them", "SOME WORDS AND MORE OF THEM"),
        ("the dog&#39;s toy", "THE DOG&#39;S TOY"),
        ("this &amp; that", "THIS &amp; THAT"),
        ("caf&eacute; here", "CAFÉ HERE"),
        ("&copy; some words", "&copy; SOME WORDS"),
        ("some words 5&nbsp;km away", "SOME WORDS 5&nbsp;km AWAY"),
    ],
)
def test_references_are_characters_of_their_sentence(options: Options, text: str, new: str) -> None:
    """A small model writes every blank as a plain one."""

    def change(text: str) -> str:
        return text.replace("\u00a0", " ").upper().replace("5 KM", "5\u00a0km")

    translator = Fake(change)
    assert translated(f"<p>{text}</p>", options, translator) == f"<p>{new}</p>"
    assert not any("&" in asked.replace(" & ", "") for asked in translator.asked)
    assert translated(f"<p>{text}</p>", options, identity()) == f"<p>{text}</p>"


def test_a_conjunction_may_be_translated(options: Options) -> None:
    und = Fake(lambda text: text.replace(" & ", " und ").upper())
    assert translated("<p>this &amp; that</p>", options, und) == "<p>THIS UND THAT</p>"


def test_what_looks_like_a_tag_in_a_translation_is_escaped(options: Options) -> None:
    assert translated("<p>this &lt;b&gt; that</p>", options) == "<p>THIS &lt;b&gt; THAT</p>"
    assert translated('<img alt="this &amp; &quot;that&quot;">', options) == '<img alt="THIS &amp; &quot;THAT&quot;">'


@pytest.mark.parametrize(
    "text",
    [
        '<select><optgroup label="some words"></optgroup></select>',
        '<select><option label="some words"></option></select>',
        '<video><track src="a.vtt" label="some words"></video>',
        '<meta property="og:site_name" content="some words">',
        '<meta name="twitter:image:alt" content="some words">',
        '<meta name="Description" content="some words">',
        '<textarea placeholder="some words"></textarea>',
        '<iframe title="some words" src="x"></iframe>',
        '<table><tr><th abbr="some words">1</th></tr></table>',
        '<svg aria-label="some words"></svg>',
        "<template><p>some words</p></template>",
        '<p>more <img alt="some words"> text</p>',
    ],
)
def test_everything_that_people_read_is_translated(options: Options, text: str) -> None:
    assert "SOME WORDS" in translated(text, options)


@pytest.mark.parametrize(
    "text",
    ['<img translate="no" alt="some words">', '<pre translate="no" title="some words"></pre>', '<link label="a word">'],
)
def test_what_says_no_keeps_its_attributes(options: Options, text: str) -> None:
    assert translated(text, options) == text


def left(segments: list[Segment], outcomes: list[Outcome]) -> dict[str, tuple[str, ...]]:
    return {
        visible(segment.content): outcome.notes
        for segment, outcome in zip(segments, outcomes, strict=True)
        if outcome.state == "source"
    }


def test_text_that_is_left_alone_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<p>some words</p><textarea>my default text</textarea>"
        "<svg><style>a{b:c}</style><title>A chart</title><text x=1>of sales</text></svg>"
    )
    done = translate_document(upper(), tmp_path / "a.html")
    assert left(list(done.segments), list(done.outcomes)) == {
        "my default text": ("text in <textarea> is not translated",),
        "A chart": ("text in <svg> is not translated",),
        "of sales": ("text in <svg> is not translated",),
    }


def test_a_picture_or_formula_does_not_cut_its_sentence(options: Options) -> None:
    text = '<p>some <svg><path d="M0"/></svg> words and <math><mi>x</mi></math> more</p>'
    (segment,) = read_document(text.encode(), Path("a.html"), options).segments
    assert visible(segment.content) == "some  words and  more"


def test_the_declared_language_follows(options: Options) -> None:
    text = '<html lang="en-US"><meta http-equiv="Content-Language" content="en"><p>some words</p></html>'
    new = '<html lang="de"><meta http-equiv="Content-Language" content="de"><p>SOME WORDS</p></html>'
    assert translated(text, options) == new
