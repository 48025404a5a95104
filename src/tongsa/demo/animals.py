"""A smaller grammar for experiments: animals, what they are like, and what they do to each other.

There are few words, so that a small model learns all of them in seconds; what it has to learn is their order. The same
words in another order say something else (큰 개가 작은 새를 도와요, 작은 개가 큰 새를 도와요), particles and not places
tell who does what to whom (새를 개가 도와요), the verb moves from the end to the middle and agrees with its subject,
and a clause in -고 takes its tense from the end of the sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tongsa.demo.english import plural, sentence, spaced, verb_group
from tongsa.text.hangul import OBJECT, SUBJECT, Predicate, attach

Pair = tuple[str, str]

ANIMALS = {"개": "dog", "고양이": "cat", "곰": "bear", "새": "bird", "말": "horse", "토끼": "rabbit"}
QUALITIES = {"큰": "big", "작은": "small", "흰": "white", "검은": "black", "늙은": "old", "어린": "young"}
DO_SOMETHING = {
    Predicate("자"): "sleep",
    Predicate("뛰"): "jump",
    Predicate("걷", "ㄷ"): "walk",
    Predicate("달리"): "run",
}
DO_TO_SOMEONE = {
    Predicate("따라가"): "follow",
    Predicate("돕", "ㅂ"): "help",
    Predicate("기다리"): "wait for",
    Predicate("부르", "르"): "call",
    Predicate("밀"): "push",
    Predicate("좋아하"): "like",
}
JOINED = {"고": "and", "지만": "but"}


def simple(rng: Random) -> Pair:
    """One clause."""
    tense = rng.choice(("present", "past"))
    korean, verb, english = _clause(rng, tense)
    return f"{spaced(*korean, verb.finished(tense, formal=False))}.", sentence(english)


def joined(rng: Random) -> Pair:
    """Two clauses; the first is in the tense of the second."""
    tense = rng.choice(("present", "past"))
    first, second = _clause(rng, tense), _clause(rng, tense)
    ending, link = rng.choice(tuple(JOINED.items()))
    stem = first[1].past() if ending == "지만" and tense == "past" else first[1].stem
    korean = spaced(*first[0], stem + ending, *second[0], second[1].finished(tense, formal=False))
    return f"{korean}.", sentence(f"{first[2]} {link} {second[2]}")


PATTERNS: dict[Callable[[Random], Pair], int] = {simple: 2, joined: 1}
"""What is written, and how often."""


def _clause(rng: Random, tense: str) -> tuple[list[str], Predicate, str]:
    """The Korean words before the verb, the verb, and the English clause."""
    korean, who, number = _someone(rng, SUBJECT)
    before = [korean]
    if rng.random() < 0.3:
        verb, english = rng.choice(tuple(DO_SOMETHING.items()))
        whom = ""
    else:
        verb, english = rng.choice(tuple(DO_TO_SOMEONE.items()))
        other, whom, _ = _someone(rng, OBJECT)
        before.insert(rng.choice((0, 1, 1, 1)), other)
    return before, verb, spaced(verb_group(english, number, tense).after(who), whom)


def _someone(rng: Random, particle: str) -> tuple[str, str, str]:
    """Korean, English, and the pronoun that the verb agrees with."""
    korean, english = rng.choice(tuple(ANIMALS.items()))
    qualities = rng.sample(tuple(QUALITIES.items()), rng.choice((0, 1, 1)))
    many = rng.random() < 0.35
    noun = attach(korean + ("들" if many else ""), particle)
    return (
        spaced(*(each for each, _ in qualities), noun),
        spaced("the", *(each for _, each in qualities), plural(english) if many else english),
        "we" if many else "it",
    )
