"""Korean particles: they follow a word without a space, and some depend on whether it ends in a consonant."""

from __future__ import annotations

import re

from tongsa.text.hangul import AND, BY, FIRST, LAST, OBJECT, SUBJECT, TOPIC, final_of

CHANGING = (
    *(TOPIC, SUBJECT, OBJECT, AND, BY),
    *("이나/나", "이랑/랑", "이란/란", "이라/라", "이며/며", "이든/든", "이여/여"),
)
"""Particles as (after a consonant)/(after a vowel)."""
UNCHANGING = (
    *("에서", "에게", "에", "의", "도", "만", "까지", "부터"),
    *("보다", "처럼", "마다", "조차", "하고", "한테", "께"),
)
AFTER_OTHERS = ("는", "은", "도", "만", "의", "서", "써", "부터", "까지", "고")
"""What may follow another particle: 에서는, 으로써, 에게도."""

_SHAPES = {shape: pair for pair in CHANGING for shape in pair.split("/")}
_CHANGING = "|".join(sorted(_SHAPES, key=len, reverse=True))
_ANY = "|".join(sorted({*_SHAPES, *UNCHANGING}, key=len, reverse=True))
_MORE = "|".join(sorted(AFTER_OTHERS, key=len, reverse=True))
_PARTICLES = re.compile(rf"(?:들?(?:{_ANY})(?:{_MORE})?|들|입니다|이다|인|일)(?![\uac00-\ud7a3])")
_LAST_PARTICLES = re.compile(rf"(?:{_ANY})(?:{_MORE})?$")
_CHANGING_NEXT = re.compile(rf"(?:{_CHANGING})(?={_MORE}|[^\uac00-\ud7a3]|$)")
_CLOSED_DIGITS = "013678"
"""Digits whose Korean names end in a consonant: 영, 일, 삼, 육, 칠, 팔."""
_CLOSED_LETTERS = "lmnr"
"""Latin letters whose Korean names end in a consonant: 엘, 엠, 엔, 알."""


def is_hangul(character: str) -> bool:
    return bool(character) and FIRST <= ord(character) <= LAST


def at_word_end(text: str, at: int) -> bool:
    """Return True if a word ends here, or only particles follow it."""
    return not is_hangul(text[at : at + 1]) or bool(_PARTICLES.match(text, at))


def without_particles(word: str) -> int:
    """Return the length of a word without the particles at its end; its own length if it has none."""
    match = _LAST_PARTICLES.search(word)
    return match.start() if match and match.start() else len(word)


def fitted(text: str, at: int) -> str:
    """Adapt the particle that begins at `at` to the word before it: 책를 -> 책을; other text stays as it is."""
    match = _CHANGING_NEXT.match(text, at)
    if not match or not at:
        return text
    final = _final_sound(text[at - 1])
    if final is None:
        return text
    pair = _SHAPES[match.group()]
    closed, opened = pair.split("/")
    shape = opened if not final or (pair == BY and final == "ㄹ") else closed
    return text[:at] + shape + text[match.end() :]


def _final_sound(character: str) -> str | None:
    """Return the final consonant of a syllable, or of the Korean name of a digit or letter; None if it has no name."""
    if is_hangul(character):
        return final_of(character)
    if character.isascii() and character.isalnum():
        return "ㄹ" if character in "178lr" else "ㅇ" if character.lower() in _CLOSED_DIGITS + _CLOSED_LETTERS else ""
    return None
