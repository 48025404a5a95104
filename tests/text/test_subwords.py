"""Subwords: what was encoded decodes back, and sizes that a text does not bear are told."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.base.errors import CorpusError, DirectoryError
from tongsa.config import SubwordsSection
from tongsa.text.lines import tidy
from tongsa.text.subwords import (
    END,
    UNKNOWN,
    Subwords,
    Vocabulary,
    VocabularyTooLargeError,
    VocabularyTooSmallError,
    learn,
)

SYLLABLES = [a + b for a in "bdklmnprst" for b in "aeiou"] + list("통사는말을옮긴다")


def text(lines: int, seed: int = 1) -> list[str]:
    draw = random.Random(seed)
    words = ["".join(draw.choices(SYLLABLES, k=draw.randint(1, 4))) for _ in range(200)]
    return [" ".join(draw.choices(words, k=draw.randint(3, 12))) for _ in range(lines)]


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def vocabulary(request: pytest.FixtureRequest) -> Vocabulary:
    return learn(text(500), SubwordsSection(size=330, kind=request.param), 1)


@pytest.fixture(scope="module")
def bpe() -> Vocabulary:
    return learn(text(500), SubwordsSection(size=330), 1)


@given(line=st.text())
def test_any_tidy_text_comes_back(bpe: Vocabulary, line: str) -> None:
    """Bytes stand in for every character that the vocabulary has not got."""
    assert bpe.decode(bpe.encode(tidy(line))) == tidy(line)


@given(words=st.lists(st.sampled_from(SYLLABLES), min_size=1))
def test_what_was_decoded_encodes_back(vocabulary: Vocabulary, words: list[str]) -> None:
    line = " ".join(words)
    ids = vocabulary.encode(line)
    assert vocabulary.decode(ids) == line
    assert vocabulary.encode(vocabulary.decode(ids)) == ids
    assert all(UNKNOWN < id < vocabulary.pad for id in ids)


@pytest.mark.parametrize("line", ["</s>", "<unk>", "<pad>", "<0x41>", "a </s> b", "<s>"])
def test_text_that_looks_like_a_special_piece_is_text(bpe: Vocabulary, line: str) -> None:
    ids = bpe.encode(line)
    assert not {END, UNKNOWN, bpe.pad} & set(ids)
    assert bpe.decode(ids) == line


def test_ids_are_laid_out_as_marian_has_them(vocabulary: Vocabulary) -> None:
    pieces = vocabulary.all_pieces()
    assert len(pieces) == len(vocabulary) == 331
    assert pieces[END] == "</s>"
    assert pieces[UNKNOWN] == "<unk>"
    assert pieces[vocabulary.pad] == pieces[-1] == "<pad>"


def test_the_end_and_padding_are_no_text(bpe: Vocabulary) -> None:
    ids = bpe.encode("통사는")
    assert bpe.decode([bpe.pad, *ids, END, bpe.pad, bpe.pad]) == "통사는"


def test_threads_change_nothing(bpe: Vocabulary) -> None:
    lines = text(300, seed=2)
    assert bpe.encode_many(lines, 3) == [bpe.encode(line) for line in lines]


def test_languages_without_spaces_keep_having_none(bpe: Vocabulary) -> None:
    for line in ("没有空格的句子。", "日本語の文章です。", "ภาษาไทยไม่เว้นวรรค"):
        assert bpe.decode(bpe.encode(line)) == line


def test_text_unlike_any_seen_is_foreign(bpe: Vocabulary) -> None:
    assert bpe.is_foreign(bpe.encode("ქართული ენა"))
    assert not bpe.is_foreign(bpe.encode("babe 통사는 kilo"))


def test_sampled_cuts_are_the_same_sentences_and_a_function_of_the_seed(vocabulary: Vocabulary) -> None:
    sentences = [vocabulary.encode(line) for line in text(50, seed=3)]
    cut = vocabulary.resegment(sentences, 0.3, seed=5)
    assert cut == vocabulary.resegment(sentences, 0.3, seed=5)
    assert cut != vocabulary.resegment(sentences, 0.3, seed=6)
    assert cut != sentences
    assert [vocabulary.decode(ids) for ids in cut] == [vocabulary.decode(ids) for ids in sentences]


def test_learning_twice_gives_the_same_model() -> None:
    section = SubwordsSection(size=400)
    assert learn(text(300), section, 1).model == learn(text(300), section, 1).model
    assert learn(text(300), section, 1).all_pieces() == learn(text(300), section, 2).all_pieces()


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_vocabulary_beyond_the_text_names_a_size_that_works(kind: str) -> None:
    with pytest.raises(VocabularyTooLargeError, match="too small for a vocabulary of 30,000 pieces") as caught:
        learn(text(50), SubwordsSection(size=30_000, kind=kind), 1)
    most = caught.value.bearable
    assert f"--set subwords.size={most}" in str(caught.value)
    assert len(learn(text(50), SubwordsSection(size=most, kind=kind), 1)) == most + 1


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_vocabulary_without_room_for_the_characters_names_a_size_that_works(kind: str) -> None:
    draw = random.Random(1)
    chinese = ["".join(chr(0x4E00 + draw.randrange(900)) for _ in range(15)) for _ in range(200)]
    with pytest.raises(VocabularyTooSmallError, match="too small for the characters") as caught:
        learn(chinese, SubwordsSection(size=300, kind=kind), 1)
    least = caught.value.bearable
    assert f"--set subwords.size={least}" in str(caught.value)
    assert len(learn(chinese, SubwordsSection(size=least, kind=kind), 1)) == least + 1


def test_no_text_is_told() -> None:
    for lines in ([], ["x" * 100_000]):
        with pytest.raises(CorpusError, match="there is no text to learn subwords from"):
            learn(lines, SubwordsSection(size=300), 1)


@pytest.mark.parametrize("joint", [True, False])
def test_saved_subwords_load_as_they_were(tmp_path: Path, bpe: Vocabulary, joint: bool) -> None:
    other = learn(text(300, seed=9), SubwordsSection(size=400), 1)
    saved = Subwords(bpe, bpe if joint else other)
    saved.save(tmp_path)
    loaded = Subwords.load(tmp_path)
    assert loaded.joint == joint
    assert (loaded.source.model, loaded.target.model) == (saved.source.model, saved.target.model)


def test_subwords_saved_over_others_replace_them(tmp_path: Path, bpe: Vocabulary) -> None:
    other = learn(text(300, seed=9), SubwordsSection(size=400), 1)
    for subwords in (Subwords(bpe, bpe), Subwords(bpe, other), Subwords(other, other)):
        subwords.save(tmp_path)
        assert Subwords.load(tmp_path).target.model == subwords.target.model
        assert Subwords.load(tmp_path).joint == subwords.joint


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.99])
def test_a_model_cut_short_is_told(tmp_path: Path, bpe: Vocabulary, keep: float) -> None:
    (tmp_path / "subwords.model").write_bytes(bpe.model[: int(keep * len(bpe.model))])
    with pytest.raises(DirectoryError, match=r"subwords\.model is not a SentencePiece model"):
        Subwords.load(tmp_path)


def test_a_missing_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(DirectoryError, match=r"subwords\.model is missing"):
        Subwords.load(tmp_path)


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"])))
def test_characters_and_bytes_decode_back(words: str) -> None:
    for kind in CUT:
        assert CUT[kind].decode(CUT[kind].encode(tidy(words))) == tidy(words)


CUT = {kind: learn(text(50), SubwordsSection(kind=kind), 1) for kind in ("char", "byte")}


def test_a_character_or_a_byte_is_a_piece() -> None:
    assert CUT["char"].pieces(CUT["char"].encode("통사 ba")) == ["▁", "통", "사", "▁", "b", "a"]
    assert len(CUT["char"].encode("통사 ba")) == 1 + len("통사 ba")
    assert len(CUT["byte"].encode("통사 ba")) == 1 + len("통사 ba".encode())


def test_fewer_characters_than_the_size_are_no_error_and_more_are_left_to_bytes() -> None:
    assert len(CUT["char"]) < 350
    assert len(CUT["byte"]) == 2 + 256 + 2 + 1
    few = learn(["a b c d e f g h " * 9 + "통사"], SubwordsSection(kind="char", size=2 + 256 + 5), 1)
    assert few.decode(few.encode("통사 abh")) == "통사 abh"


def test_bytes_are_foreign_to_characters_but_not_to_bytes() -> None:
    foreign = "ქართული ენა"
    assert CUT["char"].is_foreign(CUT["char"].encode(foreign))
    assert not CUT["byte"].is_foreign(CUT["byte"].encode(foreign))


def test_sampling_of_characters_and_bytes_is_refused() -> None:
    assert "sampling" in " ".join(SubwordsSection(kind="char", sampling=0.1).problems())
    assert "byte_fallback" in " ".join(SubwordsSection(kind="byte", byte_fallback=False).problems())
