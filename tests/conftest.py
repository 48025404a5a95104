"""What tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# A busy machine is no failure, and a failure is one on every machine.
settings.register_profile("tongsa", deadline=None, derandomize=True)
settings.load_profile("tongsa")


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Tests run side by side; sums in one order give the same bits every time."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real corpora, where this machine has them."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs the corpora of ../shared/data, which are not part of the project")
    return folder
