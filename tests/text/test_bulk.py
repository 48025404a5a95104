"""Texts that are encoded by their words have the ids that they have as a whole."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.config import SubwordsSection
from tongsa.text import bulk
from tongsa.text.bulk import BulkEncoder, words_stand_alone
from tongsa.text.lines import tidy
from tongsa.text.subwords import Vocabulary, learn

DRAW = random.Random(1)
WORDS = ["".join(DRAW.choices("abdeiklmnorstuäß통사", k=DRAW.randint(1, 7))) for _ in range(300)]
LINES = [" ".join(DRAW.choices(WORDS, k=DRAW.randint(1, 20))) for _ in range(800)]


def learnt(kind: str, **settings: object) -> Vocabulary:
    return learn(LINES, SubwordsSection(kind=kind, size=500, **settings), 1)  # type: ignore[arg-type]


MODELS = {
    "bpe": learnt("bpe"),
    "bpe without bytes": learnt("bpe", byte_fallback=False, character_coverage=0.98),
    "char": learnt("char"),
    "byte": learnt("byte"),
    "unigram": learnt("unigram"),
}


@pytest.mark.parametrize("name", MODELS)
@given(texts=st.lists(st.text() | st.lists(st.sampled_from(WORDS)).map(" ".join), max_size=8))
def test_encoding_by_words_is_encoding(name: str, texts: list[str]) -> None:
    tidied = [tidy(text) for text in texts]
    encoder = BulkEncoder(MODELS[name], threads=1)
    for _ in range(2):  # the second time every word is known
        found = [np.frombuffer(ids, encoder.dtype).tolist() for ids in encoder.encode(tidied)]
        assert found == [MODELS[name].encode(text) for text in tidied]


def test_words_are_looked_up_where_that_is_exact() -> None:
    assert {name: words_stand_alone(model.model) for name, model in MODELS.items()} == {
        "bpe": True,
        "bpe without bytes": True,
        "char": True,
        "byte": True,
        "unigram": False,
    }


@pytest.mark.parametrize(
    "settings",
    [
        {"normalization_rule_name": "nmt_nfkc"},
        {"split_by_whitespace": False},
        {"treat_whitespace_as_suffix": True},
        {"add_dummy_prefix": False},
        {"user_defined_symbols": ["a b"]},
    ],
    ids=str,
)
def test_models_made_otherwise_are_encoded_whole(settings: dict[str, object]) -> None:
    import io

    import sentencepiece

    written = io.BytesIO()
    options = {"normalization_rule_name": "identity", "vocab_size": 200, "model_type": "bpe", "minloglevel": 2}
    lines = [f"{line} a b a b" for line in LINES[:200]]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=written, **(options | settings)
    )
    assert not words_stand_alone(written.getvalue())


def test_words_are_forgotten_before_memory_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "REMEMBERED", 100)
    encoder = BulkEncoder(MODELS["bpe"], threads=1)
    for start in range(0, 800, 10):
        texts = LINES[start : start + 10]
        found = [np.frombuffer(ids, encoder.dtype).tolist() for ids in encoder.encode(texts)]
        assert found == [MODELS["bpe"].encode(text) for text in texts]
        assert len(encoder._words) <= 200 + 100
