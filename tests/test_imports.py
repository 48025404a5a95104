"""Imports go one way only, and nothing that came from outside is ever run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tongsa

ROOT = Path(tongsa.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

FOUNDATION = {"errors", "config", "files", "machine", "progress", "devices"}

ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "config": {"errors"},
    "files": {"errors"},
    "progress": set(),
    "devices": {"errors"},
    "presets": {"config", "errors"},
    "text": {"config", "errors", "files"},
    "ids": FOUNDATION | {"text"},
    "batches": {"ids", "text"},
    "models": {"config", "errors"},
    "decoding": {"config", "errors", "models"},
    "attention": {"errors", "files", "models"},
    "evaluation": {"errors", "text"},
    "directory": FOUNDATION | {"models", "text", "tongsa"},
    "export": FOUNDATION | {"directory", "ids", "models", "text"},
    "engines": FOUNDATION | {"decoding", "directory", "export", "models", "text"},
    "documents": FOUNDATION | {"text"},
    "long_texts": {"documents"},
    "repetition": set(),
    "translator": FOUNDATION
    | {"attention", "decoding", "directory", "documents", "engines", "long_texts", "models", "repetition", "text"},
    "server": FOUNDATION | {"attention", "directory", "documents", "text", "tongsa", "translator"},
    "training": FOUNDATION
    | {"presets", "text", "ids", "batches", "models", "decoding", "engines", "evaluation", "directory", "translator"}
    | {"report", "runlog"},
    "babi": FOUNDATION | {"models", "report", "text"},
    "language_model": FOUNDATION | {"models", "text"},
    "comparison": FOUNDATION
    | {"presets", "text", "batches", "models", "evaluation", "translator", "report", "runlog", "training", "tongsa"},
}
"""What each room may import, besides itself. Rooms that are not here stand on top: nothing below imports them."""


def imported(path: Path) -> Iterator[str]:
    """The modules of Tongsa that a file imports, at its head or inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                package = path.relative_to(ROOT.parent).parts[: -node.level]
                yield ".".join([*package, node.module or ""]).strip(".")
            elif node.module == "tongsa":
                yield from (f"tongsa.{each.name}" if _is_module(each.name) else "tongsa" for each in node.names)
            elif node.module and node.module.startswith("tongsa."):
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.split(".")[0] == "tongsa")


def _is_module(name: str) -> bool:
    return (ROOT / name).is_dir() or (ROOT / f"{name}.py").is_file()


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else module


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize("name", ALLOWED)
def test_a_room_imports_only_what_lies_below_it(name: str) -> None:
    found = {room(module) for path in FILES if room_of(path) == name for module in imported(path)}
    assert found - {name} <= ALLOWED[name]


def test_no_two_rooms_import_each_other_even_in_a_circle() -> None:
    below: dict[str, set[str]] = {}
    for path in FILES:
        if room_of(path) not in ("__init__", "__main__"):
            below.setdefault(room_of(path), set()).update({room(module) for module in imported(path)} - {"tongsa"})
    left = {name: rooms - {name} for name, rooms in below.items()}
    while free := [name for name, rooms in left.items() if not rooms & set(left)]:
        for name in free:
            del left[name]
    assert left == {}


def test_search_knows_models_by_their_contract_alone() -> None:
    found = {module for path in FILES if room_of(path) == "decoding" for module in imported(path)}
    assert {module for module in found if room(module) == "models"} <= {"tongsa.models.contract"}


def test_nothing_imports_the_command_line() -> None:
    for path in FILES:
        if room_of(path) not in ("cli", "__main__"):
            assert "cli" not in {room(module) for module in imported(path)}, path


def test_text_needs_no_torch() -> None:
    for path in FILES:
        if room_of(path) in ("text", "config", "presets", "files", "errors", "progress"):
            names = {name.split(".")[0] for name in _all_imports(path)}
            assert not names & {"torch", "safetensors"}, path


def _all_imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_that_came_from_outside_is_run(path: Path) -> None:
    assert not {name.split(".")[0] for name in _all_imports(path)} & {
        "pickle",
        "cPickle",
        "dill",
        "shelve",
        "marshal",
        "joblib",
    }
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in ("eval", "exec", "compile", "__import__", "os.system", "torch.load", "torch.save"), (
                path
            )
            assert not any(word.arg == "shell" for word in node.keywords), path
            assert not any(
                word.arg in ("allow_pickle", "weights_only", "trust_remote_code") for word in node.keywords
            ), path


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_one_idea_of_at_most_400_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    assert path.stem not in ("utils", "helpers", "misc", "common")
