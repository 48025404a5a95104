"""Choice of the precision on this CPU.

CPUs without VNNI multiply int8 numbers through sums of 16 bits that saturate: two products of 255 x 127 do not fit, and
a translation may come out as nonsense (oneDNN issue 717). Weights of 7 bits cannot overflow there: 2 x 255 x 63 fits.
The resulting error depends on the weights, so it is measured when an engine is compiled.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import ctranslate2

LARGEST_ERROR = 0.015
"""Largest mean relative difference of log-probabilities at which `auto` chooses int8. It is measured on a few
sentences; on others it is then below 2%."""

CPU_INFO = Path("/proc/cpuinfo")
VNNI = {"avx512_vnni", "avx_vnni"}
LIMITS = ("CT2_FORCE_CPU_ISA", "ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS")
"""Environment variables that restrict the CPU instructions of the matrix libraries."""


@cache
def weight_bits() -> int:
    """Return the number of bits of int8 weights with which no product overflows on this CPU."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return 8  # sums of 32 bits
    if any(os.environ.get(name) for name in LIMITS):
        return 7
    try:
        flags = next(line for line in CPU_INFO.read_text().splitlines() if line.startswith("flags")).split()
    except (OSError, StopIteration):  # not Linux
        return 7
    return 8 if VNNI & set(flags) else 7


def cpu_facts() -> tuple[str, ...]:
    """Return what the result of int8 depends on, besides the weights."""
    return platform.machine(), *(os.environ.get(name, "") for name in LIMITS)


def relative_error(folder: Path, reference: Path, pairs: Sequence[tuple[list[str], list[str]]]) -> float:
    """Return the mean relative difference of log-probabilities between two compiled models, on these pieces."""
    sums = [_log_probabilities(each, pairs) for each in (folder, reference)]
    differences = sum(abs(a - b) for a, b in zip(*sums, strict=True))
    return float(differences / max(sum(abs(b) for b in sums[1]), 1e-6))


def _log_probabilities(folder: Path, pairs: Sequence[tuple[list[str], list[str]]]) -> list[float]:
    model = ctranslate2.Translator(str(folder), intra_threads=1)
    sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
    return [sum(result.log_probs) for result in model.score_batch(sources, targets)]


def written_by(folder: Path, sources: Sequence[list[str]], most: int) -> list[tuple[list[str], list[str]]]:
    """Return the sources, each with its translation by a compiled model, of at most `most` pieces."""
    model = ctranslate2.Translator(str(folder), intra_threads=1)
    results = model.translate_batch(list(sources), beam_size=1, max_decoding_length=most)
    return [(source, result.hypotheses[0]) for source, result in zip(sources, results, strict=True)]
