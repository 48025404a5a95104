"""Clauses of the built-in corpus: tense, mode and negation put on an action, in both languages."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tongsa.demo.english import VerbGroup, spaced, verb_group
from tongsa.demo.lexicon import Verb
from tongsa.demo.phrases import Action, Subject, When, when
from tongsa.text.hangul import Predicate

_CANNOT = ("못", "지 못하")
_TENSES = {
    "plain": (("past", 0.45), ("future", 0.75), ("present", 1.0)),
    "progressive": (("present", 0.7), ("past", 1.0)),
    "want": (("present", 0.7), ("past", 1.0)),
    "can": (("present", 0.6), ("past", 0.8), ("future", 1.0)),
    "must": (("present", 0.4), ("past", 0.7), ("future", 1.0)),
}
"""The tenses of a mode, with cumulative chances."""


@dataclass(frozen=True)
class Manner:
    """How it is said: tense, mode (see `english.verb_group`) and the Korean way of denying it, if any."""

    tense: str
    mode: str = "plain"
    negation: str = ""
    """안 or 못 before the verb, 지 않 or 지 못하 after it."""

    @property
    def habitual(self) -> bool:
        """The simple present tells a habit: reads books."""
        return self.mode == "plain" and self.tense == "present" and self.negation not in _CANNOT


def manner(rng: Random, act: Action, *, asked: bool = False) -> Manner:
    """A way to say this action."""
    dice = rng.random()
    mode = "plain"
    if not act.state and dice > 0.6:
        mode = ("progressive", "want", "can", "must")[int((dice - 0.6) * 9.999)]
    tense_dice = rng.random()
    tense = next(name for name, chance in _TENSES[mode] if tense_dice < chance)
    if act.state and tense == "future":
        tense = "present"
    if asked or mode == "must" or rng.random() > (0.25 if mode == "plain" else 0.15):
        return Manner(tense, mode)
    if mode != "plain":
        return Manner(tense, mode, "지 않")
    return Manner(tense, mode, negation(rng, act))


def negation(rng: Random, act: Action) -> str:
    """안 and 못 stand only before short verbs: 공부하다 is denied as 공부하지 않다."""
    stem = act.verb.predicate.stem
    short = len(stem) <= 2 and not stem.endswith("하")
    options = ["지 않", "지 않"] if act.state else ["지 않", "지 못하"]
    if short:
        options += ["안"] if act.state else ["안", "못"]
    return rng.choice(options)


def time_for(rng: Random, act: Action, how: Manner) -> When:
    """A time that fits: plans look ahead, what goes on goes on now, and a denial is not called frequent."""
    if how.mode == "progressive":
        if how.tense == "past":
            return when(rng, "past", act.verb) if rng.random() < 0.5 else When()
        return When("지금", "now") if rng.random() < 0.5 else When()
    if how.mode in ("want", "can", "must") and how.tense == "present":
        return when(rng, "future", act.verb) if rng.random() < 0.7 else When()
    time = when(rng, how.tense, act.verb)
    return When() if how.negation and time.often else time


def korean_verb(verb: Verb, who: Subject, how: Manner) -> tuple[str, Predicate]:
    """What stands before the verb (안, 못), and the verb up to its last ending."""
    word = verb.elders or verb.predicate if who.honorific else verb.predicate
    honored = word if word.honorific or not who.honorific else word.honored()

    def tail(ending: str, *, respect: bool = True) -> Predicate:
        made = Predicate(word.plain(ending))
        return made.honored() if who.honorific and respect else made

    if how.mode == "progressive":
        if how.negation:
            return "", tail("고 계시지 않" if who.honorific else "고 있지 않", respect=False)
        return "", Predicate(word.plain("고 계시"), honorific=True) if who.honorific else tail("고 있")
    if how.mode == "want":
        return "", tail(("고 싶" if who.near else "고 싶어 하") + how.negation)
    if how.mode == "can":
        return "", Predicate(honored.opened("ㄹ") + (" 수 없" if how.negation else " 수 있"))
    if how.mode == "must":
        return "", Predicate(honored.infinitive() + "야 하")
    if how.negation in ("지 않", "지 못하"):
        return "", tail(how.negation)
    return how.negation, honored


def english_verb(verb: Verb, who: Subject, how: Manner, *, asked: bool = False) -> VerbGroup:
    mode = "can" if how.negation in _CANNOT else how.mode
    return verb_group(verb.english, who.who, how.tense, mode=mode, negated=bool(how.negation), asked=asked)


def korean_statement(rng: Random, who: Subject, time: When, act: Action, how: Manner, *, asked: bool = False) -> str:
    """A whole Korean clause with its final ending, without the mark; the time comes before or after the subject."""
    before, predicate = korean_verb(act.verb, who, how)
    time_first = not time.often and rng.random() < 0.4
    named = who.topic() if rng.random() < 0.7 or not who.korean else who.nominative()
    end = predicate.finished(how.tense, formal=rng.random() < 0.35, asked=asked)
    opening = (time.korean, named) if time_first else (named, time.korean)
    return spaced(*opening, act.korean, before, end)


def english_clause(who: Subject, time: When, act: Action, how: Manner, *, called: str = "") -> str:
    """A whole English clause; `called` replaces the subject's name, as by a pronoun."""
    group = english_verb(act.verb, who, how)
    what = act.habit if how.habitual else act.english
    return spaced(group.after(called or who.english, time.often), what, time.english)


def english_question(who: Subject, time: When, act: Action, how: Manner) -> str:
    group = english_verb(act.verb, who, how, asked=True)
    what = act.habit if how.habitual else act.english
    return spaced(group.around(who.english, time.often), what, time.english)
