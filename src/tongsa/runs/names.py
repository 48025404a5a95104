"""Names of translators: those shipped with Tongsa, those that `tongsa get` fetched, and any directory.

    src/tongsa/runs/shipped/en-de/            shipped with the package
    ~/.local/share/tongsa/translators/en-de/  fetched by this user; it hides a shipped one of the same name

A translator is looked up here and nowhere else, so a name works wherever a directory does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from tongsa.base.cache import data_directory

SHIPPED = Path(__file__).parent / "shipped"

CARD = "translator.json"

NAME = re.compile(r"[A-Za-z0-9_][\w.+-]*")
"""A name, which is also that of a folder."""
PAIR = re.compile(r"[a-z]{2,3}(?:_[A-Za-z]{2,4})?-[a-z]{2,3}(?:_[A-Za-z]{2,4})?")
"""The name of a direction: en-de, zh_Hans-en."""


def fetched_directory() -> Path:
    """Return the directory of the translators that this user has fetched."""
    return data_directory() / "translators"


def shipped() -> dict[str, Path]:
    """Return the translators that are shipped with Tongsa, by name."""
    return _translators(SHIPPED)


def fetched() -> dict[str, Path]:
    """Return the translators that this user has fetched, by name."""
    try:
        return _translators(fetched_directory())
    except RuntimeError:  # no home directory
        return {}


def known() -> Mapping[str, Path]:
    """Return all translators that have a name; one that was fetched hides a shipped one."""
    return {**shipped(), **fetched()}


def find_translator(name: str | Path) -> Path:
    """Return the directory of a translator: a path that exists, or else one with this name."""
    path = Path(name)
    if not NAME.fullmatch(str(name)) or os.path.lexists(path):
        return path
    return known().get(str(name), path)


def ensemble_members(name: str | Path) -> list[Path]:
    """Return the directories of an ensemble `A,B,C`, or the one directory of a single translator."""
    if "," not in str(name) or os.path.lexists(name):
        return [find_translator(name)]
    return [find_translator(part) for part in str(name).split(",") if part]


def advice(name: str) -> list[str]:
    """Say how to get a translator that was not found."""
    if not NAME.fullmatch(name):
        return []
    names = [f"Translators with a name: {', '.join(sorted(known()))}"] if known() else []
    return [*names, *([f"To fetch one of OPUS-MT:  tongsa get {name}"] if PAIR.fullmatch(name) else [])]


def _translators(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        return {}
    found = {path.name: path for path in sorted(folder.iterdir()) if (path / CARD).is_file()}
    return {name: path for name, path in found.items() if NAME.fullmatch(name)}
