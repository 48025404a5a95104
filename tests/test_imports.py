"""Imports go one way only, and nothing that came from outside is ever run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tongsa

ROOT = Path(tongsa.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

ORDER: list[set[str]] = [
    {"base"},
    {"config", "text", "demo"},
    {"formats"},
    {"data"},
    {"runs"},
    {"models"},
    {"decoding"},
    {"engines", "evaluation"},
    {"translation"},
    {"documents", "corpus"},
    {"pages"},
    {"tasks"},
    {"training"},
    {"lab"},
    {"server"},
    {"cli"},
]
"""From the ground up: a room may import those that stand before its own line, and those of its line in NEXT_DOOR."""

NEXT_DOOR = {("text", "config"), ("demo", "text")}
"""(room, the room on the same floor that it may import)"""

PENDING: set[tuple[str, str]] = set()
"""(room, room) imports against the order that are still to be removed: this set only ever shrinks."""

BY_NAME = re.compile(r"(tongsa(?:\.\w+)+):\w+")
"""`module:Class` in a string: an import that happens when the name is looked up."""

LAZY = {("config", "models", "config/architectures.py")}
"""(room, room, file): the one place that refers upwards, by name, so that a recipe is read without torch."""

RANK = {name: floor for floor, names in enumerate(ORDER) for name in names}


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
        elif isinstance(node, ast.Constant) and (by_name := BY_NAME.fullmatch(str(node.value))):
            yield by_name[1]


def _is_module(name: str) -> bool:
    return (ROOT / name).is_dir() or (ROOT / f"{name}.py").is_file()


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else module


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def test_every_room_is_in_the_order_and_nothing_lies_loose() -> None:
    assert {path.name for path in ROOT.iterdir() if path.suffix == ".py"} == {"__init__.py", "__main__.py"}
    rooms = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms <= set(RANK)


def _against_the_order() -> set[tuple[str, str, str]]:
    found = set()
    for path in FILES:
        name = room_of(path)
        if name in ("__init__", "__main__"):
            continue
        for module in imported(path):
            below = room(module)
            if below in ("tongsa", name) or (name, below) in NEXT_DOOR:
                continue
            if RANK[below] >= RANK[name]:
                found.add((name, below, path.relative_to(ROOT).as_posix()))
    return found - LAZY


def test_a_room_imports_only_what_lies_below_it() -> None:
    """Also inside functions and for type checking alone."""
    assert {each for each in _against_the_order() if each[:2] not in PENDING} == set()


def test_a_string_that_names_a_class_counts_as_an_import() -> None:
    assert "tongsa.models.recurrent" in set(imported(ROOT / "config" / "architectures.py"))


def test_modules_are_imported_by_name_in_the_registries_only() -> None:
    """A name that a program puts together could not be seen here; formats and commands are modules of their rooms."""
    found = {path.relative_to(ROOT).as_posix() for path in FILES if "import_module" in path.read_text(encoding="utf-8")}
    assert found <= {"cli/main.py", "config/architectures.py", "formats/registry.py"}


def test_what_is_pending_is_really_there() -> None:
    assert {each[:2] for each in _against_the_order()} == PENDING


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_reads_only_the_files_of_its_own_room_by_path(path: Path) -> None:
    """`Path(__file__).parents[1] / "server"` would be an import in disguise."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in ("parents", "parent"):
            text = ast.unparse(node)
            if "__file__" in text:
                assert text in ("Path(__file__).parent", "Path(__file__).resolve().parent"), text


def test_search_knows_models_by_their_contract_alone() -> None:
    found = {module for path in FILES if room_of(path) == "decoding" for module in imported(path)}
    assert {module for module in found if room(module) == "models"} <= {"tongsa.models.contracts"}


def test_nothing_imports_the_command_line() -> None:
    for path in FILES:
        if room_of(path) not in ("cli", "__main__"):
            assert "cli" not in {room(module) for module in imported(path)}, path


def test_text_needs_no_torch() -> None:
    for path in FILES:
        if room_of(path) in ("base", "config", "text", "demo", "formats") and path.name != "devices.py":
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


def test_no_two_test_files_have_the_same_name() -> None:
    """pytest imports them by name alone."""
    names = [path.name for path in Path(__file__).parent.rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
