"""Perturbations are functions of text and seed, and broken translations are told from sound ones."""

from __future__ import annotations

from random import Random

import pytest

from tongsa.text.breakage import breakage
from tongsa.text.perturbations import PERTURBATIONS, perturbed

PAIRS = [
    ("A man is walking slowly down the street.", "Ein Mann geht langsam die Straße entlang."),
    ("The children laugh!", "Die Kinder lachen!"),
    ("오늘은 날씨가 아주 좋습니다.", "Das Wetter ist heute sehr schön."),
    ("No.", "Nein."),
    ("?", "?"),
]


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_the_seed_alone_decides(name: str) -> None:
    assert perturbed(name, PAIRS, 1) == perturbed(name, PAIRS, 1)
    assert all(source.strip() for source, _ in perturbed(name, PAIRS, 1))


@pytest.mark.parametrize("name", ["lower", "upper", "end", "typos", "spacing", "spaces", "blanks", "strange", "word"])
def test_each_changes_an_ordinary_sentence(name: str) -> None:
    changed = perturbed(name, PAIRS[:1], 1)[0][0]
    assert changed != PAIRS[0][0]
    if name in ("spacing", "spaces", "blanks"):
        assert "".join(changed.split()) == "".join(PAIRS[0][0].split())


def test_typos_are_also_made_in_korean() -> None:
    korean = PAIRS[2][0]
    changed = PERTURBATIONS["typos"].change(korean, Random(1))
    assert changed != korean
    assert len(changed) == len(korean), "a final consonant is lost or added: the syllables stay syllables"


def test_a_translation_without_a_full_stop_is_expected_of_a_source_without_one() -> None:
    changed = perturbed("end", PAIRS, 1)
    assert changed[1] == ("The children laugh", "Die Kinder lachen")
    assert changed[4] == ("?", "?")


def test_joined_sentences_have_joined_references_and_none_is_lost() -> None:
    changed = perturbed("several", PAIRS, 1)
    assert len(changed) < len(PAIRS)
    assert " ".join(source for source, _ in changed) == " ".join(source for source, _ in PAIRS)
    assert " ".join(target for _, target in changed) == " ".join(target for _, target in PAIRS)


@pytest.mark.parametrize(
    ("source", "translation", "languages", "expected"),
    [
        ("A man is walking down the street.", "Ein Mann geht die Straße entlang.", ("en", "de"), None),
        ("A man is walking down the street.", "", ("en", "de"), "empty"),
        ("A man walks.", "Ein Mann und ein Mann und ein Mann und ein Mann und", ("en", "de"), "loop"),
        ("A man walks.", "Hahahahahahahahahaha", ("en", "de"), "loop"),
        ("no no no no no", "nein nein nein nein nein", ("en", "de"), None),
        ("A man is walking down the street.", "A man is walking down a street.", ("en", "de"), "copy"),
        ("A man is walking down the street.", "Una mujer camina por la calle con su perro.", ("en", "de"), "language"),
        ("The weather is fine today.", "날씨가 좋습니다.", ("en", "ko"), None),
        ("The weather is fine today.", "Wetter", ("en", "ko"), "script"),
        ("Angela Merkel", "Angela Merkel", ("en", "ko"), None),
        (
            "Hello.",
            "Guten Tag, " + "meine lieben Damen und Herren, die heute hier versammelt sind",
            ("en", "de"),
            "long",
        ),
        ("12:30", "", ("en", "de"), None),
    ],
)
def test_broken_translations_are_told_from_sound_ones(
    source: str, translation: str, languages: tuple[str, str], expected: str | None
) -> None:
    assert breakage(source, translation, *languages) == expected
