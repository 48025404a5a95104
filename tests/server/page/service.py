"""A service that answers the page as the real one does, as fast or as badly as a test wants."""

from __future__ import annotations

import json
import mimetypes
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from tests.server.page import experiments

import tongsa

STATIC = Path(tongsa.__file__).parent / "server" / "page"
KIT = Path(tongsa.__file__).parent / "pages" / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
WORDS = {"good": "gut", "morning": "Morgen", "the": "der", "dog": "Hund", "sleeps": "schläft"}
LAYERS, HEADS = 3, 4
Open = Callable[..., Any]
"""A page with the settings that are given (`open_page` of conftest.py)."""
Faults = Callable[[Any], list[str]]
"""What axe-core finds on a page (`faults` of conftest.py)."""


class Service(ThreadingHTTPServer):
    """What a test may set: `languages`, `settings`, `refuse` (answers to give before good ones), `slow` by text."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.languages: list[dict[str, Any]] = [
            {"code": "en", "name": "English", "targets": ["de", "ko"]},
            {"code": "de", "name": "German", "targets": ["en"]},
            {"code": "ko", "name": "Korean", "targets": []},
        ]
        self.settings: dict[str, Any] = {
            "charLimit": 200,
            "frontendTimeout": 150,
            "apiKeys": False,
            "keyRequired": False,
            "suggestions": False,
            "filesTranslation": True,
            "supportedFilesFormat": [".txt", ".docx"],
            "language": {"source": {"code": "en", "name": "English"}, "target": {"code": "de", "name": "German"}},
        }
        self.refuse: list[tuple[int, dict[str, str], dict[str, str]]] = []
        """Status, headers and body of the next answers to /translate."""
        self.slow: dict[str, float] = {}
        self.lacks: set[str] = set()
        """Kinds of attention that the model does not have."""
        self.asked: list[tuple[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def texts(self) -> list[str]:
        return [body["q"] for path, body in self.asked if path == "/translate"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def service(self) -> Service:
        return cast(Service, self.server)

    def log_message(self, format: str, *args: object) -> None:
        """Tests are quiet."""

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path == "/languages":
            self.answer(self.service.languages)
        elif path == "/frontend/settings":
            self.answer(self.service.settings)
        elif path.startswith("/download_file/"):
            self.send(200, b"Guten Morgen.", "text/plain", {"Content-Disposition": 'attachment; filename="x.txt"'})
        else:
            self.file("index.html" if path == "/" else path.removeprefix("/static/"))

    def file(self, name: str) -> None:
        folder = KIT if name.startswith("kit/") else STATIC
        path = (folder / name.removeprefix("kit/")).resolve()
        if not path.is_relative_to(folder) or not path.is_file():
            self.send(404, b"", "text/plain")
            return
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        self.send(200, path.read_bytes(), kind, {"Content-Security-Policy": POLICY})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/translate_file":
            self.service.asked.append((self.path, raw))
            self.answer({"translatedFileUrl": f"{self.service.url}download_file/abc.txt"})
            return
        body = json.loads(raw)
        self.service.asked.append((self.path, body))
        seen = attention(body, self.service.lacks)
        answers: dict[str, Callable[[], Any]] = {
            "/api/attention": lambda: seen,
            "/api/interventions": lambda: experiments.intervened(body),
            "/api/beam": lambda: experiments.searched(body),
            "/api/training": lambda: experiments.trained(body, seen),
            "/api/numbers": lambda: experiments.numbers(body, seen),
        }
        if self.path in answers:
            self.answer(answers[self.path]())
            return
        time.sleep(self.service.slow.get(body["q"], 0))
        if self.service.refuse:
            status, headers, error = self.service.refuse.pop(0)
            self.send(status, json.dumps(error).encode(), "application/json", headers)
        else:
            self.answer(translated(body))

    def answer(self, values: object) -> None:
        self.send(200, json.dumps(values).encode(), "application/json")

    def send(self, status: int, body: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        try:
            self.send_response(status)
            for key, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the page has given this request up, as it should


def translated(body: dict[str, Any]) -> dict[str, Any]:
    """Word by word; words that it does not know are copied, and it is not sure of them."""
    words: list[dict[str, Any]] = []
    for place, word in enumerate(body["q"].split(" ")):
        if place:
            words.append({"text": " ", "confidence": None})
        known = WORDS.get(word.lower())
        words.append({"text": known or word, "confidence": 0.95 if known else 0.3})
    text = "".join(word["text"] for word in words)
    found: dict[str, Any] = {"translatedText": text, "confidence": {"score": 0.8, "words": words}}
    found["alternatives"] = [f"{text} wohl", f"{text} eben"]
    if body["source"] == "auto":
        found["detectedLanguage"] = {"language": "en", "confidence": 93}
    if body["target"] == "ko":
        found["via"] = ["de"]
    return found


def attention(body: dict[str, Any], lacks: set[str]) -> dict[str, Any]:
    """Head h of layer l looks h + l tokens to the right, so that every picture is another one."""
    source = [f"▁{word}" for word in body["q"].split()] + ["</s>"]
    target = [f"▁{WORDS.get(word.lower(), word)}" for word in body["q"].split()] + ["</s>"]

    def layers(kind: str) -> list[Any]:
        count = len(source)
        return [
            [
                [
                    [0.9 if (q + head + layer) % count == k else 0.1 / (count - 1) for k in range(count)]
                    for q in range(count)
                ]
                for head in range(HEADS)
            ]
            for layer in range(0 if kind in lacks else LAYERS)
        ]

    return {
        "source": source,
        "target": target,
        **{kind: layers(kind) for kind in ("encoder", "decoder", "cross")},
        "languages": [body["source"], body["target"]],
        "architecture": "recurrent" if lacks else "transformer",
        "d_model": 16,
        "d_k": 0 if lacks else 4,
        "positions": "" if lacks else "sinusoidal",
        "position_width": 0 if lacks else 16,
        "position_table": None,
        "translatedText": " ".join(token.removeprefix("▁") for token in target[:-1]),
    }


@contextmanager
def running() -> Iterator[Service]:
    service = Service()
    thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.shutdown()
        service.server_close()
        thread.join()
