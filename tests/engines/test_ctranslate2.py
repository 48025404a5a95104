"""The CTranslate2 engine against the native one, which is the reference."""

from __future__ import annotations

import math
import multiprocessing
import shutil
from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
import torch

from small_translators import SMALL, learnt_translator, random_translator, sentences
from tongsa.base.errors import UsageError
from tongsa.config import TransformerSection
from tongsa.decoding import Search
from tongsa.decoding.search import Sampling
from tongsa.engines.compiled import POSITIONS
from tongsa.engines.ctranslate2 import CTranslate2Engine
from tongsa.translation.translator import Translator

OPTIONS = {
    "the paper's": {},
    "pre-norm": {"norm": "pre"},
    "gelu": {"activation": "gelu"},
    "learned positions": {"positions": "learned", "max_positions": 64},
    "unequal depths": {"encoder_layers": 3, "decoder_layers": 1},
    "untied": {"tied": False},
    "narrow keys": {"d_k": 4},
    "narrow values": {"d_v": 4},
    "wide heads": {"heads": 2, "d_k": 24, "d_v": 20},
}


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return learnt_translator(tmp_path_factory.mktemp("translators") / "learnt")


def both(directory: Path, precision: str = "float32") -> tuple[Translator, Translator]:
    native = Translator.load(directory, engine="native", device="cpu")
    return native, Translator.load(directory, engine="ctranslate2", precision=precision, device="cpu", threads=2)


def ids(translator: Translator, texts: list[str]) -> list[list[int]]:
    return [translator.subwords.source.encode(text) for text in texts]


@pytest.mark.parametrize("joint", [True, False], ids=["joint", "separate"])
@pytest.mark.parametrize("name", OPTIONS)
def test_log_probabilities_equal_the_native_ones(name: str, joint: bool, tmp_path: Path) -> None:
    values = {"d_model": 32, "d_ff": 64, "heads": 4, "encoder_layers": 2, "decoder_layers": 2, **OPTIONS[name]}
    directory = random_translator(tmp_path, joint=joint, config=TransformerSection(**values))
    native, fast = both(directory)
    pairs = sentences(12)
    sources = ids(native, [source for source, _ in pairs])
    targets = [native.subwords.target.encode(target) for _, target in pairs]
    for expected, found in zip(native.engine.score(sources, targets), fast.engine.score(sources, targets), strict=True):
        assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    "search", [Search(beam=1), Search(), Search(beam=6, length_penalty=0.0), Search(nbest=3)], ids=str
)
def test_searches_find_what_native_ones_find(learnt: Path, search: Search) -> None:
    native, fast = both(learnt)
    sources = ids(native, [source for source, _ in sentences(150)])
    same = 0
    for expected, found in zip(
        native.engine.translate(sources, search), fast.engine.translate(sources, search), strict=True
    ):
        assert len(found) == len(expected) == search.nbest
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
        if found[0].ids == expected[0].ids:
            same += 1
            assert found[0].log_probability == pytest.approx(expected[0].log_probability, abs=1e-3)
            assert found[0].score == pytest.approx(expected[0].score, abs=1e-3)
            assert found[0].ended == expected[0].ended
    assert same >= 148, "at most rounding may make a difference"


def test_greedy_search_without_scores_writes_the_same(learnt: Path) -> None:
    _, fast = both(learnt)
    texts = [source for source, _ in sentences(40)]
    with_scores, without = (fast.translate(texts, Search(beam=1, scores=scores)) for scores in (True, False))
    assert [one.text for one in with_scores] == [one.text for one in without]
    assert all(math.isnan(one.score) for one in without if not one.notes)
    wide = [fast.translate(texts, Search(beam=4, scores=scores)) for scores in (True, False)]
    assert wide[0] == wide[1], "a beam is ranked by its scores in any case"


def test_int8_is_close(learnt: Path) -> None:
    native, fast = both(learnt, "int8")
    pairs = sentences(40)
    sources = ids(native, [source for source, _ in pairs])
    targets = [native.subwords.target.encode(target) for _, target in pairs]
    expected = [sum(tokens) for tokens in native.engine.score(sources, targets)]
    found = [sum(tokens) for tokens in fast.engine.score(sources, targets)]
    assert found != expected
    assert found == pytest.approx(expected, rel=0.1, abs=1.5), "an overflow would be off by tens"


def test_output_ends_at_the_limit_of_each_sentence(tmp_path: Path) -> None:
    native, fast = both(random_translator(tmp_path))
    sources = [[5] * 3, [6] * 9, [7] * 4]
    search = Search(beam=1, max_ratio=2.0, max_extra=1)
    expected, found = (translator.engine.translate(sources, search) for translator in (native, fast))
    assert [group[0].ids for group in found] == [group[0].ids for group in expected]
    assert [group[0].ended for group in found] == [group[0].ended for group in expected]
    assert not all(group[0].ended for group in expected)
    for one, other in zip(found, expected, strict=True):
        assert one[0].log_probability == pytest.approx(other[0].log_probability, abs=1e-3)


def test_texts_longer_than_the_table_of_positions_are_translated(tmp_path: Path) -> None:
    native, fast = both(random_translator(tmp_path))
    sources = [[5] * (POSITIONS + 3), [6, 7]]
    search = Search(beam=1, max_ratio=0.0, max_extra=4)
    assert fast.engine.translate(sources, search)[0][0].ids == native.engine.translate(sources, search)[0][0].ids
    assert fast.engine.score(sources, [[8], [9]]) == [
        pytest.approx(tokens, abs=1e-4) for tokens in native.engine.score(sources, [[8], [9]])
    ]


def test_learned_positions_cut_a_long_text_as_the_native_engine_does(tmp_path: Path) -> None:
    config = replace(SMALL, positions="learned", max_positions=12)
    native, fast = both(random_translator(tmp_path, config=config))
    sources = [[5, 6, 7] * 10]
    assert fast.engine.translate(sources, Search())[0][0].ids == native.engine.translate(sources, Search())[0][0].ids


def test_samples_follow_the_seed_and_the_distribution(learnt: Path) -> None:
    native, fast = both(learnt)
    source = ids(native, [sentences(80)[79][0]])

    def first_tokens(translator: Translator, seed: int) -> Counter[tuple[int, ...]]:
        sampling = Sampling(temperature=2.0, top_k=20, top_p=0.8, seed=seed)
        found = translator.engine.translate(
            source, Search(beam=1, nbest=2000, max_extra=0, max_ratio=0.2, sampling=sampling)
        )
        return Counter(tuple(one.ids[:1]) for one in found[0])

    again, once, other = first_tokens(fast, 1), first_tokens(fast, 1), first_tokens(fast, 2)
    assert again == once
    assert once != other
    expected = first_tokens(native, 1)
    assert len(expected) > 2
    for token in expected | once:
        assert abs(expected[token] - once[token]) < 160, "five standard deviations of 2,000 draws at the most"


def test_draws_from_the_likeliest_token_are_greedy(learnt: Path) -> None:
    _, fast = both(learnt)
    source = ids(fast, [sentences(5)[4][0]])
    drawn = fast.engine.translate(source, Search(nbest=3, sampling=Sampling(top_k=1)))[0]
    greedy = fast.engine.translate(source, Search(beam=1))[0][0]
    assert [one.ids for one in drawn] == [greedy.ids] * 3


def test_nothing_to_translate_gives_nothing(learnt: Path) -> None:
    _, fast = both(learnt)
    assert fast.engine.translate([], Search()) == []
    assert fast.engine.score([], []) == []


@pytest.mark.parametrize("search", [Search(beam=1), Search(nbest=3), Search(max_extra=1, max_ratio=0.3)])
def test_alignments_equal_the_native_ones(learnt: Path, search: Search) -> None:
    native, fast = both(learnt)
    sources = ids(native, [source for source, _ in sentences(40)])
    asked = replace(search, alignment=True)
    assert fast.engine.translate([[]], asked)[0][0].alignment == ()
    expected, found = (chain(*each.engine.translate(sources, asked)) for each in (native, fast))
    same = [(one, other) for one, other in zip(found, expected, strict=True) if one.ids == other.ids]
    assert len(same) > 0.9 * search.nbest * len(sources)  # a beam that is cut off may hold another hypothesis
    for one, other in same:
        assert one.alignment == other.alignment
        assert len(one.alignment) == len(one.ids) > 0
    assert all(not one.alignment for group in fast.engine.translate(sources, search) for one in group)


@pytest.mark.parametrize("search", [Search(beam=1), Search(), Search(nbest=3)], ids=str)
def test_with_prefixes_searches_find_what_native_ones_find(learnt: Path, search: Search) -> None:
    native, fast = both(learnt)
    pairs = sentences(60)
    sources = ids(native, [source for source, _ in pairs])
    targets = [native.subwords.target.encode(target) for _, target in pairs]
    prefixes = [target[: place % 5] for place, target in enumerate(targets)]
    asked = replace(search, alignment=True)
    expected, found = (each.engine.translate(sources, asked, prefixes) for each in (native, fast))
    same = [(one, other) for a, b in zip(found, expected, strict=True) for one, other in zip(a, b, strict=True)]
    assert all(group[0].ids[: len(prefix)] == prefix for group, prefix in zip(found, prefixes, strict=True))
    alike = [(one, other) for one, other in same if one.ids == other.ids]
    assert len(alike) >= 0.95 * len(same), "at most rounding may make a difference"
    for one, other in alike:
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-3)
        assert one.score == pytest.approx(other.score, abs=1e-3)
        assert one.alignment == other.alignment


def test_attention_comes_from_the_native_engine(learnt: Path) -> None:
    native, fast = both(learnt)
    text = sentences(1)[0][0]
    assert torch.equal(fast.inspect(text).attention.cross[0], native.inspect(text).attention.cross[0])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of compiled engines."""
    monkeypatch.setenv("TONGSA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "engines"


def test_the_compiled_engine_is_made_once_and_anew_for_other_weights(tmp_path: Path, cache: Path) -> None:
    directory = random_translator(tmp_path / "translator", seed=0)
    both(directory)
    (before,) = cache.iterdir()
    made = (before / "model.bin").stat().st_mtime_ns
    both(directory)
    assert list(cache.iterdir()) == [before]
    assert (before / "model.bin").stat().st_mtime_ns == made
    random_translator(directory, seed=1)
    native, fast = both(directory)
    assert len(list(cache.iterdir())) == 2
    assert fast.engine.score([[5]], [[6]])[0] == pytest.approx(native.engine.score([[5]], [[6]])[0], abs=1e-4)


def test_nothing_is_written_into_a_translator_directory(tmp_path: Path, cache: Path) -> None:
    directory = random_translator(tmp_path / "translator")
    before = sorted(directory.rglob("*"))
    both(directory)
    assert sorted(directory.rglob("*")) == before


def test_an_engine_in_a_translator_directory_is_not_used(tmp_path: Path, cache: Path) -> None:
    """A stranger could ship one under the right name that says something else than the weights."""
    directory = random_translator(tmp_path / "translator", seed=0)
    _, fast = both(directory)
    expected = fast.engine.score([[5]], [[6]])
    (name,) = (path.name for path in cache.iterdir())
    both(random_translator(tmp_path / "other", seed=1))
    (foreign,) = (path for path in cache.iterdir() if path.name != name)
    shutil.copytree(foreign, directory / "ctranslate2" / name)
    shutil.rmtree(cache)
    _, fast = both(directory)
    assert fast.engine.score([[5]], [[6]]) == expected


def test_a_linked_folder_of_old_engines_is_left_alone(tmp_path: Path, cache: Path) -> None:
    directory = random_translator(tmp_path / "translator")
    (tmp_path / "elsewhere" / "int8-0123456789ab").mkdir(parents=True)
    (directory / "ctranslate2").symlink_to(tmp_path / "elsewhere")
    both(directory)
    Translator.load(directory, engine="ctranslate2", precision="int8", device="cpu")
    assert [path.name for path in (tmp_path / "elsewhere").rglob("*")] == ["int8-0123456789ab"]


def test_a_damaged_engine_is_compiled_again(tmp_path: Path, cache: Path) -> None:
    directory = random_translator(tmp_path / "translator")
    _, fast = both(directory)
    expected = fast.engine.score([[5]], [[6]])
    (folder,) = cache.iterdir()
    whole = (folder / "model.bin").read_bytes()
    (folder / "model.bin").write_bytes(whole[:-9] + b"\x7f" + whole[-8:])
    _, fast = both(directory)
    assert fast.engine.score([[5]], [[6]]) == expected
    assert (folder / "model.bin").read_bytes() == whole


def test_sampling_goes_on_when_the_engine_was_removed_from_the_cache(tmp_path: Path, cache: Path) -> None:
    _, fast = both(random_translator(tmp_path / "translator"))
    search = Search(sampling=Sampling(seed=3))
    expected = fast.engine.translate([[5, 6]], search)
    shutil.rmtree(cache)
    assert fast.engine.translate([[5, 6]], search) == expected


def test_without_a_cache_a_translator_still_runs_and_says_so(
    tmp_path: Path, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache.parent.touch()  # a file where the directory should be
    _, fast = both(random_translator(tmp_path / "translator"))
    assert fast.engine.score([[5]], [[6]])
    assert "the compiled engine lasts until this process ends" in caplog.text


def _load(directory: Path) -> float:
    translator = Translator.load(directory, engine="ctranslate2", precision="int8", device="cpu", threads=1)
    return sum(translator.engine.score([[5]], [[6]])[0])


def test_several_processes_may_compile_at_once(tmp_path: Path, cache: Path) -> None:
    directory = random_translator(tmp_path / "translator")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        scores = pool.map(_load, [directory] * 2)
    assert len(set(scores)) == 1
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize(("allowed", "precision"), [(0.0, "float32"), (math.inf, "int8")])
def test_auto_takes_int8_where_it_was_seen_to_be_close(
    learnt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: float, precision: str
) -> None:
    directory = shutil.copytree(learnt, tmp_path / "copy")
    monkeypatch.setattr("tongsa.engines.compiled.LARGEST_ERROR", allowed)
    translator = Translator.load(directory, device="cpu")
    assert isinstance(translator.engine, CTranslate2Engine)
    assert translator.engine.precision == precision


def test_auto_is_within_two_percent_of_the_reference_on_any_cpu(learnt: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(learnt, tmp_path / "copy", ignore=shutil.ignore_patterns("ctranslate2"))
    native, fast = (Translator.load(directory, engine=engine, device="cpu") for engine in ("native", "auto"))
    pairs = sentences(40)
    sources = ids(native, [source for source, _ in pairs])
    targets = [native.subwords.target.encode(target) for _, target in pairs]
    expected, found = ([sum(tokens) for tokens in each.engine.score(sources, targets)] for each in (native, fast))
    differences = sum(abs(one - other) for one, other in zip(expected, found, strict=True))
    assert differences <= 0.02 * sum(map(abs, expected))


@pytest.mark.parametrize(
    ("engine", "precision", "message"),
    [
        ("native", "int8", "float32"),
        ("fast", "auto", "unknown engine: fast"),
        ("auto", "int3", "unknown precision: int3"),
    ],
)
def test_engines_that_cannot_be_are_refused(learnt: Path, engine: str, precision: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Translator.load(learnt, engine=engine, precision=precision, device="cpu")
