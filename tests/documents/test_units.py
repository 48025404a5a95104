"""What is taken out of a sentence with a mark, and where it is put back."""

from __future__ import annotations

import pytest
from fakes import Fake

from tongsa.documents.placeholders import mask
from tongsa.documents.translate import translate_segments
from tongsa.documents.units import view
from tongsa.formats.segments import Segment
from tongsa.translation.options import TranslateOptions
from tongsa.translation.translator import Translation


def seen(text: str) -> tuple[str, list[str]]:
    (masked,) = mask((text,))
    found = view(masked, masked.masks(), ())
    return found.text, [
        "".join(masked.marks[c].output if c in masked.marks else c for c in unit.text) for unit in found.units
    ]


@pytest.mark.parametrize(
    ("text", "without", "units"),
    [
        ("Hello, {name}!", "Hello!", [", {name}"]),
        ("%s: no such file", "no such file", ["%s:"]),
        ('Open "{file}" now', "Open now", ['"{file}"']),
        ("Error: %s", "Error", [": %s"]),
        ("You have {count} messages.", "You have messages.", ["{count}"]),
        ("Hello {name}, you have {count} messages", "Hello, you have messages", ["{name}", "{count}"]),
        ("Page %d of %d", "Page of", ["%d", "%d"]),
        ("Copied %d/%d files", "Copied files", ["%d/%d"]),
        ("Size: {width} x {height} now", "Size: x now", ["{width}", "{height}"]),
        ("Update to v{version} today", "Update to today", ["v{version}"]),
        ("Open {name}'s file", "Open file", ["{name}"]),
        ("{name}님, 안녕하세요", "안녕하세요", ["{name},"]),
        ("파일 {name}을(를) 열 수 없습니다.", "파일 열 수 없습니다.", ["{name}"]),
        ("Well done \U0001f389\U0001f389", "Well done", ["\U0001f389\U0001f389"]),
        ("Settings → Privacy", "Settings Privacy", ["→"]),
    ],
)
def test_a_mark_is_taken_out_with_what_belongs_to_it(text: str, without: str, units: list[str]) -> None:
    assert seen(text) == (without, units)


class Worded(Fake):
    """Translates by a table of whole texts, with alignments; it loses every placeholder."""

    def __init__(self, table: dict[str, tuple[str, tuple[tuple[int, int], ...]]]) -> None:
        super().__init__(lambda text: table[text][0] if text in table else "")
        self.table = table

    def _one(self, text: str, options: TranslateOptions) -> Translation:
        found = super()._one(text, options)
        pairs = self.table[text][1] if text in self.table else ()
        return Translation(
            text=found.text,
            log_probability=found.log_probability,
            source_tokens=found.source_tokens,
            tokens=found.tokens,
            alignment=pairs,
        )


@pytest.mark.parametrize(
    ("text", "seen", "translation", "alignment", "expected"),
    [
        ("I saw {name} today.", "I saw today.", "Heute sah ich.", ((2, 0), (1, 1), (0, 2)), "Heute sah {name} ich."),
        (
            "I saw {n} there.",
            "I saw there.",
            "Ich habe dort gesehen.",
            ((0, 0), (2, 2), (1, 3)),
            "Ich habe {n} dort gesehen.",
        ),
        ("Hello, {name}!", "Hello!", "Hallo!", ((0, 0),), "Hallo, {name}!"),
        ("%s: no such file", "no such file", "keine Datei", ((0, 0), (2, 1)), "%s: keine Datei"),
        ("Error: %s", "Error", "Fehler", ((0, 0),), "Fehler: %s"),
        ("Error: %s", "Error", "Fehler.", ((0, 0),), "Fehler: %s."),
        ('Open "{file}" now.', "Open now.", "Jetzt öffnen.", ((1, 0), (0, 1)), 'Jetzt öffnen "{file}".'),
        ("%d of %s files", "of files", "Dateien von", ((1, 0), (0, 1)), "%d %s Dateien von"),
        ("Done. \U0001f389", "Done.", "Fertig.", ((0, 0),), "Fertig. \U0001f389"),
        ("{count} new files", "new files", "neue Dateien", ((0, 0), (1, 1)), "{count} neue Dateien"),
    ],
)
def test_a_mark_is_put_back_between_words(
    text: str, seen: str, translation: str, alignment: tuple[tuple[int, int], ...], expected: str
) -> None:
    translator = Worded({seen: (translation, alignment)})
    (outcome,) = translate_segments([Segment(id="x", content=(text,))], translator)
    assert (outcome.text, outcome.notes) == (expected, ())


def test_without_an_alignment_a_mark_is_put_at_about_its_place_and_reviewed() -> None:
    translator = Worded({"one two three four": ("EINS ZWEI DREI VIER", ())})
    (outcome,) = translate_segments([Segment(id="x", content=("one two %s three four",))], translator)
    assert outcome.text == "EINS ZWEI %s DREI VIER"
    assert outcome.notes == ("marks placed without an alignment",)


def test_a_word_that_stays_untranslated_takes_the_place_of_its_translation() -> None:
    pairs = ((0, 0), (1, 1), (2, 2), (3, 3))
    translator = Worded({"He reads about beach things.": ("Er liest über Strand.", pairs)})
    (outcome,) = translate_segments([Segment(id="x", content=("He reads about `beach` things.",))], translator)
    assert outcome.text == "Er liest über `beach`."


def test_tags_around_a_placeholder_stay_around_it() -> None:
    translator = Worded({"Hello, welcome back": ("Hallo, willkommen zurück", ((0, 0), (1, 1), (2, 2)))})
    (outcome,) = translate_segments([Segment(id="x", content=("Hello <b>{name}</b>, welcome back",))], translator)
    assert outcome.text == "Hallo <b>{name}</b>, willkommen zurück"


def test_a_tag_around_words_and_a_placeholder_encloses_both() -> None:
    translator = Worded({"Press this key now": ("Taste jetzt drücken", ((2, 0), (3, 1), (0, 2)))})
    (outcome,) = translate_segments([Segment(id="x", content=("Press <b>this key {key}</b> now",))], translator)
    assert outcome.text == "<b>Taste {key}</b> jetzt drücken"


def test_a_model_that_carries_placeholders_is_left_to_place_them() -> None:
    table = {
        "Good night {name}": ("{name}, gute Nacht", ()),
        "Good night": ("gute Nacht", ((0, 0), (1, 1))),
    }
    (outcome,) = translate_segments([Segment(id="x", content=("Good night {name}",))], Worded(table))
    assert outcome.text in ("{name}, gute Nacht", "gute Nacht {name}")


def test_a_likelier_translation_with_its_placeholders_is_taken_and_reviewed() -> None:
    class Sure(Worded):
        def _one(self, text: str, options: TranslateOptions) -> Translation:
            found = super()._one(text, options)
            sure = Translation(text=found.text, log_probability=-0.01, tokens=found.tokens)
            return sure if "{user}" in text else found

    table = {"Opened by {user}": ("Geöffnet von {user}", ()), "Opened by": ("Offen bei", ((0, 0), (1, 1)))}
    (outcome,) = translate_segments([Segment(id="x", content=("Opened by {user}",))], Sure(table))
    assert outcome.text == "Geöffnet von {user}"
    assert outcome.notes == ("translated differently without its placeholders",)
    (outcome,) = translate_segments([Segment(id="x", content=("Opened by {user}",))], Worded(table))
    assert "von {user}" in outcome.text or "bei {user}" in outcome.text


@pytest.mark.parametrize(
    ("text", "translation", "expected"),
    [
        ("The dog&#39;s toy", "Das Spielzeug 'Hund'", "Das Spielzeug &#39;Hund&#39;"),
        ("A man &amp; a woman", "Ein Mann und eine Frau", "Ein Mann und eine Frau"),
        ("A man &amp; a woman", "Ein Mann & eine Frau", "Ein Mann &amp; eine Frau"),
        ("caf&eacute; here", "hier ein café", "hier ein caf&eacute;"),
        ("one&nbsp;&nbsp;word", "ein Wort", "ein Wort"),
    ],
)
def test_escapes_are_characters_and_are_escaped_again(text: str, translation: str, expected: str) -> None:
    translator = Fake(lambda _: translation)
    (outcome,) = translate_segments([Segment(id="x", content=(text,))], translator)
    assert (outcome.text, outcome.notes) == (expected, ())
    assert "&" not in translator.asked[0].replace(" & ", "")


def test_a_plain_ampersand_beside_an_escaped_one_stays_as_it_is() -> None:
    translator = Fake(lambda text: text.replace("file", "Datei"))
    (outcome,) = translate_segments([Segment(id="x", content=("&Open file &amp; go",))], translator)
    assert outcome.text == "&Open Datei &amp; go"


def test_options_are_asked_for_only_where_marks_need_them() -> None:
    asked: list[tuple[str, bool]] = []

    class Asked(Fake):
        def translate(self, texts, options: TranslateOptions):  # type: ignore[no-untyped-def]
            asked.extend((text, options.alignment) for text in texts)
            return super().translate(texts, options)

    segments = [Segment(id="x", content=(text,)) for text in ("plain words here", "words with %s here")]
    translate_segments(segments, Asked(str.upper))
    assert ("plain words here", False) in asked
    assert all(alignment for text, alignment in asked if "words with" in text)


def test_a_sentence_that_was_copied_for_its_emoji_is_translated_without_them() -> None:
    class Foreign(Worded):
        def _one(self, text: str, options: TranslateOptions) -> Translation:
            unreadable = "\U0001f389" in text or "{1}" in text
            return Translation(text=text, notes=("copied",)) if unreadable else super()._one(text, options)

    translator = Foreign({"Well done!": ("Gut gemacht!", ((0, 0), (1, 1)))})
    (outcome,) = translate_segments([Segment(id="x", content=("Well \U0001f389 done \U0001f389!",))], translator)
    assert (outcome.text, outcome.notes) == ("Gut \U0001f389 gemacht \U0001f389!", ())


def test_a_tag_of_a_message_is_a_pair_whatever_html_calls_it() -> None:
    """`<link>` closes in messages of programs, and never in HTML."""
    translator = Worded({"Read this page now": ("Jetzt diese Seite lesen", ((3, 0), (1, 1), (2, 2), (0, 3)))})
    (outcome,) = translate_segments([Segment(id="x", content=("Read <link>this<br> page</link> now",))], translator)
    assert outcome.text == "Jetzt <link>diese<br> Seite</link> lesen"
