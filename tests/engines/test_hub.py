"""`tongsa get`: OPUS-MT's models by their languages, fetched from a server that plays the hub, and imported."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tests.engines.hub_server import COMMIT, Hub, hub_server

from small_translators import random_translator
from tongsa.base import download as downloading
from tongsa.base.errors import DirectoryError, DownloadError, UsageError
from tongsa.base.progress import Silent
from tongsa.engines.marian.export import write_marian
from tongsa.engines.marian.hub import candidates, fetch, find_model
from tongsa.runs.directory import Run
from tongsa.runs.names import fetched_directory, find_translator
from tongsa.text.subwords import Subwords
from tongsa.translation.translator import Translator

NAME = "Helsinki-NLP/opus-mt-ko-en"
SENTENCE = "나는 어제 도서관에 갔다."


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_translator(tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def marian(ours: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marian") / "model"
    write_marian(folder, ours, Run(ours).read_card(), Subwords.load(ours))
    (folder / "tf_model.h5").write_bytes(b"nobody needs it")
    return folder


@pytest.fixture
def hub(marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setenv("TONGSA_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("TONGSA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(downloading, "PAUSE", 0.001)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with hub_server() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address + "/")
        server.models[NAME] = Path(shutil.copytree(marian, tmp_path / "hub"))
        yield server


def asked_for(hub: Hub, file: str) -> list[str]:
    """The ranges in which a file was asked for."""
    return [given for path, given in hub.asked if path.startswith("/stored/") and path.endswith(f"/{file}")]


def test_a_model_is_fetched_by_its_languages_and_translates_as_before(hub: Hub, ours: Path, tmp_path: Path) -> None:
    card = fetch("ko-en", tmp_path / "mine", Silent())
    assert (card.source, card.target) == ("ko", "en")
    assert card.training.imported == f"MarianMT, {NAME} at {COMMIT}"
    assert card.training.licence == "cc-by-4.0"
    assert not asked_for(hub, "tf_model.h5")
    before, after = (Translator.load(path, engine="native", threads=1) for path in (ours, tmp_path / "mine"))
    assert after.translate([SENTENCE])[0].text == before.translate([SENTENCE])[0].text
    assert not list((tmp_path / "cache").rglob("*.safetensors"))  # what was fetched is not kept twice


def test_a_model_that_has_only_a_file_of_torch_is_read(hub: Hub, ours: Path, tmp_path: Path) -> None:
    folder = hub.models[NAME]
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    fetch(NAME, tmp_path / "mine", Silent())
    fetched = Translator.load(tmp_path / "mine", engine="native", threads=1).translate([SENTENCE])[0].text
    assert fetched == Translator.load(ours, engine="native", threads=1).translate([SENTENCE])[0].text


def test_an_interrupted_download_goes_on_where_it_stopped(hub: Hub, tmp_path: Path) -> None:
    hub.cut_after["model.safetensors"] = [1000, 5000]
    fetch("ko-en", tmp_path / "mine", Silent())
    assert asked_for(hub, "model.safetensors") == ["", "bytes=1000-", "bytes=6000-"]


def test_a_second_command_goes_on_where_the_first_one_stopped(hub: Hub, tmp_path: Path) -> None:
    hub.cut_after["model.safetensors"] = [1000, 0, 0, 0, 0, 0]
    with pytest.raises(DownloadError, match=r"1,000 of [\d,]+ bytes are kept"):
        fetch("ko-en", tmp_path / "mine", Silent())
    assert not (tmp_path / "mine").exists()
    hub.asked.clear()
    fetch("ko-en", tmp_path / "mine", Silent())
    assert asked_for(hub, "model.safetensors") == ["bytes=1000-"]
    assert not asked_for(hub, "vocab.json")  # already there


def test_a_server_without_ranges_is_asked_for_the_whole_file_again(hub: Hub, tmp_path: Path) -> None:
    hub.ranges = False
    hub.cut_after["model.safetensors"] = [1000]
    fetch("ko-en", tmp_path / "mine", Silent())
    assert asked_for(hub, "model.safetensors") == ["", "bytes=1000-"]


@pytest.mark.parametrize("file", ["model.safetensors", "vocab.json"])
def test_a_file_with_another_hash_is_refused(hub: Hub, tmp_path: Path, file: str) -> None:
    """Large files have a SHA-256, small ones the hash of git."""
    content = bytearray((hub.models[NAME] / file).read_bytes())
    content[len(content) // 2] ^= 1
    hub.lies[file] = bytes(content)
    with pytest.raises(DownloadError, match=rf"{file} is not the file that its server describes"):
        fetch("ko-en", tmp_path / "mine", Silent())
    assert not (tmp_path / "mine").exists()
    hub.lies.clear()
    fetch("ko-en", tmp_path / "mine", Silent())  # the damaged one was not kept


def test_more_bytes_than_described_are_not_taken(hub: Hub, tmp_path: Path) -> None:
    hub.lies["vocab.json"] = (hub.models[NAME] / "vocab.json").read_bytes() + b" " * 100_000
    fetch("ko-en", tmp_path / "mine", Silent())  # the first bytes are right, no more are read


def test_a_model_that_cannot_be_imported_is_refused_before_its_weights_are_fetched(hub: Hub, tmp_path: Path) -> None:
    vocabulary = hub.models[NAME] / "vocab.json"
    values = json.loads(vocabulary.read_text(encoding="utf-8"))
    last = max(values.values())
    vocabulary.write_text(json.dumps({**values, ">>fra<<": last, "<pad>": last + 1}), encoding="utf-8")
    config = hub.models[NAME] / "config.json"
    settings = json.loads(config.read_text(encoding="utf-8"))
    sizes = {"vocab_size": last + 2, "decoder_vocab_size": last + 2}
    ids = {"pad_token_id": last + 1, "decoder_start_token_id": last + 1}
    config.write_text(json.dumps({**settings, **sizes, **ids}), encoding="utf-8")
    with pytest.raises(UsageError, match="several target languages"):
        fetch("ko-en", tmp_path / "mine", Silent())
    assert not asked_for(hub, "model.safetensors")


def test_an_unknown_model_is_told_with_what_was_tried(hub: Hub) -> None:
    with pytest.raises(DownloadError, match=rf"(?s)no model for en-fr.*opus-mt-en-fr, .*tc-big-en-fr.*Similar: {NAME}"):
        find_model("en-fr")


def test_an_error_of_the_server_is_told(hub: Hub, tmp_path: Path) -> None:
    hub.status["config.json"] = 403
    with pytest.raises(DownloadError, match="error 403"):
        fetch("ko-en", tmp_path / "mine", Silent())
    hub.status["config.json"] = 503
    with pytest.raises(DownloadError, match="cannot be fetched"):
        fetch("ko-en", tmp_path / "mine", Silent())


def test_no_server_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DownloadError, match=r"127\.0\.0\.1:9/.* cannot be fetched"):
        find_model("en-de")
    monkeypatch.setenv("HF_ENDPOINT", "file:///etc")
    with pytest.raises(DownloadError, match="not an address of the web"):
        find_model("en-de")


def test_a_hostile_file_of_torch_runs_nothing(hub: Hub, tmp_path: Path) -> None:
    folder = hub.models[NAME]
    (folder / "model.safetensors").unlink()
    torch.save({"a": shutil.rmtree}, folder / "pytorch_model.bin")
    with pytest.raises(DirectoryError, match="is not a tensor"):
        fetch("ko-en", tmp_path / "mine", Silent())


@pytest.mark.parametrize(
    ("name", "tried"),
    [
        ("en-de", "Helsinki-NLP/opus-mt-en-de"),
        ("en-ko", "Helsinki-NLP/opus-mt-tc-big-en-ko"),
        ("en-ja", "Helsinki-NLP/opus-mt-en-jap"),
        ("ROMANCE-en", "Helsinki-NLP/opus-mt-ROMANCE-en"),
        ("opus-mt-tc-big-gmq-en", "Helsinki-NLP/opus-mt-tc-big-gmq-en"),
        ("somebody/model", "somebody/model"),
    ],
)
def test_names_of_models(name: str, tried: str) -> None:
    assert tried in candidates(name)


@pytest.mark.parametrize("name", ["english", "../../etc", "a/b/c", "en-de?x=1", ""])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="neither a pair of languages nor a model"):
        candidates(name)


def test_what_was_fetched_is_found_by_its_name(hub: Hub) -> None:
    fetch("ko-en", fetched_directory() / "ko-en", Silent())
    assert find_translator("ko-en") == fetched_directory() / "ko-en"
