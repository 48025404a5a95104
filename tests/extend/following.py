"""Follows a page of docs/extend: writes the files that it shows, runs what it runs, and counts what was touched.

    ```python title="src/tongsa/evaluation/exact.py"     a new file of Tongsa
    ```diff title="src/tongsa/evaluation/metrics.py"     a change: lines with a space are there, those with + are added
    ```toml title="my-metrics/pyproject.toml"            a file of another package, beside Tongsa
    ```python                                            a program to run with all of that in place

Files of Tongsa are written into a copy of it. A package beside it is not installed: its entry points are put where
Python looks for those of installed packages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


@dataclass
class Followed:
    """What a page touched, and what its programs printed."""

    new: list[str] = field(default_factory=list)
    changed: dict[str, int] = field(default_factory=dict)
    """Lines added, by file of Tongsa."""
    outside: list[str] = field(default_factory=list)
    printed: str = ""


def follow(page: str, folder: Path, heading: str | None = None) -> Followed:
    """Do in `folder` what docs/extend/`page` says, or only its part under `heading`."""
    text = (ROOT / "docs" / "extend" / page).read_text(encoding="utf-8")
    if heading:
        text = next(part for part in re.split(r"^## ", text, flags=re.MULTILINE) if part.startswith(heading))
    # With what Python has compiled, but not what another process is just writing.
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("*.pyc.*"))
    done = Followed()
    for language, title, body in BLOCK.findall(text):
        path = folder / title if title else folder
        if not title and language == "python":
            done.printed += _run(body, folder, done)
        elif not title:
            continue
        elif language == "diff":
            done.changed[title] = done.changed.get(title, 0) + _patch(path, body)
        else:
            assert not path.exists(), f"{title} is there already"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
            (done.new if title.startswith("src/tongsa/") else done.outside).append(title)
    return done


def _patch(path: Path, diff: str) -> int:
    """Apply the lines of a diff; how many were added."""
    lines = diff.splitlines()
    before = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "+")
    after = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "-")
    text = path.read_text(encoding="utf-8")
    found = text.count(before)
    assert found == 1, f"{path.name} should hold this once, and holds it {found} times:\n{before}"
    path.write_text(text.replace(before, after), encoding="utf-8")
    return sum(line.startswith("+") for line in lines)


def _run(program: str, folder: Path, done: Followed) -> str:
    places = [str(folder / "src")]
    for name in done.outside:
        if Path(name).name == "pyproject.toml":
            places += _as_if_installed(folder / Path(name).parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _as_if_installed(package: Path) -> list[str]:
    """Folders for Python's path: the package's source, and one with its entry points."""
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    information = package / "installed" / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    information.mkdir(parents=True, exist_ok=True)
    (information / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
    )
    lines = []
    for group, entries in project.get("entry-points", {}).items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()), ""]
    (information / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return [str(package / "src" if (package / "src").is_dir() else package), str(package / "installed")]
