"""The life of a service: starting, reloading and stopping while people use it."""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import socket
import threading
import time
from pathlib import Path

import pytest
from tests.server.running import PATIENCE, SENTENCE, Running, Start, until

from tongsa.demo.grammar import write_pairs
from tongsa.runs.directory import Run

TEXT = " ".join([SENTENCE] * 5)
SENTENCES = 1_500
LONG = " ".join(korean for korean, _ in write_pairs(SENTENCES, seed=9))
"""Sentences that are all different: the same one twice would be translated once."""


class Crowd:
    """Clients that ask again and again, each on its own connection, until they find nobody any more."""

    def __init__(self, port: int, clients: int = 12) -> None:
        self.answers: list[str] = []
        self.lost: list[str] = []
        self._port = port
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work) for _ in range(clients)]
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        body = json.dumps({"q": TEXT, "source": "ko", "target": "en"})
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        while not self._stop.is_set():
            try:
                connection.connect()
            except ConnectionRefusedError:  # nobody listens any more: nothing was accepted
                return
            except OSError as error:
                self.lost.append(repr(error))
                return
            if not self._ask(connection, body):
                return
        connection.close()

    def _ask(self, connection: http.client.HTTPConnection, body: str) -> bool:
        """As long as the service keeps the connection."""
        while not self._stop.is_set():
            try:
                connection.request("POST", "/translate", body, {"content-type": "application/json"})
                answer = connection.getresponse()
                self.answers.append(json.loads(answer.read())["translatedText"])
            except (OSError, http.client.HTTPException, KeyError, ValueError) as error:
                self.lost.append(repr(error))
                return False
            if answer.getheader("connection") == "close":
                break
        connection.close()
        return True

    def wait_for(self, count: int) -> None:
        until(lambda: len(self.answers) >= count or bool(self.lost))

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE)


@pytest.fixture
def swappable(translators: tuple[Path, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(translators[0], tmp_path / "ko-en"))


def test_sigterm_under_load_loses_no_accepted_request(start: Start, translators: tuple[Path, Path]) -> None:
    running = start(translators[0])
    crowd = Crowd(running.port)
    crowd.wait_for(30)
    assert running.stop() == 0
    crowd.end()
    assert crowd.lost == []
    assert len(crowd.answers) > 30


def test_a_translator_swapped_under_load_drops_no_request(start: Start, swappable: Path) -> None:
    from safetensors.numpy import load_file

    running = start(swappable)
    crowd = Crowd(running.port)
    crowd.wait_for(10)
    weights = load_file(swappable / "weights.safetensors")
    run = Run(swappable)
    run.write_translator(run.read_card(), {name: -each for name, each in weights.items()})
    running.wait_for("translator reloaded")
    before = len(crowd.answers)
    crowd.wait_for(before + 30)
    crowd.end()
    assert crowd.lost == []
    assert len(set(crowd.answers)) == 2
    assert crowd.answers[0] != crowd.answers[-1]


def test_sighup_opens_translators_anew_and_one_that_is_broken_on_the_disk_goes_on_in_memory(
    start: Start, swappable: Path
) -> None:
    running = start(swappable)
    before = running.translate()
    running.process.send_signal(signal.SIGHUP)
    running.wait_for("translator reloaded")
    assert running.translate() == before
    (swappable / "translator.json").write_text("{")
    line = running.wait_for("translator not reloaded")
    assert str(swappable) not in json.dumps(line["translator"])
    assert running.translate() == before


def test_translating_needs_no_torch_and_after_kill_9_the_service_answers_at_the_same_port_as_before(
    start: Start, translators: tuple[Path, Path]
) -> None:
    first = start(translators[0])
    expected = first.translate()
    first.translate("<p>학생은 <b>책을</b> 읽어요.</p>", format="html")
    maps = Path(f"/proc/{first.process.pid}/maps")
    assert not maps.exists() or "libtorch" not in maps.read_text()
    first.process.kill()
    first.process.wait()
    again = start("--port", str(first.port), translators[0])
    assert again.translate() == expected


def test_a_client_that_hangs_up_costs_nothing_more(start: Start, translators: tuple[Path, Path]) -> None:
    """Asked and hung up at once, again where the engine was done before anybody could hang up."""
    running = start(translators[0], "--threads", "1")
    body = json.dumps({"q": LONG, "source": "ko", "target": "en"})
    for again in range(1, 21):
        connection = http.client.HTTPConnection("127.0.0.1", running.port)
        connection.request("POST", "/translate", body, {"content-type": "application/json"})
        until(lambda: _metric(running, "tongsa_batch_pieces_sum") > 0)
        connection.close()
        until(lambda: _metric(running, "tongsa_places") == 0)
        assert _metric(running, "tongsa_waiting_pieces") == 0
        if _metric(running, "tongsa_batch_pieces_sum") < again * SENTENCES:  # the rest was withdrawn from the queue
            break
    else:
        pytest.fail("everything was translated for nobody")
    running.wait_for("request", status=499)


def test_keys_are_asked_for_counted_and_limited(start: Start, translators: tuple[Path, Path], tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text(
        '[a]\nkey = "first-key-of-a-client"\nrequests = 2\n[b]\nkey = "second-key-of-another"\ncharacters = 20\n'
    )
    running = start(translators[0], "--api-keys", keys)
    asked = {"q": SENTENCE, "source": "ko", "target": "en"}
    assert running.post("/translate", asked).status_code == 400
    assert running.post("/translate", {**asked, "api_key": "wrong"}).status_code == 403
    one = {**asked, "api_key": "first-key-of-a-client"}
    assert [running.post("/translate", one).status_code for _ in range(3)] == [200, 200, 429]
    other = {**asked, "api_key": "second-key-of-another"}
    assert [running.post("/translate", other).status_code for _ in range(2)] == [200, 456]
    assert running.wait_for("request", status=456)["client"] == "b"
    assert "second-key" not in json.dumps(running.lines)


def test_pages_of_other_origins_may_ask_only_where_they_are_named(
    start: Start, service: Running, translators: tuple[Path, Path]
) -> None:
    origin = {"origin": "https://example.org"}
    assert "access-control-allow-origin" not in service.get("/languages", headers=origin).headers
    named = start(translators[0], "--cors", "https://example.org")
    assert named.get("/languages", headers=origin).headers["access-control-allow-origin"] == "https://example.org"
    other = {"origin": "https://elsewhere.example"}
    assert "access-control-allow-origin" not in named.get("/languages", headers=other).headers


def _metric(running: Running, name: str) -> float:
    lines = [line for line in running.get("/metrics").text.splitlines() if line.startswith(f"{name} ")]
    return float(lines[0].split()[1])


def test_what_came_while_the_service_stood_still_is_answered_although_its_time_is_over(
    start: Start, translators: tuple[Path, Path]
) -> None:
    """A machine that is busy stops everybody now and then."""
    running = start(translators[0], "--limits", "idle_seconds=2")
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=PATIENCE)
    connection.request("GET", "/health")
    assert connection.getresponse().read() == b'{"status":"ok"}'
    running.process.send_signal(signal.SIGSTOP)
    try:
        connection.request("GET", "/health")
        time.sleep(2.2)
    finally:
        running.process.send_signal(signal.SIGCONT)
    assert connection.getresponse().status == 200
    connection.close()


def test_of_two_connections_the_one_that_was_idle_longest_makes_room_for_a_new_one_and_busy_ones_do_not(
    start: Start, translators: tuple[Path, Path]
) -> None:
    running = start(translators[0], "--limits", "connections=2,header_seconds=60")
    first, second, third = (http.client.HTTPConnection("127.0.0.1", running.port, timeout=PATIENCE) for _ in range(3))
    for connection in (first, second, third):
        connection.request("GET", "/health")
        assert connection.getresponse().read() == b'{"status":"ok"}'
    assert first.sock.recv(1) == b""
    second.request("GET", "/health")
    assert second.getresponse().status == 200
    for connection in (first, second, third):
        connection.close()
    begun = [socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE) for _ in range(2)]
    for connection in begun:
        connection.sendall(b"GET /health HTTP/1.1\r\n")
    assert running.get("/health").status_code == 503
    for connection in begun:
        connection.sendall(b"host: x\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        connection.close()
