"""From OPUS-MT to a fine-tuned translator in three commands, with a server that plays the hub."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Tongsa
from tests.engines.hub_server import hub_server

from small_translators import sentences
from tongsa.engines.marian.export import write_marian
from tongsa.runs.directory import Run
from tongsa.text.subwords import Subwords


@pytest.mark.filterwarnings("ignore")  # of transformers, which reads nothing here but may be imported
def test_three_commands_get_finetune_translate(
    tongsa: Tongsa, whole_translator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TONGSA_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("http_proxy", raising=False)
    monkeypatch.chdir(tmp_path)
    write_marian(tmp_path / "hub", whole_translator, Run(whole_translator).read_card(), Subwords.load(whole_translator))
    for language, side in zip(("ko", "en"), zip(*sentences(60), strict=True), strict=True):
        Path(f"train.{language}").write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    with hub_server() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        hub.models["Helsinki-NLP/opus-mt-ko-en"] = tmp_path / "hub"
        done = tongsa("get", "ko-en")
        assert done.code == 0, done.err
        assert "licence cc-by-4.0" in done.err
        assert "ko to en" in done.out
        assert "already there" in tongsa("get", "ko-en").out
        assert tongsa("get", "ko-en", "--as", "other").code == 0
        assert "no model for en-xx" in tongsa.refuses("get", "en-xx")
        assert "cannot be the name" in tongsa.refuses("get", "ko-en", "--as", "..")
    listed = tongsa("get").out
    assert "ko to en" in listed
    assert {"en-de", "ko-en", "other"} <= {line.split()[0] for line in listed.splitlines() if line.strip()}
    tuned = tongsa("finetune", "ko-en", "train", "--out", "mine", "--set", "training.updates=2")
    assert tuned.code == 0, tuned.err
    assert tongsa("translate", "mine", sentences(1)[0][0]).code == 0
