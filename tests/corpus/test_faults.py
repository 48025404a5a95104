"""Planted faults are found, and sound pairs are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.corpus.planting import Way, plant

from tongsa.base.progress import Silent
from tongsa.corpus.mojibake import is_damaged
from tongsa.corpus.scan import BLOCK, scan, take_sample
from tongsa.demo.grammar import write_pairs
from tongsa.formats.pairs import Corpus, Pair, Place, Reading
from tongsa.text.lines import read_lines
from tongsa.text.scripts import script


def corpus_of(texts: list[tuple[str, str]], source: str, target: str) -> Corpus:
    def read(path: Path, reading: Reading):  # type: ignore[no-untyped-def]
        return (Pair(*both, Place(path, number)) for number, both in enumerate(texts, 1))

    return Corpus(((Path("planted"), read),), Reading(source=source, target=target))


def found_faults(texts: list[tuple[str, str]], source: str, target: str) -> list[list[str]]:
    corpus = corpus_of(texts, source, target)
    sample = take_sample(corpus, Silent())
    return [faults for block in scan(corpus, sample, workers=1, show=Silent()) for faults in block.faults]


def assert_found(texts: list[tuple[str, str]], source: str, target: str, way: Way | None = None) -> None:
    damaged, truth = plant(texts, way=way)
    faults = found_faults(damaged, source, target)
    rates = {}
    for name, places in truth.items():
        found = {place for place, names in enumerate(faults) if name in names}
        rates[name] = (len(found & places) / len(places), len(found & places) / max(1, len(found)))
    for name, (recall, precision) in rates.items():
        assert recall >= 0.9, (name, rates)
        assert precision >= 0.9, (name, rates)


def test_faults_planted_into_the_built_in_corpus_are_found() -> None:
    assert_found([(english, korean) for korean, english in write_pairs(2500, seed=3)], "en", "ko")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target", "pairs", "way"),
    [
        ("multi30k", "de", 10_000, Way()),
        ("multi30k", "de", 4_000, Way("source", inside=True)),
        ("tatoeba-ende", "de", 4_000, Way()),
        ("msdocs-enko", "ko", 4_000, Way()),
        ("msdocs-enko", "ko", 10_000, Way(inside=True)),
    ],
)
def test_faults_planted_into_real_text_are_found(
    shared_data: Path, name: str, target: str, pairs: int, way: Way
) -> None:
    """In the first pairs of each corpus; `benchmarks/cleaning.py` measures whole ones."""
    files = [read_lines(shared_data / name / f"train.{language}") for language in ("en", target)]
    texts = [both for _, both in zip(range(pairs), zip(*files, strict=True), strict=False)]
    assert_found(texts, "en", target, way)


@pytest.mark.parametrize(
    "text",
    ["GrÃ¶ÃŸe", "weiÃ\x9f", "itâ€™s", "ì•ˆë…•", "caf\ufffd", "Stra??e", "ÐŸÑ€Ð¸Ð²ÐµÑ‚", "°¡³ª´Ù¶ó", "Â© 2024"],
)
def test_damaged_text_is_known(text: str) -> None:
    assert is_damaged(text)


@pytest.mark.parametrize(
    "text",
    ["Größe", "Spaß“", "voilà”…", "São João", "„Ä“", "Côte d’Ivoire", "안녕", "Привет", "What??", "Ünïcödé", "MAÇÃ"],
)
def test_sound_text_is_not_taken_for_damaged(text: str) -> None:
    assert not is_damaged(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("abc", "Latin"),
        ("Größe 12", "Latin"),
        ("안녕 a", "Hangul"),
        ("日本語です", "Kana"),
        ("中文", "Han"),
        ("12!", "none"),
    ],
)
def test_the_script_of_a_text(text: str, name: str) -> None:
    assert script(text) == name


def test_a_corpus_of_few_pairs_is_judged_leniently() -> None:
    assert found_faults([("one", "eins"), ("two", "zwei"), ("", "drei")], "en", "de") == [[], [], ["empty"]]


def test_numbers_and_placeholders_that_differ_are_told() -> None:
    texts = [(english, korean) for korean, english in write_pairs(600, seed=4)]
    texts[100] = (texts[100][0] + " 1,234 %s", texts[100][1] + " 1.234 %s")
    texts[200] = (texts[200][0] + " 42", texts[200][1] + " 43")
    texts[300] = (texts[300][0] + " %s", texts[300][1] + " %d")
    faults = found_faults(texts, "en", "ko")
    assert not {"numbers", "placeholders"} & set(faults[100])
    assert "numbers" in faults[200]
    assert "placeholders" in faults[300]


def test_the_second_of_the_same_pair_is_a_duplicate() -> None:
    texts = [(english, korean) for korean, english in write_pairs(2500, seed=5)]
    faults = found_faults([*texts, (f" {texts[3][0]}  ", texts[3][1])], "en", "ko")
    assert "duplicate" in faults[-1]
    assert "duplicate" not in faults[3]


def test_many_processes_find_what_one_finds() -> None:
    texts, _ = plant([(english, korean) for korean, english in write_pairs(4 * BLOCK, seed=3)])
    corpus = corpus_of(texts, "en", "ko")
    sample = take_sample(corpus, Silent())
    alone, together = (
        [(block.pairs, block.faults) for block in scan(corpus, sample, workers=workers, show=Silent())]
        for workers in (1, 2)
    )
    assert alone == together


WEEKDAYS = dict(
    zip(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"], "월화수목금토일", strict=True)
)
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def thin_catalog() -> list[tuple[str, str]]:
    """A few hundred sentences, and lists of short messages as catalogs have them, each in several forms."""
    sentences = [(english, korean) for korean, english in write_pairs(240, seed=2)]
    days = [(day, f"{korean}요일") for day, korean in WEEKDAYS.items()]
    months = [(month, f"{number}월") for number, month in enumerate(MONTHS, 1)]
    short = [(month[:3].lower(), korean) for month, korean in months]
    dotted = [(f"{month[:3]}.", korean) for month, korean in months]
    return [
        *sentences[:120],
        *days,
        *[(day[:3], korean) for day, korean in days],
        *months,
        *short,
        *dotted,
        *sentences[120:],
    ]


def test_lists_of_short_messages_in_a_small_catalog_are_not_shifted() -> None:
    texts = thin_catalog()
    wrong = [
        (text, faults)
        for text, faults in zip(texts, found_faults(texts, "en", "ko"), strict=True)
        if {"shifted", "unrelated", "cut"} & set(faults)
    ]
    assert not wrong


def test_names_in_another_script_are_no_fault() -> None:
    texts = [(english, korean) for korean, english in write_pairs(600, seed=4)]
    sound = {
        100: ("Open Visual Studio Code and run CMake.", "Visual Studio Code를 열고 CMake를 실행합니다."),
        200: ("Visual Studio 2017", "Visual Studio 2017"),
        300: ("The Windows SDK (C++)", "Windows SDK (C++)"),
    }
    for place, pair in sound.items():
        texts[place] = pair
    texts[400] = ("the teacher reads", "der Lehrer")
    texts[500] = ("교사가 읽는다", "교사가 책을 읽는다")
    faults = found_faults(texts, "en", "ko")
    assert not [faults[place] for place in sound if {"script", "language", "copy"} & set(faults[place])]
    assert "script" in faults[400]
    assert {"script", "language", "copy"} & set(faults[500])


def test_an_escaped_character_is_no_placeholder() -> None:
    texts = [(english, korean) for korean, english in write_pairs(600, seed=4)]
    texts[100] = (f"{texts[100][0]} R&amp;D &quot;plus&quot;", f"{texts[100][1]} R&D")
    assert "placeholders" not in found_faults(texts, "en", "ko")[100]


def test_a_target_in_a_third_language_is_told() -> None:
    """Also if the third language is written in the same letters, and other lines are in it too."""
    texts = [(korean, english) for korean, english in write_pairs(1500, seed=6)]
    foreign = ["Die Kinder spielen heute im Garten hinter dem Haus.", "Der alte Mann liest jeden Morgen die Zeitung."]
    places = range(100, 1500, 150)
    for number, place in enumerate(places):
        texts[place] = (texts[place][0], foreign[number % 2])
    faults = found_faults(texts, "ko", "en")
    assert sum("language" in faults[place] for place in places) >= 0.9 * len(places)
    assert sum("language" in each for each in faults) <= len(places)


def test_the_script_of_a_side_is_known_where_many_names_are_in_another() -> None:
    """A third of the Korean texts have more Latin letters than Korean ones."""
    texts = [(english, korean) for korean, english in write_pairs(600, seed=4)]
    texts[::3] = [(f"{s} Visual Studio Enterprise", f"{t} Visual Studio Enterprise") for s, t in texts[::3]]
    texts[400] = ("the teacher reads", "der Lehrer")
    faults = found_faults(texts, "en", "ko")
    assert [place for place, names in enumerate(faults) if "script" in names] == [400]
