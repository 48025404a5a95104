"""Bad input: what is wrong, where, what to do next; exit code 2; no traceback; nothing half-written."""

from __future__ import annotations

import gzip
import json
import random
import resource
import shutil
import subprocess
import sys
import unicodedata
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.cli.conftest import Tongsa

import forked

LANGUAGES = ("--from", "en", "--to", "de")


def train(tongsa: Tongsa, corpus: Path, *more: str) -> str:
    """What a training says that is refused; it must leave no directory behind."""
    out = corpus.parent / "out"
    said = tongsa.refuses("train", corpus, *LANGUAGES, "--out", out, "--threads", "1", *more)
    assert not out.exists()
    return said


def test_line_counts_that_differ_name_the_lines_near_the_gap(tongsa: Tongsa, tmp_path: Path) -> None:
    draw = random.Random(1)
    lines = ["w" * draw.randint(5, 120) for _ in range(900)]
    (tmp_path / "train.en").write_text("\n".join(lines) + "\n")
    (tmp_path / "train.de").write_text("\n".join(lines[:400] + lines[403:]) + "\n")
    said = train(tongsa, tmp_path / "train")
    assert f"error: {tmp_path}/train.en has 900 lines, {tmp_path}/train.de has 897\n" in said
    assert abs(int(said.split("near line ")[1].split(".")[0]) - 401) <= 3


def test_text_that_is_not_utf_8_names_file_line_and_byte(tongsa: Tongsa, corpus: Path) -> None:
    lines = corpus.with_suffix(".de").read_bytes().split(b"\n")
    lines[41] = "schön".encode("cp1252")
    corpus.with_suffix(".de").write_bytes(b"\n".join(lines))
    said = train(tongsa, corpus)
    assert f"{corpus}.de, line 42, byte 4: not utf-8 (0xf6" in said
    assert "--encoding cp1252" in said
    # with the encoding named, the text is read: the next thing is that 200,000 subwords are too many
    said = train(tongsa, corpus, "--encoding", "cp1252", "--set", "subwords.size=200000")
    assert "too small for a vocabulary" in said
    assert "unknown encoding" in train(tongsa, corpus, "--encoding", "klingon")


def test_an_empty_file_is_told(tongsa: Tongsa, tmp_path: Path) -> None:
    for language in ("en", "de"):
        (tmp_path / f"train.{language}").write_bytes(b"")
    assert f"{tmp_path}/train has 0 pairs with text on both sides" in train(tongsa, tmp_path / "train")


def test_a_missing_language_is_told(tongsa: Tongsa, corpus: Path) -> None:
    corpus.with_suffix(".de").unlink()
    assert f"{corpus}.en is there, but {corpus}.de is not" in train(tongsa, corpus)


def test_a_missing_corpus_is_told_with_what_is_there(tongsa: Tongsa, corpus: Path) -> None:
    assert "train.de, train.en" in train(tongsa, corpus.with_name("trian"))


def test_a_gz_cut_short_is_told(tongsa: Tongsa, corpus: Path) -> None:
    packed = gzip.compress(corpus.with_suffix(".de").read_bytes())
    corpus.with_suffix(".de").unlink()
    Path(f"{corpus}.de.gz").write_bytes(packed[: len(packed) // 2])
    assert f"{corpus}.de.gz is damaged after line" in train(tongsa, corpus)


def test_a_vocabulary_that_the_text_cannot_bear_names_one_that_it_can(tongsa: Tongsa, corpus: Path) -> None:
    said = train(tongsa, corpus, "--set", "subwords.size=20000")
    assert "the text is too small for a vocabulary of 20,000 pieces" in said
    assert "--set subwords.size=" in said


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--set", "model.d_modle=64"], "unknown key model.d_modle: did you mean d_model?"),
        (["--set", "modle.d_model=64"], "did you mean model?"),
        (["--set", "model.d_model"], "--set model.d_model has no value"),
        (["--set", "training.schedule=linear"], "it can be noam"),
        (["--set", "training.peak=nan"], "must be a number"),
        (["--set", "model.architecture=[1]"], "unknown model.architecture"),
        (["--recipe", "tinny"], "unknown recipe: tinny: did you mean tiny?"),
        (["--minutes", "0"], "--minutes must be above 0"),
        (["--minutes", "nan"], "--minutes must be above 0"),
        (["--seed", "-1"], "--seed"),
        (["--threads", "0"], "--threads"),
        (["--device", "abacus"], "unknown device: abacus"),
        (["--valid", "nowhere"], "there is no corpus nowhere"),
    ],
)
def test_options_that_cannot_be_are_told(tongsa: Tongsa, corpus: Path, options: list[str], told: str) -> None:
    assert told in train(tongsa, corpus, *options)


def test_what_a_training_needs_is_asked_for(tongsa: Tongsa, corpus: Path) -> None:
    assert "--out is missing" in tongsa.refuses("train", corpus, *LANGUAGES)
    assert "needs a corpus and its languages" in tongsa.refuses("train", corpus, "--out", "x")
    assert "no training to resume" in tongsa.refuses("train", "--resume", "--out", corpus.parent / "x")


def test_a_recipe_file_that_is_no_toml_is_told(tongsa: Tongsa, corpus: Path) -> None:
    recipe = corpus.with_name("my.toml")
    recipe.write_text("[model\n")
    assert "my.toml is not TOML" in train(tongsa, corpus, "--recipe", str(recipe))
    recipe.write_text("training = 5\n")
    assert "write [training] on a line of its own" in train(tongsa, corpus, "--recipe", str(recipe))


def test_an_out_that_is_a_file_is_told_and_left(tongsa: Tongsa, corpus: Path) -> None:
    precious = corpus.with_name("precious")
    precious.write_text("text")
    said = tongsa.refuses(
        "train",
        corpus,
        *LANGUAGES,
        "--out",
        precious,
        "--threads",
        "1",
        "--recipe",
        "tiny",
        "--set",
        "subwords.size=300",
    )
    assert "cannot be written" in said
    assert precious.read_text() == "text"


def test_a_translator_is_never_overwritten(tongsa: Tongsa, corpus: Path, whole_translator: Path) -> None:
    before = (whole_translator / "translator.json").read_bytes()
    said = tongsa.refuses("train", corpus, *LANGUAGES, "--out", whole_translator)
    assert "already holds a translator" in said
    assert (whole_translator / "translator.json").read_bytes() == before


@pytest.fixture
def translator(whole_translator: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    return Path(shutil.copytree(whole_translator, tmp_path / "translator"))


def test_a_directory_that_is_no_translator_is_told(tongsa: Tongsa, tmp_path: Path) -> None:
    assert "is not a translator" in tongsa.refuses("translate", tmp_path, "text")
    assert "There is no such directory" in tongsa.refuses("translate", tmp_path / "nowhere", "text")
    (tmp_path / "file").write_text("x")
    assert "is not a translator" in tongsa.refuses("evaluate", tmp_path / "file", "corpus")


def test_a_translator_of_a_newer_format_is_told(tongsa: Tongsa, translator: Path) -> None:
    card = json.loads((translator / "translator.json").read_text())
    (translator / "translator.json").write_text(json.dumps({**card, "format": 99, "tongsa": "9.9"}))
    said = tongsa.refuses("translate", translator, "text")
    assert "has format 99" in said
    assert "pip install --upgrade tongsa" in said


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "null", '{"format": "x"}', '{"format": 1, "recipe": null}'])
def test_a_damaged_card_is_told(tongsa: Tongsa, translator: Path, content: str) -> None:
    (translator / "translator.json").write_text(content)
    assert "translator.json" in tongsa.refuses("translate", translator, "text")


def test_weights_that_do_not_fit_are_told(tongsa: Tongsa, translator: Path) -> None:
    path = translator / "weights.safetensors"
    weights = load_file(path)
    first = next(iter(weights))
    save_file({**weights, first: torch.zeros(3, 5), "extra": torch.zeros(2)}, path)
    said = tongsa.refuses("translate", translator, "text")
    assert f"{first} has the shape [3, 5]" in said
    assert "extra is not known" in said


@pytest.mark.parametrize("keep", [0, 4, 100, -10])
def test_weights_cut_short_are_told(tongsa: Tongsa, translator: Path, keep: int) -> None:
    path = translator / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    assert "weights.safetensors cannot be read" in tongsa.refuses("translate", translator, "text")


def test_missing_parts_are_told(tongsa: Tongsa, translator: Path) -> None:
    (translator / "subwords.model").rename(translator / "away")
    assert "subwords.model is missing" in tongsa.refuses("translate", translator, "text")
    (translator / "away").rename(translator / "subwords.model")
    (translator / "weights.safetensors").unlink()
    assert "weights.safetensors" in tongsa.refuses("translate", translator, "text")


def test_an_unknown_metric_is_told_before_anything_is_loaded(tongsa: Tongsa, corpus: Path) -> None:
    assert "unknown metric: blue" in tongsa.refuses("evaluate", corpus.parent, corpus, "--metric", "blue")


def test_results_never_replace_a_directory(tongsa: Tongsa, whole_translator: Path, tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text("나는 학교에 간다.\tI go to school.\n", encoding="utf-8")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "thesis").write_text("work")
    command = ("evaluate", whole_translator, tmp_path / "test.tsv", "--beam", "1")
    assert "Is a directory" in tongsa.refuses(*command, "--save", tmp_path / "results")
    assert (tmp_path / "results" / "thesis").read_text() == "work"
    done = tongsa(*command, "--json", "--save", tmp_path / "results" / "test.en")
    assert done.code == 0
    assert set(json.loads(done.out)) == {"bleu", "chrf", "ter"}
    assert (tmp_path / "results" / "test.en").read_text(encoding="utf-8").count("\n") == 1


def test_a_test_corpus_without_pairs_is_told(tongsa: Tongsa, whole_translator: Path, tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text("")
    assert "has no pairs to evaluate on" in tongsa.refuses("evaluate", whole_translator, tmp_path / "test.tsv")


def test_scores_have_a_line_a_pair_whatever_the_text(tongsa: Tongsa, whole_translator: Path, tmp_path: Path) -> None:
    unpleasant = [
        "",
        "a\u2028b",
        "\x00",
        unicodedata.normalize("NFD", "학교"),
        "😀👩‍👩‍👧",
        "שלום",
        "没有空格",
        "▁",
        "x" * 3000,
    ]
    lines = [json.dumps({"ko": text, "en": other}) for text in unpleasant for other in ("I go.", text)]
    (tmp_path / "test.jsonl").write_text("\n".join(lines), encoding="utf-8")
    done = tongsa("score", whole_translator, tmp_path / "test.jsonl")
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == len(lines)
    nfc, nfd = (
        tongsa("score", whole_translator, path).out for path in (_pair(tmp_path, form) for form in ("NFC", "NFD"))
    )
    assert nfc == nfd


def _pair(folder: Path, form: str) -> Path:
    path = folder / f"{form}.tsv"
    path.write_text(unicodedata.normalize(form, "나는 학교에 간다.\tI go to school.\n"), encoding="utf-8")  # type: ignore[arg-type]
    return path


def test_a_disk_that_fills_up_while_training_is_told_and_leaves_no_half_of_a_checkpoint(corpus: Path) -> None:
    """The kernel itself refuses the bytes of the first checkpoint; what came before it fits."""
    out = corpus.parent / "out"
    command = ["train", str(corpus), *LANGUAGES, "--out", str(out), "--threads", "1", "--recipe", "tiny"]
    for setting in (
        "subwords.size=300",
        "training.updates=2",
        "training.checkpoint_every=1",
        "training.validate_every=2",
    ):
        command += ["--set", setting]
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))  # Python ignores the signal
    process = forked.start(*command, stderr=corpus.parent / "said", first=limit)
    process.join()
    said = (corpus.parent / "said").read_text(encoding="utf-8")
    assert process.exitcode == 2, said
    assert "cannot be written: File too large" in said
    assert "Traceback" not in said
    assert list((out / "checkpoints").iterdir()) == []
    assert not (out / "translator.json").exists()


def test_the_real_command_exits_with_2_and_without_a_traceback(corpus: Path) -> None:
    command = [sys.executable, "-m", "tongsa", "train", str(corpus), *LANGUAGES, "--out", str(corpus.parent / "out")]
    done = subprocess.run([*command, "--set", "model.d_modle=5"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert "did you mean d_model?" in done.stderr
    assert "Traceback" not in done.stderr
