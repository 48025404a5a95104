"""The weights file as numpy arrays, read without torch, and whether it fits the recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from tongsa.base.errors import DirectoryError
from tongsa.runs.directory import Run

Array = NDArray[np.float32]

FLOATS = ("F64", "F32", "F16", "BF16")
"""Types of numbers that are converted to float32."""


def read_safetensors(path: Path) -> dict[str, Array]:
    """Read all tensors of a safetensors file as float32."""
    try:
        with safe_open(path, framework="np") as file:
            types = {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118 (not a dict)
            refuse_other_types(path, types)
            arrays = {name: file.get_tensor(name) for name in types if types[name] != "BF16"}
        missing = [name for name, kind in types.items() if kind == "BF16"]
        arrays |= _bfloat16(path, missing) if missing else {}
    except FileNotFoundError as error:
        raise DirectoryError(f"{path} is missing") from error
    except (SafetensorError, OSError) as error:
        raise DirectoryError(
            f"{path} cannot be read: {error}", "It may have been cut short while it was copied."
        ) from error
    return {name: arrays[name].astype(np.float32, copy=False) for name in types}


def refuse_other_types(path: Path, types: Mapping[str, str]) -> None:
    """Refuse tensors that do not hold floating-point numbers."""
    wrong = [f"{name} has the type {kind}" for name, kind in types.items() if kind not in FLOATS]
    if wrong:
        raise DirectoryError(f"{path} holds tensors that are not floating-point numbers", *few(wrong))


def _bfloat16(path: Path, names: Sequence[str]) -> dict[str, Array]:
    """Read tensors of a type that numpy lacks: the upper half of a float32."""
    from safetensors import deserialize

    stored = dict(deserialize(path.read_bytes()))  # type: ignore[no-untyped-call]
    return {
        name: (np.frombuffer(stored[name]["data"], "<u2").astype("<u4") << 16)
        .view(np.float32)
        .reshape(stored[name]["shape"])
        for name in names
    }


Shape = tuple[int, ...]


def check_shapes(run: Run, found: Mapping[str, Shape], expected: Mapping[str, Shape]) -> None:
    """Raise an error that lists the weights that do not fit the architecture and the subwords."""
    problems = [f"{name} is missing" for name in expected if name not in found]
    problems += [f"{name} is not known to this architecture" for name in found if name not in expected]
    problems += [
        f"{name} has the shape {list(found[name])}, {list(expected[name])} is needed"
        for name in expected
        if name in found and tuple(found[name]) != tuple(expected[name])
    ]
    if problems:
        raise DirectoryError(
            f"{run.weights_file} does not fit {run.card_file.name} and the subwords beside it", *few(problems)
        )


def few(problems: Sequence[str], most: int = 5) -> list[str]:
    """Return the first problems, and how many more there are."""
    return [*problems[:most], f"and {len(problems) - most} more"] if len(problems) > most else list(problems)
