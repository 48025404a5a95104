from __future__ import annotations

import io
from pathlib import Path

import pytest
from tests.cli.conftest import Tongsa

from small_models import save_random
from tongsa.models import Decoder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    keys = {"architecture": "recurrent-language-model", "layers": 1}
    return save_random(tmp_path_factory.mktemp("lm") / "lm", "lm", keys, Decoder)


def test_generate_continues_the_line_that_it_is_given(tongsa: Tongsa, model: Path) -> None:
    whole = tongsa("generate", model, "a small bird", "--tokens", "5").out
    assert whole.startswith("a small bird")
    new = tongsa("generate", model, "a small bird", "--tokens", "5", "--only-new").out
    assert new
    assert whole.replace(" ", "") == "asmallbird" + new.replace(" ", "")
    assert tongsa("generate", model, "a small bird", "--tokens", "5").out == whole, "greedy search has no chance in it"


def test_generate_reads_prompts_from_standard_input(
    tongsa: Tongsa, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a bird\n\n"))
    done = tongsa("generate", model, "--tokens", "3", "--beam", "3", "--nbest", "2")
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "2", "2"]
    assert float(rows[0][1]) >= float(rows[1][1])


def test_the_same_seed_draws_the_same_text_and_another_one_does_not(tongsa: Tongsa, model: Path) -> None:
    drawn = [tongsa("generate", model, "a", "--sample", "--top-k", "50", "--seed", seed).out for seed in "334"]
    assert drawn[0] == drawn[1] != drawn[2]


def test_generate_refuses_what_is_not_a_language_model(tongsa: Tongsa, model: Path, whole_translator: Path) -> None:
    assert "is not a language model: it was trained for translation" in tongsa.refuses("generate", whole_translator)
    assert "need --sample" in tongsa.refuses("generate", model, "a", "--temperature", "2")
    assert "above 0" in tongsa.refuses("generate", model, "a", "--sample", "--top-p", "0")


def test_export_writes_the_layouts_of_hugging_face_or_says_what_they_cannot_hold(
    tongsa: Tongsa, model: Path, tmp_path: Path
) -> None:
    keys = {"architecture": "decoder-only", "norm": "pre", "layers": 1, "d_ff": 16, "heads": 2}
    whole = save_random(tmp_path / "lm", "lm", keys, Decoder)
    assert tongsa("export", whole, "--format", "gpt2", tmp_path / "gpt2").code == 0
    written = {"config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert {path.name for path in (tmp_path / "gpt2").iterdir()} == written
    refused = tongsa.refuses("export", model, "--format", "gpt2", tmp_path / "no")
    assert "GPT-2 cannot hold recurrent-language-model, trained for lm" in refused
    assert "a masked language model (--task mlm)" in tongsa.refuses(
        "export", whole, "--format", "bert", tmp_path / "no"
    )
