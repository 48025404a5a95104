"""Ordinary text is separated into the words of a treebank."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.text.penn import BRACKETS, PennTokenizer

CLASSIC = PennTokenizer.of({"``", "''", "-LRB-", "-RRB-"})
"""As the Wall Street Journal part of the Penn Treebank is written."""
RECENT = PennTokenizer.of({'"', "-", "-LRB-", "-RRB-"})
"""As treebanks since OntoNotes are written, which separate hyphens."""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("He can't (really) say.", "He ca n't -LRB- really -RRB- say ."),
        ('"No," she said. "Go!"', "`` No , '' she said. `` Go ! ''"),
        ("It's the U.S. government's plan.", "It 's the U.S. government 's plan ."),
        ("We’re late, aren’t we?", "We ’re late , are n’t we ?"),
        ("I'm gonna pay $1,000.50 at 10:30 a.m.", "I 'm gon na pay $ 1,000.50 at 10:30 a.m."),
        ("They cannot come... or can they?!", "They can not come ... or can they ?!"),
        ("See https://x.org/a?b=1, or mail a.b@c.de.", "See https://x.org/a?b=1 , or mail a.b@c.de ."),
        ("The dogs' bowls; 'twas 50% off -- really", "The dogs ' bowls ; 't was 50 % off -- really"),
        ("'Well,' he said (as always.)", "' Well , ' he said -LRB- as always . -RRB-"),
        ("Rock 'n' roll in the '70s", "Rock 'n ' roll in the '70s"),
        ("a well-known non-profit", "a well-known non-profit"),
        ("", ""),
    ],
)
def test_words_are_separated_as_the_penn_treebank_does(text: str, words: str) -> None:
    assert " ".join(CLASSIC.words(text)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a well-known non-profit", "a well - known non-profit"),
        ("twenty-one men and/or women, 1/2 each", "twenty-one men and / or women , 1/2 each"),
        ('"No."', '" No . "'),
    ],
)
def test_a_treebank_that_separates_hyphens_gets_hyphens(text: str, words: str) -> None:
    assert " ".join(RECENT.words(text)) == words


@pytest.mark.parametrize("tokenizer", [CLASSIC, RECENT])
@given(text=st.text(st.sampled_from(list("ab1 .,'’\"()-/:!&$“”nt\n\u00a0한`")), max_size=40))
def test_nothing_is_added_or_left_out(tokenizer: PennTokenizer, text: str) -> None:
    words = tokenizer.words(text)
    assert all(words)
    assert not any(" " in word for word in words)
    spelled = "".join(words).replace("-LRB-", "(").replace("-RRB-", ")")
    without_quotes = str.maketrans("", "", "`'\"")
    assert spelled.translate(without_quotes) == "".join(text.split()).translate(without_quotes)
    assert tokenizer.quotes or spelled == "".join(text.split())


@pytest.mark.parametrize("tokenizer", [CLASSIC, RECENT])
def test_separated_words_stay_as_they_are(tokenizer: PennTokenizer) -> None:
    text = "He said ca n't , -LRB- the dogs ' 't was 10:30 a.m. -RRB- '' it 's U.S. $ 1,000.50 ... n't ."
    assert tokenizer.words(text) == text.split()


def test_brackets_are_written_as_the_treebank_writes_them() -> None:
    assert PennTokenizer.of(set()).words("([x])") == ["-LRB-", "[", "x", "]", "-RRB-"]
    assert PennTokenizer.of(set(BRACKETS.values())).words("{[x") == ["-LCB-", "-LSB-", "x"]
