"""A server that plays the hub of Hugging Face: models' descriptions, files, ranges, and its faults."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub:
    """Models by name, each a folder; what was asked; and what is to go wrong."""

    def __init__(self) -> None:
        self.models: dict[str, Path] = {}
        self.asked: list[tuple[str, str]] = []
        """The path of each request, and its header Range."""
        self.cut_after: dict[str, list[int]] = {}
        """By the name of a file: bytes after which the next answers are cut off."""
        self.ranges = True
        self.lies: dict[str, bytes] = {}
        """By the name of a file: other content than described."""
        self.status: dict[str, int] = {}
        self.address = ""

    def describe(self, name: str) -> dict[str, Any]:
        files = []
        for path in sorted(self.models[name].iterdir()):
            content = path.read_bytes()
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            lfs = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
            large = path.suffix in (".safetensors", ".bin", ".spm")
            file = {"rfilename": path.name, "size": len(content), "blobId": blob}
            files.append({**file, "lfs": lfs} if large else file)
        return {"id": name, "sha": COMMIT, "siblings": files, "cardData": {"license": "cc-by-4.0"}}


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        hub = self.hub
        hub.asked.append((path, self.headers.get("Range", "")))
        if path == "/api/models":
            self._answer(json.dumps([{"id": name} for name in hub.models if "search=" in query]).encode())
        elif path.startswith("/api/models/"):
            name = path.removeprefix("/api/models/")
            known = name in hub.models and "blobs=true" in query
            self._answer(json.dumps(hub.describe(name) if known else {}).encode(), 200 if known else 401)
        elif not path.startswith("/stored/"):  # the hub sends everybody elsewhere
            self.send_response(302)
            self.send_header("Location", f"{hub.address}/stored{path}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            name, _, file = path.removeprefix("/stored/").partition(f"/resolve/{COMMIT}/")
            self._file(hub.models[name] / file)

    def _answer(self, content: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def _file(self, path: Path) -> None:
        hub = self.hub
        if path.name in hub.status:
            self._answer(b"", hub.status[path.name])
            return
        content = hub.lies.get(path.name) or path.read_bytes()
        begin = int(self.headers["Range"].removeprefix("bytes=").rstrip("-")) if self.headers["Range"] else 0
        status, rest = (206, content[begin:]) if begin and hub.ranges else (200, content)
        cuts = hub.cut_after.get(path.name)
        if not cuts:
            self._answer(rest, status)
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest[: cuts.pop(0)])
        self.wfile.flush()
        self.close_connection = True


@contextmanager
def hub_server() -> Iterator[Hub]:
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
