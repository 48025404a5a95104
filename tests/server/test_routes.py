"""Directions, ways between them, reloading; keys, limits, glossaries and files, each by itself."""

from __future__ import annotations

import inspect
import shutil
import socket
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tongsa.base.errors import DirectoryError, MissingExtraError, UsageError
from tongsa.cli.serve import serve
from tongsa.server.http.keys import Allowances, Key, Keys
from tongsa.server.http.limits import Limits, parse
from tongsa.server.http.refusals import Refusal
from tongsa.server.run import bind
from tongsa.server.work.files import Files
from tongsa.server.work.glossaries import Dictionary, Glossaries, StoredGlossary
from tongsa.server.work.translators import Translators


def fake(directory: Path) -> Any:
    """A translator whose directory's name is its direction."""
    if (directory / "broken").exists():
        raise DirectoryError(f"{directory} is broken")
    source, _, target = directory.name.partition("_")
    return SimpleNamespace(card=SimpleNamespace(source=source, target=target))


def served(folder: Path, *directions: str) -> Translators:
    paths = [folder / direction for direction in directions]
    for path in paths:
        path.mkdir(exist_ok=True)
        (path / "translator.json").write_text("{}")
    return Translators(paths, fake)


def test_a_direct_translator_is_preferred_to_a_way_through_another_language(tmp_path: Path) -> None:
    ours = served(tmp_path, "ko_en", "en_de", "ko_de")
    assert ours.chain("ko", "de").via == ()
    assert len(ours.chain("ko", "de").translators) == 1


def test_a_third_language_is_found_and_told(tmp_path: Path) -> None:
    ours = served(tmp_path, "ko_en", "en_de")
    chain = ours.chain("ko", "de")
    assert (chain.via, [each.card.source for each in chain.translators]) == (("en",), ["ko", "en"])
    assert ours.targets("ko") == ["en", "de"]
    assert ours.targets("de") == []


def test_no_more_than_one_language_lies_between(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="not available"):
        served(tmp_path, "ko_en", "en_de", "de_fr").chain("ko", "fr")


@pytest.mark.parametrize(("asked", "found"), [("EN", "en"), ("en-us", "en"), ("eng", "en"), ("pt-BR", "pt-br")])
def test_codes_are_understood_as_people_write_them(tmp_path: Path, asked: str, found: str) -> None:
    assert served(tmp_path, "en_pt-BR").code(asked) == found


def test_an_unknown_code_is_told_only_where_it_can_be_shown(tmp_path: Path) -> None:
    ours = served(tmp_path, "ko_en")
    with pytest.raises(Refusal, match=r"^zz is not supported"):
        ours.code("zz")
    with pytest.raises(Refusal, match=r"^this language is not supported"):
        ours.code("<script>" * 10)


def test_two_translators_of_one_direction_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(UsageError, match="both translate ko to en"):
        Translators([tmp_path / "ko_en", tmp_path / "a" / "ko_en"], fake)


def test_only_what_has_changed_is_opened_anew(tmp_path: Path) -> None:
    ours = served(tmp_path, "ko_en", "en_de")
    before = ours.chain("ko", "de").translators
    assert list(ours.reload()) == []
    (tmp_path / "ko_en" / "translator.json").write_text("{ }")
    assert [(path.name, error) for path, error in ours.reload()] == [("ko_en", None)]
    after = ours.chain("ko", "de").translators
    assert after[0] is not before[0]
    assert after[1] is before[1]
    assert len(list(ours.reload(all_of_them=True))) == 2


def test_a_directory_that_broke_leaves_the_old_translator_and_is_told_once(tmp_path: Path) -> None:
    ours = served(tmp_path, "ko_en")
    before = ours.chain("ko", "en").translators
    (tmp_path / "ko_en" / "broken").touch()
    (tmp_path / "ko_en" / "translator.json").write_text("{ }")
    assert [type(error) for _, error in ours.reload()] == [DirectoryError]
    assert list(ours.reload()) == []
    assert ours.chain("ko", "en").translators == before
    shutil.rmtree(tmp_path / "ko_en")
    assert ours.chain("ko", "en").translators == before


# Keys


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


# Limits, glossaries, files, starting


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
        serve(**defaults, directories=[Path("runs/en-de")])


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
    assert "'letters' is not a limit" in str(caught.value)
    assert "'queue=many' does not have a whole number" in str(caught.value)


def test_glossaries_survive_a_restart_and_belong_to_their_owner(tmp_path: Path) -> None:
    first = Glossaries(tmp_path, Limits())
    dictionary = Dictionary(source="ko", target="en", terms={"책": "book"})
    kept = first.add(StoredGlossary(name="words", owner="a", dictionaries=(dictionary,)))
    again = Glossaries(tmp_path, Limits())
    assert again.find(kept.id, "a") == kept
    assert again.of("b") == []
    with pytest.raises(Refusal, match="no such glossary"):
        again.find(kept.id, "b")
    again.remove(kept)
    assert Glossaries(tmp_path, Limits()).of("a") == []


@pytest.mark.parametrize("text", ["", "a", "a\t", "\tb", "a\tb\na\tc", "a\tb\n" * 2, "x" * 2000 + "\ty"])
def test_entries_that_are_no_terms_are_refused(text: str) -> None:
    with pytest.raises(Refusal):
        Glossaries(None, Limits()).terms(text, "tsv")


def test_entries_may_be_csv() -> None:
    assert Glossaries(None, Limits()).terms('"a, b",c\n\nd,e\n', "csv") == {"a, b": "c", "d": "e"}


def test_files_are_gone_when_their_time_is_over() -> None:
    files = Files(seconds=100)
    name = files.store(b"data", ".txt")
    assert files.find(name) == b"data"
    assert oct(files.folder.stat().st_mode)[-3:] == "700"
    files.seconds = -1
    other = files.store(b"data", ".txt")
    with pytest.raises(Refusal):
        files.find(other)
    assert [path.name for path in files.folder.iterdir()] == [name]
    files.close()
    assert not files.folder.exists()
