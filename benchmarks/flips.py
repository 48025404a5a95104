"""Every byte of a small training's state is flipped once: each must be found, and named by its file.

    python -m benchmarks.flips

The state is all that `tongsa resume` reads: recipe, job, subwords, ids and texts, and the newest checkpoint.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tongsa.base.checksums import Checksums
from tongsa.base.errors import TongsaError
from tongsa.demo import grammar
from tongsa.runs.directory import Run
from tongsa.training.checkpoint import latest
from tongsa.training.run import train

SETTINGS = {
    "subwords.size": "700",
    "model.encoder_layers": "1",
    "model.decoder_layers": "1",
    "model.d_model": "8",
    "model.d_ff": "8",
    "model.heads": "2",
    "training.updates": "2",
    "training.processes": "1",
    "training.validation_pairs": "3",
}

FOUND, HARMLESS, MISSED = "found and named", "the same values", "missed"


def small_run(folder: Path) -> Run:
    corpus = folder / "corpus"
    for side, language in enumerate(("ko", "en")):
        pairs = grammar.write_pairs(200, seed=1)
        corpus.with_suffix(f".{language}").write_text("".join(f"{pair[side]}\n" for pair in pairs))
    train(corpus, out=folder / "run", source="ko", target="en", settings=SETTINGS, recipe="tiny", threads=1)
    return Run(folder / "run")


def checks(run: Run) -> Iterator[tuple[Path, Callable[[], str]]]:
    """Each file of the state, and the check of it that a resumed training makes."""
    right = run.read_job()

    def read_job(path: Path) -> str:
        try:
            return HARMLESS if run.read_job() == right else MISSED
        except TongsaError as error:
            return FOUND if path.name in str(error) else MISSED

    for path in (run.recipe_file, run.job_file):
        yield path, lambda path=path: read_job(path)  # type: ignore[misc]
    written = Checksums.read(run.checksums_file)
    assert written

    def prepared(name: str) -> str:
        return FOUND if name in (written.problem(run.path, name) or "") else MISSED

    def list_of_checksums() -> str:
        try:
            changed = Checksums.read(run.checksums_file)
        except ValueError:
            return FOUND
        assert changed
        if changed == written:
            return HARMLESS
        return FOUND if changed.problems(run.path) else MISSED

    yield run.checksums_file, list_of_checksums
    for name in written.files:
        yield run.path / name, lambda name=name: prepared(name)  # type: ignore[misc]
    newest = latest(run.checkpoints)
    assert newest
    for path in sorted(newest.folder.iterdir()):
        yield path, lambda: FOUND if newest.problem() else MISSED


def main() -> None:
    began = time.monotonic()
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        run = small_run(Path(folder))
        for path, check in checks(run):
            counts: Counter[str] = Counter()
            content = path.read_bytes()
            descriptor = os.open(path, os.O_RDWR)
            for place, byte in enumerate(content):
                os.pwrite(descriptor, bytes([byte ^ (1 << place % 8)]), place)
                counts[check()] += 1
                os.pwrite(descriptor, bytes([byte]), place)
            os.close(descriptor)
            assert path.read_bytes() == content
            print(f"{path.relative_to(run.path)!s:45} {dict(counts)}", flush=True)
            total += counts
    print(f"{total.total():,} bytes flipped: {dict(total)}, {time.monotonic() - began:.0f} s")
    assert not total[MISSED]


if __name__ == "__main__":
    main()
