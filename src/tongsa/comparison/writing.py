"""The three files of a comparison."""

from __future__ import annotations

import json
from pathlib import Path

from tongsa.comparison.page import page
from tongsa.comparison.table import markdown
from tongsa.comparison.verdict import Comparison
from tongsa.files import write_atomically
from tongsa.progress import Show


def write_all(folder: Path, comparison: Comparison, show: Show) -> None:
    write_atomically(folder / "comparison.json", json.dumps(comparison.to_values(), indent=1, ensure_ascii=False))
    write_atomically(folder / "comparison.md", markdown(comparison))
    write_atomically(folder / "comparison.html", page(comparison))
    show.say(f"\nwritten: {folder / 'comparison.html'}, comparison.md and comparison.json")
