"""The pages of docs/reference are what the source says.

After a change that is meant:  python docs/reference/generate.py
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", FOLDER / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["python.md", "recipe.md", "commands.md"])
def test_a_page_of_the_reference_is_up_to_date(generate: ModuleType, name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == generate.pages()[name]


def test_every_key_of_a_recipe_is_explained(generate: ModuleType) -> None:
    rows = [line for line in generate.recipe_page().splitlines() if line.startswith("| `")]
    assert len(rows) > 30
    assert [row for row in rows if row.endswith("|  |")] == []
