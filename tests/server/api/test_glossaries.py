"""Glossaries over HTTP: made, listed, changed, used and removed, by their owner alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.testclient import TestClient
from tests.server.in_process import serving

KEYS = '[a]\nkey = "the-key-of-client-a"\n[b]\nkey = "the-key-of-client-b"\n'
A = {"authorization": "DeepL-Auth-Key the-key-of-client-a"}
B = {"authorization": "DeepL-Auth-Key the-key-of-client-b"}


def entries(text: str, target: str = "de", **more: str) -> dict[str, Any]:
    return {"source_lang": "en", "target_lang": target, "entries": text, **more}


def translated(client: TestClient, id: str, **more: Any) -> Any:
    body = {"text": ["open the file now"], "source_lang": "en", "target_lang": "de", "glossary_id": id, **more}
    return client.post("/v2/translate", json=body, headers=A)


def test_a_glossary_is_made_used_told_and_removed(tmp_path: Path) -> None:
    with serving(tmp_path, keys=KEYS) as client:
        made = client.post("/v2/glossaries", json=entries("file\tAkte\nnow\tjetzt", name="words"), headers=A)
        assert made.status_code == 201
        about = made.json()
        assert {**about, "glossary_id": "", "creation_time": ""} == {
            "glossary_id": "",
            "name": "words",
            "ready": True,
            "creation_time": "",
            "source_lang": "en",
            "target_lang": "de",
            "entry_count": 2,
        }
        path = f"/v2/glossaries/{about['glossary_id']}"
        assert client.get(path, headers=A).json() == about
        assert client.get("/v2/glossaries", headers=A).json() == {"glossaries": [about]}
        assert client.get(f"{path}/entries", headers=A).text == "file\tAkte\nnow\tjetzt"
        assert translated(client, about["glossary_id"]).json()["translations"][0]["text"] == "OPEN THE AKTE JETZT"
        assert client.delete(path, headers=A).status_code == 204
        assert client.get(path, headers=A).status_code == 404
        assert client.get("/v2/glossaries", headers=A).json() == {"glossaries": []}


def test_a_file_is_translated_with_the_terms_of_a_glossary(tmp_path: Path) -> None:
    def sent(client: TestClient, id: str, key: str = "the-key-of-client-a") -> Any:
        data = {"source": "en", "target": "de", "glossary": id, "api_key": key}
        return client.post("/translate_file", files={"file": ("a.txt", b"open the file now\n")}, data=data)

    with serving(tmp_path, keys=KEYS) as client:
        made = client.post("/v2/glossaries", json=entries("file\tAkte", name="words"), headers=A).json()
        answer = sent(client, made["glossary_id"])
        assert client.get(answer.json()["translatedFileUrl"]).text == "OPEN THE AKTE NOW\n"
        assert sent(client, made["glossary_id"], "the-key-of-client-b").status_code == 404, "it is another client's"
        assert sent(client, "unknown").status_code == 404


def test_a_glossary_is_there_for_its_owner_alone(tmp_path: Path) -> None:
    with serving(tmp_path, keys=KEYS, data=tmp_path / "data") as client:
        id = client.post("/v2/glossaries", json=entries("a\tb", name="words"), headers=A).json()["glossary_id"]
        for path in (f"/v2/glossaries/{id}", f"/v2/glossaries/{id}/entries", f"/v3/glossaries/{id}"):
            assert client.get(path, headers=B).status_code == 404
        assert client.delete(f"/v2/glossaries/{id}", headers=B).status_code == 404
        assert client.get("/v3/glossaries", headers=B).json() == {"glossaries": []}
        assert len(client.get("/v3/glossaries", headers=A).json()["glossaries"]) == 1
    with serving(tmp_path, keys=KEYS, data=tmp_path / "data") as client:
        assert client.get(f"/v2/glossaries/{id}", headers=A).json()["name"] == "words", "it survives a restart"


def test_a_glossary_needs_its_source_language_and_a_translator_of_that_direction(tmp_path: Path) -> None:
    with serving(tmp_path, keys=KEYS, directions=("en_de", "de_fr")) as client:
        several = {"name": "words", "dictionaries": [entries("file\tAkte"), entries("file\tdossier", "fr")]}
        id = client.post("/v3/glossaries", json=several, headers=A).json()["glossary_id"]
        assert translated(client, id).json()["translations"][0]["text"] == "OPEN THE AKTE NOW"
        assert translated(client, id, source_lang=None).status_code == 400
        assert translated(client, id, target_lang="fr").status_code == 400
        assert translated(client, id, source_lang="de", target_lang="fr").status_code == 404


def test_a_glossary_of_several_directions(tmp_path: Path) -> None:
    with serving(tmp_path, keys=KEYS, directions=("en_de", "de_fr")) as client:
        several = {"name": "words", "dictionaries": [entries("file\tAkte"), entries("file\tdossier", "fr")]}
        made = client.post("/v3/glossaries", json=several, headers=A)
        assert made.status_code == 201
        path = f"/v3/glossaries/{made.json()['glossary_id']}"

        def counts() -> dict[str, int]:
            found = client.get(path, headers=A).json()["dictionaries"]
            return {each["target_lang"]: each["entry_count"] for each in found}

        def terms(target: str) -> Any:
            asked = {"source_lang": "EN", "target_lang": target}
            return client.get(f"{path}/entries", params=asked, headers=A)

        assert counts() == {"de": 1, "fr": 1}
        assert client.get(path.replace("v3", "v2"), headers=A).status_code == 404, "version 2 has one direction"
        assert client.get("/v2/glossaries", headers=A).json() == {"glossaries": []}
        changed = {"name": "new", "dictionaries": [entries("now\tjetzt\nfile\tDatei")]}
        assert client.patch(path, json=changed, headers=A).json()["name"] == "new"
        assert counts() == {"fr": 1, "de": 2}
        assert terms("DE").json()["dictionaries"] == [entries("file\tDatei\nnow\tjetzt", entries_format="tsv")]
        replaced = client.put(f"{path}/dictionaries", json=entries('"a, b",c', entries_format="csv"), headers=A)
        assert replaced.json() == {"source_lang": "en", "target_lang": "de", "entry_count": 1}
        assert terms("de").json()["dictionaries"] == [entries("a, b\tc", entries_format="tsv")]
        dropped = client.delete(f"{path}/dictionaries", params={"source_lang": "en", "target_lang": "fr"}, headers=A)
        assert dropped.status_code == 204
        assert counts() == {"de": 1}
        assert terms("fr").status_code == 404
        assert client.delete(path, headers=A).status_code == 204
        assert client.get(path, headers=A).status_code == 404


def test_pairs_of_languages_for_glossaries_are_those_of_the_translators(tmp_path: Path) -> None:
    with serving(tmp_path, directions=("en_de", "de_fr")) as client:
        pairs = client.get("/v2/glossary-language-pairs").json()["supported_languages"]
        assert [(pair["source_lang"], pair["target_lang"]) for pair in pairs] == [("en", "de"), ("de", "fr")]


def test_a_glossary_has_a_name_of_1_to_1024_characters(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        for path in ("/v2/glossaries", "/v3/glossaries"):
            names = ["", "a", "a" * 1024, "a" * 1025]
            bodies = [{**entries("a\tb"), "name": name, "dictionaries": [entries("a\tb")]} for name in names]
            statuses = [client.post(path, json=body).status_code for body in bodies]
            assert statuses == [400, 201, 201, 400]


def test_a_glossary_serves_libretranslates_clients_too(tmp_path: Path) -> None:
    with serving(tmp_path, directions=("en_de", "de_fr")) as client:
        id = client.post("/v2/glossaries", json=entries("file\tAkte|Akten", name="words")).json()["glossary_id"]
        body = {"q": ["open the file", "a <b>file</b>"], "source": "en", "target": "de", "glossary": id}
        assert client.post("/translate", json=body).json()["translatedText"] == ["OPEN THE AKTE", "A <b>AKTE</b>"]
        html = {**body, "q": "<p>open the file</p>", "format": "html"}
        assert client.post("/translate", json=html).json()["translatedText"] == "<p>OPEN THE AKTE</p>"
        assert client.post("/translate", json={**body, "glossary": "none"}).status_code == 404
        assert client.post("/translate", json={**body, "source": "auto"}).status_code == 400
        assert client.post("/translate", json={**body, "target": "fr"}).status_code == 400
