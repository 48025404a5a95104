"""The weights of a run directory, checked before they are used. Needs no torch.

The header of the safetensors file must list exactly the tensors of the model, and the size of the file follows from
them. Only then is the file read: its checksum is compared with the card's, and its numbers must be finite. One open
file serves all of this, so that a training that publishes new weights meanwhile changes nothing.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tongsa.base.errors import DirectoryError
from tongsa.base.regular import checksum, open_regular
from tongsa.config.recipe import shorten, shown
from tongsa.runs.card import Card
from tongsa.runs.directory import Run, wrong_sum

Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]
"""The tensors of a model by name."""

Array = NDArray[np.float32]

NUMBERS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
"""Types of numbers that weights may have, by their names in safetensors; NumPy has no bfloat16, and holds its bits."""

MAX_HEADER = 100_000_000
"""Largest header in bytes, as in the safetensors library."""

LARGEST = 100_000
"""Largest absolute value of a weight: sums of larger ones could overflow, and no training comes near."""

CUT_SHORT = "It may have been cut short or damaged while it was copied: copy it again."


class Stored(NamedTuple):
    """A tensor in the file: its type, its shape, and its place in bytes."""

    kind: str
    shape: Shape
    begin: int
    end: int


def check_weights(run: Run, card: Card, shapes: Shapes) -> str:
    """Check header, size and checksum of the weights, but not their numbers; return the checksum."""
    path = run.weights_file
    with open_regular(path) as file:
        _read_header(file, path, shapes)
        return _check_sum(file, path, card)


def read_arrays(run: Run, card: Card, shapes: Shapes) -> dict[str, Array]:
    """Read the weights as float32, after all checks."""
    path = run.weights_file
    with open_regular(path) as file:
        stored = _read_header(file, path, shapes)
        _check_sum(file, path, card)
        return _read_all(file, path, stored)


def read_safetensors(path: Path) -> dict[str, Array]:
    """Read all tensors of a safetensors file as float32, whatever their shapes."""
    with open_regular(path) as file:
        return _read_all(file, path, _read_header(file, path, None))


def _read_all(file: BufferedReader, path: Path, stored: Mapping[str, Stored]) -> dict[str, Array]:
    found = {name: _read(file, path, place) for name, place in stored.items()}
    wrong = [name for name, array in found.items() if array.size and not np.abs(array).max() <= LARGEST]
    if wrong:
        raise DirectoryError(
            f"{path} holds numbers that are not finite, or above {LARGEST:,}, for example in {wrong[0]}",
            "The training diverged, or the file is damaged.",
        )
    return found


def _check_sum(file: BufferedReader, path: Path, card: Card) -> str:
    """Compare the checksum of an open file with the card's, if the card has one, and return it."""
    try:
        found = checksum(file)
    except OSError as error:
        raise DirectoryError(f"{path} cannot be read: {error.strerror}") from error
    if found not in card.checksums.get(path.name, (found,)):
        raise wrong_sum(path)
    return found


def _read_header(file: BufferedReader, path: Path, shapes: Shapes | None) -> dict[str, Stored]:
    """Return where each tensor is; a file that holds anything but exactly these shapes is an error."""
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    start = 8 + length
    if length > min(size - 8, MAX_HEADER):
        raise _unreadable(path, "it is too short, or not a safetensors file")
    try:
        header = json.loads(file.read(length).decode("utf-8"))
        header.pop("__metadata__", None)
        problems = [] if shapes is None else list(_misfits(header, shapes))
        kinds = {name: entry["dtype"] for name, entry in header.items()}
        wrong = [
            f"{shorten(name)} has the type {shorten(str(kind))}" for name, kind in kinds.items() if kind not in NUMBERS
        ]
        stored = {} if problems or wrong else {name: _stored(entry, start) for name, entry in header.items()}
    except RecursionError as error:
        raise _unreadable(path, "its header is nested too deeply") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _unreadable(path, f"its header is damaged ({shown(error)})") from error
    if problems:
        raise DirectoryError(f"{path} does not fit the card and the vocabulary beside it", *few(problems))
    if wrong:
        raise DirectoryError(f"{path} holds tensors that are not floating-point numbers", *few(wrong))
    end = start
    for place in sorted(stored.values(), key=lambda place: place.begin):
        if place.begin != end:
            raise _unreadable(path, "its tensors are not one after the other")
        end = place.end
    if end != size:
        raise _unreadable(path, f"it has {size:,} bytes instead of {end:,}")
    return stored


def _misfits(header: Mapping[str, Any], shapes: Shapes) -> Iterator[str]:
    """Describe the differences between a header and the shapes that are needed."""
    yield from (f"{name} is missing" for name in shapes if name not in header)
    yield from (f"{shorten(name)} is not known to this architecture" for name in header if name not in shapes)
    for name in shapes:
        if name in header and header[name]["shape"] != list(shapes[name]):
            yield f"{name} has the shape {shown(header[name]['shape'])}, {list(shapes[name])} is needed"


def _stored(entry: Mapping[str, Any], start: int) -> Stored:
    shape, (begin, end) = entry["shape"], entry["data_offsets"]
    if not all(type(number) is int and number >= 0 for number in (*shape, begin, end)):
        raise ValueError("shapes and offsets must be whole numbers")
    if end - begin != math.prod(shape) * np.dtype(NUMBERS[entry["dtype"]]).itemsize:
        raise ValueError("offsets do not match a shape")
    return Stored(entry["dtype"], tuple(shape), start + begin, start + end)


def _read(file: BufferedReader, path: Path, place: Stored) -> Array:
    array = np.empty(place.shape, NUMBERS[place.kind])
    try:
        file.seek(place.begin)
        read = file.readinto(array.data.cast("B")) if array.size else 0
    except OSError as error:
        raise DirectoryError(f"{path} cannot be read: {error.strerror}") from error
    if read != array.nbytes:
        raise _unreadable(path, "it was shortened while it was read")
    if place.kind == "BF16":  # the upper half of a float32
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32, copy=False)


def _unreadable(path: Path, why: str) -> DirectoryError:
    return DirectoryError(f"{path} cannot be read: {why}", CUT_SHORT)


def few(problems: list[str], most: int = 5) -> list[str]:
    """Return the first problems, and how many more there are."""
    return [*problems[:most], f"and {len(problems) - most} more"] if len(problems) > most else problems
