"""Which precision is right on this CPU."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ctranslate2.specs.model_spec import NumpyVariable

from small_translators import learnt_translator, sentences
from tongsa.engines import compiled, precision
from tongsa.engines.ctranslate2_export import _quantize
from tongsa.translation.translator import Translator


@pytest.fixture
def cpu_info(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(precision, "CPU_INFO", file)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    for name in precision.LIMITS:
        monkeypatch.delenv(name, raising=False)
    precision.weight_bits.cache_clear()
    yield file
    precision.weight_bits.cache_clear()


@pytest.mark.parametrize(
    ("flags", "bits"), [("fpu avx2 fma", 7), ("avx2 avx512f avx512_vnni", 8), ("avx2 avx_vnni", 8), ("avx512f", 7)]
)
def test_weights_have_eight_bits_only_where_products_are_summed_in_32(cpu_info: Path, flags: str, bits: int) -> None:
    cpu_info.write_text(f"processor : 0\nflags\t\t: {flags}\n\nprocessor : 1\nflags\t\t: {flags}\n")
    assert precision.weight_bits() == bits


def test_a_cpu_that_says_nothing_is_not_trusted(cpu_info: Path) -> None:
    assert precision.weight_bits() == 7


def test_instructions_that_are_taken_away_count(cpu_info: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cpu_info.write_text("flags : avx512_vnni\n")
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    assert precision.weight_bits() == 7


def test_other_processors_sum_in_32_bits(cpu_info: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert precision.weight_bits() == 8


def test_weights_of_seven_bits_are_at_most_63_and_close() -> None:
    matrix = np.random.default_rng(1).normal(size=(20, 30)).astype(np.float32)
    matrix[3] = 0.0
    spec = SimpleNamespace(weight=None, weight_scale=None)
    _quantize(spec, "decoder/weight", NumpyVariable(matrix.copy()), largest=63)
    rounded, scale = spec.weight.numpy(), spec.weight_scale.numpy()
    assert rounded.dtype == np.int8
    assert np.abs(rounded).max() == 63
    assert np.isfinite(scale).all()
    assert rounded / scale[:, None] == pytest.approx(matrix, abs=float(np.abs(matrix).max() / 63))


def test_int8_with_seven_bits_translates_as_float32_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "weight_bits", lambda: 7)
    directory = learnt_translator(tmp_path / "learnt")
    exact, rounded = (
        Translator.load(directory, engine="ctranslate2", precision=name, device="cpu") for name in ("float32", "int8")
    )
    sources = exact.subwords.source.encode_many([source for source, _ in sentences(40)], threads=1)
    targets = exact.subwords.target.encode_many([target for _, target in sentences(40)], threads=1)
    expected, found = ([sum(tokens) for tokens in each.engine.score(sources, targets)] for each in (exact, rounded))
    assert found == pytest.approx(expected, rel=0.1, abs=1.5)
