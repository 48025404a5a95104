"""The translator: text in, text out, whatever the text."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from small_translators import random_translator
from tongsa.base.devices import choose_device
from tongsa.base.errors import UsageError
from tongsa.config import Recipe, SubwordsSection
from tongsa.decoding import Hypothesis, Search
from tongsa.engines.native import NativeEngine
from tongsa.models import build
from tongsa.models.weights import read_tensors
from tongsa.runs.card import Card, ConfidenceWeights
from tongsa.runs.directory import Run
from tongsa.text.frequencies import PieceFrequencies
from tongsa.text.subwords import END, Subwords, learn
from tongsa.translation.confidence import word_confidences
from tongsa.translation.options import TranslateOptions
from tongsa.translation.repetition import cut_repetition
from tongsa.translation.translator import Translator

TEXT = ["the cat sat on the mat", "a dog ran over the hill and far away", "one two three four five six seven"] * 9


@pytest.fixture(scope="module")
def subwords() -> Subwords:
    vocabulary = learn(TEXT, SubwordsSection(size=330, character_coverage=1.0), 1)
    return Subwords(vocabulary, vocabulary)


class Echo:
    """An engine that writes what it is told to, by default the source itself."""

    name = "echo"

    def __init__(self, write: Callable[[list[int]], list[Hypothesis]] | None = None) -> None:
        self.write = write or (lambda ids: [Hypothesis(list(ids), -1.0, -0.5)])
        self.asked: list[list[int]] = []

    def translate(self, sources: Sequence[Sequence[int]], search: Search) -> list[list[Hypothesis]]:
        self.asked += [list(ids) for ids in sources]
        return [self.write(list(ids)) for ids in sources]

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        return [[-1.0] * (len(ids) + 1) for ids in targets]


def with_engine(subwords: Subwords, engine: Echo | None = None) -> Translator:
    return Translator(Card(source="en", target="en", recipe=Recipe()), subwords, engine or Echo())


@pytest.fixture(scope="module")
def native(subwords: Subwords) -> Translator:
    small = {"model.d_model": "16", "model.d_ff": "16", "model.heads": "2"}
    recipe = Recipe().with_settings({**small, "model.encoder_layers": "1", "model.decoder_layers": "2"})
    torch.manual_seed(0)
    pad = subwords.source.pad
    model, unwritable = build(recipe.model, len(subwords.source), None), subwords.target.unwritable
    engine = NativeEngine(model, source_pad=pad, target_pad=pad, end=END, unwritable=unwritable)
    return Translator(Card(source="en", target="en", recipe=recipe), subwords, engine)


@settings(deadline=None, max_examples=50)
@given(
    texts=st.lists(st.sampled_from(["", " ", "\t", "the cat", "a dog ran", "私は猫です", "one two three", "\u3000"]))
)
def test_translation_n_belongs_to_text_n(subwords: Subwords, texts: list[str]) -> None:
    found = with_engine(subwords).translate(texts)
    assert [t.text for t in found] == [text if text.strip() else "" for text in texts]


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u3000"])
def test_a_blank_text_stays_blank_and_never_reaches_the_model(subwords: Subwords, blank: str) -> None:
    engine = Echo()
    (found,) = with_engine(subwords, engine).translate([blank])
    assert (found.text, found.notes, found.tokens) == ("", ("blank",), ())
    assert engine.asked == []


def test_text_that_the_model_cannot_read_is_copied_rather_than_invented(subwords: Subwords) -> None:
    engine = Echo()
    found = with_engine(subwords, engine).translate(["私は猫です", "the cat 猫"])
    assert (found[0].text, found[0].notes) == ("私は猫です", ("copied",))
    assert (found[1].text, found[1].notes) == ("the cat 猫", ("unknown characters carried over",))
    assert engine.asked == [subwords.source.encode("the cat")]


SEVERAL = "the cat sat. The dog ran! one two"


@pytest.mark.parametrize(
    ("one_sentence", "split", "parts"), [(True, "auto", 2), (False, "auto", 1), (True, "long", 1), (False, "always", 2)]
)
def test_several_sentences_are_translated_one_by_one_by_a_model_of_single_ones(
    subwords: Subwords, one_sentence: bool, split: Literal["auto", "long", "always"], parts: int
) -> None:
    """What begins with a small letter is no new sentence."""
    engine = Echo()
    card = Card(source="en", target="en", recipe=Recipe(), one_sentence=one_sentence)
    options = TranslateOptions(split=split)
    first, second = Translator(card, subwords, engine).translate([SEVERAL, "the cat sat."], options)
    assert (first.text, second.text) == (SEVERAL, "the cat sat.")
    assert first.notes == (("translated sentence by sentence",) if split == "auto" and parts > 1 else ())
    assert second.notes == ()
    assert len(engine.asked) == parts + 1


def test_one_text_instead_of_a_list_is_an_error(subwords: Subwords) -> None:
    """It would be translated letter by letter."""
    with pytest.raises(UsageError, match="list of texts") as caught:
        with_engine(subwords).translate("the cat")
    assert 'translate(["..."])[0]' in str(caught.value)


@pytest.mark.parametrize("options", [None, TranslateOptions(split="always")])
def test_texts_may_come_from_any_iterable(subwords: Subwords, options: TranslateOptions | None) -> None:
    translator = with_engine(subwords)
    found = translator.translate((text for text in ("the cat", "a dog")), options)
    assert [each.text for each in found] == ["the cat", "a dog"]
    assert [sentence.text for sentence in translator.encode(iter(["the cat"]))] == ["the cat"]
    assert len(translator.score(iter(["the cat"]), iter(["a dog"]))) == 1


def test_no_texts_give_no_translations(subwords: Subwords, native: Translator) -> None:
    assert native.translate([]) == []


def test_a_translation_tells_tokens_and_scores(subwords: Subwords) -> None:
    (found,) = with_engine(subwords).translate(["the cat"])
    assert "".join(found.tokens).replace("▁", " ").strip() == "the cat"
    assert found.source_tokens == found.tokens
    assert (found.score, found.log_probability) == (-0.5, -1.0)
    assert found.alternatives == ()


def test_alternatives_are_the_other_hypotheses_in_order(subwords: Subwords) -> None:
    texts = ["the cat", "the dog", "the mat"]
    hypotheses = [Hypothesis(subwords.target.encode(text), -i, -i / 2) for i, text in enumerate(texts)]
    (found,) = with_engine(subwords, Echo(lambda ids: hypotheses)).translate(["one two"])
    assert [found.text, *(other.text for other in found.alternatives)] == texts
    assert [other.score for other in found.alternatives] == [-0.5, -1.0]


def test_the_length_limit_is_noted(subwords: Subwords) -> None:
    (found,) = with_engine(subwords, Echo(lambda ids: [Hypothesis(ids, -1, -1, ended=False)])).translate(["the cat"])
    assert found.notes == ("length limit",)


def test_a_repetition_is_cut_and_noted(subwords: Subwords) -> None:
    loop = subwords.target.encode("the cat sat" + " on the mat" * 9)
    (found,) = with_engine(subwords, Echo(lambda ids: [Hypothesis(loop, -1, -1)])).translate(["a dog"])
    assert found.text == "the cat sat on the mat"
    assert found.notes == ("repetition cut",)
    assert "".join(found.tokens).replace("▁", " ").strip() == found.text


def test_the_translator_takes_its_search_from_the_recipe(subwords: Subwords) -> None:
    recipe = Recipe().with_settings({"decoding.beam": "7"})
    assert Translator(Card(source="a", target="b", recipe=recipe), subwords, Echo()).search.beam == 7


# Repetition

phrase = st.lists(st.integers(2, 9), min_size=1, max_size=12)


def loops(ids: list[int], times: int = 4, longest: int = 12) -> bool:
    """Whether the end is one phrase `times` times over; written as plainly as can be."""
    return any(ids[-p * times :] == ids[-p:] * times for p in range(1, longest + 1) if len(ids) >= p * times)


@settings(deadline=None)
@given(ids=st.lists(st.integers(2, 5), max_size=60), source=st.lists(st.integers(2, 9), max_size=20))
def test_text_without_a_loop_is_untouched(ids: list[int], source: list[int]) -> None:
    assume(not loops(ids))
    assert cut_repetition(ids, source) == (ids, False)


@settings(deadline=None)
@given(
    before=st.lists(st.integers(10, 99), max_size=9, unique=True),
    phrase=phrase,
    times=st.integers(4, 9),
    part=st.integers(0, 11),
)
def test_a_loop_at_the_end_is_cut_to_one_turn(before: list[int], phrase: list[int], times: int, part: int) -> None:
    """Also one that the limit of length broke off in the middle of a turn."""
    found, cut = cut_repetition([*before, *phrase * times, *phrase[: part % len(phrase)]], source=[])
    assert cut
    assert found[: len(before)] == before
    turn = found[len(before) :]
    assert turn == phrase[: len(turn)]
    assert turn


@settings(deadline=None)
@given(before=phrase, phrase=phrase, after=phrase)
def test_a_source_that_repeats_itself_anywhere_may_have_a_translation_that_does(
    before: list[int], phrase: list[int], after: list[int]
) -> None:
    """`It costs 1,000,000.` ends in a full stop, its translation perhaps in the zeros."""
    ids = [3, *[7] * 6]
    assert cut_repetition(ids, source=[*before, *phrase * 4, *after]) == (ids, False)


def test_three_times_is_emphasis_and_stays() -> None:
    ids = [5, 6, 7, 6, 7, 6, 7]
    assert cut_repetition(ids, source=[1]) == (ids, False)


# Alignment and attention


def test_every_target_token_is_aligned_with_a_source_token(native: Translator) -> None:
    for found in native.translate(
        ["the cat sat", "one two three four", ""], Search(max_extra=3, nbest=2, alignment=True)
    ):
        for each in (found, *found.alternatives):
            assert [target for _, target in each.alignment] == list(range(len(each.tokens)))
            assert all(0 <= source < len(each.source_tokens) for source, _ in each.alignment)


def test_asking_for_an_alignment_changes_nothing_else(native: Translator) -> None:
    plain, aligned = (
        native.translate(["the cat sat"], Search(max_extra=3, alignment=asked)) for asked in (False, True)
    )
    assert plain[0].alignment == ()
    assert aligned[0].tokens == plain[0].tokens
    assert aligned[0].text == plain[0].text


@pytest.mark.parametrize(
    "options", [Search(max_extra=3, alignment=True), TranslateOptions(search=Search(max_extra=3), alignment=True)]
)
def test_an_alignment_may_be_asked_for_in_the_search_or_beside_it(
    native: Translator, options: Search | TranslateOptions
) -> None:
    (found,) = native.translate(["the cat sat"], options)
    assert len(found.alignment) == len(found.tokens) > 0


def test_alternatives_may_be_asked_for_in_the_search_or_beside_it(native: Translator) -> None:
    search = Search(max_extra=3, nbest=3)
    (by_search,) = native.translate(["the cat sat"], search)
    (beside,) = native.translate(["the cat sat"], TranslateOptions(search=Search(max_extra=3), alternatives=2))
    assert len(by_search.alternatives) == 2
    assert by_search == beside


def test_words_have_the_probability_of_the_least_likely_of_their_tokens(native: Translator) -> None:
    options = TranslateOptions(search=Search(max_extra=3), words=True)
    (found, blank) = native.translate(["the cat sat", " "], options)
    assert "".join(word.text for word in found.words) == found.text.strip()
    (scores,) = native.score_ids([native.encode(["the cat sat"])[0].ids], [found.ids])
    assert found.words == tuple(word_confidences(found.text.strip(), found.tokens, scores))
    assert blank.words == ()


def test_confidence_is_calibrated_from_the_probability_of_a_token_and_the_familiarity_of_the_source(
    subwords: Subwords,
) -> None:
    weights = ConfidenceWeights(bias=1.0, average=2.0, familiarity=0.5)
    card = Card(source="en", target="en", recipe=Recipe(), calibration=weights)
    frequencies = PieceFrequencies.count(np.array(subwords.source.encode("the cat")), len(subwords.source))
    translator = Translator(card, subwords, Echo(), frequencies=frequencies)
    usual, unusual = translator.translate(["the cat", "xqz"])
    for text, found in (("the cat", usual), ("xqz", unusual)):
        familiarity = frequencies.familiarity(translator.encode([text])[0].ids)
        expected = 1 / (1 + math.exp(-(1.0 - 2.0 / (len(found.ids) + 1) + 0.5 * familiarity)))
        assert found.confidence == pytest.approx(expected)
    assert usual.confidence > unusual.confidence
    unscored = Echo(lambda ids: [Hypothesis(ids, float("nan"), float("nan"))])
    (found,) = Translator(card, subwords, unscored).translate(["the cat"], Search(beam=1, scores=False))
    assert found.confidence is None


def test_an_inspection_has_a_token_for_every_row_and_column(native: Translator) -> None:
    seen = native.inspect("the cat sat", "a dog ran")
    assert seen.source_tokens[-1] == seen.target_tokens[-1] == "</s>"
    assert len(seen.attention.cross) == 2
    for weights in seen.attention.cross:
        assert tuple(weights.shape) == (1, 2, len(seen.target_tokens), len(seen.source_tokens))
    assert native.inspect("the cat").target_tokens[-1] == "</s>"


def test_scores_have_a_number_for_each_token_and_the_end(native: Translator, subwords: Subwords) -> None:
    (log_p,) = native.score(["the cat"], ["a dog ran"])
    assert len(log_p) == len(subwords.target.encode("a dog ran")) + 1
    assert all(value < 0 for value in log_p)


def test_devices_that_are_not_there_are_told() -> None:
    with pytest.raises(UsageError, match="unknown device"):
        choose_device("toaster")
    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match="no GPU"):
            choose_device("cuda")
    assert choose_device("cpu") == torch.device("cpu")


def test_a_directory_is_loaded_by_path_or_name(tmp_path: Path, native: Translator, subwords: Subwords) -> None:
    from tongsa.models.weights import named_weights
    from tongsa.runs.directory import Run

    subwords.save(tmp_path)
    assert isinstance(native.engine, NativeEngine)
    Run(tmp_path).write_translator(native.card, named_weights(native.engine.model))
    expected = native.translate(["the cat sat on"])
    for directory in (tmp_path, str(tmp_path)):
        loaded = Translator.load(directory, engine="native", device="cpu")
        assert loaded.translate(["the cat sat on"])[0].text == expected[0].text


def long_text(sentences: int) -> str:
    return " ".join(f"One two three {n} the cat sat on the mat." for n in range(sentences))


def test_a_text_longer_than_any_sentence_is_translated_sentence_by_sentence(subwords: Subwords) -> None:
    engine = Echo()
    translator = with_engine(subwords, engine)
    text = long_text(40)
    assert len(subwords.source.encode(text)) > translator.card.recipe.corpus.max_tokens
    before, found, after = translator.translate(["the cat", text, "a dog"])
    assert (before.text, found.text, after.text) == ("the cat", text, "a dog")
    assert len(engine.asked) == 42
    assert found.notes == ("translated sentence by sentence",)
    assert before.notes == after.notes == ()
    assert found.log_probability == -40.0
    assert found.score == -0.5
    assert list(found.tokens) == [piece for ids in engine.asked[1:-1] for piece in subwords.target.pieces(ids)]
    plain = translator.translate(["the cat", text], TranslateOptions(tokens=False))
    assert [found.text for found in plain] == ["the cat", text]


def test_a_text_of_ordinary_length_is_not_cut(subwords: Subwords) -> None:
    engine = Echo()
    with_engine(subwords, engine).translate(["The cat sat. The dog ran. One two."])
    assert len(engine.asked) == 1


def test_hypotheses_of_a_long_text_are_joined_rank_by_rank(subwords: Subwords) -> None:
    engine = Echo(lambda ids: [Hypothesis(list(ids), -1.0, -0.5), Hypothesis(list(ids[:2]), -2.0, -1.0)])
    found = with_engine(subwords, engine).translate([long_text(40)], Search(nbest=2))[0]
    (other,) = found.alternatives
    assert other.log_probability == -80.0
    assert len(other.tokens) == 80


def test_what_an_engine_has_to_tell_is_noted(subwords: Subwords) -> None:
    engine = Echo(lambda ids: [Hypothesis(list(ids), -1.0, -0.5, note="source cut after 9 subwords")])
    for tokens in (True, False):
        (found,) = with_engine(subwords, engine).translate(["the cat"], TranslateOptions(tokens=tokens))
        assert found.notes == ("source cut after 9 subwords",)


def test_a_translator_of_weights_in_memory_translates_as_its_directory_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(random_translator(tmp_path / "run"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    loaded = Translator.load(run.path, device="cpu")
    made = Translator.from_weights(loaded.card, loaded.subwords, read_tensors(run.weights_file), device="cpu")
    texts = ["저는 학생입니다.", "새가 노래해요."]
    assert [each.text for each in made.translate(texts)] == [each.text for each in loaded.translate(texts)]
    del made
    gc.collect()
    assert list((tmp_path / "temporary").glob("tongsa-*")) == []
