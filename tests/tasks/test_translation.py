"""What a translation task tells of its training text."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tongsa.config import SubwordsSection
from tongsa.tasks.translation import LINES_LOOKED_AT, has_single_sentences
from tongsa.text.subwords import Subwords, learn

ONE, SEVERAL = "the cat sat on the mat.", "The cat sat. Then it ran."


@pytest.mark.parametrize(("several", "expected"), [(0, True), (1, True), (4, False), (100, False)])
def test_a_few_lines_of_several_sentences_are_no_rule(several: int, expected: bool) -> None:
    lines = [SEVERAL] * several + [ONE] * (100 - several)
    assert has_single_sentences(prepared(lines), "en") is expected


def test_a_long_text_is_looked_at_all_over() -> None:
    lines = [ONE] * (2 * LINES_LOOKED_AT) + [SEVERAL] * 200
    assert not has_single_sentences(prepared(lines), "en")


def prepared(lines: list[str]) -> Any:
    """The part of a prepared corpus that is looked at."""
    vocabulary = learn([ONE, SEVERAL] * 20, SubwordsSection(size=300, character_coverage=1.0), 1)
    source = [np.array(vocabulary.encode(line)) for line in lines]
    return SimpleNamespace(train=Rows(source), subwords=Subwords(vocabulary, vocabulary))


class Rows:
    def __init__(self, source: list[Any]) -> None:
        self.source = source

    def __len__(self) -> int:
        return len(self.source)
