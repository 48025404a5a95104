"""frequencies.bin: read with the translator, checked like its other files, and not needed by older ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from small_translators import random_translator
from tongsa.base.errors import DirectoryError
from tongsa.runs.card import Card
from tongsa.runs.compact import write_compact
from tongsa.runs.directory import Run
from tongsa.runs.weights import read_arrays
from tongsa.text.frequencies import PieceFrequencies
from tongsa.text.subwords import Subwords


def read(run: Run) -> PieceFrequencies | None:
    card = run.read_card()
    return run.read_frequencies(card, run.read_subwords(card))


def with_frequencies(folder: Path) -> tuple[Run, Card, Subwords]:
    run = Run(random_translator(folder))
    card = run.read_card()
    subwords = run.read_subwords(card)
    weights = read_arrays(run, card, None)
    counted = PieceFrequencies.count(np.array([2, 2, 3]), len(subwords.source))
    run.frequencies_file.write_bytes(counted.content)
    run.write_translator(card, weights)
    return run, run.read_card(), subwords


def test_a_translator_of_an_earlier_version_has_none(tmp_path: Path) -> None:
    assert read(Run(random_translator(tmp_path / "run"))) is None


def test_they_are_on_the_card_and_in_a_compact_copy(tmp_path: Path) -> None:
    run, card, subwords = with_frequencies(tmp_path / "run")
    assert "frequencies.bin" in card.checksums
    found = read(run)
    assert found
    assert len(found) == len(subwords.source)
    write_compact(run, tmp_path / "compact")
    copied = read(Run(tmp_path / "compact"))
    assert copied
    assert copied.content == found.content


@pytest.mark.parametrize("damage", ["changed", "shorter", "longer", "missing"])
def test_damage_is_an_error_that_names_the_file(tmp_path: Path, damage: str) -> None:
    run, _, _ = with_frequencies(tmp_path / "run")
    content = run.frequencies_file.read_bytes()
    if damage == "missing":
        run.frequencies_file.unlink()
    else:
        changed = {"changed": bytes([content[0] ^ 1]) + content[1:], "shorter": content[:-1], "longer": content * 2}
        run.frequencies_file.write_bytes(changed[damage])
    with pytest.raises(DirectoryError, match=r"frequencies\.bin"):
        read(run)
