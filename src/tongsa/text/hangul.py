"""Korean morphology by syllable arithmetic: final consonants, particles, conjugation.

A precomposed Hangul syllable is a number: ``0xAC00 + (initial * 21 + vowel) * 28 + final``. Everything here follows
from it: which shape a particle takes, how a stem joins its ending, how vowels contract. What spelling cannot tell
(걷다 "walk" is irregular and 닫다 "close" is not) is marked on the word as its `irregular` class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
"""A blank stands for "no final consonant"."""

FIRST, LAST = 0xAC00, 0xD7A3

TOPIC, SUBJECT, OBJECT, AND, BY = "은/는", "이/가", "을/를", "과/와", "으로/로"
"""Particles as (after a consonant)/(after a vowel)."""

_FUSED = {("저", SUBJECT): "제가", ("누구", SUBJECT): "누가"}

_CONTRACTED = dict(zip("ㅏㅓㅐㅔㅕㅗㅜㅣㅚ", "ㅏㅓㅐㅔㅕㅘㅝㅕㅙ", strict=True))
"""The vowel of an open stem once 아/어 has joined it: 가+아 -> 가, 오+아 -> 와, 마시+어 -> 마셔."""

_H_CONTRACTED = dict(zip("ㅏㅑㅓㅕ", "ㅐㅒㅔㅖ", strict=True))
"""The same for stems that lose ㅎ: 빨갛+아 -> 빨개."""


def split(syllable: str) -> tuple[str, str, str]:
    """Initial, vowel and final of one syllable; the final of an open syllable is the empty string."""
    if not FIRST <= ord(syllable) <= LAST:
        raise ValueError(f"{syllable!r} is not a precomposed Hangul syllable")
    index = ord(syllable) - FIRST
    return INITIALS[index // 588], VOWELS[index // 28 % 21], FINALS[index % 28].strip()


def join(initial: str, vowel: str, final: str = "") -> str:
    """The inverse of `split`."""
    return chr(FIRST + (INITIALS.index(initial) * 21 + VOWELS.index(vowel)) * 28 + FINALS.index(final or " "))


def final_of(word: str) -> str:
    """The final consonant (batchim) of a word, or the empty string."""
    return split(word[-1])[2]


def with_final(word: str, final: str) -> str:
    """The word with the final consonant of its last syllable replaced."""
    initial, vowel, _ = split(word[-1])
    return word[:-1] + join(initial, vowel, final)


def attach(word: str, particle: str) -> str:
    """A word with the particle's fitting shape: 책 + 을/를 -> 책을; 으로/로 counts a final ㄹ as open: 지하철로."""
    if fused := _FUSED.get((word, particle)):
        return fused
    closed, opened = particle.split("/")
    final = final_of(word)
    if particle == BY and final == "ㄹ":
        return word + opened
    return word + (closed if final else opened)


@dataclass(frozen=True)
class Predicate:
    """A verb or adjective stem that endings can join."""

    stem: str
    irregular: str = ""
    """The class that spelling does not tell: ㄷ, ㅂ, ㅅ, ㅎ or 르."""
    adjective: bool = False
    """Descriptive verbs take -(으)ㄴ, not -는, in the present before a noun."""
    honorific: bool = False
    """The stem ends in the honorific 시, whose polite present is -세요."""

    def plain(self, ending: str) -> str:
        """With an ending that changes nothing: -고, -지, -지만, -기."""
        return self.stem + ending

    def opened(self, ending: str) -> str:
        """With an ending that has 으 after a consonant, given without it: 면, 시, or the bare jamo ㄴ, ㄹ."""
        stem = self._before_vowel()
        if self.irregular in ("ㄷ", "ㅅ") or final_of(stem) not in ("", "ㄹ"):
            stem += "으"
        elif final_of(stem) == "ㄹ" and ending.startswith(("ㄴ", "ㄹ", "시")):
            stem = with_final(stem, "")
        return with_final(stem, ending[0]) + ending[1:] if ending[0] in FINALS else stem + ending

    def infinitive(self) -> str:
        """The -아/어 form, contracted as it is written: 먹어, 가, 와, 마셔, 해, 도와, 들어, 지어, 불러, 써, 빨개."""
        if self.stem.endswith("하"):
            return self.stem[:-1] + "해"
        if self.irregular == "르":
            return with_final(self.stem[:-1], "ㄹ") + ("라" if _bright(self.stem[:-1]) else "러")
        if self.irregular == "ㅎ":
            initial, vowel, _ = split(self.stem[-1])
            return self.stem[:-1] + join(initial, _H_CONTRACTED[vowel])
        stem = self._before_vowel()
        if self.irregular == "ㅂ":  # only 돕다 and 곱다 keep vowel harmony; all others take 워
            return stem[:-1] + ("와" if self.stem in ("돕", "곱") else "워")
        initial, vowel, final = split(stem[-1])
        if final or self.irregular == "ㅅ" or (vowel not in _CONTRACTED and vowel != "ㅡ"):
            return stem + ("아" if _bright(stem) else "어")
        if vowel == "ㅡ":
            return stem[:-1] + join(initial, "ㅏ" if len(stem) > 1 and _bright(stem[:-1]) else "ㅓ")
        return stem[:-1] + join(initial, _CONTRACTED[vowel])

    def past(self) -> str:
        """The past stem, which takes -어요, -습니다, -고, -지만: 갔, 왔, 마셨, 했."""
        return with_final(self.infinitive(), "ㅆ")

    def polite(self) -> str:
        """Polite present: 가요, 먹어요, 가세요."""
        return (self.stem[:-1] + "세" if self.honorific else self.infinitive()) + "요"

    def formal(self, tail: str = "다") -> str:
        """Formal present: 갑니다, 먹습니다, 삽니다; with the tail 까, its question."""
        if final_of(self.stem) in ("", "ㄹ"):
            return with_final(self.stem, "ㅂ") + "니" + tail
        return self.stem + "습니" + tail

    def finished(self, tense: str, *, formal: bool, asked: bool = False) -> str:
        """The end of a sentence, polite (-요) or formal (-습니다, -습니까)."""
        tail = "까" if asked else "다"
        if tense == "past":
            return self.past() + ("습니" + tail if formal else "어요")
        if tense == "future":
            return self.opened("ㄹ") + (" 겁니" + tail if formal else " 거예요")
        return self.formal(tail) if formal else self.polite()

    def before_noun(self, tense: str) -> str:
        """The form before a noun: 산, 사는, 살 of 사다; 큰 of 크다; 재미있는 of 재미있다."""
        if tense == "future":
            return self.opened("ㄹ")
        if tense == "past" or (self.adjective and not self.stem.endswith(("있", "없"))):
            return self.opened("ㄴ")
        return (with_final(self.stem, "") if final_of(self.stem) == "ㄹ" else self.stem) + "는"

    def honored(self) -> Predicate:
        """The honorific stem in -(으)시-."""
        return replace(self, stem=self.opened("시"), irregular="", honorific=True)

    def _before_vowel(self) -> str:
        """The stem as it stands before a vowel: 듣 -> 들, 돕 -> 도우, 짓 -> 지, 빨갛 -> 빨가."""
        if self.irregular == "ㄷ":
            return with_final(self.stem, "ㄹ")
        if self.irregular == "ㅂ":
            return with_final(self.stem, "") + "우"
        if self.irregular in ("ㅅ", "ㅎ"):
            return with_final(self.stem, "")
        return self.stem


def _bright(stem: str) -> bool:
    """Vowel harmony: ㅏ, ㅑ and ㅗ take 아, all others 어."""
    return split(stem[-1])[1] in "ㅏㅑㅗ"


def copula(
    noun: str, tense: str, *, formal: bool, honorific: bool = False, negated: bool = False, asked: bool = False
) -> str:
    """ "Is": 학생이에요, 의사예요, 의사입니다, 의사가 아니에요, 선생님이세요."""
    tail = "니까" if asked else "니다"
    if negated:
        noun = attach(noun, SUBJECT) + " 아니"
    if honorific:
        noun = noun + "시" if negated else attach(noun, "이시/시")
        return Predicate(noun, honorific=True).finished(tense, formal=formal, asked=asked)
    if tense == "past":
        return (noun + "었" if negated else attach(noun, "이었/였")) + ("습" + tail if formal else "어요")
    if formal:
        return with_final(noun, "ㅂ") + tail if negated else noun + "입" + tail
    return noun + "에요" if negated else attach(noun, "이에요/예요")


_NATIVE_DIGITS = ("", "한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉")
_NATIVE_TENS = ("", "열", "스물", "서른", "마흔", "쉰")
_SINO_DIGITS = ("", "일", "이", "삼", "사", "오", "육", "칠", "팔", "구")


def native(number: int) -> str:
    """Native numeral from 1 to 59 as it stands before a counter: 세 (권), 스무 (살), 스물한 (살)."""
    if not 0 < number < 60:
        raise ValueError(f"{number} is outside 1 to 59")
    return "스무" if number == 20 else _NATIVE_TENS[number // 10] + _NATIVE_DIGITS[number % 10]


def sino(number: int) -> str:
    """Sino-Korean numeral below 100,000, spaced after 만: 12 -> 십이, 15000 -> 만 오천."""
    if not 0 < number < 100_000:
        raise ValueError(f"{number} is outside 1 to 99,999")
    words = ""
    for unit, name in ((10_000, "만 "), (1000, "천"), (100, "백"), (10, "십"), (1, "")):
        digit, number = divmod(number, unit)
        if digit:
            words += ("" if digit == 1 and name else _SINO_DIGITS[digit]) + name
    return words.strip()
