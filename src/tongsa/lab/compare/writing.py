"""The three files of a comparison."""

from __future__ import annotations

import json
from pathlib import Path

from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.lab.compare.page import page
from tongsa.lab.compare.table import markdown
from tongsa.lab.compare.verdict import Comparison


def write_all(folder: Path, comparison: Comparison, show: Show) -> None:
    write_atomically(folder / "comparison.json", json.dumps(comparison.to_values(), indent=1, ensure_ascii=False))
    write_atomically(folder / "comparison.md", markdown(comparison))
    write_atomically(folder / "comparison.html", page(comparison))
    show.say(f"\nwritten: {folder / 'comparison.html'}, comparison.md and comparison.json")
