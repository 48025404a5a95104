"""What the tests of documents share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tongsa.documents import Languages, Options


@pytest.fixture
def options() -> Options:
    return Options(languages=Languages(source="en", target="de"))
