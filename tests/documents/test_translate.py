"""Segments in, outcomes out: nothing is ever broken, whatever the translator."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from fakes import BAD, Fake, FakeCard, identity, upper
from hypothesis import given, settings
from hypothesis import strategies as st

from tongsa.documents.memory import Memory
from tongsa.documents.translate import Resources, translate_segments
from tongsa.formats.segments import Mark, Segment, visible
from tongsa.text.placeholders import find
from tongsa.translation.glossary import Glossary
from tongsa.translation.options import TranslateOptions

PLACEHOLDERS = [
    "%s",
    "%d",
    "%(name)s",
    "{0}",
    "{name}",
    "${x}",
    "&lt;",
    "<b>",
    "</b>",
    "<br/>",
    "%1$s",
    "5 km",
    "$HOME",
]
WORDS = ["file", "Datei", "open", "the", "not", "found.", "(maybe)", "really?", "50", "\n", "--force", "übel", "한국어"]


def outcome_of(text: str, translator: Fake, resources: Resources | None = None) -> str:
    (outcome,) = translate_segments([Segment(id="x", content=(text,))], translator, resources)
    return outcome.text


@pytest.mark.parametrize("bad", BAD)
@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*PLACEHOLDERS, *WORDS]), max_size=12))
def test_every_placeholder_comes_out_exactly_once(bad: str, words: list[str]) -> None:
    text = " ".join(words)
    written = outcome_of(text, BAD[bad]())
    assert Counter(p.text for p in find(written)) == Counter(p.text for p in find(text))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_any_text_survives_a_translator_that_changes_nothing(text: str) -> None:
    assert outcome_of(text, identity()) == text


def test_arguments_that_have_no_number_keep_their_order() -> None:
    swap = Fake(lambda text: "%d von %s" if text == "%s of %d" else text.upper())
    assert outcome_of("%s of %d", swap) == "%s OF %d"


def test_arguments_with_a_number_may_change_their_order() -> None:
    swap = Fake(lambda text: {"%1$s of %2$d": "%2$d von %1$s", "of": "von"}.get(text, text.upper()))
    assert outcome_of("%1$s of %2$d", swap) == "%2$d von %1$s"


def test_white_space_around_and_between_sentences_stays() -> None:
    assert outcome_of("  one two.\n\n\tthree four \n", upper()) == "  ONE two.\n\n\tTHREE FOUR \n"


def test_tags_follow_their_words() -> None:
    moved = Fake(lambda text: " ".join(reversed(text.split())))

    def crossed(texts: list[str], options: TranslateOptions) -> list[object]:
        from dataclasses import replace

        answers = Fake.translate(moved, texts, options)
        last = len(answers[0].tokens) - 1
        return [replace(a, alignment=tuple((last - i, i) for i in range(last + 1))) for a in answers]

    moved.translate = crossed  # type: ignore[method-assign,assignment]
    content = (
        "press ",
        Mark(role="open", number=0, pair=0),
        "this button",
        Mark(role="close", number=1, pair=0),
        " now",
    )
    (outcome,) = translate_segments([Segment(id="x", content=content)], moved)
    shown = "".join(p if isinstance(p, str) else f"<{p.number}>" for p in outcome.content)
    assert shown == "now <0>button this<1> press"


def test_a_sentence_whose_placeholder_is_lost_is_translated_whole_without_it() -> None:
    loses = Fake(lambda text: re.sub(r"%s|[{]1[}]", "", text).upper())
    (outcome,) = translate_segments([Segment(id="x", content=("cannot open %s now",))], loses)
    assert (outcome.text, outcome.notes) == ("CANNOT OPEN %s NOW", ())


def test_a_sentence_that_cannot_be_translated_whole_is_translated_in_pieces() -> None:
    loses = Fake(lambda text: text.upper() if text in ("cannot open", "now") else "")
    (outcome,) = translate_segments([Segment(id="x", content=("cannot open %s now",))], loses)
    assert outcome.text == "CANNOT OPEN %s NOW"
    assert "translated in pieces" in outcome.notes


def test_what_cannot_be_translated_stays_and_is_marked() -> None:
    (outcome,) = translate_segments([Segment(id="x", content=("cannot open %s now",))], BAD["silent"]())
    assert (outcome.text, outcome.state, outcome.confidence) == ("cannot open %s now", "source", 0.0)


def test_text_without_letters_is_not_sent_to_the_translator() -> None:
    translator = upper()
    outcomes = translate_segments(
        [Segment(id="x", content=(text,)) for text in ("42", " ", "%s: %d", "—", "")], translator
    )
    assert [o.state for o in outcomes] == ["copied"] * 5
    assert translator.asked == []


def test_the_same_sentence_is_translated_once() -> None:
    translator = upper()
    translate_segments([Segment(id="x", content=("one thing. one thing.",))] * 3, translator)
    assert translator.asked == ["one thing. one thing."]


def test_a_changed_number_is_noted() -> None:
    (outcome,) = translate_segments(
        [Segment(id="x", content=("it has 12 doors",))], Fake(lambda t: t.replace("12", "13"))
    )
    assert "numbers differ" in outcome.notes


def test_a_term_is_enforced_where_the_translator_has_another_word() -> None:
    resources = Resources(glossary=Glossary({"file": "Akte"}))
    assert "Akte" in outcome_of("open the file now", upper(), resources)


def test_an_inflected_term_of_the_translator_is_left_as_it_is() -> None:
    resources = Resources(glossary=Glossary({"files": "Datei"}))
    assert outcome_of("open the files", Fake(lambda text: "öffne die Dateien"), resources) == "öffne die Dateien"


def test_a_term_not_to_be_translated_stays() -> None:
    resources = Resources(glossary=Glossary({"tongsa": "tongsa"}))
    assert outcome_of("ask tongsa today", upper(), resources) == "ASK tongsa TODAY"


def test_an_exact_match_is_taken_from_the_memory_and_a_near_one_reported() -> None:
    memory = Memory()
    memory.add("Open the  file %s.", "Öffne die Datei %s.")
    memory.add("Close %s", "Schließe")
    segments = [Segment(id=t, content=(t,)) for t in (" Open the file %s.\n", "Open the old file %s.", "Close %s")]
    exact, near, broken = translate_segments(segments, upper(), Resources(memory=memory))
    assert (exact.text, exact.state) == (" Öffne die Datei %s.\n", "memory")
    assert near.state == "translated"
    assert near.near is not None
    assert near.near.target == "Öffne die Datei %s."
    assert (broken.state, "%s" in broken.text) == ("translated", True), "a match without its placeholder is not taken"


def test_sentences_are_joined_as_the_target_language_does() -> None:
    to_english = Fake(lambda text: "A sentence.", card=FakeCard(source="ja", target="en"))
    assert outcome_of("一つ目です。二つ目です。", to_english) == "A sentence. A sentence."
    to_japanese = Fake(lambda text: "文です。", card=FakeCard(source="en", target="ja"))
    assert outcome_of("One is here. Two is here.", to_japanese) == "文です。文です。"


def test_private_characters_in_the_text_are_no_marks_of_ours() -> None:
    text = "a \U000f0000 strange \U000f0001 text with %s in it"
    for bad in BAD.values():
        written = outcome_of(text, bad())
        assert all(written.count(c) == 1 for c in ("\U000f0000", "\U000f0001", "%s"))


def test_visible_text_of_a_segment_has_no_tags() -> None:
    assert visible(("a ", Mark(number=0), "b")) == "a b"
