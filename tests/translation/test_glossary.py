"""Glossaries: which terms are found in a source, and which forms of them in a translation."""

from __future__ import annotations

import pytest

from tongsa.text.particles import fitted, without_particles
from tongsa.translation.glossary import Glossary, Target, _pattern


def seen(glossary: Glossary, text: str) -> list[tuple[str, str]]:
    return [(text[term.start : term.end], term.target.forms[0]) for term in glossary.find(text)]


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("Haus", "des Hauses"),
        ("Datei", "die Dateien"),
        ("mettre", "nous mettons"),
        ("datei", "Datei öffnen"),
        ("파일", "이 파일을"),
        ("Weblate", "Weblate를 쓴다"),
        ("책", "책을 읽는다"),
    ],
)
def test_a_term_is_found_in_a_translation(term: str, text: str) -> None:
    assert Target.of(term).found(text)


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("Haus", "die Haustürschlüssel"),
        ("Akte", "die Datei"),
        ("Rat", "Verrat"),
        ("Datei", "der Dateiens"),
        ("Zusammensetzung", "zusammensitzen"),
        ("책", "책상 위에"),
    ],
)
def test_another_word_is_no_form_of_a_term(term: str, text: str) -> None:
    assert not Target.of(term).found(text)


def test_if_forms_are_listed_no_other_form_counts() -> None:
    target = Target.of("Drahtesel | Drahtesels")
    assert target.forms == ("Drahtesel", "Drahtesels")
    assert target.found("des Drahtesels")
    assert not target.found("mit Drahteseln")


def test_a_term_that_stays_untranslated_is_kept_letter_by_letter() -> None:
    (term,) = Glossary({"iPhone": "iPhone"}).find("An iPhone rings.")
    assert term.target.found("Ein iPhone klingelt.")
    assert not term.target.found("IPhones klingeln.")


def test_a_pattern_is_made_only_for_a_term_that_may_be_in_the_text() -> None:
    before = _pattern.cache_info().misses
    assert not any(Target.of(f"Fernbedienung{number}").found("Die Datei liegt im Ordner.") for number in range(50))
    assert _pattern.cache_info().misses == before  # to compile one takes milliseconds
    assert Target.of("Ordnerliste|Ordner").found("Die Datei liegt im Ordner.") == [(19, 25)]


def test_the_longest_term_wins_and_only_whole_words_count() -> None:
    glossary = Glossary({"file": "Datei", "file system": "Dateisystem"})
    assert seen(glossary, "A file system, filed by File.") == [("file system", "Dateisystem"), ("File", "Datei")]


def test_terms_are_found_before_korean_particles() -> None:
    glossary = Glossary({"책": "tome", "Weblate": "Weblate", "파일": "file"})
    assert seen(glossary, "책상에서 책을 Weblate로 로그파일에") == [
        ("책", "tome"),
        ("Weblate", "Weblate"),
        ("파일", "file"),
    ]


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("책를 읽는다", 1, "책을 읽는다"),
        ("사과을 먹는다", 2, "사과를 먹는다"),
        ("연필으로", 2, "연필로"),
        ("펜로", 1, "펜으로"),
        ("책는", 1, "책은"),
        ("서버와는", 2, "서버와는"),
        ("메일와는", 2, "메일과는"),
        ("책에서", 1, "책에서"),
        ("URL를", 3, "URL을"),
        ("API을", 3, "API를"),
        ("책이야기", 1, "책이야기"),
    ],
)
def test_a_particle_fits_the_word_before_it(text: str, at: int, expected: str) -> None:
    assert fitted(text, at) == expected


@pytest.mark.parametrize(
    ("word", "stem"), [("자전거를", "자전거"), ("서버에서는", "서버"), ("책상", "책상"), ("이", "이")]
)
def test_the_particles_of_a_word_are_told_from_it(word: str, stem: str) -> None:
    assert word[: without_particles(word)] == stem
