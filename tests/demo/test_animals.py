"""The smaller grammar: word order and particles decide what a sentence says."""

from __future__ import annotations

from random import Random

from tongsa.demo import animals, grammar


def test_the_same_words_in_another_order_say_something_else() -> None:
    """Otherwise a model without positions could learn it."""
    pairs = grammar.corpus(4000, 0, 0, seed=1, patterns=animals.PATTERNS)[0]
    english: dict[tuple[str, ...], set[str]] = {}
    for korean, said in pairs:
        english.setdefault(tuple(sorted(korean.split())), set()).add(said)
    assert sum(len(found) > 1 for found in english.values()) > 20


def test_particles_tell_who_does_what_to_whom_in_either_order() -> None:
    orders = set()
    for seed in range(200):
        korean, english = animals.simple(Random(seed))
        nouns = {word[-1]: word[:-1].removesuffix("들") for word in korean.split() if word[-1] in "이가을를"}
        if len(nouns) == 2:
            orders.add("".join(nouns).translate(str.maketrans("이가을를", "ssoo")))
            subject = next(noun for particle, noun in nouns.items() if particle in "이가")
            first = next(word for word in english.split() if word.rstrip("s") in animals.ANIMALS.values())
            assert first.rstrip("s") == animals.ANIMALS[subject], (korean, english)
    assert orders == {"so", "os"}


def test_the_tense_of_the_first_clause_stands_at_the_end() -> None:
    pairs = [animals.joined(Random(seed)) for seed in range(400)]
    ends = {korean.split()[-1]: english for korean, english in pairs if "자고" in korean}
    assert any(end.endswith("었어요.") and " slept and " in english for end, english in ends.items())
    assert any(" sleep and " in english or " sleeps and " in english for english in ends.values())


def test_no_sentence_is_both_trained_on_and_held_out() -> None:
    train, valid, _ = grammar.corpus(2000, 100, 0, seed=1, patterns=animals.PATTERNS)
    assert not {korean for korean, _ in train} & {korean for korean, _ in valid}
