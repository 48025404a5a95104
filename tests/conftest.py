"""What tests share."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tongsa.base.devices import share_cores


def take_cores() -> None:
    """Of several processes that run tests side by side, each takes its share of the cores, for what it starts too.

    Nearly everything uses as many threads as there are cores. Threads of two processes on the same cores wait for each
    other: a fine-tuning of a second took six seconds of CPU time.
    """
    if "PYTEST_XDIST_WORKER" in os.environ and hasattr(os, "sched_setaffinity"):
        number, count = int(os.environ["PYTEST_XDIST_WORKER"][2:]), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[number % len(cores) :: count])


take_cores()  # before torch is loaded
share_cores()  # as the command does
import torch  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]

os.environ["TONGSA_LANG"] = "en"  # whatever the locale of this machine is

# Tests neither read nor fill what is the user's. The processes that they start, and those side by side, inherit this.
if "TONGSA_TEST_CACHE" not in os.environ:
    os.environ["TONGSA_TEST_CACHE"] = os.environ["TONGSA_CACHE"] = tempfile.mkdtemp(prefix="tongsa-cache-")
    atexit.register(shutil.rmtree, os.environ["TONGSA_CACHE"], ignore_errors=True)
    os.environ["TONGSA_DATA"] = str(Path(os.environ["TONGSA_CACHE"]) / "data")

# A busy machine is no failure, and a failure is one on every machine.
settings.register_profile("tongsa", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("tongsa")


torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Tests run side by side; sums in one order give the same bits every time.

    A training or a command in this process sets the threads of the whole machine. What other fixtures and tests then
    compute with them waits for cores that are taken: a test of a second took a minute of CPU time.
    """
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real corpora, where this machine has them."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs the corpora of ../shared/data, which are not part of the project")
    return folder


@pytest.fixture(scope="session")
def trained_translator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a Korean-English translator that has learnt the built-in grammar (BLEU about 70).

    `small_translators.grammar_translator` trained it once: a training gives other weights on another machine, and these
    tests are about what is done with them. It is shared: copy it to change it.
    """
    copy = tmp_path_factory.mktemp("trained") / "ko-en"
    return Path(shutil.copytree(ROOT / "tests" / "golden" / "grammar-ko-en", copy))


@pytest.fixture
def null_device(tmp_path: Path) -> Path:
    """A copy of /dev/null: root, who could replace the true one, must not lose it where a test fails."""
    if os.geteuid() != 0:
        return Path("/dev/null")
    null = tmp_path / "null"
    try:
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        null.write_bytes(b"")
    except OSError:
        pytest.skip("this container makes no devices")
    return null
