"""Output line n belongs to input line n: no search, engine or export writes control characters or line separators."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import ctranslate2
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import tongsa
from small_translators import SMALL, random_model, save, sentences, small_subwords
from tongsa.config import SubwordsSection
from tongsa.decoding import Search
from tongsa.decoding.search import Sampling
from tongsa.demo.grammar import corpus
from tongsa.engines import compiled, shortlist
from tongsa.engines.ctranslate2_export import write_ctranslate2
from tongsa.engines.marian.export import write_marian
from tongsa.engines.weights import read_weights
from tongsa.runs.directory import Run
from tongsa.text.lines import one_line
from tongsa.text.subwords import END, Vocabulary, learn
from tongsa.translation.translator import Translator

CONTROLS = [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), "\u2028", "\u2029"]
SEARCHES = {
    "greedy": Search(beam=1),
    "greedy without scores": Search(beam=1, scores=False),
    "beam": Search(),
    "beam, several": Search(nbest=3),
    "cut by the limit": Search(max_ratio=0.2, max_extra=2),
    "sampling": Search(nbest=2, sampling=Sampling(seed=3)),
    "sampling of few": Search(sampling=Sampling(top_k=5, top_p=0.9, temperature=2.0)),
    "with alignment": Search(alignment=True),
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translator that prefers control characters to everything else."""
    subwords = small_subwords()
    config = replace(SMALL, output_bias=True)
    model = random_model(config, subwords)
    with torch.no_grad():
        model.output_bias.zero_()
        model.output_bias[sorted(subwords.target.unwritable)] = 40.0
        model.output_bias[END] = 2.0
    return save(tmp_path_factory.mktemp("translators") / "wild", model, config, subwords)


@pytest.fixture(scope="module", params=["native", "float32", "int8"])
def translator(request: pytest.FixtureRequest, directory: Path) -> Translator:
    if request.param == "native":
        return Translator.load(directory, engine="native", device="cpu")
    return Translator.load(directory, engine="ctranslate2", precision=request.param, device="cpu", threads=1)


def is_clean(text: str) -> bool:
    return not any(control in text for control in CONTROLS)


def test_the_model_wants_to_write_control_characters(translator: Translator) -> None:
    ids = sorted(translator.subwords.target.unwritable)
    assert len(ids) == 33
    ((*chances, _),) = translator.engine.score([[5, 6]], [ids[:1]])
    assert chances[0] > -8, "one of 33 that share nearly everything"


@pytest.mark.parametrize("name", SEARCHES)
def test_no_search_writes_a_control_character(name: str, translator: Translator) -> None:
    search = SEARCHES[name]
    sources = [translator.subwords.source.encode(source) for source, _ in sentences(6)]
    found = translator.engine.translate(sources, search)
    for group in found:
        assert len(group) == search.nbest
        for one in group:
            assert translator.subwords.target.unwritable.isdisjoint(one.ids)
            assert search.alignment is bool(one.alignment)
    assert any(one.ids for group in found for one in group)
    texts = [source for source, _ in sentences(6)]
    for translation in translator.translate(texts, search):
        assert all(is_clean(one.text) for one in (translation, *translation.alternatives))


def test_log_probabilities_stay_those_of_the_model(translator: Translator) -> None:
    """Also where CTranslate2 had to search again with fewer pieces."""
    sources = [translator.subwords.source.encode(source) for source, _ in sentences(3)]
    for source, (one,) in zip(sources, translator.engine.translate(sources, Search()), strict=True):
        (tokens,) = translator.engine.score([source], [one.ids])
        assert one.log_probability == pytest.approx(sum(tokens), rel=1e-4)
        assert one.log_probability < -30, "it was made to write what it hardly would"


def test_a_shortlist_does_not_bring_them_back(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subwords = small_subwords()
    listed = shortlist.as_text({None: [*subwords.target.unwritable, *range(300, 500)]}, subwords)
    monkeypatch.setattr(shortlist, "fingerprint", lambda directory: "")
    monkeypatch.setattr(shortlist, "write_shortlist", lambda folder, *_: (folder / shortlist.FILE).write_text(listed))
    fast = Translator.load(directory, precision="float32", device="cpu", threads=1, shortlist=True)
    sources = [fast.subwords.source.encode(source) for source, _ in sentences(4)]
    for search in (Search(), Search(beam=1), Search(sampling=Sampling())):
        for (one,) in fast.engine.translate(sources, search):
            assert fast.subwords.target.unwritable.isdisjoint(one.ids)


def test_an_exported_model_does_not_write_them(directory: Path, tmp_path: Path) -> None:
    run = Run(directory)
    card, subwords = run.read_card(), small_subwords()
    config = compiled.transformer(card)
    unwritable = set(subwords.target.pieces(sorted(subwords.target.unwritable)))
    pieces = subwords.source.pieces(subwords.source.encode(sentences(1)[0][0]))
    written = {}
    for forbid in (False, True):
        write_ctranslate2(
            tmp_path / str(forbid), read_weights(run, card, config, subwords), config, subwords, "int8", forbid=forbid
        )
        model = ctranslate2.Translator(str(tmp_path / str(forbid)))
        (result,) = model.translate_batch([pieces], max_decoding_length=20)
        written[forbid] = unwritable & set(result.hypotheses[0])
    assert written[False]
    assert not written[True]
    write_marian(tmp_path / "marian", directory, card, subwords)
    settings = json.loads((tmp_path / "marian" / "generation_config.json").read_text())
    assert settings["bad_words_ids"] == [[id] for id in (subwords.target.pad, *sorted(subwords.target.unwritable))]


def test_pieces_of_a_vocabulary_may_hold_line_separators() -> None:
    vocabulary = learn(["a\u2028b c\x85d e\x07f g\tz"] * 20, SubwordsSection(kind="char", size=300), threads=1)
    pieces = vocabulary.pieces(sorted(vocabulary.unwritable))
    assert {"\u2028", "\x85", "\x07", "<0x0A>"} <= set(pieces)
    assert len(vocabulary.unwritable) == 33 + sum(not piece.startswith("<") for piece in pieces)


def bytes_of(vocabulary: Vocabulary, text: str) -> list[int]:
    pieces = vocabulary.all_pieces()
    return [pieces.index(f"<0x{byte:02X}>") for byte in text.encode()]


@pytest.mark.parametrize("separator", ["\n", "\r\n", "\x0b", "\x1c", "\x85", "\u2028", "\u2029"], ids=ascii)
def test_bytes_that_form_a_line_separator_become_a_space(separator: str) -> None:
    """The bytes of U+2028 are harmless one by one, and are needed for other characters."""
    vocabulary = small_subwords().target
    word = vocabulary.encode("market")
    ids = [*bytes_of(vocabulary, separator), *word, *bytes_of(vocabulary, separator), *word]
    assert vocabulary.decode(ids) == " ".join([vocabulary.decode(word)] * 2)
    assert vocabulary.decode_many([ids, word]) == [vocabulary.decode(ids), vocabulary.decode(word)]


@given(st.text())
def test_one_line_changes_control_characters_only(text: str) -> None:
    line = one_line(text)
    assert len((line + ".").splitlines()) == 1
    assert is_clean(line)
    if is_clean(text):
        assert line == text
    else:
        assert line.split() == "".join(" " if letter in CONTROLS else letter for letter in text).split()


def test_a_badly_trained_model_writes_a_line_for_each_line(tmp_path: Path) -> None:
    """Ten updates, with bytes for rare characters: such a model writes any byte."""
    train, valid, _ = corpus(400, 10, 0, seed=1)
    for name, part in (("train", train), ("valid", valid)):
        for side, language in enumerate(("ko", "en")):
            (tmp_path / f"{name}.{language}").write_text("".join(f"{pair[side]}\n" for pair in part), encoding="utf-8")
    settings = {
        "model.architecture": "rnn",
        "model.d_model": "32",
        "subwords.size": "1500",
        "training.updates": "10",
        "training.processes": "1",
    }
    translator = tongsa.train(
        tmp_path / "train",
        source="ko",
        target="en",
        valid=tmp_path / "valid",
        out=tmp_path / "out",
        settings=settings,
        threads=1,
        device="cpu",
    )
    assert translator is not None
    lines = [source for source, _ in sentences(30)]
    for search in (Search(beam=1), Search(), Search(sampling=Sampling(temperature=2.0))):
        texts = [translation.text for translation in translator.translate(lines, search)]
        assert len("".join(f"{text}.\n" for text in texts).splitlines()) == len(lines)
