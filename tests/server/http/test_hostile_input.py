"""Bad input: the right refusal, in time, and the service goes on."""

from __future__ import annotations

import io
import socket
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.server.in_process import listening, service_of
from tests.server.running import PATIENCE, Running

JSON = {"content-type": "application/json"}


@pytest.fixture(autouse=True)
def goes_on(service: Running) -> Iterator[None]:
    """Whatever a test sends, the next request is answered, and nothing of the machine was told."""
    yield
    assert service.translate()["translatedText"]
    assert not service.events("request failed"), service.events("request failed")


def refused(answer: httpx.Response, *statuses: int) -> str:
    assert answer.status_code in statuses, (answer.status_code, answer.text[:200])
    assert "Traceback" not in answer.text
    assert "/" not in answer.json()["error"].replace("text/", "").replace("/languages", "")
    return str(answer.json()["error"])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b'{"q": "a" "source"}',
        b"\xff\xfe",
        b'{"q": "\xff", "source": "ko", "target": "en"}',
        b'{"q": "\\ud800", "source": "ko", "target": "en"}',
        b'{"q": NaN, "source": "ko", "target": "en"}',
        b"[" * 100_000,
        b'{"q": ' * 50_000,
    ],
)
def test_what_is_no_json_object_is_refused(service: Running, body: bytes) -> None:
    refused(httpx.post(f"{service.url}/translate", content=body, headers=JSON, timeout=PATIENCE), 400)


def test_text_that_is_not_utf_8_is_refused(service: Running) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    for body in (b"q=%ff&source=ko&target=en", b"q=\xff&source=ko&target=en"):
        refused(httpx.post(f"{service.url}/translate", content=body, headers=form, timeout=PATIENCE), 400)
    refused(httpx.post(f"{service.url}/translate?q=%ff&source=ko&target=en", timeout=PATIENCE), 400)


def test_a_sentence_of_100_000_characters_is_refused(service: Running) -> None:
    assert "exceeds text limit" in refused(service.post("/translate", _asked("가" * 100_000)), 400)


@pytest.mark.parametrize("letter", ["a", "가", "책을 ", "\u0301", "1", "%", "<", "{{", "\x00", "🙂"])
def test_text_without_end_is_translated_within_the_time_limit(service: Running, letter: str) -> None:
    answer = service.post("/translate", _asked(letter * (12_000 // len(letter))))
    assert answer.status_code == 200, "later, it would be 503"


def test_too_many_texts_are_refused(service: Running) -> None:
    refused(service.post("/translate", _asked(["a"] * 1_001)), 400)


def test_a_body_of_50_megabytes_is_refused_whether_or_not_it_tells_its_size(service: Running) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(50):
            yield b"a" * (1 << 20)

    refused(httpx.post(f"{service.url}/translate", content=b"a" * (50 << 20), headers=JSON, timeout=PATIENCE), 413)
    refused(httpx.post(f"{service.url}/translate", content=chunks(), headers=JSON, timeout=PATIENCE), 413)


def test_zip_bombs_are_refused(service: Running) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("word/document.xml", "content.xml"):
            archive.writestr(name, b"\0" * (200 << 20))
    for name in ("a.docx", "a.odt"):
        assert "refused" in refused(_upload(service, name, data.getvalue()), 400)


def test_broken_documents_are_refused(service: Running) -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><xliff version="1.2">&b;</xliff>'
    outside = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><tmx version="1.4"><body>&a;</body></tmx>'
    for name, data in (
        ("a.docx", b"PK\x03\x04 no zip"),
        ("a.xliff", bomb),
        ("a.tmx", outside),
        ("a.json", b"{"),
        ("a.txt", b"\xff\xfe\xfa"),
        ("a.exe", b"MZ"),
        ("", b""),
    ):
        answer = _upload(service, name, data)
        assert answer.status_code == 400 or "root:" not in httpx.get(answer.json()["translatedFileUrl"]).text, name


def test_a_file_above_the_limit_is_refused(service: Running) -> None:
    refused(_upload(service, "a.txt", b"a" * (11 << 20)), 413)


def test_a_client_that_dribbles_its_headers_is_let_go(tmp_path: Path) -> None:
    with listening(service_of(tmp_path, "header_seconds=1")) as (_, port):
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"POST /translate HTTP/1.1\r\nhost: x\r\n")
            answer = _until_closed(connection, lambda: connection.sendall(b"x-more: 1\r\n"))
    assert answer.startswith(b"HTTP/1.1 408")
    assert time.monotonic() - began >= 1, "it has all of its time"


def test_a_client_that_dribbles_its_body_is_let_go(tmp_path: Path) -> None:
    with (
        listening(service_of(tmp_path, "body_seconds=1")) as (_, port),
        socket.create_connection(("127.0.0.1", port)) as connection,
    ):
        connection.settimeout(PATIENCE)
        connection.sendall(b"POST /translate HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{")
        answer = connection.recv(4096)
    assert answer.startswith(b"HTTP/1.1 408")


def test_headers_without_end_are_refused(service: Running) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.settimeout(PATIENCE)
        connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nx: " + b"a" * 200_000)
        assert connection.recv(4096).startswith(b"HTTP/1.1 431")


def test_what_is_no_http_is_refused(service: Running) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.settimeout(PATIENCE)
        connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 400")


def test_many_idle_connections_block_nobody(service: Running) -> None:
    idle = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(200)]
    try:
        assert service.translate()["translatedText"]
    finally:
        for connection in idle:
            connection.close()


def test_unknown_paths_and_methods_are_refused(service: Running) -> None:
    refused(service.get("/no/such/thing"), 404)
    assert service.get("/translate").status_code == 405
    assert service.post("/v2/nothing").json().keys() == {"message"}


def test_text_is_not_taken_for_markup_of_the_answer(service: Running) -> None:
    answer = service.post("/translate", _asked('<img src=x onerror="alert(1)">'))
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def _asked(q: object) -> dict[str, object]:
    return {"q": q, "source": "ko", "target": "en"}


def _upload(service: Running, name: str, data: bytes) -> httpx.Response:
    fields = {"source": "ko", "target": "en"}
    return httpx.post(f"{service.url}/translate_file", files={"file": (name, data)}, data=fields, timeout=PATIENCE)


def _until_closed(connection: socket.socket, again: object) -> bytes:
    connection.settimeout(0.2)
    received, end = b"", time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if not (data := connection.recv(4096)):
                return received
            received += data
        except TimeoutError:
            assert callable(again)
            again()
        except ConnectionError:
            return received
    raise AssertionError("the connection is still open")
