"""An experiment: a question about the systems of the paper, its options, and a function that answers it.

To add one, see docs/extend/experiment.md.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tongsa.base.errors import UsageError
from tongsa.base.progress import Show


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An experiment that `tongsa lab run NAME --set key=value --out DIR` runs."""

    question: str
    options: type[Any]
    """A frozen dataclass whose fields are the experiment's settings."""
    run: Callable[[Any, Path, Show], str]
    """Runs with the options, writes the results into the directory, and returns the text to print."""


def read_options(kind: type[Any], settings: Mapping[str, str]) -> Any:
    """The options of an experiment from `{"key": "value"}`; all problems are reported together.

    A key with a dot (`training.updates`) is a setting of the recipe, if the options have a field `settings`.
    """
    types_of = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    values: dict[str, Any] = {}
    problems = []
    if "settings" in fields:
        values["settings"] = {key: value for key, value in settings.items() if "." in key}
    for key, value in settings.items():
        if "." in key and "settings" in fields:
            continue
        if key not in fields:
            problems.append(f"unknown option: {key}")
            continue
        try:
            values[key] = _read(types_of[key], value)
        except ValueError:
            problems.append(f"{key} must be {_name(types_of[key])}, not {value!r}")
    needed = [
        name
        for name, field in fields.items()
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING and name not in values
    ]
    problems += [f"{name} is missing" for name in needed]
    if problems:
        raise UsageError("; ".join(problems), f"Options: {', '.join(fields)}")
    return kind(**values)


def _read(kind: Any, value: str) -> Any:
    if isinstance(kind, types.UnionType):  # X | None
        kind = next(each for each in typing.get_args(kind) if each is not type(None))
    if typing.get_origin(kind) is tuple:
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if kind is bool:
        if value.lower() not in ("yes", "no", "true", "false"):
            raise ValueError(value)
        return value.lower() in ("yes", "true")
    return kind(value)


def _name(kind: Any) -> str:
    plain = {int: "a whole number", float: "a number", bool: "yes or no"}
    options = [each for each in typing.get_args(kind) if each is not type(None)] or [kind]
    return plain.get(options[0], str(options[0]))
