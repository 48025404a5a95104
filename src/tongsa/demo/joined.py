"""Sentences of two clauses: relative clauses, and clauses joined by a Korean ending."""

from __future__ import annotations

from random import Random

from tongsa.demo import lexicon
from tongsa.demo.clauses import Manner, english_clause, english_verb, korean_verb, manner, negation
from tongsa.demo.english import gerund, plural, sentence, spaced, verb_group
from tongsa.demo.lexicon import Noun, Verb
from tongsa.demo.phrases import QUALITIES_OF, Action, Subject, When, action, bare, setting, subject, when
from tongsa.demo.simple import Pair, describe
from tongsa.text.hangul import OBJECT, TOPIC, attach

NEVER = When()
AFTER = {"past": ("past", "present"), "present": ("present",), "future": ("present", "future")}
"""The tenses of the main clause that go with the tense of a relative one."""

STORIES = [verb for verb in lexicon.ACTIONS if any(QUALITIES_OF[kind] for kind in verb.kinds)]
"""Verbs whose objects have qualities to tell: the book that someone read was interesting."""


def relative(rng: Random) -> tuple[Subject, str]:
    """The student who bought a book yesterday: Korean puts the whole clause before the noun. With its tense."""
    person = rng.choice((*lexicon.PEOPLE, *lexicon.TITLED))
    many = not person.honorific and rng.random() < 0.25
    who = Subject("", "", "we" if many else "it", honorific=person.honorific)
    act = action(rng)
    tense = rng.choice(("past", "past", "present", "future"))
    how = Manner(tense, negation="지 않" if tense == "past" and rng.random() < 0.2 else "")
    _, predicate = korean_verb(act.verb, who, how)
    if tense == "present" and not act.state:
        time, how = (When("지금", "now") if rng.random() < 0.4 else NEVER), Manner(tense, "progressive")
    else:
        time = when(rng, tense, act.verb)
    noun = person.plural or plural(person.english) if many else person.english
    korean = spaced(time.korean, act.korean, predicate.before_noun(tense), person.korean + ("들" if many else ""))
    english = english_clause(who, time, act, how, called=f"the {noun} who")
    return Subject(korean, english, who.who, honorific=who.honorific), tense


def relative_subject(rng: Random) -> Pair:
    who, tense = relative(rng)
    if rng.random() < 0.4:
        qualities = lexicon.MOODS if rng.random() < 0.6 else lexicon.TRAITS
        tenses = tuple(other for other in AFTER[tense] if other != "future")
        return describe(rng, who.topic(), who.english, who, rng.choice(qualities), tenses)
    act = action(rng, rich=False)
    how = manner_after(rng, act, tense)
    return finish(rng, who.topic(), who, act, how), sentence(english_clause(who, NEVER, act, how))


def manner_after(rng: Random, act: Action, tense: str) -> Manner:
    while (how := manner(rng, act)).tense not in AFTER[tense]:
        pass
    return how


def finish(rng: Random, before: str, who: Subject, act: Action, how: Manner, time: When = NEVER) -> str:
    """The last clause of a Korean sentence after what stands before it."""
    word, predicate = korean_verb(act.verb, who, how)
    end = predicate.finished(how.tense, formal=rng.random() < 0.35)
    return spaced(before, time.korean, act.korean, word, end) + "."


def story(rng: Random, avoid: str = "") -> tuple[Verb, str, str, str, str]:
    """A thing in a relative clause: (verb, tense, kind, 민수가 어제 산 책, the book that Minsu bought yesterday)."""
    verb = rng.choice(STORIES)
    kind = rng.choice([kind for kind in verb.kinds if QUALITIES_OF[kind]])
    noun = rng.choice(lexicon.THINGS[kind])
    while (who := subject(rng, avoid=avoid)).english.startswith("that "):  # not "the book that that man"
        pass
    tense = rng.choice(("past", "past", "past", "present", "future"))
    how = Manner(tense, "progressive" if tense == "present" else "plain")
    time = NEVER if tense == "present" else when(rng, tense, verb)
    where, english = setting(rng, verb, who.korean) if rng.random() < 0.4 else ("", "")
    _, predicate = korean_verb(verb, who, Manner(tense))
    korean = spaced(who.nominative(), time.korean, where, predicate.before_noun(tense), noun.korean)
    group = english_verb(verb, who, how)
    english = spaced(f"the {noun.english} that", group.after(who.english), english, time.english)
    return verb, tense, kind, korean, english


def relative_quality(rng: Random) -> Pair:
    _, tense, kind, korean, english = story(rng)
    quality, tenses = rng.choice(QUALITIES_OF[kind]), ("present", "past") if tense == "past" else ("present",)
    return describe(rng, attach(korean, TOPIC), english, Subject("", ""), quality, tenses)


def relative_object(rng: Random) -> Pair:
    who = subject(rng)
    told, tense, kind, korean, english = story(rng, who.korean)
    fitting = [verb for verb in (*lexicon.ACTIONS, *lexicon.LIKING) if kind in verb.kinds]
    verb = rng.choice(fitting)
    if verb.english == told.english:
        return relative_object(rng)
    act = Action(verb, attach(korean, OBJECT), english, english, state=verb in lexicon.LIKING)
    how = manner_after(rng, act, tense)
    return finish(rng, who.topic(), who, act, how), sentence(english_clause(who, NEVER, act, how))


def doing(rng: Random, avoid: str, *, but: str = "") -> Action:
    """A short action, other than the one named by `but`."""
    while (act := action(rng, rich=False, avoid=avoid)).verb.lasting or act.verb.english in (but, "wear"):
        pass
    return act


def and_then(rng: Random) -> Pair:
    """One subject does two things: -고; the first clause takes its tense from the last."""
    who = subject(rng)
    while (first := doing(rng, who.korean)).verb in lexicon.MOTIONS:  # going is joined by -아서: see `go_and`
        pass
    second = doing(rng, who.korean, but=first.verb.english)
    how = Manner(rng.choice(("past", "past", "future", "present")))
    time = when(rng, how.tense)
    _, predicate = korean_verb(first.verb, Subject("", ""), how)
    word = first.verb.elders or predicate if who.honorific else predicate
    before = spaced(who.topic(), time.korean, first.korean, word.plain("고"))
    opening, closing = english_verb(first.verb, who, how), english_verb(second.verb, who, how)
    what, more = (first.habit, second.habit) if how.habitual else (first.english, second.english)
    english = spaced(opening.after(who.english, time.often), what, "and", closing.body, more, time.english)
    return finish(rng, before, who, second, how), sentence(english)


def go_and(rng: Random) -> Pair:
    """-아서 after going: one goes there, and then does something there."""
    who, verb = subject(rng), rng.choice(lexicon.MOTIONS[:2])
    act = doing(rng, who.korean, but="read")
    while not act.verb.places:
        act = doing(rng, who.korean)
    place = lexicon.PLACES[rng.choice(act.verb.places.split())]
    how = Manner(rng.choice(("past", "past", "future")))
    time = when(rng, how.tense)
    before = spaced(who.topic(), time.korean, f"{place.korean}에", verb.predicate.infinitive() + "서")
    going, then = english_verb(verb, who, how), english_verb(act.verb, who, how)
    english = spaced(going.after(who.english), place.to, "and", then.body, act.english, time.english)
    return finish(rng, before, who, act, how), sentence(english)


def two_subjects(rng: Random) -> Pair:
    """Two people, two actions: -고 (and), -지만 (but), each with its tense."""
    one = subject(rng)
    other = subject(rng, avoid=one.korean)
    if one.english == other.english:
        return two_subjects(rng)
    first = doing(rng, one.korean + other.korean)
    second = doing(rng, one.korean + other.korean)
    how = Manner(rng.choice(("past", "past", "present")))
    ending, word = rng.choice((("고", "and"), ("지만", "but")))
    _, predicate = korean_verb(first.verb, one, how)
    middle = predicate.past() + ending if how.tense == "past" else predicate.plain(ending)
    before = spaced(one.topic(), first.korean, middle, other.topic())
    english = spaced(english_clause(one, NEVER, first, how) + ",", word, english_clause(other, NEVER, second, how))
    return finish(rng, before, other, second, how), sentence(english)


CONTRASTS = [verb for verb in lexicon.ACTIONS if sum(len(lexicon.THINGS[kind]) for kind in verb.kinds) > 1]


def but_not(rng: Random) -> Pair:
    """One thing done and another not: the second object takes 은/는 for contrast."""
    who = subject(rng)
    verb = rng.choice(CONTRASTS)
    nouns = [noun for kind in verb.kinds for noun in lexicon.THINGS[kind]]
    mine, other = rng.sample(nouns, 2)
    how = Manner(rng.choice(("past", "past", "present")))
    first, second = _bare_action(verb, mine), _bare_action(verb, other)
    denied = Manner(how.tense, negation=negation(rng, second))
    _, predicate = korean_verb(verb, who, how)
    middle = predicate.past() + "지만" if how.tense == "past" else predicate.plain("지만")
    before = spaced(who.topic(), attach(mine.korean, OBJECT), middle)
    act = Action(verb, attach(other.korean, TOPIC), second.english, second.habit)
    group = english_verb(verb, who, denied)
    what = act.habit if denied.habitual else act.english
    english = spaced(english_clause(who, NEVER, first, how), "but", group.after(""), what)
    return finish(rng, before, who, act, denied), sentence(english)


def _bare_action(verb: Verb, noun: Noun) -> Action:
    one, habit = bare(noun)
    return Action(verb, attach(noun.korean, OBJECT), one, habit)


def because(rng: Random) -> Pair:
    """-아서 after a state is its reason: could not go because she was busy."""
    who, mood = subject(rng, pronounced=True), rng.choice(lexicon.MOODS[:3])
    act = doing(rng, who.korean)
    how = Manner(rng.choice(("past", "past", "present")), negation=rng.choice(("지 못하", "지 않")))
    if mood.english == "happy":
        how = Manner("past")
        act = Action(rng.choice(lexicon.DOINGS), "", "", "")
    predicate = mood.predicate.honored() if who.honorific else mood.predicate
    before = spaced(who.topic(), predicate.infinitive() + "서")
    reason = verb_group(mood.english, who.who, how.tense, mode="be").after(who.pronoun)
    english = f"{english_clause(who, NEVER, act, how)} because {reason}"
    return finish(rng, before, who, act, how), sentence(english)


def weather_because(rng: Random) -> Pair:
    """Bad weather is a reason not to do things."""
    quality, who = rng.choice(lexicon.WEATHER), subject(rng)
    bad = quality.english in ("cold", "hot", "bad")
    act, how = doing(rng, who.korean), Manner("past", negation=rng.choice(("지 못하", "지 않")) if bad else "")
    before = spaced("날씨가", quality.predicate.infinitive() + "서", who.topic())
    english = f"{english_clause(who, NEVER, act, how)} because the weather was {quality.english}"
    return finish(rng, before, who, act, how), sentence(english)


def condition(rng: Random) -> Pair:
    """-(으)면: if; a condition of the weather comes first in English, one of the person last."""
    how = Manner("future", negation="지 않" if rng.random() < 0.15 else "")
    if rng.random() < 0.5:
        quality, who = rng.choice(lexicon.WEATHER), subject(rng)
        act = doing(rng, who.korean)
        korean, english = rng.choice(
            (
                (f"날씨가 {quality.predicate.opened('면')}", f"the weather is {quality.english}"),
                ("비가 오면", "it rains"),
                ("눈이 오면", "it snows"),
            )
        )
        clause = english_clause(who, NEVER, act, how)
        return finish(rng, f"{korean} {who.topic()}", who, act, how), f"If {english}, {clause}."
    who, how = subject(rng, pronounced=True), Manner("future")
    act = doing(rng, who.korean)
    korean, english = ("돈", "money") if act.verb.english in ("buy", "give", "send") else ("시간", "time")
    having = "있으시면" if who.honorific else "있으면"
    condition = f"{verb_group('have', who.who, 'present').after(who.pronoun)} {english}"
    before = f"{who.topic()} {attach(korean, '이/가')} {having}"
    return finish(rng, before, who, act, how), sentence(f"{english_clause(who, NEVER, act, how)} if {condition}")


def before_or_after(rng: Random) -> Pair:
    """-기 전에 and -(으)ㄴ 후에: before and after doing something."""
    who = subject(rng)
    first = doing(rng, who.korean)
    second = doing(rng, who.korean, but=first.verb.english)
    how = Manner(rng.choice(("past", "past", "future", "present")))
    word = first.verb.elders or first.verb.predicate.honored() if who.honorific else first.verb.predicate
    korean, english = rng.choice(((word.plain("기 전에"), "before"), (word.opened("ㄴ") + " 후에", "after")))
    before = spaced(who.topic(), first.korean, korean)
    tail = spaced(english, gerund(first.verb.english), first.english)
    return finish(rng, before, who, second, how), sentence(f"{english_clause(who, NEVER, second, how)} {tail}")
