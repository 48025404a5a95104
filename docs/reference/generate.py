"""Writes the pages of this folder from the docstrings of the source: `python docs/reference/generate.py`.

A test fails where a page is not what the source says.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["TONGSA_LANG"] = "en"  # whatever the locale is
HERE = Path(__file__).parent
WIDTH = 100

PYTHON: dict[str, list[str]] = {
    "tongsa": ["train", "resume", "load", "Translator", "Translation", "TranslateOptions", "translate_document"],
    "tongsa.decoding.search": ["Search", "Sampling"],
    "tongsa.documents": ["Resources", "TranslatedDocument"],
    "tongsa.runs.job": ["TrainOptions"],
    "tongsa.runs.directory": ["Run"],
    "tongsa.runs.card": ["Card"],
    "tongsa.evaluation.metrics": ["score"],
    "tongsa.evaluation.contracts": ["Metric", "TextMetric", "MeanMetric", "Score"],
    "tongsa.models.contracts": ["Decoder", "Seq2Seq", "Encoder", "State", "Attention"],
    "tongsa.tasks.contract": ["Task", "Objective", "Evaluation"],
    "tongsa.formats.registry": ["Format"],
    "tongsa.base.registry": ["Registry"],
}
"""What a program may import and rely on, by module."""


def pages() -> dict[str, str]:
    return {"python.md": python_page(), "recipe.md": recipe_page(), "commands.md": commands_page()}


def python_page() -> str:
    parts = [
        "# Python",
        "What a program may import and rely on, from the docstrings of the source. `tongsa.train` and"
        " `tongsa.Translator` are where most programs begin.",
    ]
    for module, names in PYTHON.items():
        parts.append(f"## {module}")
        for name in names:
            parts += _described(getattr(importlib.import_module(module), name), name)
    return "\n\n".join(parts) + "\n"


def _described(value: Any, name: str) -> Iterator[str]:
    yield f"### {name}"
    if inspect.isclass(value):
        yield from _class(value)
    else:
        yield f"```python\n{name}{_signature(value)}\n```"
        yield _text(value)


def _class(kind: type) -> Iterator[str]:
    yield _text(kind)
    if dataclasses.is_dataclass(kind):
        rows = [(field.name, _type(field.type), _default(field), said) for field, said in _fields(kind)]
        if rows:
            yield _table(("field", "type", "default", ""), rows)
    for name, member in vars(kind).items():
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if name.startswith("_") or not inspect.isfunction(function) or not function.__doc__:
            continue
        first = "@classmethod\n" if isinstance(member, classmethod) else ""
        yield f"```python\n{first}{name}{_signature(function)}\n```"
        yield _text(function)


def _signature(function: Any) -> str:
    """Annotations are strings in the source, so they lose their quotes; a long signature has a line a parameter."""
    signature = inspect.signature(function)
    parameters = [re.sub(r": '([^']*)'", r": \1", str(each)) for each in signature.parameters.values()]
    kinds = [each.kind for each in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    result = "" if signature.return_annotation is signature.empty else f" -> {signature.return_annotation}"
    line = f"({', '.join(parameters)}){result}"
    if len(line) < WIDTH:
        return line
    return "(\n" + "".join(f"    {each},\n" for each in parameters) + f"){result}"


def _text(value: Any) -> str:
    """A docstring; lines that are indented stay as they are, in a block."""
    text = inspect.getdoc(value) or ""
    lines, block = [], False
    for line in text.splitlines():
        indented = line.startswith("  ") or re.match(r"\w[\w, ]*  +\S", line) is not None
        if indented != block and line.strip():
            lines.append("```" if block else "\n```text")
            block = indented
        lines.append(line)
    return "\n".join([*lines, *(["```"] if block else [])])


def recipe_page() -> str:
    from tongsa.config.recipe import Recipe

    recipe = Recipe()
    parts = [
        "# Recipe keys",
        "Every key of a recipe with its default, which is the paper's base model. `--set SECTION.KEY=VALUE` changes"
        " one; [recipes](../recipes.md) tells how recipes are named and written.",
    ]
    for field in dataclasses.fields(recipe):
        section = type(getattr(recipe, field.name))
        parts += [f"## [{field.name}]", _text(section)]
        parts.append(_keys(section))
    for names, section in _other_architectures().items():
        parts += [f"## [model] with architecture = {names}", _text(section), _keys(section)]
    return "\n\n".join(parts) + "\n"


def _keys(section: type) -> str:
    rows = [(f"`{each.name}`", _type(each.type), _default(each), said) for each, said in _fields(section)]
    return _table(("key", "type", "default", ""), rows)


def _other_architectures() -> dict[str, type]:
    """Sections of the model but for the Transformer's, by the names of their architectures."""
    from tongsa.config.architectures import ARCHITECTURES

    places = [place for name, place in ARCHITECTURES.items() if name != "transformer"]
    found = {}
    for place in dict.fromkeys(places):
        module, _, attribute = place.partition(":")
        names = ", ".join(f'"{name}"' for name, other in ARCHITECTURES.items() if other == place)
        found[names] = getattr(importlib.import_module(module), attribute).section
    return found


def commands_page() -> str:
    from tongsa.cli.main import GROUPS, PANELS, load

    parts = ["# Commands", "`tongsa COMMAND --help` shows every option."]
    for panel, commands in PANELS.items():
        rows = [(f"`tongsa {name}`", _first_line(load(place))) for name, place in commands.items()]
        parts += [f"## {panel}", _table(("command", ""), rows)]
    for group in GROUPS:
        each_of = load(f"{group}:app").registered_commands
        rows = [(f"`tongsa {group} {each.name}`", _first_line(each.callback)) for each in each_of]
        parts += [f"## {group}", _table(("command", ""), rows)]
    return "\n\n".join(parts) + "\n"


def _first_line(value: Any) -> str:
    return (inspect.getdoc(value) or "").split("\n")[0]


def _fields(kind: type) -> Iterator[tuple[dataclasses.Field[Any], str]]:
    """Fields, each with the string that stands below it in the source of its class."""
    said: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        if dataclasses.is_dataclass(base):
            said.update(_field_docs(base))
    for field in dataclasses.fields(kind):
        if not field.name.startswith("_"):
            yield field, said.get(field.name, "")


def _field_docs(kind: type) -> dict[str, str]:
    tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(kind))).body[0]
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for statement, after in zip(tree.body, tree.body[1:], strict=False):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            found[statement.target.id] = " ".join(str(after.value.value).split())
    return found


def _type(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return "`" + text.replace("Literal", "").replace("'", "").replace('"', "").replace("|", "\\|") + "`"


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{field.default!r}`"
    return "" if field.default_factory is dataclasses.MISSING else "(made)"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cell for cell in line)} |" for line in lines)


if __name__ == "__main__":
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")
        print(HERE / name)
