"""Terms of a glossary in the translations of a real translator: written where the model had its own word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tongsa.decoding.search import Sampling, Search
from tongsa.translation.glossary import Glossary
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Translation
from tongsa.translation.translator import Translator

SENTENCES = [
    "그 토마토는 비싸요.",
    "장미는 하얗지 않아요.",
    "누가 감자를 좋아해요?",
    "철수는 학교에서 뛰었어요.",
    "그는 준호 씨에게 어려운 소설을 보냈습니다.",
    "준호는 창문을 닫았지만 문은 못 닫았습니다.",
]


@pytest.fixture(scope="module", params=["native", "ctranslate2"])
def translator(trained_translator: Path, request: pytest.FixtureRequest) -> Translator:
    return Translator.load(trained_translator, engine=request.param, device="cpu", threads=1)


def translated(translator: Translator, text: str, terms: dict[str, str], **more: object) -> Translation:
    options = replace(TranslateOptions(glossary=Glossary(terms)), **more)  # type: ignore[arg-type]
    return translator.translate([text], options)[0]


@pytest.mark.parametrize(
    ("text", "terms", "word"),
    [
        ("그 토마토는 비싸요.", {"토마토": "pomodoro"}, "tomato"),
        ("장미는 하얗지 않아요.", {"장미": "briar"}, "rose"),
        ("철수는 학교에서 뛰었어요.", {"학교": "academy"}, "school"),
        ("그는 준호 씨에게 어려운 소설을 보냈습니다.", {"소설": "saga"}, "novel"),
    ],
)
def test_a_term_stands_where_the_model_had_its_own_word(
    translator: Translator, text: str, terms: dict[str, str], word: str
) -> None:
    own = translator.translate([text])[0].text
    assert word in own, "otherwise this test says nothing"
    found = translated(translator, text, terms)
    (term,) = terms.values()
    assert found.text == own.replace(word, term)
    assert found.notes == ()


def test_a_term_that_the_model_writes_by_itself_changes_nothing(translator: Translator) -> None:
    for text, term in zip(SENTENCES[:3], ("tomato", "rose", "potato"), strict=True):
        own = translator.translate([text])[0]
        found = translated(translator, text, {text.split()[0 if term == "rose" else 1].rstrip("는를"): term})
        assert (found.text, found.score) == (own.text, own.score)


def test_several_terms_of_a_sentence_are_all_placed(translator: Translator) -> None:
    own = translator.translate([SENTENCES[4]])[0].text
    found = translated(translator, SENTENCES[4], {"소설": "saga", "준호": "Minsu"})
    assert found.text == own.replace("novel", "saga").replace("Junho", "Minsu")


def test_a_name_that_stays_untranslated_is_written_as_it_is(translator: Translator) -> None:
    found = translated(translator, "그는 준호 씨에게 어려운 소설을 보냈습니다.", {"준호": "준호"})
    assert "준호" in found.text
    assert found.text.endswith("novel to 준호.")


def test_the_model_chooses_between_the_forms_that_are_listed(translator: Translator) -> None:
    found = translated(translator, "누가 감자를 좋아해요?", {"감자": "tomato|tomatoes"})
    assert found.text == "Who likes tomatoes?"
    found = translated(translator, "그 감자는 비싸요.", {"감자": "tomatoes|tomato"})
    assert found.text == "That tomato is expensive."


def test_a_form_that_was_seen_is_written_where_the_model_prefers_it(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = SimpleNamespace(of=lambda term: (f"{term}es",))
    monkeypatch.setattr(translator, "forms", seen, raising=False)
    assert translated(translator, "누가 감자를 좋아해요?", {"감자": "tomato"}).text == "Who likes tomatoes?"
    assert translated(translator, "그 감자는 비싸요.", {"감자": "tomato"}).text == "That tomato is expensive."
    assert "tomatoes" not in translated(translator, "누가 감자를 좋아해요?", {"감자": "tomato|tomatou"}).text


def test_a_sentence_is_not_changed_by_the_terms_of_others(translator: Translator) -> None:
    options = TranslateOptions(glossary=Glossary({"토마토": "pomodoro"}))
    own, found = translator.translate(SENTENCES), translator.translate(SENTENCES, options)
    assert [each.text for each in found[1:]] == [each.text for each in own[1:]]
    assert "pomodoro" in found[0].text
    assert [each.text for each in found] == [translator.translate([text], options)[0].text for text in SENTENCES]


def test_alternatives_and_samples_hold_the_terms_too(translator: Translator) -> None:
    found = translated(translator, SENTENCES[4], {"소설": "saga"}, alternatives=2)
    assert len(found.alternatives) == 2
    assert all("saga" in each.text for each in (found, *found.alternatives))
    drawn = translated(translator, SENTENCES[4], {"소설": "saga"}, search=Search(nbest=2, sampling=Sampling(seed=3)))
    assert all("saga" in each.text for each in (drawn, *drawn.alternatives))


def test_a_placed_term_is_aligned_to_its_source_and_lowers_no_confidence(translator: Translator) -> None:
    own = translator.translate([SENTENCES[4]])[0]
    found = translated(translator, SENTENCES[4], {"소설": "zxqvw"}, words=True)
    assert "zxqvw" in found.text
    sources = {found.source_tokens[s] for s, t in found.alignment if "zxqvw"[:1] in found.tokens[t]}
    assert any("소설" in piece or piece in "▁소설을" for piece in sources)
    assert len(found.alignment) == len(found.tokens) == len(found.ids)
    assert found.confidence
    assert own.confidence
    assert found.confidence > 0.8 * own.confidence
    assert "".join(word.text for word in found.words) == found.text


def test_a_term_that_cannot_be_placed_is_noted_and_breaks_nothing(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = translator.translate([SENTENCES[0]])[0]
    monkeypatch.setattr("tongsa.translation.terms._keeps", lambda *_: False)
    found = translated(translator, SENTENCES[0], {"토마토": "pomodoro"})
    assert found.text == own.text
    assert found.notes == ("term missing: 토마토 -> pomodoro",)


def test_a_model_without_an_alignment_places_terms_all_the_same(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = type(translator.engine).translate

    def blind(*given: object) -> object:
        return [[one._replace(alignment=()) for one in group] for group in search(*given)]  # type: ignore[arg-type]

    monkeypatch.setattr(type(translator.engine), "translate", blind)
    found = translated(translator, SENTENCES[0], {"토마토": "pomodoro"})
    assert "pomodoro" in found.text
    assert found.notes == ()


def test_terms_are_kept_in_texts_of_several_sentences(translator: Translator) -> None:
    text = "그 토마토는 비싸요. 장미는 하얗지 않아요.\n누가 토마토를 좋아해요?"
    found = translated(translator, text, {"토마토": "pomodoro"}, split="always")
    assert found.text.count("pomodoro") == 2
    assert found.text.count("\n") == 1
