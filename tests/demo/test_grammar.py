"""The built-in corpus: right, one translation a sentence, the same for a seed, and more than can be learnt by heart."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from random import Random

import pytest

from tongsa.base.errors import UsageError
from tongsa.demo import lexicon, simple
from tongsa.demo.english import article, gerund, past, plural, third
from tongsa.demo.grammar import PATTERNS, corpus, held_out, write_pairs

SAMPLE = 6_000

Pair = tuple[str, str]


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return list(write_pairs(SAMPLE, seed=7))


def drawn(count: int, seed: int) -> list[Pair]:
    """Pairs as they come, repeats included."""
    rng = Random(seed)
    patterns = rng.choices(tuple(PATTERNS), weights=tuple(PATTERNS.values()), k=count)
    return [pattern(rng) for pattern in patterns]


def test_a_seed_writes_the_same_pairs_and_another_seed_others(pairs: list[Pair]) -> None:
    assert list(write_pairs(500, seed=7)) == pairs[:500]
    assert list(write_pairs(500, seed=8)) != pairs[:500]


def test_no_korean_sentence_is_written_twice(pairs: list[Pair]) -> None:
    assert len(pairs) == SAMPLE
    assert len({korean for korean, _ in pairs}) == SAMPLE


def test_a_korean_sentence_has_exactly_one_translation() -> None:
    translations: dict[str, str] = {}
    repeats = 0
    for korean, english in drawn(40_000, seed=3):
        repeats += korean in translations
        assert translations.setdefault(korean, english) == english, korean
    assert repeats > 500, "too few repeats to have tested anything"


def test_there_are_over_a_million_sentences() -> None:
    # Capture and recapture, of plain statements alone. They are not equally likely, which makes the estimate too low.
    first, second = ({simple.statement(rng)[0] for _ in range(10_000)} for rng in (Random(1), Random(2)))
    assert len(first) * len(second) / max(1, len(first & second)) > 1_000_000


def test_pairs_are_clean_text_with_matching_marks(pairs: list[Pair]) -> None:
    for korean, english in pairs:
        for text in (korean, english):
            assert unicodedata.is_normalized("NFC", text)
            assert "  " not in text
            assert text == text.strip()
            assert text[-1] in ".?"
            assert not re.search(r"[.?,]{2}| [.?,]", text)
        assert korean[-1] == english[-1]
        assert english[0].isupper()
        assert re.fullmatch(r"[가-힣0-9 ]+[.?]", korean), korean
        assert re.fullmatch(r"[A-Za-z0-9 ,'-]+[.?]", english), english


def test_korean_sentences_end_politely(pairs: list[Pair]) -> None:
    for korean, _ in pairs:
        assert korean.endswith(("요.", "다.", "십시오.", "요?", "까?")), korean


def test_sentences_are_short_enough_for_a_small_model(pairs: list[Pair]) -> None:
    lengths = [len(english.split()) for _, english in pairs]
    assert 7 <= sum(lengths) / len(lengths) <= 12
    assert max(lengths) <= 32


def test_verbs_of_honorific_subjects_are_honorific(pairs: list[Pair]) -> None:
    for korean, _ in pairs:
        if re.search(r"께서는? ", korean) and len(re.findall(r"께서", korean)) == 1 and "지만" not in korean:
            assert re.search(r"[시신실십셨세셔]|계[시십실셨세]", korean), korean


def test_english_articles_and_numbers_agree(pairs: list[Pair]) -> None:
    for _, english in pairs:
        for word, following in pairwise(english.split()):
            if word.lower() == "a":
                assert following[0] not in "aeiou", english
                assert not following.startswith("honest"), english
            if word.lower() == "an":
                assert following[0] in "aeiouh", english


def test_the_split_depends_on_the_sentence_alone(pairs: list[Pair]) -> None:
    share = sum(held_out(korean) for korean, _ in pairs) / len(pairs)
    assert 0.015 < share < 0.025
    assert held_out("저는 학생이에요.") == held_out("저는 학생이에요.")


def test_parts_of_a_corpus_never_meet_even_across_seeds() -> None:
    train, valid, test = corpus(3_000, 40, 50, seed=1)
    assert (len(train), len(valid), len(test)) == (3_000, 40, 50)
    others = corpus(2_000, 60, 30, seed=2)
    sentences = [
        {korean for korean, _ in (*mine, *theirs)} for mine, theirs in zip((train, valid, test), others, strict=True)
    ]
    assert not sentences[0] & sentences[1]
    assert not sentences[0] & sentences[2]
    assert not sentences[1] & sentences[2]
    assert not any(held_out(korean) for korean in sentences[0])
    assert all(held_out(korean) for korean in sentences[1] | sentences[2])


def test_parts_may_be_empty() -> None:
    assert corpus(0, 0, 0, seed=1) == ([], [], [])
    train, valid, test = corpus(5, 0, 0, seed=1)
    assert (len(train), valid, test) == (5, [], [])
    assert list(write_pairs(0, seed=1)) == []


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(UsageError, match="-1"):
        list(write_pairs(-1, seed=1))
    with pytest.raises(UsageError, match="-5"):
        corpus(10, -5, 1, seed=1)


def test_words_that_share_a_frame_have_forms_of_their_own() -> None:
    nouns = [noun.korean for group in lexicon.THINGS.values() for noun in group]
    assert len(nouns) == len(set(nouns))
    forms: dict[tuple[str, str], str] = {}
    for verb in (*lexicon.ACTIONS, *lexicon.LIKING):
        stem = verb.predicate
        written = (
            stem.polite(),
            stem.past(),
            stem.formal(),
            *(stem.before_noun(t) for t in ("past", "present", "future")),
        )
        for kind in verb.kinds:
            for form in written:
                assert forms.setdefault((kind, form), verb.english) == verb.english, (kind, form)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ([article(noun) for noun in ("apple", "book", "honest cook")], ["an apple", "a book", "an honest cook"]),
        ([plural(noun) for noun in ("watch", "puppy", "book", "boy")], ["watches", "puppies", "books", "boys"]),
        ([third(verb) for verb in ("go", "study", "listen to", "have")], ["goes", "studies", "listens to", "has"]),
        ([past(verb) for verb in ("go back", "study", "choose", "bake")], ["went back", "studied", "chose", "baked"]),
        (
            [gerund(verb) for verb in ("run", "make", "wait for", "open")],
            ["running", "making", "waiting for", "opening"],
        ),
    ],
)
def test_english_words_inflect(made: list[str], expected: list[str]) -> None:
    assert made == expected


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.__name__)
def test_every_pattern_writes_many_different_sentences(pattern: object) -> None:
    assert callable(pattern)
    rng = Random(1)
    assert len({pattern(rng)[0] for _ in range(400)}) > 150
