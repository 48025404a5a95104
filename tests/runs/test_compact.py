"""The compact form: int8 with a scale for each row, a quarter of the size, the same translations."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from small_translators import learnt_translator, sentences
from tongsa.base.errors import DirectoryError
from tongsa.runs.card import COMPACT_FORMAT
from tongsa.runs.compact import rounded, write_compact
from tongsa.runs.directory import Run
from tongsa.runs.weights import read_arrays
from tongsa.translation.translator import Translator


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return learnt_translator(tmp_path_factory.mktemp("exact"))


@pytest.fixture
def compact(exact: Path, tmp_path: Path) -> Path:
    write_compact(Run(exact), tmp_path / "compact", licence="CC BY 2.0 FR, tatoeba.org")
    return tmp_path / "compact"


def test_compact_weights_are_within_half_a_step_of_the_exact_ones(exact: Path, compact: Path) -> None:
    before = read_arrays(Run(exact), Run(exact).read_card(), None)
    after = read_arrays(Run(compact), Run(compact).read_card(), None)
    assert before.keys() == after.keys()
    for name, array in before.items():
        if array.ndim < 2:
            assert np.array_equal(array, after[name])
        else:
            step = np.abs(array).max(axis=1, keepdims=True) / 127
            assert (np.abs(array - after[name]) <= step / 2 * (1 + 1e-4)).all()


def test_a_row_of_zeros_stays_zero() -> None:
    found = rounded({"a": np.array([[0.0, 0.0], [1.0, -2.0]], np.float32)})
    assert found["a"].tolist() == [[0, 0], [64, -127]]
    assert found["a.scale"].tolist() == [1.0, pytest.approx(2 / 127)]


def test_rounding_what_was_rounded_changes_nothing(compact: Path, tmp_path: Path) -> None:
    write_compact(Run(compact), tmp_path / "again")
    first, second = (load_file(Run(path).weights_file) for path in (compact, tmp_path / "again"))
    for name, array in first.items():
        if array.dtype == np.int8:
            assert np.array_equal(array, second[name])


def test_the_compact_form_is_small_and_translates_alike(exact: Path, compact: Path) -> None:
    before, after = (Run(path).weights_file.stat().st_size for path in (exact, compact))
    assert after < 0.4 * before  # a quarter, if header and scales of so small a model were not
    texts = [korean for korean, _ in sentences(40)]
    for engine in ("native", "ctranslate2"):
        one, other = (Translator.load(path, engine=engine, threads=1) for path in (exact, compact))
        same = [a.text == b.text for a, b in zip(one.translate(texts), other.translate(texts), strict=True)]
        assert sum(same) >= 0.8 * len(same), engine


def test_the_card_tells_the_licence_and_older_versions_are_told_to_upgrade(compact: Path) -> None:
    card = Run(compact).read_card()
    assert card.compact
    assert card.training.licence == "CC BY 2.0 FR, tatoeba.org"
    assert card.training.weights.endswith("rounded to int8")
    assert json.loads(Run(compact).card_file.read_text(encoding="utf-8"))["format"] == COMPACT_FORMAT


def test_the_card_names_no_directories_of_this_machine(exact: Path, tmp_path: Path) -> None:
    card_file = Run(exact).card_file
    before = card_file.read_text(encoding="utf-8")
    values = json.loads(before)
    values["training"]["corpora"] = ["/home/somebody/texts/tatoeba/train", "data/train"]
    card_file.write_text(json.dumps(values), encoding="utf-8")
    try:
        card = write_compact(Run(exact), tmp_path / "out")
    finally:
        card_file.write_text(before, encoding="utf-8")
    assert card.training.corpora == ("tatoeba/train", "data/train")


def test_damaged_compact_weights_are_refused(compact: Path) -> None:
    path = Run(compact).weights_file
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(DirectoryError, match="checksum differs"):
        Translator.load(compact, engine="native")


@pytest.mark.parametrize("broken", ["missing", "short", "int8"])
def test_int8_without_a_scale_for_each_row_is_refused(compact: Path, broken: str) -> None:
    run = Run(compact)
    tensors = load_file(run.weights_file)
    name = next(name for name, array in tensors.items() if array.dtype == np.int8)
    scale = tensors.pop(name + ".scale")
    if broken == "short":
        tensors[name + ".scale"] = scale[:-1]
    elif broken == "int8":
        tensors[name + ".scale"] = scale.astype(np.int8)
    save_file(tensors, run.weights_file)
    with pytest.raises(DirectoryError, match=r"does not fit|has the type I8"):
        Translator.load(compact, engine="native")
    with pytest.raises(DirectoryError, match="has the type I8"):
        read_arrays(run, run.read_card(), None)


def test_a_scale_that_makes_weights_infinite_is_refused(compact: Path) -> None:
    run = Run(compact)
    content = run.weights_file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    name = next(name for name in header if name.endswith(".scale"))
    place = 8 + length + header[name]["data_offsets"][0]
    run.weights_file.write_bytes(content[:place] + struct.pack("<f", float("inf")) + content[place + 4 :])
    values = json.loads(run.card_file.read_text(encoding="utf-8"))
    values["checksums"] = {}
    run.card_file.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(DirectoryError, match="not finite"):
        Translator.load(compact, engine="native")
