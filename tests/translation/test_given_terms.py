"""A model that has learnt to use given terms reads them in its source; the alignment is that of the sentence alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tongsa.decoding.search import Hypothesis
from tongsa.translation.given_terms import GivenTerms, better
from tongsa.translation.glossary import Glossary
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Translation
from tongsa.translation.translator import Translator

TEXT = "그는 준호 씨에게 어려운 소설을 보냈습니다."
GLOSSARY = Glossary({"준호": "Minsu", "소설": "historical saga {1}"})


@pytest.fixture
def translator(trained_translator: Path) -> Translator:
    """A translator that says that it has learnt to use given terms."""
    found = Translator.load(trained_translator, engine="native", device="cpu", threads=1)
    recipe = found.card.recipe
    found.card = replace(found.card, recipe=replace(recipe, corpus=replace(recipe.corpus, terms=0.2)))
    return found


def given(translator: Translator, longest: int = 256) -> GivenTerms:
    (sentence,) = translator.encode([TEXT])
    return GivenTerms.write(sentence, GLOSSARY.find(TEXT), translator.subwords.source, longest)


def test_each_token_knows_the_token_of_the_sentence_that_it_belongs_to(translator: Translator) -> None:
    found = given(translator)
    vocabulary = translator.subwords.source
    assert vocabulary.decode(found.ids) == "그는 준호 {=Minsu} 씨에게 어려운 소설을 {=historical saga {1}} 보냈습니다."
    own, new = vocabulary.pieces(found.sentence.ids), vocabulary.pieces(found.ids)
    kept = [piece for place, piece in enumerate(new) if own[found.origins[place]] == piece]
    assert kept == own  # each token of the sentence once, in order; those of terms belong to another piece
    opened = [place for place, piece in enumerate(new) if piece.strip("▁") in ("=", "<0x3D>")]
    assert [own[found.origins[place]][-1] for place in opened] == ["호", "을"]  # the ends of 준호 and 소설을
    assert found.origins[-1] == len(own)


def test_a_sentence_that_would_become_too_long_is_read_as_it_is(translator: Translator) -> None:
    found = given(translator, longest=len(translator.encode([TEXT])[0].ids) + 3)
    assert found.ids == found.sentence.ids
    assert found.origins == list(range(len(found.ids) + 1))


def test_the_model_reads_the_terms_and_the_alignment_is_that_of_the_sentence(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    search = translator.engine.translate

    def watched(sources: list[list[int]], *more: object) -> list[list[Hypothesis]]:
        seen.extend(translator.subwords.source.decode(ids) for ids in sources)
        return search(sources, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(translator.engine, "translate", watched)
    (found,) = translator.translate([TEXT], TranslateOptions(glossary=Glossary({"소설": "saga"}), alignment=True))
    assert seen[:2] == [TEXT, "그는 준호 씨에게 어려운 소설을 {=saga} 보냈습니다."]
    assert "{=" not in found.text
    assert "".join(found.source_tokens).replace("▁", " ").strip() == TEXT
    assert all(place < len(found.source_tokens) for place, _ in found.alignment)
    seen.clear()
    translator.translate([TEXT], TranslateOptions(glossary=Glossary({"소설": "novel"})))
    assert seen == [TEXT]  # it has the term


@pytest.mark.parametrize(
    ("written", "is_taken"),
    [("He sent Junho a saga.", True), ("He sent {=saga}.", False), ("He sent Junho a book.", False)],
)
def test_what_the_model_makes_of_given_terms_is_taken_if_it_holds_them(written: str, is_taken: bool) -> None:
    terms = Glossary({"소설": "saga"}).find(TEXT)
    without, given = Translation(text="He sent Junho a novel."), Translation(text=written)
    assert better(terms, without, given) is (given if is_taken else without)


def test_the_alternatives_of_a_search_keep_their_alignment_too(translator: Translator) -> None:
    found = given(translator)
    hypotheses = [Hypothesis([1], -1.0, -1.0, alignment=(place,)) for place in range(len(found.ids) + 1)]
    assert [one.alignment for one in found.on_sentence(hypotheses)] == [(origin,) for origin in found.origins]


def test_terms_that_the_model_does_not_write_are_placed_all_the_same(translator: Translator) -> None:
    (found,) = translator.translate([TEXT], TranslateOptions(glossary=Glossary({"소설": "saga"})))
    assert "saga" in found.text
