"""The header of the weights of a run directory, checked before anything else is read. Needs no numpy.

The header of the safetensors file must list exactly the tensors of the model, and the size of the file follows from
them. Only then is the file read, and its checksum compared with the card's.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

from tongsa.base.errors import DirectoryError
from tongsa.base.regular import checksum, open_regular
from tongsa.config.recipe import shorten, shown
from tongsa.runs.card import Card
from tongsa.runs.directory import Run, wrong_sum

Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]
"""The tensors of a model by name."""

BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I8": 1}
"""Types of numbers that weights may have, by their names in safetensors, and the bytes of one number."""

SCALE = ".scale"
"""Ending of the name of the tensor that holds a scale for each row of an I8 tensor; see runs/compact.py."""

MAX_HEADER = 100_000_000
"""Largest header in bytes, as in the safetensors library."""

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
        read_header(file, path, shapes)
        return check_sum(file, path, card)


def check_sum(file: BufferedReader, path: Path, card: Card) -> str:
    """Compare the checksum of an open file with the card's, if the card has one, and return it."""
    try:
        found = checksum(file)
    except OSError as error:
        raise DirectoryError(f"{path} cannot be read: {error.strerror}") from error
    if found not in card.checksums.get(path.name, (found,)):
        raise wrong_sum(path)
    return found


def read_header(file: BufferedReader, path: Path, shapes: Shapes | None) -> dict[str, Stored]:
    """Return where each tensor is; a file that holds anything but exactly these shapes is an error."""
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    start = 8 + length
    if length > min(size - 8, MAX_HEADER):
        raise unreadable(path, "it is too short, or not a safetensors file")
    try:
        header = json.loads(file.read(length).decode("utf-8"))
        header.pop("__metadata__", None)
        problems = [] if shapes is None else list(_misfits(header, shapes))
        wrong = [
            f"{shorten(name)} has the type {shorten(str(entry['dtype']))}"
            for name, entry in header.items()
            if entry["dtype"] not in BYTES or (entry["dtype"] == "I8" and not _has_scale(header, name))
        ]
        stored = {} if problems or wrong else {name: _stored(entry, start) for name, entry in header.items()}
    except RecursionError as error:
        raise unreadable(path, "its header is nested too deeply") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise unreadable(path, f"its header is damaged ({shown(error)})") from error
    if problems:
        raise DirectoryError(f"{path} does not fit the card and the vocabulary beside it", *few(problems))
    if wrong:
        raise DirectoryError(f"{path} holds tensors that are not floating-point numbers", *few(wrong))
    end = start
    for place in sorted(stored.values(), key=lambda place: place.begin):
        if place.begin != end:
            raise unreadable(path, "its tensors are not one after the other")
        end = place.end
    if end != size:
        raise unreadable(path, f"it has {size:,} bytes instead of {end:,}")
    return stored


def _misfits(header: Mapping[str, Any], shapes: Shapes) -> Iterator[str]:
    """Describe the differences between a header and the shapes that are needed."""
    compact = [name for name in shapes if name in header and header[name]["dtype"] == "I8"]
    shapes = {**shapes, **{name + SCALE: shapes[name][:1] for name in compact}}
    yield from (f"{name} is missing" for name in shapes if name not in header)
    yield from (f"{shorten(name)} is not known to this architecture" for name in header if name not in shapes)
    for name in shapes:
        if name in header and header[name]["shape"] != list(shapes[name]):
            yield f"{name} has the shape {shown(header[name]['shape'])}, {list(shapes[name])} is needed"


def _has_scale(header: Mapping[str, Any], name: str) -> bool:
    """Return True if there is one floating-point number for each row of a tensor."""
    scale = header.get(name + SCALE)
    rows = header[name]["shape"][:1]
    return scale is not None and scale["dtype"] != "I8" and bool(rows) and scale["shape"] == rows


def _stored(entry: Mapping[str, Any], start: int) -> Stored:
    shape, (begin, end) = entry["shape"], entry["data_offsets"]
    if not all(type(number) is int and number >= 0 for number in (*shape, begin, end)):
        raise ValueError("shapes and offsets must be whole numbers")
    if end - begin != math.prod(shape) * BYTES[entry["dtype"]]:
        raise ValueError("offsets do not match a shape")
    return Stored(entry["dtype"], tuple(shape), start + begin, start + end)


def unreadable(path: Path, why: str) -> DirectoryError:
    return DirectoryError(f"{path} cannot be read: {why}", CUT_SHORT)


def few(problems: list[str], most: int = 5) -> list[str]:
    """Return the first problems, and how many more there are."""
    return [*problems[:most], f"and {len(problems) - most} more"] if len(problems) > most else problems
