"""The built-in Korean-English corpus: a small grammar that writes sentence pairs.

Korean decides the English: one Korean sentence has exactly one translation. Where Korean leaves open what English must
say, a convention decides:

- Articles. A subject is definite (학생은, the student). An object takes "a" (책을 샀어요, bought a book), or nothing
  where English does not count it (빵을, bread). In the simple present, which tells a habit, and after liking,
  collecting and raising, it is a bare plural (책을 읽어요, reads books). Doors, windows and rooms are always "the".
  이, 그, 저 are this, that, that ... over there.
- Number. A noun is singular unless it has 들 or a number.
- Tense. -고 있다 is the progressive, the simple present is a habit; before a noun, -는 is the progressive (책을 읽는
  학생, the student who is reading a book). A clause in -고 or -아서 takes the tense of the last clause.
- Speech level. Polite -요 and formal -습니다 have the same English. Honorifics (께서, -시-, 드시다, 드리다) follow from
  the person that is spoken of, and leave no trace in English.
- Persons. "I" is 저 and always said. A question without a subject asks "you", a command says "Please". 우리 before
  family is "my", elsewhere "our"; 할머니 alone is a name (Grandmother). "He" and "she" follow from the name.
- 못 and -(으)ㄹ 수 없다 are both "cannot". English is written without contractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from itertools import accumulate
from random import Random

from tongsa.base.errors import UsageError
from tongsa.demo import joined, simple

Pair = tuple[str, str]

Patterns = Mapping[Callable[[Random], Pair], int]

PATTERNS: Patterns = {
    simple.statement: 26,
    simple.question: 8,
    simple.question_word: 8,
    simple.command: 3,
    simple.person_quality: 3,
    simple.thing_quality: 4,
    simple.is_a: 4,
    simple.exists: 4,
    simple.has: 3,
    simple.price: 1,
    simple.age: 1,
    simple.weather: 1,
    simple.lasting: 3,
    simple.journey: 2,
    joined.relative_subject: 8,
    joined.relative_quality: 4,
    joined.relative_object: 3,
    joined.and_then: 4,
    joined.go_and: 2,
    joined.two_subjects: 3,
    joined.but_not: 2,
    joined.because: 2,
    joined.weather_because: 1,
    joined.condition: 3,
    joined.before_or_after: 3,
}
"""What is written, and how often."""

HELD_OUT = 50
"""One sentence in so many is held out."""

_PATIENCE = 20_000
"""So many repeats in a row mean that the grammar has nothing new to say."""


def write_pairs(count: int, *, seed: int) -> Iterator[Pair]:
    """`count` pairs (Korean, English), no Korean sentence twice; the same seed writes the same pairs."""
    if count < 0:
        raise UsageError(f"cannot write {count:,} sentence pairs", "Ask for 0 or more.")
    for written, pair in enumerate(_endless(seed, PATTERNS)):
        if written == count:
            return
        yield pair


def held_out(korean: str) -> bool:
    """Whether a sentence belongs to validation or test. It depends on the sentence alone, not on seed or count."""
    return _hash(korean) % HELD_OUT == 0


def corpus(
    train: int, valid: int, test: int, *, seed: int, patterns: Patterns = PATTERNS
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Pairs for training, validation and test; no sentence is ever in two of them, whatever the seeds and counts."""
    wanted = {"train": train, "valid": valid, "test": test}
    if min(wanted.values()) < 0:
        raise UsageError(f"cannot write {train:,}, {valid:,} and {test:,} sentence pairs", "Ask for 0 or more of each.")
    parts: dict[str, list[Pair]] = {part: [] for part in wanted}
    missing = sum(wanted.values())
    for pair in _endless(seed, patterns) if missing else ():
        part = _part(pair[0])
        if len(parts[part]) < wanted[part]:
            parts[part].append(pair)
            missing -= 1
            if not missing:
                break
    return parts["train"], parts["valid"], parts["test"]


def _endless(seed: int, weights: Patterns) -> Iterator[Pair]:
    rng = Random(seed)
    patterns, thresholds = tuple(weights), tuple(accumulate(weights.values()))
    seen: set[str] = set()
    repeats = 0
    while True:
        (pattern,) = rng.choices(patterns, cum_weights=thresholds)
        korean, english = pattern(rng)
        if korean in seen:
            repeats += 1
            if repeats > _PATIENCE:
                raise UsageError(f"the built-in grammar has no more than {len(seen):,} sentences", "Ask for fewer.")
            continue
        repeats = 0
        seen.add(korean)
        yield korean, english


def _hash(korean: str) -> int:
    return int.from_bytes(blake2b(korean.encode(), digest_size=8).digest(), "big")


def _part(korean: str) -> str:
    """Validation and test are told apart by the hash too, so that they never meet, whatever the counts."""
    number = _hash(korean)
    if number % HELD_OUT:
        return "train"
    return "valid" if number // HELD_OUT % 2 else "test"
