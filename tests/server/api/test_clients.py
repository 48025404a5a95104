"""Clients that people use, unmodified, on loopback."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.running import SENTENCE, Running

KEY = "a key that is long enough"


@pytest.fixture(scope="module")
def guarded(translators: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    keys = tmp_path_factory.mktemp("keys") / "keys.toml"
    keys.write_text(f'[weblate]\nkey = "{KEY}"\ncharacters = 100000\n')
    running = Running(["--port", "0", *map(str, translators), "--api-keys", str(keys)])
    yield running
    running.stop()


def test_libretranslatepy(service: Running, guarded: Running) -> None:
    from libretranslatepy import LibreTranslateAPI

    english = service.translate()["translatedText"]
    for client in (LibreTranslateAPI(service.url), LibreTranslateAPI(guarded.url, api_key=KEY)):
        assert client.translate(SENTENCE, "ko", "en") == english
        assert client.detect(SENTENCE)[0]["language"] == "ko"
        assert {each["code"] for each in client.languages()} == {"ko", "en", "fr"}


def test_deep_translator(service: Running) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from deep_translator import LibreTranslator
    english = service.translate()["translatedText"]
    client = LibreTranslator(source="ko", target="en", api_key="unused", custom_url=service.url + "/")
    assert client.translate(SENTENCE) == english
    assert client.translate_batch([SENTENCE, SENTENCE]) == [english, english]


def test_deepl(guarded: Running, service: Running) -> None:
    import deepl

    client = deepl.DeepLClient(KEY, server_url=guarded.url)
    found = client.translate_text(SENTENCE, source_lang="KO", target_lang="EN-US")
    assert found.text == service.translate()["translatedText"]
    detected = client.translate_text([SENTENCE, "책"], target_lang="EN-GB")
    assert [each.detected_source_lang for each in detected] == ["KO", "KO"]
    tagged = client.translate_text(
        "<x>학생은</x> 책을 읽어요.", source_lang="KO", target_lang="EN-US", tag_handling="xml"
    )
    assert tagged.text.count("<x>") == tagged.text.count("</x>") == 1
    html = client.translate_text("<p>학생은 책을 읽어요.</p>", target_lang="FR", source_lang="KO", tag_handling="html")
    assert html.text.startswith("<p>")
    assert {each.code for each in client.get_source_languages()} == {"KO", "EN"}
    assert {each.code for each in client.get_target_languages()} == {"EN", "FR"}
    usage = client.get_usage()
    assert usage.character.count > 0
    assert usage.character.limit == 100_000
    with pytest.raises(deepl.AuthorizationException):
        deepl.DeepLClient("another key entirely", server_url=guarded.url).get_usage()


def test_deepl_glossaries(guarded: Running) -> None:
    import deepl

    client = deepl.DeepLClient(KEY, server_url=guarded.url)
    pairs = client.get_glossary_languages()
    assert ("ko", "en") in [(each.source_lang, each.target_lang) for each in pairs]
    made = client.create_glossary("words", "KO", "EN", {"책": "tome", "물": "aqua"})
    assert made.entry_count == 2
    assert client.get_glossary(made.glossary_id).name == "words"
    assert client.get_glossary_entries(made) == {"책": "tome", "물": "aqua"}
    found = client.translate_text(SENTENCE, source_lang="KO", target_lang="EN-US", glossary=made)
    assert "tome" in found.text
    assert made.glossary_id in [each.glossary_id for each in client.list_glossaries()]
    client.delete_glossary(made)
    with pytest.raises(deepl.GlossaryNotFoundException):
        client.get_glossary(made.glossary_id)


def test_deepl_glossaries_of_several_directions(guarded: Running) -> None:
    import deepl
    from deepl.api_data import MultilingualGlossaryDictionaryEntries as Entries

    client = deepl.DeepLClient(KEY, server_url=guarded.url)
    both = [Entries("KO", "EN", {"책": "tome"}), Entries("EN", "FR", {"a": "b"})]
    made = client.create_multilingual_glossary("words", both)
    assert len(made.dictionaries) == 2
    client.update_multilingual_glossary_dictionary(made, Entries("KO", "EN", {"물": "aqua"}))
    entries = client.get_multilingual_glossary_entries(made, "KO", "EN").dictionaries[0].entries
    assert deepl.convert_tsv_to_dict(entries) == {"책": "tome", "물": "aqua"}
    client.replace_multilingual_glossary_dictionary(made, Entries("KO", "EN", {"물": "water"}))
    assert client.get_multilingual_glossary_entries(made, "KO", "EN").dictionaries[0].entries == "물\twater"
    assert client.update_multilingual_glossary_name(made, "other").name == "other"
    client.delete_multilingual_glossary_dictionary(made, source_lang="EN", target_lang="FR")
    assert len(client.get_multilingual_glossary(made.glossary_id).dictionaries) == 1
    assert [each.name for each in client.list_multilingual_glossaries()] == ["other"]
    client.delete_multilingual_glossary(made)
    assert client.list_multilingual_glossaries() == []
