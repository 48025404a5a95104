"""Subtitles: sentences over several cues, sounds, notes, speakers; timing and the number of cues never change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fakes import BAD, Fake, FakeCard, identity, upper

from tongsa.documents import Options, read_document
from tongsa.documents.translate import translate_segments
from tongsa.formats.segments import visible
from tongsa.formats.wrapping import split_by_shares


def subtitles(*cues: str, gap: float = 0.2, length: float = 2.0) -> str:
    """Cues of two seconds."""
    lines = []
    at = 1.0
    for number, cue in enumerate(cues, 1):
        lines += [str(number), f"{stamp(at)} --> {stamp(at + length)}", cue, ""]
        at += length + gap
    return "\n".join(lines)


def stamp(seconds: float) -> str:
    return f"00:{int(seconds // 60):02}:{int(seconds % 60):02},{round(seconds % 1 * 1000):03}"


def asked(text: str, options: Options) -> list[str]:
    return [visible(segment.content) for segment in read_document(text.encode(), Path("a.srt"), options).segments]


def translated(text: str, options: Options, translator: Fake | None = None) -> str:
    document = read_document(text.encode(), Path("a.srt"), options)
    return document.write(translate_segments(list(document.segments), translator or upper())).decode()


def shouted(text: str, options: Options) -> str:
    return translated(text, options, Fake(str.upper))


def test_a_sentence_over_several_cues_is_translated_as_one_and_split_again(options: Options) -> None:
    text = subtitles("we went to the beach", "because the sun was", "shining all day.", "Then we left.")
    assert asked(text, options) == ["we went to the beach because the sun was shining all day.", "Then we left."]
    new = subtitles("WE WENT TO THE BEACH", "BECAUSE THE SUN WAS", "SHINING ALL DAY.", "THEN WE LEFT.")
    assert shouted(text, options) == new
    assert translated(text, options, identity()) == text


def test_a_translation_is_split_at_punctuation_near_the_time_of_the_cue(options: Options) -> None:
    text = subtitles("when the old dog saw", "the ball it began to run.")
    german = Fake(lambda _: "als der alte Hund den Ball sah, begann er sofort zu rennen.")
    assert translated(text, options, german) == subtitles(
        "als der alte Hund den Ball sah,", "begann er sofort zu rennen."
    )


def test_longer_cues_get_more_of_the_text() -> None:
    words = " ".join("abcd" for _ in range(20))
    short, long = split_by_shares(words, [0.25, 0.75])
    assert (len(short.split()), len(long.split())) == (5, 15)


def test_text_without_blanks_is_split_between_characters_and_never_before_a_full_stop() -> None:
    assert split_by_shares("日本語の字幕です。", [0.5, 0.5]) == ["日本語の", "字幕です。"]
    assert split_by_shares("日本語の字幕。", [0.9, 0.1])[1] != "。"


def test_a_text_of_fewer_words_than_cues_stays_on_the_screen(options: Options) -> None:
    text = subtitles("we went to the", "beach", "yesterday.")
    assert translated(text, options, Fake(lambda _: "Strand gestern.")) == subtitles("Strand", "gestern.", "gestern.")


@pytest.mark.parametrize(
    "cues",
    [
        ("one thing.", "another thing"),
        ("one thing?", "another thing"),
        ("one thing", "Another thing"),
        ("- one thing", "another thing"),
        ("one thing", "- another thing"),
        ("(one thing)", "another thing"),
        ("one thing", "[another thing]"),
        ("one thing…", "another thing"),
    ],
)
def test_cues_of_their_own_are_not_joined(cues: tuple[str, ...], options: Options) -> None:
    assert len(asked(subtitles(*cues), options)) == 2


def test_cues_with_a_pause_between_them_are_not_joined(options: Options) -> None:
    assert len(asked(subtitles("one thing", "another thing", gap=3.0), options)) == 2


def test_a_name_may_begin_a_cue_where_sentences_end_with_full_stops(options: Options) -> None:
    cues = ("He came.", "She went.", "They met.", "We saw", "Paris again.")
    assert asked(subtitles(*cues), options)[-1] == "We saw Paris again."


def test_cues_in_italics_keep_their_tags(options: Options) -> None:
    text = subtitles("<i>we went to</i>", "<i>the beach.</i>")
    assert asked(text, options) == ["we went to the beach."]
    assert shouted(text, options) == subtitles("<i>WE WENT TO</i>", "<i>THE BEACH.</i>")


@pytest.mark.parametrize(
    ("cue", "texts"),
    [
        ("♪ la la la ♪", ["la la la"]),
        ("<i>♪ la la la ♪</i>", ["la la la"]),
        ("♪", []),
        ("[MUSIC PLAYING]", ["Music playing"]),
        ("(laughs) I know.", ["laughs", "I know."]),
        ("I know. (laughs)", ["I know.", "laughs"]),
        ("[JOHN]: hello there", ["John", "hello there"]),
        ("JOHN: hello there", ["hello there"]),
        ("OLD MAN: hello there", ["hello there"]),
        (">> hello there", ["hello there"]),
        ("{\\an8}hello there", ["hello there"]),
        ("- (sighs) hello\n- yes", ["sighs", "hello", "yes"]),
        ("I know C#", ["I know C#"]),
    ],
)
def test_what_is_not_said_is_apart_from_what_is(cue: str, texts: list[str], options: Options) -> None:
    text = subtitles(cue)
    assert asked(text, options) == texts
    assert translated(text, options, identity()) == text
    assert shouted(text, options).lower() == text.lower()


def test_sounds_in_capitals_stay_in_capitals(options: Options) -> None:
    music = Fake(lambda text: {"Music": "Musik", "Hello.": "Hallo."}.get(text, text))
    assert translated(subtitles("[MUSIC]", "Hello."), options, music) == subtitles("[MUSIK]", "Hallo.")


@pytest.mark.parametrize("bad", BAD)
def test_no_translator_changes_timing_or_the_number_of_cues(bad: str, options: Options) -> None:
    text = subtitles(
        "we <i>went</i> to", "the beach", "[MUSIC]", "♪ la la ♪", "(laughs) I know,", "they said.", "- a\n- b"
    )
    new = translated(text, options, BAD[bad]())
    kept = r"^.* --> .*$|^\d+$|<[^<>]*>|♪"
    assert re.findall(kept, new, re.MULTILINE) == re.findall(kept, text, re.MULTILINE)
    assert all(block.count("\n") >= 2 for block in new.strip().split("\n\n"))


def test_korean_cues_are_joined_where_sentences_end_with_full_stops(options: Options) -> None:
    text = subtitles("왔다.", "갔다.", "만났다.", "우리는 바다에", "갔다.")
    document = read_document(text.encode(), Path("a.srt"), options)
    assert [visible(segment.content) for segment in document.segments][-1] == "우리는 바다에 갔다."
    english = Fake(lambda t: "We went to the sea." if "바다" in t else t, FakeCard("ko", "en"))
    new = document.write(translate_segments(list(document.segments), english)).decode()
    assert "We went to\n" in new
    assert "the sea.\n" in new
