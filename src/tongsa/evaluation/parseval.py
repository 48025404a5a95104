"""PARSEVAL: labelled brackets of a tree against those of the right one, counted as EVALB counts them.

A bracket is a label with the words it spans. Words with a deleted tag (punctuation) are taken out before, brackets with
a deleted label (TOP) or without words are not counted, and functions are cut off labels: NP-SBJ is NP. A sentence whose
words differ from the right ones is an error, a sentence without words is skipped; neither counts.

`COLLINS` are the parameters of COLLINS.prm, which most published figures use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal, NamedTuple

from tongsa.formats.trees import Tree


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """What is compared, with the names of EVALB's parameter files."""

    delete_labels: frozenset[str] = frozenset()
    delete_for_length: frozenset[str] = frozenset()
    """Tags of words that do not count for the length of a sentence."""
    quote_labels: frozenset[str] = frozenset()
    """Tags that are confused with each other on quotation marks: such a word is put back where only one tree has
    deleted it."""
    equal_labels: frozenset[frozenset[str]] = frozenset()
    equal_words: frozenset[frozenset[str]] = frozenset()
    labelled: bool = True
    cut_off: int = 40
    """Sentences of at most this length are also summed by themselves."""


COLLINS = Parameters(
    delete_labels=frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."}),
    delete_for_length=frozenset({"-NONE-"}),
    equal_labels=frozenset({frozenset({"ADVP", "PRT"})}),
)

QUOTES = ("'", '"', "/")
"""Words that may be put back."""

_FUNCTION = re.compile(r"[-=].*+", re.DOTALL)


def read_parameters(text: str) -> Parameters:
    """Read a parameter file of EVALB."""
    sets: dict[str, set[str]] = {name: set() for name in ("DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "QUOTE_LABEL")}
    pairs: dict[str, set[frozenset[str]]] = {"EQ_LABEL": set(), "EQ_WORD": set()}
    numbers = {"LABELED": 1, "CUTOFF_LEN": 40}
    for line in text.splitlines():
        name, *values = [""] if line.startswith("#") else line.split() or [""]
        if name in sets:
            sets[name].update(values[:1])
        elif name in pairs and len(values) == 2:
            pairs[name].add(frozenset(values))
        elif name in numbers and values:
            numbers[name] = int(values[0])
    return Parameters(
        delete_labels=frozenset(sets["DELETE_LABEL"]),
        delete_for_length=frozenset(sets["DELETE_LABEL_FOR_LENGTH"]),
        quote_labels=frozenset(sets["QUOTE_LABEL"]),
        equal_labels=frozenset(pairs["EQ_LABEL"]),
        equal_words=frozenset(pairs["EQ_WORD"]),
        labelled=bool(numbers["LABELED"]),
        cut_off=numbers["CUTOFF_LEN"],
    )


class Bracket(NamedTuple):
    label: str
    start: int
    end: int


@dataclass
class _Side:
    """Words and brackets of one side of a comparison. Brackets are in the order in which they open."""

    words: list[Tree] = field(default_factory=list)
    length: int = 0
    quotes: list[_Quote] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, trees: Iterable[Tree], parameters: Parameters) -> _Side:
        side = cls()
        opened: list[int] = []
        for tree in trees:
            for node, begins in tree.nodes():
                if node.is_leaf:
                    if begins:
                        side._add_word(node, opened, parameters)
                elif begins:
                    opened.append(len(side.labels))
                    side.labels.append(node.label)
                    side.starts.append(len(side.words))
                    side.ends.append(len(side.words))
                else:
                    side.ends[opened.pop()] = len(side.words)
        return side

    def _add_word(self, leaf: Tree, opened: Sequence[int], parameters: Parameters) -> None:
        self.length += leaf.label not in parameters.delete_for_length
        if leaf.label in parameters.quote_labels and leaf.word in QUOTES:
            self.quotes.append(_Quote(leaf, len(self.words), len(self.labels), tuple(opened)))
        if leaf.label not in parameters.delete_labels:
            self.words.append(leaf)

    def put_back(self, number: int) -> None:
        """Insert a deleted quotation mark among the words, and move what comes after it."""
        quote = self.quotes[number]
        self.words.insert(quote.index, quote.leaf)
        for bracket in range(quote.bracket, len(self.labels)):
            self.starts[bracket] += 1
            self.ends[bracket] += 1
        for bracket in quote.inside:
            self.ends[bracket] += 1
        for later in self.quotes[number:]:
            later.index += 1

    def brackets(self, parameters: Parameters) -> list[Bracket]:
        found = []
        for label, start, end in zip(self.labels, self.starts, self.ends, strict=True):
            bare = _FUNCTION.sub("", label)
            deleted = any(_equal(bare, each, parameters.equal_labels) for each in parameters.delete_labels)
            if start != end and not deleted:
                found.append(Bracket(bare, start, end))
        return found


@dataclass
class _Quote:
    leaf: Tree
    index: int
    """Number of words before it."""
    bracket: int
    """Number of brackets opened before it."""
    inside: tuple[int, ...]
    """The brackets that it is in."""


def _equal(a: str, b: str, equal: frozenset[frozenset[str]]) -> bool:
    return a == b or frozenset((a, b)) in equal


@dataclass(frozen=True, kw_only=True)
class SentenceCounts:
    """One sentence, as a line of EVALB's table."""

    status: Literal["valid", "error", "skipped"] = "valid"
    length: int = 0
    matched: int = 0
    gold: int = 0
    test: int = 0
    crossing: int = 0
    words: int = 0
    right_tags: int = 0


def compare(gold: Iterable[Tree], test: Iterable[Tree], parameters: Parameters = COLLINS) -> SentenceCounts:
    """Count the brackets of a sentence; each side is usually one tree."""
    right, found = _Side.of(gold, parameters), _Side.of(test, parameters)
    if not found.words:
        return SentenceCounts(status="skipped", length=right.length)
    if len(right.words) != len(found.words):
        _put_back_quotes(right, found, parameters)
    if len(right.words) != len(found.words) or not all(
        _equal(a.word, b.word, parameters.equal_words) for a, b in zip(right.words, found.words, strict=True)
    ):
        return SentenceCounts(status="error", length=right.length)
    brackets = right.brackets(parameters), found.brackets(parameters)
    tags = sum(_equal(a.label, b.label, parameters.equal_labels) for a, b in zip(right.words, found.words, strict=True))
    return SentenceCounts(
        length=right.length,
        matched=_matched(*brackets, parameters),
        gold=len(brackets[0]),
        test=len(brackets[1]),
        crossing=sum(any(_cross(a, b) for a in brackets[0]) for b in brackets[1]),
        words=len(right.words),
        right_tags=tags,
    )


def _put_back_quotes(right: _Side, found: _Side, parameters: Parameters) -> None:
    deleted = parameters.delete_labels
    for i in range(len(found.quotes)):
        for j in range(len(right.quotes)):
            mine, theirs = found.quotes[i], right.quotes[j]
            if mine.index != theirs.index or mine.leaf.label == theirs.leaf.label:
                continue
            if theirs.leaf.label in deleted and mine.leaf.label not in deleted:
                right.put_back(j)
            elif mine.leaf.label in deleted and theirs.leaf.label not in deleted:
                found.put_back(i)


def _matched(gold: Sequence[Bracket], test: Sequence[Bracket], parameters: Parameters) -> int:
    """Pair each bracket with at most one other over the same words and with an equal label."""
    free: dict[tuple[int, int], list[str]] = {}
    for label, start, end in test:
        free.setdefault((start, end), []).append(label)
    matched = 0
    for label, start, end in gold:
        labels = free.get((start, end), [])
        for place, other in enumerate(labels):
            if not parameters.labelled or _equal(label, other, parameters.equal_labels):
                del labels[place]
                matched += 1
                break
    return matched


def _cross(a: Bracket, b: Bracket) -> bool:
    return a.start < b.start < a.end < b.end or b.start < a.start < b.end < a.end


@dataclass(frozen=True, kw_only=True)
class ParsevalScore:
    """The sums over sentences, as EVALB's summary."""

    sentences: int = 0
    errors: int = 0
    skipped: int = 0
    matched: int = 0
    gold: int = 0
    test: int = 0
    complete: int = 0
    """Sentences whose brackets are all right."""
    crossing: int = 0
    without_crossing: int = 0
    two_or_less_crossing: int = 0
    words: int = 0
    right_tags: int = 0

    @property
    def valid(self) -> int:
        return self.sentences - self.errors - self.skipped

    @property
    def recall(self) -> float:
        return _percent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        return _percent(self.matched, self.test)

    @property
    def f1(self) -> float:
        return _percent(2 * self.matched, self.gold + self.test)

    @property
    def complete_match(self) -> float:
        return _percent(self.complete, self.valid)

    @property
    def tagging_accuracy(self) -> float:
        return _percent(self.right_tags, self.words)

    def __add__(self, other: ParsevalScore) -> ParsevalScore:
        return ParsevalScore(
            **{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)}
        )


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def add_up(sentences: Iterable[SentenceCounts], longest: int | None = None) -> ParsevalScore:
    """Sum the counts of sentences, or of those of at most `longest` words."""
    total = ParsevalScore()
    for each in sentences:
        if longest is not None and each.length > longest:
            continue
        valid = each.status == "valid"
        total += ParsevalScore(
            sentences=1,
            errors=int(each.status == "error"),
            skipped=int(each.status == "skipped"),
            matched=each.matched,
            gold=each.gold,
            test=each.test,
            complete=int(valid and each.matched == each.gold == each.test),
            crossing=each.crossing,
            without_crossing=int(valid and each.crossing == 0),
            two_or_less_crossing=int(valid and each.crossing <= 2),
            words=each.words,
            right_tags=each.right_tags,
        )
    return total
