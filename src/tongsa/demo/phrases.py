"""Phrases of the built-in corpus: who, what, when and where, each written in both languages at once."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tongsa.demo import lexicon, times
from tongsa.demo.english import article, number_words, plural, spaced
from tongsa.demo.lexicon import Noun, Person, Verb
from tongsa.text.hangul import AND, BY, OBJECT, SUBJECT, TOPIC, Predicate, attach, native, sino

QUALITIES_OF = {
    kind: tuple(quality for quality in lexicon.QUALITIES if kind in quality.kinds) for kind in lexicon.THINGS
}
POINTERS = {"이": ("this", "these", ""), "그": ("that", "those", ""), "저": ("that", "those", " over there")}


@dataclass(frozen=True)
class Subject:
    """Who does it. `who` names the English agreement (see `english.BE`), `pronoun` takes it up again."""

    korean: str
    english: str
    who: str = "it"
    pronoun: str = ""
    honorific: bool = False
    near: bool = False
    """First or second person, whose wishes Korean states directly: -고 싶다 against -고 싶어 하다."""

    def topic(self) -> str:
        if not self.korean:
            return ""
        return self.korean + "께서는" if self.honorific else attach(self.korean, TOPIC)

    def nominative(self) -> str:
        return self.korean + "께서" if self.honorific else attach(self.korean, SUBJECT)


YOU = Subject("", "you", "we", "you", near=True)
YOU_POLITE = Subject("", "you", "we", "you", honorific=True, near=True)
"""Korean drops "you"; a question without a subject asks the listener."""


@dataclass(frozen=True)
class Thing:
    """What is acted on: the English of one occasion and of a habit (buys a book, buys books)."""

    korean: str
    english: str
    habit: str


@dataclass(frozen=True)
class When:
    """A time. `often` stands before the English verb, `english` ends the clause."""

    korean: str = ""
    english: str = ""
    often: str = ""


@dataclass(frozen=True)
class Action:
    """A verb with everything that follows the subject, but for time and tense."""

    verb: Verb
    korean: str
    english: str
    habit: str
    state: bool = False
    """Liking and living: never progressive, and always said as a habit."""


def name(rng: Random, avoid: str = "") -> Person:
    """Someone by name, other than those named already."""
    while (person := rng.choice(lexicon.NAMES)).korean in avoid:
        pass
    return person


def called(rng: Random, person: Person) -> str:
    """A name as it is said, with or without 씨."""
    return person.korean + rng.choice((" 씨", ""))


def subject(rng: Random, *, pronounced: bool = False, avoid: str = "") -> Subject:
    """Any subject; `pronounced` ones have a pronoun that the Korean tells."""
    dice = rng.random()
    if dice < 0.25:
        person = rng.choice(lexicon.PRONOUNS)
        who = {"I": "I", "we": "we", "they": "we"}.get(person.pronoun, "it")
        return Subject(person.korean, person.english, who, person.pronoun, near=person.pronoun in ("I", "we"))
    if dice < 0.5:
        person = name(rng, avoid)
        return Subject(called(rng, person), person.english, pronoun=person.pronoun)
    if dice < 0.65:
        return kin(rng, rng.choice(lexicon.ELDERS), avoid)
    if dice < 0.73:
        return kin(rng, rng.choice(lexicon.YOUNGER), avoid)
    if dice < 0.8 and not pronounced:
        return titled(rng)
    person = rng.choice(lexicon.PEOPLE)
    return described(rng, person, many=not person.pronoun if pronounced else rng.random() < 0.3)


def kin(rng: Random, person: Person, avoid: str = "") -> Subject:
    """Family: 할머니 alone is a form of address (Grandmother); 우리 before family means "my"."""
    dice = rng.random()
    if dice < 0.35 and person.honorific:
        korean, english = person.korean, person.english.capitalize()
    elif dice < 0.7:
        mine = rng.choice(("우리", "저희" if person.honorific else "제"))
        korean, english = f"{mine} {person.korean}", f"my {person.english}"
    else:
        owner = name(rng, avoid)
        korean, english = f"{called(rng, owner)}의 {person.korean}", f"{owner.english}'s {person.english}"
    return Subject(korean, english, pronoun=person.pronoun, honorific=person.honorific)


def titled(rng: Random) -> Subject:
    """People who are spoken of with respect."""
    if rng.random() < 0.3:
        korean, english = rng.choice(tuple(lexicon.SURNAMES.items()))
        return Subject(f"{korean} 교수님", f"Professor {english}", honorific=True)
    return described(rng, rng.choice(lexicon.TITLED), many=False)


def described(rng: Random, person: Person, *, many: bool) -> Subject:
    """The student, these students, the kind student."""
    noun = (person.plural or plural(person.english)) if many else person.english
    korean = person.korean + ("들" if many else "")
    dice = rng.random()
    if dice < 0.25:
        pointer = rng.choice(tuple(POINTERS))
        one, several, tail = POINTERS[pointer]
        korean, noun = f"{pointer} {korean}", f"{several if many else one} {noun}{tail}"
    elif dice < 0.35:
        trait = rng.choice(lexicon.TRAITS)
        predicate = trait.predicate.honored() if person.honorific else trait.predicate
        korean, noun = f"{predicate.before_noun('present')} {korean}", f"the {trait.english} {noun}"
    else:
        noun = f"the {noun}"
    pronoun = "they" if many else person.pronoun
    return Subject(korean, noun, "we" if many else "it", pronoun, person.honorific)


def bare(noun: Noun, quality: str = "") -> tuple[str, str]:
    """The English of a noun without determiner, once and as a habit: "a book" and "books"."""
    one = spaced(quality, noun.english)
    if noun.definite:
        return f"the {one}", f"the {one}"
    if noun.mass:
        return one, one
    return article(one), spaced(quality, noun.plural or plural(noun.english))


def counted(rng: Random, noun: Noun) -> tuple[str, str]:
    """책 세 권, 세 권의 책, 책 20권: native numerals in words, larger numbers in digits."""
    if noun.counter in "개권장명" and rng.random() < 0.2:
        number = rng.randint(13, 50)
        korean, english = f"{noun.korean} {number}{noun.counter}", str(number)
    else:
        number = rng.randint(1, 12)
        amount, english = f"{native(number)} {noun.counter}", number_words(number)
        korean = f"{amount}의 {noun.korean}" if rng.random() < 0.2 else f"{noun.korean} {amount}"
    if noun.measure:
        measure = noun.measure if number == 1 else plural(noun.measure)
        return korean, f"{english} {measure} of {noun.english}"
    return korean, f"{english} {noun.english if number == 1 else noun.plural or plural(noun.english)}"


def thing(rng: Random, kinds: tuple[str, ...], avoid: str = "") -> Thing:
    """An object of one of these kinds, often with something said about it."""
    kind = rng.choice(kinds)
    noun = rng.choice(lexicon.THINGS[kind])
    dice = rng.random()
    if kind in ("sound", "subject") or dice < 0.35:
        return Thing(noun.korean, *bare(noun))
    if dice < 0.55 and QUALITIES_OF[kind]:
        quality = rng.choice(QUALITIES_OF[kind])
        return Thing(f"{quality.predicate.before_noun('present')} {noun.korean}", *bare(noun, quality.english))
    if dice < 0.65:
        pointer = rng.choice(("이", "그"))
        english = f"{POINTERS[pointer][0]} {noun.english}"
        return Thing(f"{pointer} {noun.korean}", english, english)
    if dice < 0.75:
        korean, english = owned(rng, noun, avoid)
        return Thing(korean, english, english)
    if dice < 0.92 and not noun.definite:
        korean, english = counted(rng, noun)
        return Thing(korean, english, english)
    others = [other for other in lexicon.THINGS[kind] if other != noun]
    if not others:
        return Thing(noun.korean, *bare(noun))
    other = rng.choice(others)
    (one, many), (one_more, many_more) = bare(noun), bare(other)
    return Thing(f"{attach(noun.korean, AND)} {other.korean}", f"{one} and {one_more}", f"{many} and {many_more}")


def owned(rng: Random, noun: Noun, avoid: str) -> tuple[str, str]:
    """제 책, 그녀의 책, 민수 씨의 책."""
    if rng.random() < 0.5:
        owner = name(rng, avoid)
        return f"{called(rng, owner)}의 {noun.korean}", f"{owner.english}'s {noun.english}"
    korean, english = rng.choice(tuple(lexicon.OWNERS.items()))
    return f"{korean} {noun.korean}", f"{english} {noun.english}"


def companion(rng: Random, avoid: str) -> tuple[str, str]:
    """With whom: always with 함께, so that it cannot be read as "A and B"."""
    if rng.random() < 0.5:
        person = name(rng, avoid)
        korean, english = called(rng, person), person.english
    else:
        korean, english = rng.choice((("친구", "a friend"), ("친구들", "friends"), ("가족", "family")))
    return attach(korean, AND) + " 함께", "with " + english


def receiver(rng: Random, avoid: str) -> tuple[str, str, bool]:
    """To whom, and whether the verb must show respect to them."""
    dice = rng.random()
    if dice < 0.4:
        person = name(rng, avoid)
        return called(rng, person) + "에게", "to " + person.english, False
    if dice < 0.7:
        korean, english = rng.choice((("친구", "a friend"), ("아이", "a child"), ("학생들", "students")))
        return korean + "에게", "to " + english, False
    elder = kin(rng, rng.choice(lexicon.ELDERS), avoid) if dice < 0.9 else titled(rng)
    return elder.korean + "께", "to " + elder.english, True


def action(rng: Random, *, rich: bool = True, avoid: str = "") -> Action:
    """Something to do. `rich` ones may say where, with whom and by what."""
    dice = rng.random()
    if dice < 0.58:
        return transitive(rng, rng.choice(lexicon.ACTIONS), rich=rich, avoid=avoid)
    if dice < 0.68:
        return giving(rng, avoid)
    if dice < 0.74:
        verb = rng.choice(lexicon.LIKING)
        what = thing(rng, verb.kinds, avoid)
        return Action(verb, attach(what.korean, OBJECT), what.habit, what.habit, state=True)
    if dice < 0.77:
        korean, english = rng.choice(tuple(lexicon.CITIES.items()))
        where = f"{'on' if 'Island' in english else 'in'} {english}"
        return Action(lexicon.LIVING, f"{korean}에", where, where, state=True)
    if dice < 0.88:
        verb = rng.choice(lexicon.DOINGS)
        korean, english = setting(rng, verb, avoid) if rich else ("", "")
        return Action(verb, korean, english, english)
    return motion(rng, rich=rich, avoid=avoid)


def transitive(rng: Random, verb: Verb, *, rich: bool, avoid: str) -> Action:
    what = thing(rng, verb.kinds, avoid)
    korean, english = setting(rng, verb, avoid) if rich else ("", "")
    return Action(
        verb,
        spaced(korean, attach(what.korean, OBJECT)),
        spaced(what.habit if verb.many else what.english, english),
        spaced(what.habit, english),
    )


def setting(rng: Random, verb: Verb, avoid: str) -> tuple[str, str]:
    """Where, with whom, by what: at most two of them, in each language's own order."""
    korean, english = "", ""
    if verb.tools and rng.random() < 0.3:
        tool, translation = rng.choice(tuple(lexicon.TOOLS[verb.tools].items()))
        korean, english = attach(tool, BY), translation
    elif verb.social and rng.random() < 0.3:
        korean, english = companion(rng, avoid)
    if verb.places and rng.random() < 0.4:
        place = lexicon.PLACES[rng.choice(verb.places.split())]
        korean, english = spaced(f"{place.korean}에서", korean), spaced(english, place.at)
    return korean, english


def motion(rng: Random, *, rich: bool, avoid: str) -> Action:
    verb, place = rng.choice(lexicon.MOTIONS), rng.choice(tuple(lexicon.PLACES.values()))
    korean, english = "", ""
    if rich and verb.tools and rng.random() < 0.4:
        korean, english = ride(rng, place.korean)
    elif rich and rng.random() < 0.3:
        korean, english = companion(rng, avoid)
    goal = f"{place.korean}에" if verb.tools else attach(place.korean, BY)
    where = spaced(place.to, english)
    return Action(verb, spaced(korean, goal), where, where)


def ride(rng: Random, goal: str) -> tuple[str, str]:
    """By what one goes there: no subway to the island."""
    key = "island" if "제주도" in goal else "train" if goal in ("서울", "부산", "시골") else "vehicle"
    tool, english = rng.choice(tuple(lexicon.TOOLS[key].items()))
    return attach(tool, BY), english


def giving(rng: Random, avoid: str) -> Action:
    """Giving to one's elders is 드리다, not 주다."""
    verb = rng.choice(lexicon.SENDING)
    what = thing(rng, verb.kinds, avoid)
    korean, english, respect = receiver(rng, avoid)
    if respect:
        stem = verb.predicate.stem
        stem = stem[:-1] + "드리" if stem.endswith("주") else stem + " 드리"
        verb = Verb(Predicate(stem), verb.english)
    return Action(
        verb, f"{korean} {attach(what.korean, OBJECT)}", f"{what.english} {english}", f"{what.habit} {english}"
    )


def clock(rng: Random) -> tuple[str, str]:
    """세 시, 세 시 반, 세 시 이십 분: hours in native numerals, minutes in Sino-Korean ones."""
    hour, dice = rng.randint(1, 12), rng.random()
    korean, english = f"{native(hour)} 시", number_words(hour)
    if dice < 0.6:
        return korean, f"{english} o'clock"
    if dice < 0.8:
        return f"{korean} 반", f"half past {english}"
    minutes = rng.choice((10, 20, 40, 50))
    return f"{korean} {sino(minutes)} 분", f"{english} {number_words(minutes)}"


def when(rng: Random, tense: str, verb: Verb | None = None) -> When:
    """A time that fits the tense and the verb, or none."""
    dice = rng.random()
    if dice < 0.25:
        return When()
    if verb in lexicon.LIKING:
        return When()
    if verb and verb.lasting:
        return When(*rng.choice(tuple(times.LONG_TIMES[tense].items()))) if dice < 0.5 else When()
    if tense == "present":
        if dice < 0.5:
            korean, english = rng.choice(tuple(times.OFTEN.items()))
            return When(korean, often=english)
        if dice < 0.65:
            korean, english = rng.choice(tuple(times.WEEKDAYS.items()))
            return When(f"{korean}마다", f"every {english}")
        return When(*rng.choice(tuple(times.HABIT_TIMES.items())))
    if dice < 0.65:
        return When(*rng.choice(tuple((times.PAST_TIMES if tense == "past" else times.FUTURE_TIMES).items())))
    if dice < 0.73:
        korean, english = rng.choice(tuple(times.WEEKDAYS.items()))
        return When(f"{korean}에", f"on {english}")
    day, english = ("어제", "yesterday") if tense == "past" else ("내일", "tomorrow")
    part, word = rng.choice(tuple(times.DAY_PARTS.items()))
    if dice < 0.85:
        return When(f"{day} {part}에", f"{english} {word}")
    hour, oclock = clock(rng)
    return When(f"{day} {hour}에", f"at {oclock} {english}")
