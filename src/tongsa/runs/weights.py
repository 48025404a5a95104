"""The weights of a run directory as arrays, after all checks. Needs no torch.

One open file serves for the header, the checksum and the numbers, so that a training that publishes new weights
meanwhile changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tongsa.base.errors import DirectoryError
from tongsa.base.regular import open_regular
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.runs.header import SCALE, Shapes, Stored, check_sum, read_header, unreadable

Array = NDArray[np.float32]

NUMBERS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I8": "<i1"}
"""NumPy's names of the types; it has no bfloat16, and holds its bits."""

LARGEST = 100_000
"""Largest absolute value of a weight: sums of larger ones could overflow, and no training comes near."""


def read_arrays(run: Run, card: Card, shapes: Shapes | None) -> dict[str, Array]:
    """Read the weights as float32, after all checks; without shapes, whatever tensors there are."""
    path = run.weights_file
    with open_regular(path) as file:
        stored = read_header(file, path, shapes)
        check_sum(file, path, card)
        return _read_all(file, path, stored)


def read_safetensors(path: Path) -> dict[str, Array]:
    """Read all tensors of a safetensors file as float32, whatever their shapes."""
    with open_regular(path) as file:
        return _read_all(file, path, read_header(file, path, None))


def _read_all(file: BufferedReader, path: Path, stored: Mapping[str, Stored]) -> dict[str, Array]:
    found = {name: _read(file, path, place) for name, place in stored.items()}
    for name in [name for name, place in stored.items() if place.kind == "I8"]:
        scale = found.pop(name + SCALE)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            found[name] *= scale.reshape(-1, *[1] * (found[name].ndim - 1))
    check_numbers(path, found)
    return found


def check_numbers(path: Path, found: Mapping[str, Array]) -> None:
    """Raise an error if any number is not finite, or too large."""
    wrong = [name for name, array in found.items() if array.size and not np.abs(array).max() <= LARGEST]
    if wrong:
        raise DirectoryError(
            f"{path} holds numbers that are not finite, or above {LARGEST:,}, for example in {wrong[0]}",
            "The training diverged, or the file is damaged.",
        )


def _read(file: BufferedReader, path: Path, place: Stored) -> Array:
    array = np.empty(place.shape, NUMBERS[place.kind])
    try:
        file.seek(place.begin)
        read = file.readinto(array.data.cast("B")) if array.size else 0
    except OSError as error:
        raise DirectoryError(f"{path} cannot be read: {error.strerror}") from error
    if read != array.nbytes:
        raise unreadable(path, "it was shortened while it was read")
    return to_float32(array, place.kind)


def to_float32(array: NDArray[Any], kind: str) -> Array:
    """Convert numbers as they are stored; `kind` is the name of their type in safetensors."""
    if kind == "BF16":  # the upper half of a float32
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32, copy=False)
