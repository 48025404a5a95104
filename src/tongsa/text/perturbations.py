"""Perturbations of a sentence that leave its meaning alone: what people type, as opposed to what corpora hold.

Translators are tested with them (`tongsa evaluate --stress`) and trained with some of them (`training.noise`). All are
a function of the text and the random generator they are given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

TYPO = 0.15
"""Chance of a word to have a typo; one word of a sentence always has one, if any can."""
GAP = 0.15
"""Chance of a space to be lost, or of a word to be cut in two; one place of a sentence always is."""
STRANGE = "☃𓂀⸙ꙮ🜍"
"""Characters that no corpus holds."""
JOINED = 3
"""Most sentences that are joined into one line."""

_ENDS = " .!?…。！？"
_HANGUL_FIRST, _HANGUL_LAST, _FINALS = 0xAC00, 0xD7A3, 28

Change = Callable[[str, Random], str]


def lower_case(text: str, draw: Random) -> str:
    return text.lower()


def upper_case(text: str, draw: Random) -> str:
    return text.upper()


def without_end(text: str, draw: Random) -> str:
    """Remove the marks at the end, unless nothing would be left."""
    return text.rstrip(_ENDS) or text


def with_typos(text: str, draw: Random) -> str:
    """Swap, lose or double a letter of some words."""
    words = text.split(" ")
    able = [place for place, word in enumerate(words) if _letters(word)]
    if able:
        sure = draw.choice(able)
        for place in able:
            if place == sure or draw.random() < TYPO:
                words[place] = _mistyped(words[place], draw)
    return " ".join(words)


def _letters(word: str) -> list[int]:
    """Places of the letters that a typo may change: none in short words, where it would change the word."""
    places = [place for place, character in enumerate(word) if character.isalpha()]
    hangul = any(_is_hangul(word[place]) for place in places)
    return places if len(places) >= (2 if hangul else 4) else []


def _mistyped(word: str, draw: Random) -> str:
    letters = _letters(word)
    place = draw.choice(letters[1:])  # the first letter is seldom wrong
    letter, kind = word[place], draw.randrange(3)
    if _is_hangul(letter):  # a final consonant is lost or added
        offset = (ord(letter) - _HANGUL_FIRST) % _FINALS
        changed = chr(ord(letter) - offset) if offset else chr(ord(letter) + 1 + draw.randrange(_FINALS - 1))
        return word[:place] + changed + word[place + 1 :]
    if kind == 0 and place + 1 < len(word) and word[place] != word[place + 1]:
        return word[:place] + word[place + 1] + letter + word[place + 2 :]
    return word[:place] + ("" if kind == 1 else 2 * letter) + word[place + 1 :]


def _is_hangul(character: str) -> bool:
    return _HANGUL_FIRST <= ord(character) <= _HANGUL_LAST


def misspaced(text: str, draw: Random) -> str:
    """Lose some of the spaces, or cut some words in two: the commonest mistake in Korean."""
    words = text.split(" ")
    long = [place for place, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    gaps = list(range(1, len(words)))
    if not gaps and not long:
        return text
    sure = draw.choice([*((place, "lose") for place in gaps), *((place, "cut") for place in long)])
    lost = {place for place in gaps if (place, "lose") == sure or draw.random() < GAP / 2}
    for place in long:
        if (place, "cut") == sure or draw.random() < GAP / 2:
            at = draw.randrange(2, len(words[place]) - 1)
            words[place] = f"{words[place][:at]} {words[place][at:]}"
    return "".join(("" if place in lost or not place else " ") + word for place, word in enumerate(words))


def with_more_spaces(text: str, draw: Random) -> str:
    return re.sub(" ", lambda _: " " * draw.randrange(1, 5), text)


def with_blanks_around(text: str, draw: Random) -> str:
    return f"{' ' * draw.randrange(1, 4)}{text}{draw.choice((' ', '   ', chr(9), chr(0xA0)))}"


def with_strange_character(text: str, draw: Random) -> str:
    """Insert a character that the model has never seen, between two words or at the end."""
    words = text.split(" ")
    words.insert(draw.randrange(1, len(words) + 1), draw.choice(STRANGE))
    return " ".join(words)


def one_word(text: str, draw: Random) -> str:
    """One of the words, without marks around it."""
    words = [word for word in re.findall(r"\w+", text) if word.isalpha()]
    return draw.choice(words) if words else text


@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """A change of a source, and what it does to the translation that is expected."""

    title: str
    change: Change
    change_target: Change = lambda text, draw: text
    """What a faithful translation does too: without a full stop, it has none either."""
    ignore_case: bool = False
    """Whether the case of the translation is left open."""
    has_reference: bool = True
    """False if the translation of the whole is not one of the changed source."""


SEVERAL = "several"
"""The perturbation that joins consecutive pairs."""

PERTURBATIONS: dict[str, Perturbation] = {
    "lower": Perturbation(title="lower case", change=lower_case, ignore_case=True),
    "upper": Perturbation(title="upper case", change=upper_case, ignore_case=True),
    "end": Perturbation(title="no full stop", change=without_end, change_target=without_end),
    "typos": Perturbation(title="typos", change=with_typos),
    "spacing": Perturbation(title="wrong spacing", change=misspaced),
    "spaces": Perturbation(title="repeated spaces", change=with_more_spaces),
    "blanks": Perturbation(title="blanks around", change=with_blanks_around),
    "strange": Perturbation(title="unknown character", change=with_strange_character),
    SEVERAL: Perturbation(title="several sentences", change=lambda text, draw: text),
    "word": Perturbation(title="single word", change=one_word, has_reference=False),
}


def perturbed(name: str, pairs: Sequence[tuple[str, str]], seed: int) -> list[tuple[str, str]]:
    """Return the changed sources with the references that belong to them: fewer, if sentences are joined."""
    if name == SEVERAL:
        return joined(pairs, Random(f"{seed} {name}"))
    kind = PERTURBATIONS[name]
    changed = []
    for number, (source, target) in enumerate(pairs):
        draw = Random(f"{seed} {name} {number}")
        changed.append((kind.change(source, draw), kind.change_target(target, draw)))
    return changed


def joined(pairs: Sequence[tuple[str, str]], draw: Random) -> list[tuple[str, str]]:
    """Join two or three consecutive pairs to one, until all are joined; a last one may stay alone."""
    places = [0]
    while places[-1] < len(pairs):
        places.append(min(len(pairs), places[-1] + draw.randrange(2, JOINED + 1)))
    groups = [pairs[first:last] for first, last in pairwise(places)]
    return [(" ".join(source for source, _ in group), " ".join(target for _, target in group)) for group in groups]
