"""LibreTranslate's API: every way to send parameters, every kind of answer."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import httpx
import pytest
from tests.server.running import PATIENCE, SENTENCE, Running, Start, until

OTHER = "선생님은 물을 마셔요."


@pytest.fixture(scope="module")
def english(service: Running) -> str:
    return str(service.translate()["translatedText"])


def test_a_translation_is_what_the_translator_says(service: Running, translators: tuple[Path, Path]) -> None:
    from tongsa.translation.translator import Translator

    expected = Translator.load(translators[0]).translate([SENTENCE])[0].text
    assert service.translate() == {"translatedText": expected}


def test_the_command_may_narrow_the_search(start: Start, translators: tuple[Path, Path]) -> None:
    from tongsa.decoding import Search
    from tongsa.translation.translator import Translator

    text = f"{SENTENCE[:-1]} {OTHER}"
    expected = Translator.load(translators[0]).translate([text], Search(beam=1))[0].text
    assert start("--beam", "1", translators[0]).translate(text) == {"translatedText": expected}


def test_parameters_come_as_json_form_parts_and_query(service: Running, english: str) -> None:
    given = {"q": SENTENCE, "source": "ko", "target": "en"}
    ways = [{"json": given}, {"data": given}, {"params": given}, {"files": {k: (None, v) for k, v in given.items()}}]
    for way in ways:
        answer = httpx.post(f"{service.url}/translate", timeout=PATIENCE, **way)
        assert answer.json() == {"translatedText": english}, way


def test_codes_are_taken_in_any_case_and_with_regions(service: Running, english: str) -> None:
    for source, target in (("KO", "EN"), ("ko-KR", "en-US"), ("kor", "eng")):
        answer = service.post("/translate", {"q": SENTENCE, "source": source, "target": target})
        assert answer.json()["translatedText"] == english


def test_an_array_is_answered_with_an_array(service: Running, english: str) -> None:
    found = service.translate([SENTENCE, "", "123", SENTENCE], alternatives=1, confidence=True)
    assert found["translatedText"] == [english, "", "123", english]
    assert [len(each) for each in found["alternatives"]] == [1, 0, 0, 1]
    assert len(found["confidence"]) == 4
    assert service.translate([]) == {"translatedText": []}


def test_sentences_and_lines_stay_apart(service: Running, english: str) -> None:
    other = service.translate(OTHER)["translatedText"]
    text = f"  {SENTENCE} {OTHER}\n\n{SENTENCE}\n"
    assert service.translate(text)["translatedText"] == f"  {english} {other}\n\n{english}\n"


def test_auto_tells_the_language_with_a_whole_number(service: Running, english: str) -> None:
    found = service.translate(SENTENCE, source="auto")
    assert found["translatedText"] == english
    assert found["detectedLanguage"]["language"] == "ko"
    assert isinstance(found["detectedLanguage"]["confidence"], int)
    assert isinstance(service.translate([SENTENCE], source="auto")["detectedLanguage"], list)


def test_html_keeps_its_tags_and_escapes(service: Running) -> None:
    html = '<p class="a">학생은 <b>책을</b> 읽어요.</p><script>alert("책")</script><p>1 &lt; 2</p>'
    found = service.translate(html, format="html")["translatedText"]
    assert found.startswith('<p class="a">')
    assert found.count("<b>") == found.count("</b>") == 1
    assert '<script>alert("책")</script>' in found
    assert "1 &lt; 2" in found


def test_placeholders_survive(service: Running) -> None:
    found = service.translate("학생은 %s 책을 {name} 읽어요.")["translatedText"]
    assert found.count("%s") == found.count("{name}") == 1


def test_alternatives_are_different_from_the_translation_and_each_other(service: Running, english: str) -> None:
    found = service.translate(alternatives=3)
    assert found["translatedText"] == english
    assert len({english, *found["alternatives"]}) == len(found["alternatives"]) + 1 == 4


def test_confidence_has_the_words_of_the_translation(service: Running) -> None:
    for text in (f"{SENTENCE} 1\n  {OTHER}", "<b>학생은</b> 책을 읽어요."):
        found = service.translate(text, confidence=True)
        words = found["confidence"]["words"]
        assert "".join(word["text"] for word in words) == found["translatedText"]
        assert all(word["confidence"] is None or 0 <= word["confidence"] <= 1 for word in words)
        assert 0 < found["confidence"]["score"] <= 1


def test_words_are_trusted_one_by_one_beside_alternatives_too(service: Running) -> None:
    """The page asks for both at once."""
    alone = service.translate(OTHER, confidence=True)["confidence"]
    assert len({word["confidence"] for word in alone["words"]}) > 2
    assert service.translate(OTHER, confidence=True, alternatives=3)["confidence"] == alone


def test_a_third_language_between_is_told(service: Running) -> None:
    found = service.translate(SENTENCE, target="fr")
    assert found["via"] == ["en"]
    assert found["translatedText"]
    assert "via" not in service.translate()


def test_the_same_language_is_left_alone(service: Running) -> None:
    assert service.translate(SENTENCE, target="ko") == {"translatedText": SENTENCE}


def test_languages_tell_what_they_can_be_translated_to(service: Running) -> None:
    expected = {"ko": ("Korean", ["en", "fr"]), "en": ("English", ["fr"]), "fr": ("French", [])}
    for answer in (service.get("/languages"), httpx.request("GET", f"{service.url}/languages", data={"api_key": "x"})):
        assert {each["code"]: (each["name"], each["targets"]) for each in answer.json()} == expected


def test_detection_is_best_first(service: Running) -> None:
    found = service.post("/detect", {"q": "The teacher is reading a long book about the history of trains."}).json()
    assert found[0]["language"] == "en"
    assert all(isinstance(each["confidence"], int) for each in found)
    assert service.post("/detect", {"q": "1 2 3"}).json() == [{"language": "ko", "confidence": 0}]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"source": "ko", "target": "en"}, "Invalid request: missing q parameter"),
        ({"q": "a", "target": "en"}, "Invalid request: missing source parameter"),
        ({"q": "a", "source": "ko", "target": "zz"}, "zz is not supported"),
        ({"q": "a", "source": "zz", "target": "en"}, "zz is not supported"),
        ({"q": "a", "source": "fr", "target": "ko"}, "Invalid request: ko is not available"),
        ({"q": 5, "source": "ko", "target": "en"}, "Invalid request: q: "),
        ({"q": [["a"]], "source": "ko", "target": "en"}, "Invalid request: q: "),
        ({"q": "a", "source": "ko", "target": "en", "format": "pdf"}, "Invalid request: format: "),
        ({"q": "a", "source": "ko", "target": "en", "alternatives": 99}, "Invalid request: alternatives"),
        ({"q": "a", "source": "ko", "target": "en", "alternatives": -1}, "Invalid request: alternatives"),
    ],
)
def test_what_is_wrong_is_told(service: Running, given: dict[str, object], message: str) -> None:
    answer = service.post("/translate", given)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(message)


def test_a_file_is_translated_and_fetched(service: Running, english: str) -> None:
    files = {"file": ("../../etc/책.txt", f"{SENTENCE}\n".encode(), "text/plain")}
    answer = httpx.post(
        f"{service.url}/translate_file", files=files, data={"source": "ko", "target": "en"}, timeout=PATIENCE
    )
    url = answer.json()["translatedFileUrl"]
    assert url.startswith(f"{service.url}/download_file/")
    assert "etc" not in url
    fetched = httpx.get(url)
    assert fetched.text == f"{english}\n"
    assert fetched.headers["content-disposition"].startswith("attachment")


def test_an_office_document_stays_one(service: Running) -> None:
    body = f"<w:p><w:r><w:t>{SENTENCE}</w:t></w:r></w:p>"
    xml = f'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{body}</w:body>'
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", xml + "</w:document>")
    files = {"file": ("a.DOCX", data.getvalue())}
    answer = httpx.post(
        f"{service.url}/translate_file", files=files, data={"source": "ko", "target": "en"}, timeout=PATIENCE
    )
    fetched = httpx.get(answer.json()["translatedFileUrl"]).content
    with zipfile.ZipFile(io.BytesIO(fetched)) as archive:
        assert SENTENCE not in archive.read("word/document.xml").decode()


def test_names_that_were_not_given_out_lead_nowhere(service: Running) -> None:
    for name in ("x.txt", "..%2f..%2fetc%2fpasswd", "a" * 32 + ".txt"):
        assert service.get(f"/download_file/{name}").status_code == 404


def test_suggestions_are_kept_only_with_a_folder(
    service: Running, start: Start, translators: tuple[Path, Path]
) -> None:
    given = {"q": SENTENCE, "s": "A better one.", "source": "ko", "target": "en"}
    assert service.post("/suggest", given).json() == {"success": True}
    without = start(translators[0])
    answer = without.post("/suggest", given)
    assert (answer.status_code, answer.json()) == (403, {"error": "Suggestions are disabled on this server."})


def test_settings_and_health_are_as_a_page_expects(service: Running) -> None:
    settings = service.get("/frontend/settings").json()
    assert settings["language"] == {
        "source": {"code": "ko", "name": "Korean"},
        "target": {"code": "en", "name": "English"},
    }
    assert ".docx" in settings["supportedFilesFormat"]
    assert settings["charLimit"] == 50_000
    assert service.get("/health").json() == {"status": "ok"}


@pytest.mark.parametrize("path", ["/health", "/languages", "/", "/docs"])
def test_head_answers_as_get_without_a_body(service: Running, path: str) -> None:
    """Load balancers and monitors ask so."""
    head, got = (httpx.request(method, f"{service.url}{path}") for method in ("HEAD", "GET"))
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == got.headers["content-type"]
    assert head.headers["content-length"] == got.headers["content-length"]


def test_attention_has_a_row_for_every_token(service: Running, english: str) -> None:
    answer = service.post("/api/attention", {"q": SENTENCE, "source": "ko", "target": "en"})
    found = answer.json()
    assert found["translatedText"] == english
    for layer in found["cross"]:
        for head in layer:
            assert len(head) == len(found["target"])
            assert all(abs(sum(row) - 1) < 0.01 and len(row) == len(found["source"]) for row in head)
    assert found["encoder"]
    assert found["decoder"]


def test_attention_of_a_way_through_a_third_language_is_refused(service: Running) -> None:
    answer = service.post("/api/attention", {"q": SENTENCE, "source": "ko", "target": "fr"})
    assert answer.status_code == 400


def test_scores_prefer_the_translation_to_another_sentence(service: Running, english: str) -> None:
    asked = {"q": SENTENCE, "source": "ko", "target": "en"}
    good = service.post("/api/score", {**asked, "translation": english}).json()
    bad = service.post("/api/score", {**asked, "translation": "The weather is cold."}).json()
    assert good["average"] > bad["average"]
    assert good["confidence"] >= bad["confidence"]
    assert good["tokens"][-1]["text"] == "</s>"
    assert sum(each["log_probability"] for each in good["tokens"]) == pytest.approx(good["log_probability"])


def test_metrics_count_requests_by_route_and_status(service: Running) -> None:
    service.translate()
    until(lambda: 'tongsa_requests_total{path="/translate",status="200"}' in service.get("/metrics").text)
    assert "tongsa_batch_pieces_bucket" in service.get("/metrics").text


def test_pages_load_nothing_from_elsewhere(service: Running) -> None:
    for path in ("/", "/docs"):
        answer = service.get(path)
        assert answer.status_code == 200
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "https://" not in answer.text.replace("https://example", "")
    assert service.get("/static/index.html").status_code == 200
    assert service.get("/static/../app.py").status_code == 404


def test_logs_are_json_without_what_users_wrote(service: Running) -> None:
    service.post("/translate", {"q": "비밀이에요", "source": "ko", "target": "en"}, params={"q": "비밀"})
    service.get("/비밀")
    service.post("/translate", {"q": ["비밀"], "source": "비밀", "target": "en"})
    httpx.request("PURGE", f"{service.url}/health", timeout=PATIENCE)
    service.wait_for("request", method="PURGE")  # lines come in their order, so all others are there
    lines = [json.dumps(line, ensure_ascii=False) for line in service.lines]
    assert not [line for line in lines if "비밀" in line]
    last = service.events("request")[-1]
    assert {"time", "level", "method", "path", "status", "milliseconds"} <= last.keys()
