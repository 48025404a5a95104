"""Sentences of one clause: statements, questions, commands, descriptions, numbers, times."""

from __future__ import annotations

from random import Random

from tongsa.demo import lexicon, times
from tongsa.demo.clauses import (
    Manner,
    english_clause,
    english_question,
    korean_statement,
    korean_verb,
    manner,
    time_for,
)
from tongsa.demo.english import BE, article, number_words, plural, sentence, spaced, verb_group
from tongsa.demo.lexicon import Adjective, Noun
from tongsa.demo.phrases import (
    POINTERS,
    QUALITIES_OF,
    YOU,
    YOU_POLITE,
    Action,
    Subject,
    When,
    action,
    bare,
    clock,
    companion,
    owned,
    ride,
    setting,
    subject,
    transitive,
    when,
)
from tongsa.text.hangul import OBJECT, SUBJECT, TOPIC, Predicate, attach, copula, native, sino, with_final

Pair = tuple[str, str]
DAYS = (("오늘", "present", "today"), ("어제", "past", "yesterday"), ("내일", "future", "tomorrow"))
VERY = {"아주": "very", "매우": "very", "정말": "really"}


def statement(rng: Random) -> Pair:
    who = subject(rng)
    act = action(rng, avoid=who.korean)
    how = manner(rng, act)
    time = time_for(rng, act, how)
    return korean_statement(rng, who, time, act, how) + ".", sentence(english_clause(who, time, act, how))


def asker(rng: Random) -> Subject:
    """Of whom a question is asked: often the listener, who is not named."""
    if rng.random() < 0.35:
        return rng.choice((YOU, YOU_POLITE))
    while (who := subject(rng)).near:  # nobody asks what they do themselves
        pass
    return who


def question(rng: Random) -> Pair:
    who = asker(rng)
    act = action(rng, avoid=who.korean)
    how = manner(rng, act, asked=True)
    time = time_for(rng, act, how)
    korean = korean_statement(rng, who, time, act, how, asked=True)
    return korean + "?", sentence(english_question(who, time, act, how), "?")


def question_word(rng: Random) -> Pair:
    """Who, what, where, when, why, how many."""
    asked = rng.choice((who_question, what_question, where_question, reason_question, how_many_question))
    return asked(rng)


def who_question(rng: Random) -> Pair:
    who = Subject("누구", "who")
    act = action(rng)
    how = Manner(rng.choice(("past", "future", "present")))
    time = time_for(rng, act, how)
    before, predicate = korean_verb(act.verb, who, how)
    end = predicate.finished(how.tense, formal=rng.random() < 0.35, asked=True)
    korean = spaced(who.nominative(), time.korean, act.korean, before, end)
    return korean + "?", sentence(english_clause(who, time, act, how), "?")


def _ask(rng: Random, word: str, who: Subject, act: Action, tense: str, *, timed: bool = True) -> Pair:
    how = Manner(tense)
    time = when(rng, tense, act.verb) if timed else When()
    korean = korean_statement(rng, who, time, act, how, asked=True)
    return korean + "?", sentence(f"{word} {english_question(who, time, act, how)}", "?")


def what_question(rng: Random) -> Pair:
    who, verb = asker(rng), rng.choice(lexicon.ACTIONS)
    # 드시다 is both eating and drinking, and here no object tells which: it is read as eating.
    known = sum(len(lexicon.THINGS[kind]) for kind in verb.kinds) <= 2  # one builds a house, what else?
    if known or "child" in verb.kinds or (who.honorific and verb.english == "drink"):
        return what_question(rng)
    korean, english = setting(rng, verb, who.korean)
    act = Action(verb, spaced(korean, "무엇을"), english, english)
    return _ask(rng, "what", who, act, rng.choice(("past", "past", "future", "present")))


def where_question(rng: Random) -> Pair:
    who = asker(rng)
    if rng.random() < 0.4:
        korean, english = companion(rng, who.korean) if rng.random() < 0.5 else ride(rng, "")
        act = Action(lexicon.MOTIONS[0], f"{korean} 어디에", english, english)
    else:
        verb = rng.choice([verb for verb in lexicon.ACTIONS if verb.places])
        act = transitive(rng, verb, rich=False, avoid=who.korean)
        act = Action(verb, "어디에서 " + act.korean, act.english, act.habit)
    return _ask(rng, "where", who, act, rng.choice(("past", "past", "future")))


def reason_question(rng: Random) -> Pair:
    """Why and when; a question for the time has no time of its own."""
    who = asker(rng)
    act = action(rng, avoid=who.korean)
    word, korean = rng.choice((("why", "왜"), ("when", "언제")))
    if act.state and word == "when":
        return reason_question(rng)
    act = Action(act.verb, f"{korean} {act.korean}".strip(), act.english, act.habit, act.state)
    return _ask(rng, word, who, act, rng.choice(("past", "future")), timed=word == "why")


def how_many_question(rng: Random) -> Pair:
    who, verb = asker(rng), rng.choice(lexicon.ACTIONS)
    noun = rng.choice(lexicon.THINGS[rng.choice(verb.kinds)])
    if noun.definite or (noun.mass and not noun.measure):
        return how_many_question(rng)
    korean, english = setting(rng, verb, who.korean)
    many = f"{plural(noun.measure)} of {noun.english}" if noun.measure else noun.plural or plural(noun.english)
    act = Action(verb, spaced(korean, attach(noun.korean, OBJECT), "몇", noun.counter), english, english)
    return _ask(rng, f"how many {many}", who, act, rng.choice(("past", "future")))


def command(rng: Random) -> Pair:
    """To the listener, politely: -(으)세요 and -(으)십시오; forbidding: -지 마세요."""
    act = action(rng)
    if act.verb.lasting:
        return command(rng)
    time = when(rng, "future")
    formal, denied = rng.random() < 0.35, rng.random() < 0.3
    word = act.verb.elders or (act.verb.predicate if denied else act.verb.predicate.honored())
    if denied:
        end = word.plain("지 마십시오" if formal else "지 마세요")
    else:
        end = with_final(word.stem, "ㅂ") + "시오" if formal else word.polite()
    english = spaced("Please", "do not" if denied else "", act.verb.english, act.english, time.english)
    return spaced(time.korean, act.korean, end) + ".", english + "."


def describe(
    rng: Random,
    topic: str,
    english: str,
    who: Subject,
    quality: Adjective,
    tenses: tuple[str, ...] = ("present", "present", "past"),
) -> Pair:
    """A subject that was written already, and its quality."""
    tense, formal = rng.choice(tenses), rng.random() < 0.35
    predicate, before, word, dice = quality.predicate, "", "", rng.random()
    denied = dice < 0.2
    if denied and len(predicate.stem) <= 2 and rng.random() < 0.4:
        before = "안"
    elif denied:
        predicate = Predicate(predicate.plain("지 않"), adjective=True)
    elif dice < 0.5:
        before, word = rng.choice(tuple(VERY.items()))
    if who.honorific:
        predicate = predicate.honored()
    group = verb_group(spaced(word, quality.english), who.who, tense, mode="be", negated=denied)
    korean = spaced(topic, before, predicate.finished(tense, formal=formal))
    return korean + ".", sentence(group.after(english))


def person_quality(rng: Random) -> Pair:
    who = subject(rng)
    qualities = lexicon.MOODS if rng.random() < 0.6 else lexicon.TRAITS
    return describe(rng, who.topic(), who.english, who, rng.choice(qualities))


def definite(rng: Random, noun: Noun) -> tuple[str, str]:
    """A thing that is spoken about: the book, this book, Minsu's book."""
    dice = rng.random()
    if dice < 0.4:
        pointer = rng.choice(tuple(POINTERS))
        one, _, tail = POINTERS[pointer]
        return f"{pointer} {noun.korean}", f"{one} {noun.english}{tail}"
    if dice < 0.75:
        return owned(rng, noun, "")
    return noun.korean, f"the {noun.english}"


def thing_quality(rng: Random) -> Pair:
    kind = rng.choice([kind for kind, qualities in QUALITIES_OF.items() if qualities])
    korean, english = definite(rng, rng.choice(lexicon.THINGS[kind]))
    topic = attach(korean, TOPIC if rng.random() < 0.75 else SUBJECT)
    return describe(rng, topic, english, Subject("", ""), rng.choice(QUALITIES_OF[kind]))


def is_a(rng: Random) -> Pair:
    """Someone's profession, or what a thing is."""
    tense, formal, denied = "present", rng.random() < 0.35, rng.random() < 0.2
    if rng.random() < 0.35:
        someone = Subject(*rng.choice((("이것", "this"), ("그것", "that"), ("저것", "that over there"))))
        noun = rng.choice(lexicon.THINGS[rng.choice(("book", "thing", "machine", "picture", "clothes", "flower"))])
        what, english = owned(rng, noun, "") if rng.random() < 0.6 else (noun.korean, bare(noun)[0])
    else:
        someone, tense = subject(rng), rng.choice(("present", "present", "past"))
        if someone.english.split()[0] in ("the", "this", "that", "these", "those"):
            return is_a(rng)  # "the doctor is a doctor"
        person, trait = rng.choice(lexicon.PEOPLE[:10]), rng.choice((*lexicon.TRAITS, None, None, None))
        what = spaced(trait.predicate.before_noun("present") if trait else "", person.korean)
        english = spaced(trait.english if trait else "", person.english)
        english = plural(english) if someone.who == "we" else article(english)
    end = copula(what, tense, formal=formal, honorific=someone.honorific, negated=denied)
    group = verb_group(english, someone.who, tense, mode="be", negated=denied)
    return f"{someone.topic()} {end}.", sentence(group.after(someone.english))


def exists(rng: Random) -> Pair:
    """Where things are: on the desk there are three books."""
    furniture = rng.choice(tuple(lexicon.FURNITURE))
    english, spots = lexicon.FURNITURE[furniture]
    spot, tense, formal = rng.choice(spots.split()), rng.choice(("present", "present", "past")), rng.random() < 0.35
    kinds = ("book", "press", "fruit", "baked", "thing", "animal") if spot == "위" else ("thing", "animal", "book")
    noun = rng.choice(lexicon.THINGS[rng.choice(kinds)])
    place, where = f"{furniture} {spot}에", f"{lexicon.SPOTS[spot]} {english}"
    dice = rng.random()
    if dice < 0.15:
        be, what, amount = BE[tense]["it"], f"no {noun.english}", ""
    elif dice < 0.35 or noun.mass:
        be, what, amount = BE[tense]["it"], bare(noun)[0], ""
    else:
        number = rng.randint(1, 12)
        amount = f"{native(number)} {noun.counter}"
        what = f"{number_words(number)} {noun.english if number == 1 else noun.plural or plural(noun.english)}"
        be = BE[tense]["it" if number == 1 else "we"]
    asked = dice >= 0.15 and rng.random() < 0.25
    end = Predicate("없" if dice < 0.15 else "있").finished(tense, formal=formal, asked=asked)
    korean = spaced(place, attach(noun.korean, SUBJECT), amount, end)
    if asked:
        return korean + "?", sentence(f"{be} there {what} {where}", "?")
    return korean + ".", sentence(f"there {be} {what} {where}")


def has(rng: Random) -> Pair:
    """What someone has: 고양이가 두 마리 있어요."""
    who, tense, formal = subject(rng), rng.choice(("present", "present", "past")), rng.random() < 0.35
    noun = rng.choice(lexicon.THINGS[rng.choice(("animal", "machine", "book", "thing", "clothes"))])
    denied = rng.random() < 0.25
    korean, english = attach(noun.korean, SUBJECT), bare(noun)[0]
    if not denied and rng.random() < 0.6:
        number = rng.randint(1, 12)
        korean = f"{korean} {native(number)} {noun.counter}"
        english = f"{number_words(number)} {noun.english if number == 1 else noun.plural or plural(noun.english)}"
    predicate = Predicate("없" if denied else "있")
    end = (predicate.honored() if who.honorific else predicate).finished(tense, formal=formal)
    group = verb_group("have", who.who, tense, negated=denied)
    return f"{who.topic()} {korean} {end}.", sentence(f"{group.after(who.english)} {english}")


def price(rng: Random) -> Pair:
    kind = rng.choice(("book", "clothes", "thing", "fruit", "flower", "press"))
    korean, english = definite(rng, rng.choice(lexicon.THINGS[kind]))
    cheap = kind in ("fruit", "flower", "press")
    thousands = rng.choice(range(1, 10) if cheap else range(10, 100, 5))
    end = copula(f"{sino(thousands * 1000)} 원", "present", formal=rng.random() < 0.35)
    return f"{attach(korean, TOPIC)} {end}.", sentence(f"{english} costs {number_words(thousands)} thousand won")


def age(rng: Random) -> Pair:
    who = subject(rng)
    if who.honorific or who.who == "we" or who.english.startswith(("the ", "this ", "that ")):
        return age(rng)
    years = rng.randint(6, 49)
    korean = copula(f"{native(years)} 살", "present", formal=rng.random() < 0.35)
    group = verb_group(f"{number_words(years)} years old", who.who, "present", mode="be")
    return f"{who.topic()} {korean}.", sentence(group.after(who.english))


def weather(rng: Random) -> Pair:
    quality, formal = rng.choice(lexicon.WEATHER), rng.random() < 0.35
    time, tense, day = rng.choice(DAYS)
    end = quality.predicate.finished(tense, formal=formal)
    very, word = rng.choice((("", ""), ("", ""), *VERY.items()))
    group = verb_group(spaced(word, quality.english), "it", tense, mode="be")
    if rng.random() < 0.3:
        korean = spaced(attach(time, TOPIC), "날씨가", very, end)
        return korean + ".", sentence(f"{group.after('the weather')} {day}")
    korean, city = rng.choice(tuple(lexicon.CITIES.items()))
    place = f"{'on' if 'Island' in city else 'in'} {city}"
    korean = spaced(f"{attach(korean, TOPIC)} {time} 날씨가", very, end)
    return korean + ".", sentence(f"{group.after(f'the weather {place}')} {day}")


def lasting(rng: Random) -> Pair:
    """For how long, or from when to when."""
    who, verb = subject(rng), rng.choice(lexicon.DOINGS)
    place = lexicon.PLACES[rng.choice(verb.places.split())]
    how = Manner(rng.choice(("past", "past", "future")))
    dice = rng.random()
    if dice < 0.5:
        unit = rng.choice(tuple(times.SPANS)[:2])
        english, numerals = times.SPANS[unit]
        number = rng.randint(1, 10) if numerals == "native" else rng.choice((10, 20, 30, 40, 50))
        amount = native(number) if numerals == "native" else sino(number)
        span = f"{amount} {unit} 동안", f"for {number_words(number)} {english if number == 1 else plural(english)}"
    elif dice < 0.8:
        start, begin = clock(rng)
        while (stop_end := clock(rng))[0] == start:
            pass
        stop, end = stop_end
        span = f"{start}부터 {stop}까지", f"from {begin} to {end}"
    else:
        days = tuple(times.WEEKDAYS.items())
        first, last = (days[day] for day in sorted(rng.sample(range(len(days)), 2)))
        span = f"{first[0]}부터 {last[0]}까지", f"from {first[1]} to {last[1]}"
    act = Action(verb, f"{place.korean}에서 {span[0]}", f"{place.at} {span[1]}", "")
    return korean_statement(rng, who, When(), act, how) + ".", sentence(english_clause(who, When(), act, how))


def journey(rng: Random) -> Pair:
    """From city to city."""
    who, verb = subject(rng), rng.choice(lexicon.MOTIONS[:2])
    (start, origin), (stop, goal) = rng.sample(tuple(lexicon.CITIES.items()), 2)
    vehicle, by = ride(rng, "제주도" if "제주도" in (start, stop) else "서울")
    english = f"from {origin} to {goal} {by}"
    act = Action(verb, f"{start}에서 {stop}까지 {vehicle}", english, english)
    how = manner(rng, act)
    time = time_for(rng, act, how)
    return korean_statement(rng, who, time, act, how) + ".", sentence(english_clause(who, time, act, how))
