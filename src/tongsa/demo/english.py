"""English morphology for the built-in corpus: articles, plurals, verb forms, and the verb group of a clause."""

from __future__ import annotations

from dataclasses import dataclass

_PAST = {
    "build": "built", "buy": "bought", "choose": "chose", "come": "came", "cut": "cut", "draw": "drew",
    "drink": "drank", "eat": "ate", "give": "gave", "go": "went", "have": "had", "make": "made", "meet": "met",
    "read": "read", "run": "ran", "sell": "sold", "send": "sent", "sing": "sang", "sleep": "slept", "swim": "swam",
    "take": "took", "teach": "taught", "wear": "wore", "write": "wrote",
}  # fmt: skip

BE = {"present": {"I": "am", "it": "is", "we": "are"}, "past": {"I": "was", "it": "was", "we": "were"}}
"""Agreement is named by a pronoun: I (first singular), it (third singular), we (all others)."""


_ONES = (
    "", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def number_words(number: int) -> str:
    """From one to ninety-nine."""
    if number < 20:
        return _ONES[number]
    return _TENS[number // 10] + (f"-{_ONES[number % 10]}" if number % 10 else "")


def article(noun: str) -> str:
    """With "a" or "an"."""
    return f"an {noun}" if noun[0] in "aeiou" or noun.startswith("honest") else f"a {noun}"


def plural(noun: str) -> str:
    """The regular plural of a noun phrase's last word."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def third(verb: str) -> str:
    """Third person singular; a phrase inflects on its first word: listens to."""
    head, *tail = verb.split(" ")
    if head == "have":
        return " ".join(["has", *tail])
    return " ".join([head + "es" if head in ("go", "do") else plural(head), *tail])


def past(verb: str) -> str:
    """Simple past."""
    head, *tail = verb.split(" ")
    if head not in _PAST:
        if head.endswith("e"):
            head += "d"
        elif head.endswith("y") and head[-2] not in "aeiou":
            head = head[:-1] + "ied"
        else:
            head += "ed"
    return " ".join([_PAST.get(head, head), *tail])


def gerund(verb: str) -> str:
    """The -ing form; a short vowel doubles its consonant: running, swimming."""
    head, *tail = verb.split(" ")
    if head.endswith("e") and not head.endswith("ee"):
        head = head[:-1]
    elif _doubles(head):
        head += head[-1]
    return " ".join([head + "ing", *tail])


def _doubles(verb: str) -> bool:
    vowels = [letter in "aeiou" for letter in verb]
    return vowels[-3:] == [False, True, False] and sum(vowels) == 1 and verb[-1] not in "wxy"


@dataclass(frozen=True)
class VerbGroup:
    """Auxiliary, "not" and the rest, still apart, because questions put the subject between them."""

    auxiliary: str
    negation: str
    body: str

    def after(self, subject: str, adverb: str = "") -> str:
        """A statement: the subject, then everything."""
        if self.auxiliary == "can" and self.negation:
            return spaced(subject, "cannot", adverb, self.body)
        return spaced(subject, self.auxiliary, self.negation, adverb, self.body)

    def around(self, subject: str, adverb: str = "") -> str:
        """A question: the auxiliary first."""
        return spaced(self.auxiliary, subject, self.negation, adverb, self.body)


def verb_group(
    verb: str, who: str, tense: str, *, mode: str = "plain", negated: bool = False, asked: bool = False
) -> VerbGroup:
    """The verb of a clause. Modes: plain, progressive, want, can, must, and be, where `verb` is the complement."""
    negation = "not" if negated else ""
    if mode == "can":
        if tense == "future":
            return VerbGroup("will", negation, f"be able to {verb}")
        return VerbGroup("could" if tense == "past" else "can", negation, verb)
    if mode in ("progressive", "be"):
        body = gerund(verb) if mode == "progressive" else verb
        if tense == "future":
            return VerbGroup("will", negation, f"be {body}")
        return VerbGroup(BE[tense][who], negation, body)
    verb = {"plain": "", "want": "want to ", "must": "have to "}[mode] + verb
    if tense == "future":
        return VerbGroup("will", negation, verb)
    if negated or asked:
        return VerbGroup("did" if tense == "past" else "does" if who == "it" else "do", negation, verb)
    return VerbGroup("", "", past(verb) if tense == "past" else third(verb) if who == "it" else verb)


def spaced(*words: str) -> str:
    """Joined by single spaces; empty words leave no gap."""
    return " ".join(filter(None, words))


def sentence(text: str, mark: str = ".") -> str:
    """With a capital and its final mark."""
    return text[0].upper() + text[1:] + mark
