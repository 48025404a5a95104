"""Units with a limit of length: a shorter translation is taken if there is one, and what is too long is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from fakes import Fake, FakeCard

from tongsa.documents import Options, read_document, translate_document
from tongsa.documents.checks import SHORTER
from tongsa.documents.review import wants_review
from tongsa.documents.translate import translate_segments
from tongsa.formats.segments import Outcome
from tongsa.translation.options import TranslateOptions
from tongsa.translation.translator import Translation


@dataclass
class WithAlternatives:
    """Knows several translations of everything, the best first."""

    texts: tuple[str, ...]
    card: FakeCard
    calls: int = 0

    def translate(self, texts: Sequence[str], options: TranslateOptions) -> list[Translation]:
        self.calls += 1
        found = [Translation(text=text, tokens=(text,), confidence=0.9) for text in self.texts]
        others = tuple(found[1 : 1 + options.alternatives])
        return [Translation(text=self.texts[0], tokens=("x",), confidence=0.9, alternatives=others) for _ in texts]


def unit(attributes: str, text: str = "good day") -> str:
    return (
        '<xliff version="1.2"><file source-language="en" target-language="de"><body>'
        f'<trans-unit id="1" {attributes}><source>{text}</source></trans-unit></body></file></xliff>'
    )


def unit_2(attributes: str, *texts: str) -> str:
    segments = "".join(f"<segment><source>{text}</source></segment>" for text in texts)
    return (
        '<xliff version="2.0" srcLang="en" trgLang="de" xmlns="urn:oasis:names:tc:xliff:document:2.0" '
        'xmlns:slr="urn:oasis:names:tc:xliff:sizerestriction:2.0">'
        f'<file id="f"><unit id="u" {attributes}>{segments}</unit></file></xliff>'
    )


def outcomes(text: str, options: Options, translator: Fake | WithAlternatives) -> list[Outcome]:
    document = read_document(text.encode(), Path("a.xliff"), options)
    return translate_segments(list(document.segments), translator)


LONG = Fake(lambda text: "einen schönen guten Tag")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (unit('maxwidth="10" size-unit="char"'), "too long: 23 characters, at most 10 are allowed"),
        (unit('maxwidth="10"'), "too long: 23 characters, at most 10 are allowed"),
        (unit('maxwidth="23" size-unit="byte"'), "too long: 24 bytes, at most 23 are allowed"),
        (unit('maxwidth="23" size-unit="char"'), ""),
        (unit('maxwidth="10" size-unit="pixel"'), ""),
        (unit('maxwidth="much"'), ""),
        (
            unit("").replace("<file", '<file maxwidth="9" size-unit="char"'),
            "too long: 23 characters, at most 9 are allowed",
        ),
        (unit_2('slr:sizeRestriction="10"', "good day"), "too long: 23 characters, at most 10 are allowed"),
        (unit_2('slr:sizeRestriction="2,10"', "good day"), "too long: 23 characters, at most 10 are allowed"),
        (unit_2('slr:storageRestriction="23"', "good day"), "too long: 24 bytes, at most 23 are allowed"),
        (unit_2('slr:sizeRestriction="23"', "good day"), ""),
    ],
)
def test_a_translation_that_is_too_long_is_in_the_review(text: str, note: str, options: Options) -> None:
    (outcome,) = outcomes(text, options, LONG)
    assert outcome.state == "translated", "it is written, and a person decides"
    assert outcome.notes == ((note,) if note else ())
    assert wants_review(outcome, below=0.0) == bool(note)


def test_segments_of_a_unit_share_its_limit(options: Options) -> None:
    found = outcomes(unit_2('slr:sizeRestriction="30"', "good day", "good night"), options, LONG)
    assert [outcome.notes for outcome in found] == [
        ("too long: 23 characters, at most 20 are allowed",),
        ("too long: 23 characters, at most 22 are allowed",),
    ]


def test_the_best_translation_that_fits_is_taken(options: Options) -> None:
    translator = WithAlternatives(("einen schönen guten Tag", "einen guten Tag", "guten Tag", "Tag"), FakeCard())
    (outcome,) = outcomes(unit('maxwidth="10" size-unit="char"'), options, translator)
    assert (outcome.text, outcome.notes) == ("guten Tag", (SHORTER,))


def test_alternatives_are_asked_for_only_if_something_is_too_long(options: Options) -> None:
    translator = WithAlternatives(("guten Tag", "Tag"), FakeCard())
    (outcome,) = outcomes(unit('maxwidth="10" size-unit="char"'), options, translator)
    assert (outcome.text, outcome.notes, translator.calls) == ("guten Tag", (), 1)


def test_a_text_with_placeholders_is_only_said(options: Options) -> None:
    translator = WithAlternatives(("einen guten Tag, %s", "Tag"), FakeCard())
    (outcome,) = outcomes(unit('maxwidth="10" size-unit="char"', "good day, %s"), options, translator)
    assert "%s" in outcome.text
    assert any(note.startswith("too long") for note in outcome.notes)


def test_the_target_is_written_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.xliff").write_text(unit('maxwidth="10" size-unit="char"'))
    done = translate_document(LONG, tmp_path / "a.xliff")
    assert ">einen schönen guten Tag</target>" in done.target.read_text()
