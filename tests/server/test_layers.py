"""The layers of the server: http knows nothing of translation, work nothing of interfaces, api nothing of the app."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tongsa import server

ROOT = Path(server.__file__).parent
LAYERS = ("http", "work", "api")
FILES = [path for layer in LAYERS for path in sorted((ROOT / layer).glob("*.py"))]


def imported(path: Path) -> set[str]:
    """Layers and modules of the server that a file imports, at its head or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        found |= {name.split(".")[2] for name in names if name.startswith("tongsa.server.")}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_layer_imports_only_itself_and_those_below(path: Path) -> None:
    layer = path.parent.name
    assert imported(path) <= set(LAYERS[: LAYERS.index(layer) + 1])


def test_http_knows_nothing_of_translation() -> None:
    for path in (ROOT / "http").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        for room in ("translation", "documents", "engines", "formats", "text"):
            assert f"tongsa.{room}" not in text, path


def test_handlers_take_no_keys_places_or_characters_themselves() -> None:
    """What a route needs is declared: only the pipeline identifies clients, takes places and charges."""
    for path in (ROOT / "api").glob("*.py"):
        if path.name != "pipeline.py":
            text = path.read_text(encoding="utf-8")
            for word in ("spend_", "queue.place", "keys.find", 'limits.allows("characters"'):
                assert word not in text, path
