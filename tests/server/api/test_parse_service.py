"""A parser behind HTTP: its interface and its page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from starlette.testclient import TestClient
from tests.server.in_process import service_of

from tongsa.formats.trees import Tree
from tongsa.server.app import application
from tongsa.text.penn import PennTokenizer


class Flat:
    """Parses every sentence as one constituent."""

    def separate(self, text: str) -> list[list[str]]:
        return [PennTokenizer.of(set()).words(line) for line in text.split("\n") if line.strip()]

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Any]:
        trees = [Tree("TOP", (Tree("S", tuple(Tree("X", (), word) for word in words)),)) for words in sentences]
        return [SimpleNamespace(tree=tree, score=-1.0) for tree in trees]

    def attention(self, tree: Tree) -> list[list[float]]:
        words = len(tree.words())
        return [[], *([1 / words] * words for _ in range(words + 1))]


@contextmanager
def serving(folder: Path, *, parser: bool = True, **more: Any) -> Iterator[TestClient]:
    service = service_of(folder, **more)
    service.parser = Flat() if parser else None  # type: ignore[assignment]
    with TestClient(application(service, background=False), raise_server_exceptions=False) as client:
        yield client


def test_a_text_is_answered_with_the_trees_of_its_sentences(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        found = client.post("/api/parse", json={"q": "It <b>barks.\nLoudly"}).json()["sentences"]
        assert [each["tree"] for each in found] == [
            "(TOP (S (X It) (X <) (X b) (X >) (X barks) (X .)))",
            "(TOP (S (X Loudly)))",
        ]
        assert 'data-weights="1.000"' in found[1]["svg"]
        assert ">&lt;<" in found[0]["svg"]
        for wrong in ({"q": "  "}, {"q": "x" * 4000}, {}):
            assert client.post("/api/parse", json=wrong).status_code == 400
        assert "/api/parse" in client.get("/spec").json()["paths"]


def test_the_page_is_that_of_the_parser_if_there_is_no_translator(tmp_path: Path) -> None:
    with serving(tmp_path, directions=()) as client:
        page = client.get("/").text
        assert 'id="ask"' in page
        assert "api_key" not in page
        for script in ("/static/parse.js", "/static/kit/kit.js"):
            assert script in page
            assert client.get(script).status_code == 200
    with serving(tmp_path, keys='[one]\nkey = "a-secret-of-number-one"\n') as client:
        assert 'id="ask"' not in client.get("/").text
        assert "api_key" in client.get("/parse").text
        assert client.post("/api/parse", json={"q": "x"}).status_code in (400, 403)
        assert client.post("/api/parse", json={"q": "x", "api_key": "a-secret-of-number-one"}).status_code == 200


def test_a_service_without_a_parser_has_neither(tmp_path: Path) -> None:
    with serving(tmp_path, parser=False) as client:
        assert client.get("/parse").status_code == 404
        assert client.post("/api/parse", json={"q": "x"}).status_code == 404
        assert "/api/parse" not in client.get("/spec").json()["paths"]
