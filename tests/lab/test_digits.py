from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tongsa.base.errors import MissingExtraError, UsageError
from tongsa.formats.pictures import labelled_pictures, open_picture
from tongsa.lab.digits import write_digits


def test_digits_become_folders_of_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = np.arange(10 * 64).reshape(10, 8, 8) % 17
    digits = SimpleNamespace(load_digits=lambda: SimpleNamespace(images=images, target=np.arange(10)))
    monkeypatch.setitem(sys.modules, "sklearn", SimpleNamespace(datasets=digits))
    monkeypatch.setitem(sys.modules, "sklearn.datasets", digits)
    assert write_digits(tmp_path / "digits") == {"train": 8, "test": 2}
    found = list(labelled_pictures(tmp_path / "digits" / "test"))
    assert [label for label, _ in found] == ["4", "9"]
    assert np.array_equal(np.asarray(open_picture(found[0][1])), np.minimum(255, images[4] * 16))
    with pytest.raises(UsageError, match="already exists"):
        write_digits(tmp_path / "digits")


def test_without_scikit_learn_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(MissingExtraError, match="scikit-learn"):
        write_digits(tmp_path / "digits")
