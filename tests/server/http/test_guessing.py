"""Keys cannot be guessed at full speed, and who guesses locks nobody else out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.http.test_limits import Clock
from tests.server.in_process import asked, serving

from tongsa.server.http.keys import FREE_GUESSES, LONGEST_WAIT, MAX_CLIENTS, Key, WrongKeys, network
from tongsa.server.http.refusals import Refusal

KEY = "the-key-of-a-client"
GOOD = Key(name="good", digest=b"x")


def status(keys: WrongKeys, host: str, found: Key | None = None) -> int:
    try:
        keys.check(host, found)
    except Refusal as refusal:
        return refusal.status
    return 200


def test_who_guesses_waits_twice_as_long_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    keys = WrongKeys()
    assert [status(keys, "a") for _ in range(FREE_GUESSES + 2)] == [403] * (FREE_GUESSES + 1) + [429]
    waits = []
    for _ in range(20):
        with pytest.raises(Refusal) as caught:
            keys.check("a", None)
        waits.append(int(caught.value.headers["retry-after"]))
        clock.now += waits[-1]
        assert status(keys, "a") == 403, "one guess, then it waits again"
    assert waits[:4] == [2, 4, 8, 16]
    assert waits[-1] == LONGEST_WAIT
    clock.now += 10 * 3_600
    assert [status(keys, "a") for _ in range(3)] == [403] * 3, "after hours it is forgotten"


def test_a_right_key_does_not_help_who_guesses() -> None:
    keys = WrongKeys()
    for _ in range(FREE_GUESSES + 1):
        status(keys, "a")
    assert status(keys, "a", GOOD) == 429, "or the right guess would be told from the wrong ones"
    assert status(keys, "b", GOOD) == 200


def test_who_used_a_key_before_is_not_locked_out_by_a_guess_from_the_same_address() -> None:
    keys = WrongKeys()
    assert status(keys, "a", GOOD) == 200
    for _ in range(FREE_GUESSES + 1):
        status(keys, "a")
    assert status(keys, "a", GOOD) == 200
    assert status(keys, "a", Key(name="other", digest=b"y")) == 429


def test_the_tables_of_addresses_are_bounded() -> None:
    keys = WrongKeys()
    for number in range(MAX_CLIENTS + 10):
        status(keys, f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
        status(keys, str(number), GOOD)
    assert len(keys._wrong) == len(keys._used) == MAX_CLIENTS


def test_an_ipv6_network_counts_as_one_address() -> None:
    assert network("2001:db8:1:2::1") == network("2001:db8:1:2:ffff::9") != network("2001:db8:1:3::1")
    assert network("::ffff:10.0.0.1") == network("10.0.0.1") == "10.0.0.1"
    assert network("testclient") == "testclient"


def test_wrong_keys_over_http(tmp_path: Path) -> None:
    with serving(tmp_path, keys=f'[a]\nkey = "{KEY}"\n') as client:
        wrong = {"authorization": "Bearer a-key-that-is-a-guess"}
        statuses = [client.get(path, headers=wrong).status_code for path in ("/metrics", "/v2/usage") * 4]
        assert statuses == [403] * (FREE_GUESSES + 1) + [429] * 2
        assert client.post("/translate", json=asked("words", api_key=KEY)).status_code == 429
        assert client.get("/health").status_code == 200


def test_metrics_need_a_key_where_the_service_has_keys(tmp_path: Path) -> None:
    with serving(tmp_path, keys=f'[prometheus]\nkey = "{KEY}"\n') as client:
        assert client.get("/metrics").status_code == 400
        assert client.get("/metrics", headers={"authorization": f"Bearer {KEY}"}).text.startswith("# HELP")
    with serving(tmp_path) as client:
        assert client.get("/metrics").status_code == 200
