"""Terms written into the source of training pairs: they translate the word before them, and nothing else changes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from small_translators import sentences
from tongsa.base.progress import Silent
from tongsa.config.presets import load_recipe
from tongsa.data.association import Association
from tongsa.data.prepare import PrepareSettings, prepare_pairs
from tongsa.data.spill import spilled
from tongsa.data.terms import TermWriter, insertions, with_terms
from tongsa.formats.pairs import Pair, Place, Reading, open_corpus

PAIRS = [Pair(source, target, Place(Path("here"), 1)) for source, target in sentences(1500)]
GIVEN = re.compile(r" \{=([^}]*)\}")


def written(source: str, *terms: tuple[int, str]) -> str:
    return with_terms(source, insertions(source, terms))


@pytest.fixture(scope="module")
def writer() -> TermWriter:
    return TermWriter.learnt([pair[:2] for pair in PAIRS], 0.5, 1)


def test_a_term_stands_after_its_word_and_the_particles_of_the_word() -> None:
    assert written("A bike.", (6, "Drahtesel")) == "A bike {=Drahtesel}."
    assert written("책을 읽어요.", (1, "book")) == "책을 {=book} 읽어요."
    assert written("a b", (3, "zwei"), (1, "eins")) == "a {=eins} b {=zwei}"
    assert written("as it is") == "as it is"


def test_about_the_share_of_the_pairs_has_terms_that_are_in_the_target(writer: TermWriter) -> None:
    changed = [(old, new) for old in PAIRS if (new := writer(old)) != old]
    assert 0.35 * len(PAIRS) < len(changed) < 0.55 * len(PAIRS)
    for old, new in changed:
        assert GIVEN.sub("", new.source) == old.source
        terms = GIVEN.findall(new.source)
        assert 1 <= len(terms) <= 2
        assert all(re.search(rf"\b{re.escape(term)}\b", new.target) for term in terms), new


def test_half_of_the_terms_are_other_words_than_the_target_had(writer: TermWriter) -> None:
    changed = [(old, new) for old in PAIRS if GIVEN.search((new := writer(old)).source)]
    others = [new.target != old.target for old, new in changed]
    assert 0.4 * len(changed) < sum(others) < 0.8 * len(changed)  # a pair may have two terms
    for old, new in changed:
        lost = len(old.target.split()) - len(new.target.split())
        assert 0 <= lost <= 4  # at most two terms of three words, each replaced by one


def test_the_terms_of_the_target_translate_the_words_before_them(writer: TermWriter) -> None:
    kept = [new.source for old in PAIRS if (new := writer(old)).target == old.target]
    for korean, english in (("학교", "school"), ("소설", "novel"), ("친구", "friend")):
        after = [term for text in kept for term in re.findall(rf"{korean}\w* \{{=([^}}]*)\}}", text)]
        assert after
        assert sum(english in term.lower() for term in after) >= 0.8 * len(after), (korean, after)


def test_the_particle_after_another_korean_word_fits_it() -> None:
    known = Association({"book": {"책": 5.0}}, frozenset({"책", "사과"}))
    pair = Pair("I bought a book.", "책을 샀다.", Place(Path("here"), 1))
    found = {TermWriter(known, 1.0, seed)(pair)[:2] for seed in range(30)}
    assert found == {("I bought a book {=책}.", "책을 샀다."), ("I bought a book {=사과}.", "사과를 샀다.")}


def test_the_same_pairs_are_chosen_every_time_and_others_with_another_seed(writer: TermWriter) -> None:
    again = TermWriter.learnt([pair[:2] for pair in PAIRS], 0.5, 1)
    assert [again(pair) for pair in PAIRS[:300]] == [writer(pair) for pair in PAIRS[:300]]
    other = TermWriter(writer.association, 0.5, 2)
    assert [other(pair) for pair in PAIRS[:300]] != [writer(pair) for pair in PAIRS[:300]]


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_only_the_training_text_gets_terms_and_only_if_asked(tmp_path: Path, share: float) -> None:
    for side, language in enumerate(("ko", "en")):
        text = "".join(pair[side] + "\n" for pair in PAIRS[:400])
        (tmp_path / f"train.{language}").write_text(text, encoding="utf-8")
    recipe = load_recipe("tiny", {"corpus.terms": str(share), "subwords.size": "800"})
    corpus = open_corpus([tmp_path / "train"], Reading(source="ko", target="en"))
    with spilled(corpus, recipe.corpus, seed=1, folder=tmp_path / "run", show=Silent()) as text:
        data = prepare_pairs(text, None, PrepareSettings(directory=tmp_path / "run", recipe=recipe, threads=1))
    sources = [data.subwords.source.decode(list(map(int, data.train.source[n]))) for n in range(len(data.train))]
    assert any("{=" in source for source in sources) == bool(share)
    assert not any("{=" in target for _, target in data.valid_text)
    assert not any("{=" in source for source, _ in data.valid_text)
