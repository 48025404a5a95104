"""What is checked before a service starts."""

from __future__ import annotations

import inspect
import socket
from dataclasses import fields
from pathlib import Path

import pytest

from tongsa.base.errors import MissingExtraError, UsageError
from tongsa.cli.serve import serve
from tongsa.server.http.limits import Limits, parse
from tongsa.server.run import bind


def test_the_page_about_serving_names_every_limit() -> None:
    page = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
    table = page.partition("| limit |")[2].partition("## How")[0]
    named = {name.strip() for row in table.splitlines() for name in row.strip("| ").split("|")[0].split(",")}
    assert {field.name for field in fields(Limits)} <= named


def test_a_missing_package_is_answered_with_the_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    parameters = inspect.signature(serve).parameters.values()
    defaults = {each.name: each.default for each in parameters if each.default is not each.empty}
    with pytest.raises(MissingExtraError, match=r"pip install 'tongsa\[serve\]'"):
        serve(**{**defaults, "directories": [Path("runs/en-de")]})


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(UsageError, match="cannot listen"):
            bind("127.0.0.1", other.getsockname()[1])


def test_limits_are_read_with_sizes() -> None:
    found = parse("characters=100, body=512k,upload=2M,queue=0")
    assert (found.characters, found.body, found.upload) == (100, 512 << 10, 2 << 20)
    assert found.allows("queue", 10**9)
    assert not found.allows("characters", 101)
    assert parse("") == Limits()


def test_all_that_is_wrong_with_limits_is_told_together() -> None:
    with pytest.raises(UsageError) as caught:
        parse("letters=5,queue=many")
    assert "unknown limit: 'letters'" in str(caught.value)
    assert "'queue=many' needs a whole number" in str(caught.value)
