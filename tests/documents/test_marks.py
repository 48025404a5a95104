"""Tags stay nested, whatever a translator or an alignment does to them; text is never taken for a mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from fakes import BAD, Fake, FakeCard, identity, upper

from tongsa.documents import Options
from tongsa.documents.translate import translate_segments
from tongsa.formats.html import open_document as read_html
from tongsa.formats.segments import Content, Mark, Segment
from tongsa.translation.options import TranslateOptions
from tongsa.translation.translator import Translation


@dataclass
class Aligning:
    """Upper-cases, and says of its words whatever alignment it is given."""

    alignment: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        self.card = FakeCard()

    def translate(self, texts: Sequence[str], options: TranslateOptions) -> list[Translation]:
        found = Fake(str.upper).translate(texts, options)
        return [replace(each, alignment=self.alignment if options.alignment else ()) for each in found]


def opened(pair: int) -> Mark:
    return Mark(role="open", number=2 * pair, pair=pair)


def closed(pair: int) -> Mark:
    return Mark(role="close", number=2 * pair + 1, pair=pair)


def shown(content: Content) -> str:
    parts = []
    for part in content:
        slash = "/" if isinstance(part, Mark) and part.role == "close" else ""
        parts.append(part if isinstance(part, str) else f"<{slash}{part.pair}>")
    return "".join(parts)


def test_tags_that_an_alignment_would_cross_are_put_back_piece_by_piece() -> None:
    """`<0>one <1>two</1></0> three`: by this alignment <1> would begin inside of <0> and end behind it."""
    content = (opened(0), "one ", opened(1), "two", closed(1), closed(0), " three")
    crossing = Aligning(((0, 0), (1, 0), (1, 2), (2, 1)))
    (outcome,) = translate_segments([Segment(id="x", content=content)], crossing)
    assert _nested(outcome.content)
    content = (opened(0), "one", closed(0), " two ", opened(1), "three", closed(1))
    crossing = Aligning(((0, 0), (0, 1), (1, 1), (2, 1), (2, 2)))
    (outcome,) = translate_segments([Segment(id="x", content=content)], crossing)
    assert shown(outcome.content) == "<0>ONE</0> TWO <1>THREE</1>"
    assert "translated in pieces" in outcome.notes


@pytest.mark.parametrize(
    "swapped",
    ["</b>word<b>", "<b>one<i>two</b>three</i>", "<b>one</i>two<i></b>", "<i>one</i>"],
)
def test_tags_in_the_text_that_come_back_crossed_are_not_taken(swapped: str) -> None:
    source = "<b>one <i>two</i> three</b>"
    crossing = Fake(lambda text: swapped if "<" in text else text.upper())
    (outcome,) = translate_segments([Segment(id="x", content=(source,))], crossing)
    assert outcome.text == "<b>ONE <i>TWO</i> THREE</b>"


def test_tags_that_do_not_nest_in_the_source_may_stay_as_they_are() -> None:
    source = "one</b> two <i>three"
    (outcome,) = translate_segments([Segment(id="x", content=(source,))], upper())
    assert (outcome.text, outcome.state) == ("ONE</b> TWO <i>THREE", "translated")


def test_an_inner_tag_that_never_closes_does_not_take_the_end_of_the_outer_one(options: Options) -> None:
    """`<b>` closes with `</b>`, and `<i>` stands alone."""
    text = b"<p>one <b>two <i>three</b> four</p>"
    (segment,) = read_html(text, Path("a.html"), options).segments
    marks = [part for part in segment.content if isinstance(part, Mark)]
    assert [(mark.role, mark.pair == marks[0].pair) for mark in marks] == [
        ("open", True),
        ("alone", False),
        ("close", True),
    ]


def test_the_same_tag_inside_itself_closes_the_inner_one_first(options: Options) -> None:
    text = "one <span>two <span>three</span> four</span> five"
    (segment,) = read_html(f"<p>{text}</p>".encode(), Path("a.html"), options).segments
    (outcome,) = translate_segments([Segment(id="x", content=(text,))], upper())
    assert (outcome.text, outcome.notes) == ("ONE <span>TWO <span>THREE</span> FOUR</span> FIVE", ()), (
        "tags the engine found itself"
    )
    outer, inner, inner_end, outer_end = (part for part in segment.content if isinstance(part, Mark))
    assert (outer.role, inner.role, inner_end.role, outer_end.role) == ("open", "open", "close", "close")
    assert outer.pair == outer_end.pair != inner.pair == inner_end.pair


@pytest.mark.parametrize("bad", ["losing", "doubling", "reordering", "garbage"])
def test_marks_of_the_format_come_out_nested_whatever_the_translator(bad: str) -> None:
    content = ("one ", opened(0), "two ", opened(1), "three", closed(1), " four", closed(0), " five ", opened(2), "six")
    content = (*content, closed(2))
    (outcome,) = translate_segments([Segment(id="x", content=content)], BAD[bad]())
    assert _nested(outcome.content)
    assert {part.number for part in outcome.content if isinstance(part, Mark)} == set(range(6))


def _nested(content: Content) -> bool:
    waiting: list[int] = []
    for part in content:
        if isinstance(part, str):
            continue
        if part.role == "open":
            waiting.append(part.pair)
        elif part.role == "close" and (not waiting or waiting.pop() != part.pair):
            return False
    return not waiting


def test_a_character_that_no_text_should_have_is_text_beside_marks() -> None:
    """U+FDD0 to U+FDEF are no characters, but they can be sent."""
    content = ("one \ufdd0 two ", opened(0), "three\ufdd0", closed(0), "\ufdd0\ufdef")
    (outcome,) = translate_segments([Segment(id="x", content=content)], identity())
    assert shown(outcome.content) == shown(content)
    for bad in BAD.values():
        (outcome,) = translate_segments([Segment(id="x", content=content)], bad())
        assert _nested(outcome.content)


def test_text_that_comes_in_parts_is_read_as_one() -> None:
    (outcome,) = translate_segments([Segment(id="x", content=("cannot open %", "s ", Mark(number=0)))], upper())
    assert "".join(part for part in outcome.content if isinstance(part, str)) == "CANNOT OPEN %s "


def test_a_mark_between_two_letters_is_a_blank_for_the_model() -> None:
    """A picture is no reason to write the words on its two sides as one; elsewhere it takes no room."""
    for before, after, seen in (("see a", "b now", "see a b now"), ("see (", "b now", "see (b now")):
        translator = upper()
        translate_segments([Segment(id="x", content=(before, Mark(number=0), after))], translator)
        assert translator.asked[0] == seen


def test_a_tag_never_cuts_a_word() -> None:
    """By this alignment it would enclose the second half of a word only: it takes the whole word."""

    class Cutting(Fake):
        def translate(self, texts: Sequence[str], options: TranslateOptions) -> list[Translation]:
            (found,) = super().translate(texts, options)
            return [replace(found, tokens=("▁EINS", "▁ZW", "EI", "▁DREI"), alignment=self.pairs)]

        pairs: tuple[tuple[int, int], ...] = ((0, 0), (1, 2), (2, 3))

    content = ("one ", opened(0), "two", closed(0), " three")
    cutting = Cutting(lambda _: "EINS ZWEI DREI")
    (outcome,) = translate_segments([Segment(id="x", content=content)], cutting)
    assert shown(outcome.content) == "EINS <0>ZWEI</0> DREI"
    cutting.pairs = ((0, 0), (1, 1), (2, 3))
    (outcome,) = translate_segments([Segment(id="x", content=content)], cutting)
    assert shown(outcome.content) == "EINS <0>ZWEI</0> DREI"


@pytest.mark.parametrize("text", ["<code>rm</code> removes files", "files are removed by <kbd>rm</kbd>"])
def test_a_word_that_stays_unchanged_belongs_to_its_sentence_at_its_edges_too(text: str, options: Options) -> None:
    (segment,) = read_html(f"<p>{text}</p>".encode(), Path("a.html"), options).segments
    assert [part.text for part in segment.content if isinstance(part, Mark)] == ["rm"]
    assert not read_html(b"<p><code>rm</code> <b><kbd>x</kbd></b></p>", Path("a.html"), options).segments
