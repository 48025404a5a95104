"""Every limit allows its own value and refuses one more; allowances refill at their own pace."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server.in_process import asked, body_of, held, serving

from tongsa.base.errors import UsageError
from tongsa.server.http.keys import Allowances, Key
from tongsa.server.http.limits import Limits, parse
from tongsa.server.http.refusals import Refusal
from tongsa.server.work.queue import Queue

JSON = {"content-type": "application/json"}
KEY = "the-key-of-a-client"


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_a_limit_allows_its_own_value_and_not_one_more(name: str) -> None:
    limits = parse(f"{name}=7")
    assert [limits.allows(name, value) for value in (0, 6, 7, 8)] == [True, True, True, False]
    assert parse(f"{name}=0").allows(name, 10**12)


@pytest.mark.parametrize("path", ["/translate", "/v2/translate", "/detect", "/suggest"])
def test_a_text_of_exactly_the_limit_is_taken_and_one_letter_more_is_not(tmp_path: Path, path: str) -> None:
    def sent(text: str) -> httpx.Response:
        texts = {"/v2/translate": {"text": [text], "source_lang": "en", "target_lang": "de"}, "/suggest": {"s": "de"}}
        return client.post(path, json={**asked(text), **texts.get(path, {})})

    most = 22 if path == "/suggest" else 20
    with serving(tmp_path, f"characters={most}", data=tmp_path) as client:
        assert sent("a" * 20).status_code == 200
        refused = sent("a" * 21)
        assert refused.status_code == 400
        assert f"exceeds text limit ({most})" in refused.text


def test_the_texts_of_a_request_are_counted_together(tmp_path: Path) -> None:
    with serving(tmp_path, "characters=20") as client:
        assert client.post("/translate", json=asked(["a" * 10, "b" * 10])).status_code == 200
        assert client.post("/translate", json=asked(["a" * 10, "b" * 11])).status_code == 400


def test_exactly_as_many_texts_as_the_limit_are_taken(tmp_path: Path) -> None:
    with serving(tmp_path, "texts=3") as client:
        assert client.post("/translate", json=asked(["a", "b", "c"])).json() == {"translatedText": ["A", "B", "C"]}
        assert client.post("/translate", json=asked(["a", "b", "c", "d"])).status_code == 400


def test_exactly_as_many_alternatives_as_the_limit_are_given(tmp_path: Path) -> None:
    with serving(tmp_path, "alternatives=2") as client:
        found = client.post("/translate", json=asked("word", alternatives=2)).json()
        assert found == {"translatedText": "WORD", "alternatives": ["WORD!", "WORD!!"]}
        assert client.post("/translate", json=asked("word", alternatives=3)).status_code == 400


@pytest.mark.parametrize("told", [True, False])
def test_a_body_of_exactly_the_limit_is_read_whether_or_not_it_tells_its_size(tmp_path: Path, told: bool) -> None:
    def sent(size: int) -> int:
        body = body_of(size)
        assert len(body) == size
        return client.post("/translate", content=body if told else chunks(body), headers=JSON).status_code

    def chunks(body: bytes) -> Iterator[bytes]:
        yield body[:100]
        yield body[100:]

    with serving(tmp_path, "body=1000") as client:
        assert [sent(size) for size in (999, 1000, 1001)] == [200, 200, 413]


def test_a_body_is_refused_for_the_size_it_tells_before_it_is_read(tmp_path: Path) -> None:
    with serving(tmp_path, "body=1000,body_seconds=600") as client:
        refused = client.post("/translate", content=b"{}", headers={**JSON, "content-length": "1001"})
        assert refused.status_code == 413


def test_an_upload_has_a_limit_of_its_own(tmp_path: Path) -> None:
    def sent(text: bytes, limit: int) -> httpx.Response:
        with serving(tmp_path, f"upload={limit},body=10") as client:
            files = {"file": ("a.txt", text)}
            # a boundary of a fixed length, so that two requests for the same text have the same size
            return client.post("/translate_file", files=files, data={"source": "en", "target": "de"}, headers=parts)

    parts = {"content-type": "multipart/form-data; boundary=0123456789abcdef"}
    size = int(sent(b"some words", 10_000).request.headers["content-length"])
    assert sent(b"some words", size).status_code == 200
    assert sent(b"some wordss", size).status_code == 413


def test_requests_that_are_read_hold_no_more_bytes_than_the_limit(tmp_path: Path) -> None:
    with serving(tmp_path, "held=1000") as client:
        sent = [client.post("/translate", content=body_of(size), headers=JSON) for size in (1000, 1001, 1000, 1000)]
        assert [each.status_code for each in sent] == [200, 429, 200, 200]
        assert sent[1].headers["retry-after"] == "5"


def test_exactly_as_many_requests_as_the_limit_have_a_place_in_the_queue() -> None:
    queue = Queue(workers=1, capacity=2)
    try:
        with queue.place():
            queue.refuse_if_full()
            with queue.place():
                with pytest.raises(Refusal) as caught:
                    queue.refuse_if_full()
                assert caught.value.status == 429
            queue.refuse_if_full()
    finally:
        queue.close()


def test_where_the_queue_is_full_a_request_for_work_goes_no_further(tmp_path: Path) -> None:
    """Not even its parameters are read: to refuse should cost little."""
    with serving(tmp_path, "queue=1") as client:
        with held(client):
            full = client.post("/translate", content=b"{", headers=JSON)
            other = client.get("/languages")
        assert (full.status_code, other.status_code) == (429, 200)
        assert int(full.headers["retry-after"]) >= 1
        assert full.json()["error"].startswith("Slowdown")
        assert client.post("/translate", content=b"{", headers=JSON).status_code == 400


def test_who_is_told_to_come_back_has_used_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, "queue=1", keys=f'[a]\nkey = "{KEY}"\n') as client:
        with held(client, "held words", api_key=KEY):
            assert client.post("/translate", json=asked("more words", api_key=KEY)).status_code == 429
        usage = client.get("/v2/usage", headers={"authorization": f"DeepL-Auth-Key {KEY}"}).json()
        assert usage["character_count"] == len("held words")


def test_a_client_may_ask_exactly_as_often_in_a_minute_as_the_limit(tmp_path: Path) -> None:
    with serving(tmp_path, "requests=3") as client:
        assert [client.post("/translate", json=asked("a")).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_a_key_may_use_exactly_its_characters_of_a_month(tmp_path: Path) -> None:
    with serving(tmp_path, keys=f'[a]\nkey = "{KEY}"\ncharacters = 20\n') as client:
        statuses = [client.post("/translate", json=asked(q, api_key=KEY)).status_code for q in ("a" * 15, "b" * 6)]
        assert statuses == [200, 456]
        usage = client.get("/v2/usage", headers={"authorization": f"DeepL-Auth-Key {KEY}"}).json()
        assert usage == {"character_count": 15, "character_limit": 20}
        assert client.post("/translate", json=asked("c" * 5, api_key=KEY)).status_code == 200
        assert client.post("/translate", json=asked("d", api_key=KEY)).status_code == 456


@pytest.mark.parametrize(("path", "more"), [("/api/score", {"translation": "WORD"})])
def test_a_sentence_to_look_into_has_at_most_600_characters(tmp_path: Path, path: str, more: dict[str, str]) -> None:
    with serving(tmp_path) as client:
        statuses = [client.post(path, json=asked("a" * size, **more)).status_code for size in (600, 601)]
        assert statuses == [200, 400]
        long = [client.post(path, json=asked("a", translation="A" * size)).status_code for size in (600, 601)]
        assert long == [200, 400]


def test_attention_is_shown_of_sentences_that_are_neither_blank_nor_too_long(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        wrong: list[dict[str, object]] = [asked(" "), asked("a", translation=" "), asked("a" * 601)]
        for body in [*wrong, asked("a", translation="A" * 601)]:
            assert client.post("/api/attention", json=body).status_code == 400


def glossary(terms: int, *, letters: int = 1) -> dict[str, Any]:
    entries = "\n".join(f"{'a' * letters}{number}\tB" for number in range(terms))
    return {"name": "words", "source_lang": "en", "target_lang": "de", "entries": entries}


def test_a_glossary_has_exactly_as_many_terms_as_the_limit(tmp_path: Path) -> None:
    with serving(tmp_path, "glossary_terms=3") as client:
        made = client.post("/v2/glossaries", json=glossary(3))
        assert (made.status_code, made.json()["entry_count"]) == (201, 3)
        assert client.post("/v2/glossaries", json=glossary(4)).status_code == 400


def test_terms_added_to_a_glossary_count_with_those_it_has(tmp_path: Path) -> None:
    with serving(tmp_path, "glossary_terms=3") as client:
        made = client.post("/v2/glossaries", json=glossary(3)).json()
        more = {"source_lang": "en", "target_lang": "de", "entries": "new\tneu"}
        changed = client.patch(f"/v3/glossaries/{made['glossary_id']}", json={"dictionaries": [more]})
        assert changed.status_code == 400


def test_the_service_keeps_exactly_as_many_glossaries_as_the_limit(tmp_path: Path) -> None:
    with serving(tmp_path, "glossaries=2") as client:
        assert [client.post("/v2/glossaries", json=glossary(1)).status_code for _ in range(3)] == [201, 201, 456]


def test_a_term_has_at_most_1024_characters(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        statuses = [client.post("/v2/glossaries", json=glossary(1, letters=n)).status_code for n in (1023, 1024)]
        assert statuses == [201, 400]


def test_a_form_has_at_most_2000_fields(tmp_path: Path) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    body = "q=word&source=en&target=de"
    with serving(tmp_path) as client:
        statuses = [
            client.post("/translate", content=body + "&x=1" * more, headers=form).status_code for more in (1997, 1998)
        ]
        assert statuses == [200, 400]


def test_a_key_has_at_least_16_characters(tmp_path: Path) -> None:
    with serving(tmp_path, keys='[a]\nkey = "0123456789abcdef"\n'):
        pass
    with pytest.raises(UsageError, match="at least 16"), serving(tmp_path, keys='[a]\nkey = "0123456789abcde"\n'):
        pass


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = time.monotonic()
        monkeypatch.setattr("time.monotonic", lambda: self.now)


def test_an_allowance_refills_as_fast_as_it_is_given_and_no_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    ours = Allowances(requests=6)
    client = Key(name="a")

    def granted(count: int) -> int:
        done = 0
        for _ in range(count):
            try:
                ours.spend_request(client)
                done += 1
            except Refusal:
                pass
        return done

    assert granted(9) == 6, "a minute's worth may come at once"
    clock.now += 10.01
    assert granted(3) == 1, "six in a minute are one in ten seconds"
    clock.now += 5
    assert granted(1) == 0, "half a request is none"
    clock.now += 5.01
    assert granted(3) == 1, "what was saved is not lost by asking too early"
    clock.now += 30.01
    assert granted(9) == 3
    clock.now += 3_600
    assert granted(20) == 6, "no more than a minute's worth is ever saved"


def test_who_is_told_to_come_back_is_told_when(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    ours = Allowances(requests=0)
    client = Key(name="a", digest=b"x", requests=2)
    ours.spend_request(client)
    ours.spend_request(client)
    with pytest.raises(Refusal, match="more than 2 requests per minute") as caught:
        ours.spend_request(client)
    assert caught.value.headers == {"retry-after": "30"}
    clock.now += 20.5
    with pytest.raises(Refusal) as caught:
        ours.spend_request(client)
    assert caught.value.headers == {"retry-after": "10"}
    clock.now += 9.6
    ours.spend_request(client)


def test_the_client_that_asked_last_is_remembered_longest() -> None:
    """As many as 10,000 are; the one unseen for longest makes room."""
    ours = Allowances(requests=1)
    for number in range(10_001):
        ours.spend_request(Key(name=str(number)))
    for name in ("10000", "1"):
        with pytest.raises(Refusal):
            ours.spend_request(Key(name=name))
    ours.spend_request(Key(name="0"))


def test_who_finds_the_queue_full_is_told_to_come_back_when_it_will_have_been_worked_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    queue = Queue(workers=1, capacity=4)
    for _ in range(20):
        clock.now += 5
        with queue.place():
            pass
    with ExitStack() as places:
        for _ in range(4):
            places.enter_context(queue.place())
        with pytest.raises(Refusal) as caught:
            queue.refuse_if_full()
    queue.close()
    assert caught.value.headers == {"retry-after": "19"}, "four requests, at twenty in 95 seconds"


@pytest.mark.parametrize(("path", "limit"), [("/translate", "seconds"), ("/translate_file", "document_seconds")])
def test_an_answer_that_takes_longer_than_its_limit_is_refused(tmp_path: Path, path: str, limit: str) -> None:
    """The limit of the other kind of request has no say."""
    other = {"seconds": "document_seconds", "document_seconds": "seconds"}[limit]
    form = {"files": {"file": ("a.txt", b"slow words")}, "data": {"source": "en", "target": "de"}}
    request: dict[str, Any] = form if "file" in path else {"json": asked("slow words")}
    with serving(tmp_path, f"{limit}=1,{other}=600") as client:
        late = client.post(path, **request)
        assert (late.status_code, late.headers["retry-after"]) == (503, "10")
    with serving(tmp_path, f"{other}=1,{limit}=600") as client:
        assert client.post(path, **request).status_code == 200
