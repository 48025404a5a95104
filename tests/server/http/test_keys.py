"""Keys and allowances, by themselves."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tongsa.base.errors import UsageError
from tongsa.server.http.keys import Allowances, Key, Keys
from tongsa.server.http.refusals import Refusal


def keys(tmp_path: Path, text: str) -> Keys:
    (tmp_path / "keys.toml").write_text(text)
    return Keys.read(tmp_path / "keys.toml")


def test_keys_are_found_by_their_word(tmp_path: Path) -> None:
    ours = keys(tmp_path, '[a]\nkey = "sixteen letters!"\nrequests = 5\n[b]\nkey = "seventeen letters"\n')
    found = ours.find("sixteen letters!")
    assert found is not None
    assert (found.name, found.requests, found.characters) == ("a", 5, 0)
    assert ours.find("sixteen letters") is None
    assert ours.find("") is None
    assert b"sixteen" not in found.digest


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no usable keys"),
        ("[a", "not valid TOML"),
        ("a = 1", "a is not a table"),
        ('[a]\nkey = "short"', "at least 16"),
        ('[a]\nkey = "sixteen letters!"\nrequests = "many"', "whole number"),
        ('[a]\nkey = "sixteen letters!"\nlimit = 5', "unknown limit"),
    ],
)
def test_a_file_of_keys_that_cannot_be_used_is_told(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as caught:
        keys(tmp_path, text)
    assert "sixteen" not in str(caught.value)


def test_requests_are_counted_for_each_client_by_itself() -> None:
    ours = Allowances(requests=2)
    for client in (Key(name="a"), Key(name="b")):
        ours.spend_request(client)
        ours.spend_request(client)
        with pytest.raises(Refusal) as caught:
            ours.spend_request(client)
        assert caught.value.status == 429
        assert 1 <= int(caught.value.headers["retry-after"]) <= 30


def test_characters_are_counted_for_keys() -> None:
    ours = Allowances(requests=0)
    key = Key(name="a", digest=b"x", characters=10)
    ours.spend_characters(key, 8)
    with pytest.raises(Refusal) as caught:
        ours.spend_characters(key, 3)
    assert caught.value.status == 456
    assert ours.used(key) == 8


def test_the_characters_of_a_month_survive_a_restart(tmp_path: Path) -> None:
    key = Key(name="a", digest=b"x", characters=10)
    ours = Allowances(0, tmp_path)
    ours.spend_characters(key, 8)
    ours.save()
    assert Allowances(0, tmp_path).used(key) == 8
    usage = tmp_path / "usage.json"
    usage.write_text(usage.read_text().replace(datetime.now(UTC).strftime("%Y-%m"), "1999-12"))
    assert Allowances(0, tmp_path).used(key) == 0
    usage.write_text("[]")
    with pytest.raises(UsageError, match="usage"):
        Allowances(0, tmp_path)
