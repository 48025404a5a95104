"""What a service answers, route by route, with a translator whose answers are known."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.server.in_process import asked, serving

KEYS = '[a]\nkey = "the-key-of-client-a"\n[b]\nkey = "the-key-of-client-b"\ncharacters = 100\n'
HOPS = ("en_de", "de_fr")


def key_of(name: str, kind: str = "DeepL-Auth-Key") -> dict[str, str]:
    return {"authorization": f"{kind} the-key-of-client-{name}"}


def metrics(client: TestClient) -> dict[str, float]:
    lines = [line for line in client.get("/metrics", headers=key_of("a")).text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_a_text_or_a_list_is_answered_in_kind(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        assert client.post("/translate", json=asked("some words")).json() == {"translatedText": "SOME WORDS"}
        several = client.post("/translate", json=asked(["one", "<b>two</b> 2", "", "%s three"])).json()
        assert several == {"translatedText": ["ONE", "<b>TWO</b> 2", "", "%s THREE"]}


def test_alternatives_are_told_for_each_text_and_are_different(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        found = client.post("/translate", json=asked(["word", "5", "<b>word</b>"], alternatives=2)).json()
        assert found["translatedText"] == ["WORD", "5", "<b>WORD</b>"]
        assert found["alternatives"] == [["WORD!", "WORD!!"], [], ["<b>WORD!</b>", "<b>WORD!!</b>"]]
        assert "alternatives" not in client.post("/translate", json=asked("word")).json()


def test_confidence_is_told_of_the_text_and_of_its_words(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        found = client.post("/translate", json=asked("two words. ", confidence=True)).json()["confidence"]
        words = [("TWO", 0.905), (" ", None), ("WORDS.", 0.905), (" ", None)]
        assert found == {"score": 0.90484, "words": [{"text": text, "confidence": value} for text, value in words]}
        marked = client.post("/translate", json=asked("a %s word", confidence=True)).json()["confidence"]
        assert marked["score"] == pytest.approx(0.90484)
        assert [word["confidence"] for word in marked["words"]] == [0.905, None, 0.905, None, 0.905]


def test_a_way_through_another_language_is_told(tmp_path: Path) -> None:
    with serving(tmp_path, directions=HOPS) as client:
        found = client.post("/translate", json=asked(["some words", "<b>some</b> words"], target="fr")).json()
        assert found == {"translatedText": ["ÇOME WORDÇ", "<b>ÇOME</b> WORDÇ"], "via": ["de"]}
        body = {"text": ["some words"], "source_lang": "en", "target_lang": "FR"}
        (translation,) = client.post("/v2/translate", json=body).json()["translations"]
        assert translation == {
            "detected_source_language": "EN",
            "text": "ÇOME WORDÇ",
            "billed_characters": 10,
            "via": ["DE"],
        }
        direct = client.post("/v2/translate", json={**body, "target_lang": "de"}).json()["translations"]
        assert direct == [{"detected_source_language": "EN", "text": "SOME WORDS", "billed_characters": 10}]


def test_the_same_language_twice_is_no_translation(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        found = client.post("/translate", json=asked("words", target="en", confidence=True)).json()
        assert found["translatedText"] == "words"
        assert found["confidence"] == {"score": 1.0, "words": [{"text": "words", "confidence": 1.0}]}


def test_a_language_that_is_not_given_is_detected(tmp_path: Path) -> None:
    text = "This is a sentence that everybody knows to be English."
    with serving(tmp_path, directions=("en_de", "ko_de")) as client:
        found = client.post(
            "/translate", json=asked([text, "모든 사람이 한국어로 아는 문장입니다."], source="auto")
        ).json()
        assert [each["language"] for each in found["detectedLanguage"]] == ["en", "ko"]
        assert found["translatedText"][0] == text.upper()
        body = {"text": text, "target_lang": "de"}
        (translation,) = client.post("/v2/translate", json=body).json()["translations"]
        assert translation["detected_source_language"] == "EN"
        best, *others = client.post("/detect", json={"q": text}).json()
        assert best["language"] == "en"
        assert best["confidence"] > 50
        assert all(each["confidence"] for each in others), "a language that it cannot be is not told"
        assert client.post("/detect", json={"q": "123"}).json() == [{"language": "en", "confidence": 0}]


def test_languages_are_told_with_their_targets(tmp_path: Path) -> None:
    with serving(tmp_path, directions=HOPS) as client:
        found = {each["code"]: (each["name"], each["targets"]) for each in client.get("/languages").json()}
        assert found == {"en": ("English", ["de", "fr"]), "de": ("German", ["fr"]), "fr": ("French", [])}
        for kind, codes in (("source", ["EN", "DE"]), ("target", ["DE", "FR"])):
            languages = client.get("/v2/languages", params={"type": kind}).json()
            assert [each["language"] for each in languages] == codes
            assert not any(each["supports_formality"] for each in languages)


def test_the_page_is_told_what_it_may_do(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        found = client.get("/frontend/settings").json()
        assert (found["charLimit"], found["frontendTimeout"]) == (50_000, 300)
        assert not found["apiKeys"]
        assert not found["keyRequired"]
        assert not found["suggestions"]
        assert found["filesTranslation"]
        assert found["language"]["source"] == {"code": "en", "name": "English"}
        assert found["language"]["target"] == {"code": "de", "name": "German"}
    with serving(tmp_path, "characters=0", keys=KEYS, data=tmp_path) as client:
        found = client.get("/frontend/settings").json()
        assert [found[name] for name in ("charLimit", "apiKeys", "keyRequired", "suggestions")] == [
            -1,
            True,
            True,
            True,
        ]


def test_a_key_comes_in_the_body_or_in_a_header(tmp_path: Path) -> None:
    body = {"text": ["word"], "source_lang": "en", "target_lang": "de"}
    with serving(tmp_path, keys=KEYS) as client:
        for kind in ("DeepL-Auth-Key", "Bearer", "bearer"):
            assert client.post("/v2/translate", json=body, headers=key_of("a", kind)).status_code == 200
            assert client.post("/translate", json=asked("word"), headers=key_of("a", kind)).status_code == 200
        assert client.post("/translate", json=asked("word", api_key="the-key-of-client-a")).status_code == 200
        assert client.post("/v2/translate", json=body, headers=key_of("a", "Basic")).status_code == 403
        assert client.post("/v2/translate", json=body).json() == {
            "message": "Please contact the server operator to get an API key"
        }
        assert client.post("/translate", json=asked("word")).status_code == 400
        for path, sent in (("/translate", asked("word")), ("/v2/translate", body)):
            assert client.post(path, json=sent, headers=key_of("c")).status_code == 403


def test_usage_is_told_by_key(tmp_path: Path) -> None:
    with serving(tmp_path, keys=KEYS) as client:
        client.post("/translate", json=asked(["word", "words"], api_key="the-key-of-client-b"))
        files = {"file": ("a.txt", b"some words")}
        sent = {"source": "en", "target": "de", "api_key": "the-key-of-client-b"}
        assert client.post("/translate_file", files=files, data=sent).status_code == 200
        usage = client.get("/v2/usage", headers=key_of("b")).json()
        assert usage == {"character_count": 9 + 10, "character_limit": 100}
        assert client.get("/v2/usage", headers=key_of("a")).json() == {
            "character_count": 0,
            "character_limit": 1_000_000_000_000,
        }


def test_a_file_is_translated_and_fetched_by_its_name(tmp_path: Path) -> None:
    with serving(tmp_path, directions=HOPS) as client:
        files = {"file": ("My Manual.TXT", b"some words\n")}
        answer = client.post("/translate_file", files=files, data={"source": "en", "target": "fr"})
        url = answer.json()["translatedFileUrl"]
        assert url.startswith("http://testserver/download_file/")
        fetched = client.get(url)
        assert fetched.content == "ÇOME WORDÇ\n".encode()
        assert fetched.headers["content-disposition"] == 'attachment; filename="translation.txt"'
        assert client.get(f"/download_file/{'a' * 32}.txt").status_code == 404
        for name, source in (("a.exe", "en"), ("a.txt", "auto"), ("", "en")):
            refused = client.post(
                "/translate_file", files={"file": (name, b"x")}, data={"source": source, "target": "de"}
            )
            assert refused.status_code == 400, name


def test_a_file_that_cannot_be_read_is_refused_with_what_is_wrong(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        for name, data in (("a.json", b"{"), ("a.odt", b"no zip"), ("a.txt", b"\xff"), ("a.csv", b"a,b\nc,d\n")):
            request: dict[str, Any] = {"files": {"file": (name, data)}, "data": {"source": "en", "target": "de"}}
            refused = client.post("/translate_file", **request)
            assert refused.status_code == 400, name
            assert refused.json()["error"].startswith("Invalid request: document"), "not the name that it came with"


def test_a_file_is_found_under_the_address_that_the_client_knows_if_it_is_one(tmp_path: Path) -> None:
    def url(host: str) -> str:
        request: dict[str, Any] = {"files": {"file": ("a.txt", b"word")}, "data": {"source": "en", "target": "de"}}
        return str(client.post("/translate_file", **request, headers={"host": host}).json()["translatedFileUrl"])

    with serving(tmp_path) as client:
        assert url("example.org:8080").startswith("http://example.org:8080/download_file/")
        assert url("[::1]:80").startswith("http://[::1]:80/download_file/")
        assert url('a/b"><script>').startswith("http://testserver:80/download_file/")


def test_suggestions_are_kept_where_there_is_a_folder(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        assert client.post("/suggest", json=asked("word", s="Wort")).status_code == 403
    with serving(tmp_path, data=tmp_path) as client:
        for suggestion in ("Wort", "Wörter"):
            assert client.post("/suggest", json=asked("word", s=suggestion)).json() == {"success": True}
    lines = (tmp_path / "suggestions.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [asked("word", s="Wort"), asked("word", s="Wörter")]


def test_what_is_wrong_is_told_with_the_name_of_the_parameter(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        told = {
            "missing q parameter": {"source": "en", "target": "de"},
            "source: string should have at least 1 character": asked("word", source=""),
            "alternatives: input should be greater than or equal to 0": asked("word", alternatives=-1),
        }
        for message, body in told.items():
            assert client.post("/translate", json=body).json() == {"error": f"Invalid request: {message}"}
        assert client.post("/v2/translate", json={"target_lang": "de"}).json() == {
            "message": "Invalid request: missing text parameter"
        }
        assert client.get("/nothing").json() == {"error": "Not Found"}
        assert client.get("/v3/nothing").json() == {"message": "Not Found"}


def test_parameters_of_the_body_count_more_than_those_of_the_query(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        query = {"q": "not this", "source": "en", "target": "de"}
        for body in ({"json": {"q": "this"}}, {"data": {"q": "this"}}, {"files": {"q": (None, "this")}}):
            sent: dict[str, Any] = body
            assert client.post("/translate", params=query, **sent).json() == {"translatedText": "THIS"}
        form = {"text": ["one", "two"], "target_lang": "de", "source_lang": "en"}
        found = client.post("/v2/translate", data=form).json()["translations"]
        assert [each["text"] for each in found] == ["ONE", "TWO"]


def test_elements_that_are_to_be_ignored_stay_as_they_are(tmp_path: Path) -> None:
    body = {"source_lang": "en", "target_lang": "de", "tag_handling": "xml", "ignore_tags": "x, keep"}
    with serving(tmp_path) as client:
        body["text"] = "some <x>words</x> in <keep a='1'>this\ntext</keep> and <b>that</b> one"
        (found,) = client.post("/v2/translate", json=body).json()["translations"]
        assert found["text"] == "SOME <x>words</x> IN <keep a='1'>this\ntext</keep> AND <b>THAT</b> ONE"


def test_the_likelihood_of_a_translation_is_told_token_by_token(tmp_path: Path) -> None:
    with serving(tmp_path, directions=HOPS) as client:
        found = client.post("/api/score", json=asked("two words", translation="ZWEI  WORTE")).json()
        assert [token["text"] for token in found["tokens"]] == ["▁ZWEI", "▁WORTE", "</s>"]
        assert found["log_probability"] == pytest.approx(-0.3)
        assert found["average"] == pytest.approx(-0.1)
        assert found["confidence"] == pytest.approx(0.9048, abs=1e-4)
        for wrong in ({"q": " "}, {"translation": " "}, {"target": "fr"}, {"target": "en"}):
            body = {**asked("a", translation="b"), **wrong}
            assert client.post("/api/score", json=body).status_code == 400, wrong


def test_requests_and_characters_are_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tongsa.server")
    with serving(tmp_path, keys=KEYS, directions=HOPS) as client:
        client.post("/translate", json=asked(["word", "words"], api_key="the-key-of-client-a"))
        client.post("/translate", json=asked("word", target="fr", api_key="the-key-of-client-a"))
        client.get("/secret-name-of-a-file")
        found = metrics(client)
        assert found['tongsa_characters_total{source="en",target="de"}'] == 9
        assert found['tongsa_characters_total{source="en",target="fr"}'] == 4
        assert found['tongsa_requests_total{path="/translate",status="200"}'] == 2
        assert found['tongsa_requests_total{path="other",status="404"}'] == 1
        assert found["tongsa_places"] == found["tongsa_waiting_pieces"] == 0
        assert found["tongsa_tokens_total"] == 8
    fields = [vars(record)["fields"] for record in caplog.records if record.getMessage() == "request"]
    assert [(each["method"], each["path"], each["status"]) for each in fields[:3]] == [
        ("POST", "/translate", 200),
        ("POST", "/translate", 200),
        ("GET", "other", 404),
    ]
    assert [(each.get("client"), each.get("characters")) for each in fields[:3]] == [("a", 9), ("a", 4), (None, None)]
    assert all(each["milliseconds"] > 0 for each in fields)


def test_every_reference_of_the_openapi_document_leads_somewhere(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        document = client.get("/spec").json()
    references = re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(document))
    assert references
    for reference in set(references):
        found: Any = document
        for name in reference.split("/"):
            found = found[name]
    entries = document["paths"]["/v3/glossaries"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert "entries" in entries["properties"]["dictionaries"]["items"]["properties"]


def test_every_answer_tells_browsers_to_be_careful(tmp_path: Path) -> None:
    with serving(tmp_path, "body=1000") as client:
        for answer in (client.get("/health"), client.get("/nothing"), client.post("/translate", content=b"a" * 1001)):
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["cache-control"] == "no-store"
            assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert client.get("/").headers["cache-control"] == "no-cache"
