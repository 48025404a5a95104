"""Recipes are read from TOML and checked once, here: every problem of a recipe is reported in one error."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import json
import math
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tongsa.base.errors import RecipeError
from tongsa.config.architectures import (
    ARCHITECTURES,
    ModelSection,
    TransformerSection,
    architecture_names,
    section_class,
)
from tongsa.config.sections import CorpusSection, DecodingSection, SubwordsSection, TrainingSection

Values = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The five sections; `Recipe()` is the paper's base model."""

    corpus: CorpusSection = field(default_factory=CorpusSection)
    subwords: SubwordsSection = field(default_factory=SubwordsSection)
    model: ModelSection = field(default_factory=TransformerSection)
    training: TrainingSection = field(default_factory=TrainingSection)
    decoding: DecodingSection = field(default_factory=DecodingSection)

    @classmethod
    def from_values(cls, values: Mapping[str, Values], where: str) -> Recipe:
        """Build and check a recipe; all its problems are told together."""
        if not isinstance(values, Mapping):
            raise RecipeError(f"{where} cannot be used", f"A recipe has the sections {', '.join(_SECTIONS)}.")
        unknown = [name for name in values if name not in _SECTIONS]
        problems = [f"unknown section [{shorten(name)}]{hint(name, _SECTIONS)}" for name in unknown]
        built: dict[str, Any] = {}
        for name, section in _SECTIONS.items():
            given = values.get(name, {})
            if not isinstance(given, Mapping):
                problems.append(f"{name} must be a section: write [{name}] on a line of its own")
                continue
            if name == "model":
                section = cls._model_section(given, problems)
            arguments = {key: _checked(section, name, key, value, problems) for key, value in given.items()}
            try:
                built[name] = section(**{key: value for key, value in arguments.items() if value is not None})
            except TypeError:  # an unknown key, reported above
                continue
            problems += [f"{name}.{problem}" for problem in built[name].problems()]
        if not problems and built["training"].initial_weights == "lexicon":
            name = built["model"].architecture
            if name != "transformer":
                problems.append(f"training.initial_weights is 'lexicon': only a transformer can start so, not {name}")
        if problems:
            raise RecipeError(f"{where} cannot be used", *problems)
        return cls(**built)

    @classmethod
    def _model_section(cls, given: Values, problems: list[str]) -> type[ModelSection]:
        name = given.get("architecture", ModelSection.architecture)
        # Searching the entry points of other packages takes time, so do it only if the name is not built in.
        if isinstance(name, str) and (name in ARCHITECTURES or name in architecture_names()):
            return section_class(name)
        known = architecture_names()
        told = f"unknown model.architecture {shown(name)}{hint(name, known)}"
        problems.append(f"{told} (known: {', '.join(known)})")
        return TransformerSection

    def to_values(self) -> dict[str, dict[str, Any]]:
        """Return every key with its value, as `from_values` reads them."""
        return dataclasses.asdict(self)

    def to_toml(self) -> str:
        lines = []
        for name, section in self.to_values().items():
            lines += [f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in section.items()), ""]
        return "\n".join(lines)

    def with_settings(self, settings: Mapping[str, str], where: str = "--set") -> Recipe:
        """Return a copy with `section.key` settings replaced, as given by `--set`."""
        return Recipe.from_values(merge(self.to_values(), parse_settings(settings)), where)


_SECTIONS: dict[str, type[Any]] = {
    "corpus": CorpusSection,
    "subwords": SubwordsSection,
    "model": ModelSection,
    "training": TrainingSection,
    "decoding": DecodingSection,
}


def read_toml(path: Path) -> dict[str, Any]:
    """Read the tables of a recipe file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # also for numbers of thousands of digits
        raise RecipeError(f"{path} is not TOML: {error}") from error


def parse_settings(settings: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Turn `{"model.d_model": "256"}` into the tables that a TOML file would give."""
    values: dict[str, dict[str, Any]] = {}
    problems = []
    for name, text in settings.items():
        section, dot, key = name.partition(".")
        if not dot or section not in _SECTIONS:
            problems.append(f"{name}: a setting is SECTION.KEY=VALUE{hint(section, _SECTIONS)}")
            continue
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError):
            value = text  # a bare word is a string
        values.setdefault(section, {})[key] = value
    if problems:
        raise RecipeError("--set cannot be used", *problems, f"The sections are {', '.join(_SECTIONS)}.")
    return values


def merge(base: Mapping[str, Values], changes: Mapping[str, Values]) -> dict[str, Any]:
    """Apply changes to tables; a change of architecture drops the keys of the previous one."""
    # Leave a value that should be a table unchanged; `from_values` reports it.
    merged: dict[str, Any] = {
        name: dict(table) if isinstance(table, Mapping) else table for name, table in base.items()
    }
    for name, table in changes.items():
        below = merged.get(name, {})
        if not isinstance(table, Mapping):
            merged[name] = table
            continue
        if not isinstance(below, Mapping):
            continue
        if name == "model" and "architecture" in table and table["architecture"] != below.get("architecture"):
            common = {field.name for field in dataclasses.fields(ModelSection)}
            below = {key: value for key, value in below.items() if key in common}
        merged[name] = {**below, **table}
    return merged


@functools.cache
def _hints(section: type[Any]) -> dict[str, Any]:
    return typing.get_type_hints(section)


def _checked(section: type[Any], name: str, key: str, value: Any, problems: list[str]) -> Any:
    """Return the value in the field's type; if it is invalid, record a problem and return None."""
    hints = _hints(section)  # type: ignore[arg-type]
    fields = [field.name for field in dataclasses.fields(section)]
    if key not in fields:
        problems.append(f"unknown key {name}.{shorten(key)}{hint(key, fields)}")
        return None
    kind = hints[key]
    if isinstance(kind, types.GenericAlias) or typing.get_origin(kind) is Literal:
        choices = typing.get_args(kind)
        if value not in choices:
            problems.append(f"{name}.{key} is {shown(value)}; it can be {', '.join(choices)}")
            return None
        return value
    if kind is float and type(value) is int and abs(value) < LARGEST:
        return float(value)
    if type(value) is not kind or (kind is float and not math.isfinite(value)):
        problems.append(f"{name}.{key} is {shown(value)}; it must be {_KINDS[kind]}")
        return None
    return value


_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


LARGEST = 10**300
"""Whole numbers from here on are not converted: a float holds up to about 10**308."""

LONGEST_SHOWN = 80
"""Most characters of a wrong value that an error repeats."""


def shown(value: object) -> str:
    """Return a value as an error shows it."""
    return shorten(repr(value))


def shorten(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def hint(word: object, known: typing.Iterable[str]) -> str:
    """Return `: did you mean ...?`, or nothing if no known name is close."""
    if not isinstance(word, str) or len(word) > LONGEST_SHOWN:
        return ""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f": did you mean {close[0]}?" if close else ""


def _toml(value: bool | float | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):  # JSON escapes like TOML, except for one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
