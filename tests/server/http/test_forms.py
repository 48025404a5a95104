"""Forms of several parts: read in memory, in linear time, as clients write them."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.in_process import asked, serving

from tongsa.server.http.parameters import MAX_FIELDS, Upload, _decode
from tongsa.server.http.refusals import Refusal

KIND = 'multipart/form-data; charset=utf-8; boundary="b"'


def form(*parts: tuple[str, bytes], end: bytes = b"--b--\r\n") -> bytes:
    return b"".join(b"--b\r\n" + head.encode() + b"\r\n\r\n" + content + b"\r\n" for head, content in parts) + end


def named(name: str) -> str:
    return f'Content-Disposition: form-data; name="{name}"'


def test_fields_and_a_file_are_read() -> None:
    body = b"preamble\r\n" + form(
        (named("q"), "wörter\r\n--c".encode()),
        (named("text"), b"one"),
        (named("text"), b""),
        ('CONTENT-TYPE: text/plain\r\ncontent-disposition: form-data; name=file; filename="ä;b.txt"', b"\0\xff\r\n"),
    )
    assert _decode(body, b"a=1&q=2", KIND, ("text",)) == {
        "a": "1",
        "q": "wörter\r\n--c",
        "text": ["one", ""],
        "file": Upload(name="ä;b.txt", data=b"\0\xff\r\n"),
    }


@given(content=st.binary(max_size=40).filter(lambda data: b"\r\n--b" not in data))
def test_a_file_may_hold_any_bytes(content: bytes) -> None:
    body = form((named("file") + '; filename="a"', content))
    assert _decode(body, b"", KIND, ())["file"].data == content


@given(body=st.lists(st.sampled_from([b"--b", b"\r\n", b"--", b"a", b":", b";", b'"', named("q").encode()])))
def test_any_body_is_read_or_refused(body: list[bytes]) -> None:
    with suppress(Refusal):
        assert isinstance(_decode(b"".join(body), b"", KIND, ()), dict)


def test_more_files_or_fields_than_allowed_are_refused() -> None:
    file = (named("file") + '; filename="a"', b"x")
    with pytest.raises(Refusal, match="more than one file"):
        _decode(form(file, file), b"", KIND, ())
    fields = [(named(f"f{number}"), b"") for number in range(MAX_FIELDS + 1)]
    assert len(_decode(form(*fields[:-1]), b"", KIND, ())) == MAX_FIELDS
    with pytest.raises(Refusal, match="more than 2000 fields"):
        _decode(form(*fields), b"", KIND, ())


def test_an_upload_is_never_written_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its translation is, in a folder of the service."""

    def refuse(*given: Any, **more: Any) -> Any:
        raise AssertionError("a temporary file")

    text = b"some words\n\n" * 200_000
    with serving(tmp_path, "parse_seconds=600") as client:
        for name in ("TemporaryFile", "NamedTemporaryFile", "mkstemp"):
            monkeypatch.setattr(tempfile, name, refuse)
        answer = client.post("/translate_file", files={"file": ("a.bin", text)}, data={"source": "en", "target": "de"})
        assert "file format not supported" in answer.json()["error"], "it was read"


@pytest.mark.parametrize("digits", [4_300, 4_301])
def test_numbers_with_thousands_of_digits_are_refused(tmp_path: Path, digits: int) -> None:
    number = "1" * digits
    with serving(tmp_path) as client:
        body = b'{"q":"a","source":"en","target":"de","alternatives":' + number.encode() + b"}"
        sent = [
            client.post("/translate", content=body, headers={"content-type": "application/json"}),
            client.post("/translate", data=asked("a", alternatives=number)),
            client.post("/translate", files={"alternatives": (None, number)}, data=asked("a")),
            client.post("/translate", params={"alternatives": number}, json=asked("a")),
        ]
        assert [answer.status_code for answer in sent] == [400] * 4
        assert number[:100] not in "".join(answer.text for answer in sent)
        length = {"content-length": number, "content-type": "application/json"}
        assert client.post("/translate", content=b"{}", headers=length).status_code == 413
