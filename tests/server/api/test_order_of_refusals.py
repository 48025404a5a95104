"""Every route of every interface refuses in the same order, in the words of its interface.

A request begins with every fault that its route can refuse. The first refusal is checked, that one fault is mended, and
so on: each time all later faults are still there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from tests.server.in_process import serving

from tongsa.server.app import INTERFACES
from tongsa.server.http.answers import JSON
from tongsa.server.http.keys import FREE_GUESSES, WrongKeys
from tongsa.server.http.routes import Interface, Interfaces, Route
from tongsa.server.work.service import Service

SPENT, POOR, GOOD = "the-key-that-asks-too-often", "the-key-with-no-quota-left", "the-key-that-may-do-all"
KEYS = f'[spent]\nkey = "{SPENT}"\nrequests = 1\n[poor]\nkey = "{POOR}"\ncharacters = 1\n[good]\nkey = "{GOOD}"\n'
ROUTES = list(Interfaces(INTERFACES.values()))
VALUES: dict[str, Any] = {
    "q": "words",
    "s": "Worte",
    "source": "zz",
    "target": "de",
    "translation": "WORDS",
    "file": b"some words",
    "text": ["words"],
    "source_lang": "zz",
    "target_lang": "de",
    "name": "terms",
    "entries": "a\tb",
    "type": "source",
    "dictionaries": [{"source_lang": "zz", "target_lang": "de", "entries": "a\tb"}],
    "head": "cross.1.1",
}
"""Parameters that nothing is wrong with but the language."""
TEACHING = {"/api/interventions", "/api/numbers", "/api/beam", "/api/training"}
NOT_JSON = (
    b"{",
    b'{"q":' * 300 + b"1",
    b'{"q":[' + b"[" * 1_900,
    b'{"alternatives":' + b"9" * 1_900 + b"}",
    b'{"q":"\xff"}',
)
PART = b'--x\r\ncontent-disposition: form-data; name="q"\r\n\r\nwords'
NO_FORM = (
    b"",
    b"q=words",
    PART,
    PART + b"\r\n--x",
    PART.replace(b"name=", b"nick=") + b"\r\n--x--",
    PART.replace(b"words", b"\xff") + b"\r\n--x--",
    PART.replace(b"content-disposition", b"x") + b"\r\n--x--",
    b"--x\r\n\r\n" * 150,
)


class Request:
    """A request that has every fault, until they are mended."""

    def __init__(self, client: TestClient, interface: Interface, route: Route) -> None:
        self.client, self.interface, self.route = client, interface, route
        names = route.parameters.model_fields if route.parameters else {}
        self.complete = {name: value for name, value in VALUES.items() if name in names}
        self.required = bool(route.parameters) and any(each.is_required() for each in names.values())
        self.key = ""
        self.body: bytes | None = b"x" * 2_001
        self.content_type = JSON
        self.parameters: dict[str, Any] = {}

    def send(self) -> httpx.Response:
        path = self.route.path.replace("{id}", "unknown").replace("{name}", "unknown")
        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        content: dict[str, Any]
        if self.body is not None:
            content = {"content": self.body}
            headers["content-type"] = self.content_type
        elif self.route.needs.upload:
            fields = {**self.parameters}
            content = {"files": {"file": ("a.txt", fields.pop("file", b""))}, "data": fields}
        else:
            content = {"json" if self.route.forms else "params": self.parameters}
        return self.client.request(self.route.method, path, headers=headers, **content)

    def refused(self, status: int, words: str) -> None:
        answer = self.send()
        assert words in self.message(answer)
        assert answer.status_code == status

    def message(self, answer: httpx.Response) -> str:
        """Its one field is the one that clients of the interface read."""
        (field,) = self.interface.error.model_fields
        told = answer.json()
        assert list(told) == [field]
        return str(told[field])


@pytest.mark.parametrize(("interface", "route"), ROUTES, ids=[f"{route.method} {route.path}" for _, route in ROUTES])
def test_all_routes_refuse_in_the_same_order(tmp_path: Path, interface: Interface, route: Route) -> None:
    limits = "body=2000,upload=2000,queue=1,characters=20"
    with serving(tmp_path, limits, keys=KEYS, data=tmp_path) as client:
        service = service_of(client)
        request = Request(client, interface, route)
        needs = route.needs

        request.refused(413, "larger than 2,000 bytes")
        request.body = b"{"
        if needs.queue:
            with service.queue.place():
                request.refused(429, "too many requests are waiting")
        if route.parameters or (needs.key and interface.key_field):
            for request.body in NOT_JSON:
                request.refused(400, "not valid JSON")
            request.content_type = "multipart/form-data; boundary=x"
            for request.body in NO_FORM:
                request.refused(400, "the form cannot be read")
        request.body = None
        if needs.key:
            request.refused(interface.missing_key, "get an API key")
            request.key = "a key that nobody was given"
            for _ in range(FREE_GUESSES + 1):
                request.refused(403, "Invalid API key")
            request.refused(429, "too many wrong keys")
            service.wrong_keys = WrongKeys()
            request.key = SPENT
            spend_a_request(service)
            request.refused(429, "more than 1 requests per minute")
            request.key = POOR
        if request.required:
            request.refused(400, "missing")
        request.parameters = request.complete
        if needs.texts:
            field = "text" if "text" in request.complete else "q"
            request.parameters = {**request.complete, field: "a" * 21}
            request.refused(400, "exceeds text limit (20)")
            request.parameters = request.complete
        if needs.texts or needs.charge:
            request.refused(456, "Quota exceeded")
            request.key = GOOD
        if {"source", "source_lang", "dictionaries"} & request.complete.keys():
            if "{id}" in route.path and needs.key:
                request.refused(404, "There is no such glossary")
            else:
                request.refused(400, "zz is not supported")
            assert used(service, GOOD) == 0, "what the handler refuses is not charged"
        else:
            assert request.send().status_code in (200, 404)


def test_what_each_route_needs_is_declared() -> None:
    """Everything that costs work has a key, a place in the queue and a charge."""
    declared = {(route.method, route.path): route.needs for _, route in ROUTES}
    work = {path for (_, path), needs in declared.items() if needs.queue}
    assert work == {"/translate", "/translate_file", "/v2/translate", "/api/attention", "/api/score", *TEACHING}
    open_to_all = {path for (_, path), needs in declared.items() if not needs.key}
    assert open_to_all == {"/languages", "/download_file/{name}", "/frontend/settings", "/health"}
    assert {path for (_, path), needs in declared.items() if needs.upload} == {"/translate_file"}
    charged = {path for (_, path), needs in declared.items() if needs.texts or needs.charge}
    assert charged == work | {"/detect", "/suggest"}


def service_of(client: TestClient) -> Service:
    found: Service = client.app_state["service"]
    return found


def spend_a_request(service: Service) -> None:
    found = service.keys.find(SPENT) if service.keys else None
    assert found
    service.allowances.spend_request(found)


def used(service: Service, key: str) -> int:
    found = service.keys.find(key) if service.keys else None
    assert found
    return service.allowances.used(found)
