"""Bits that flip on the disk between two parts of a training: found, named, and the training goes on."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tongsa
from tongsa.base.errors import DirectoryError, RecipeError
from tongsa.base.progress import Silent
from tongsa.runs.directory import Run
from tongsa.training.checkpoint import checkpoints, latest, put_damaged_aside
from tongsa.training.run import fit_and_publish

Train = Callable[..., Any]

SMALL = {"training.updates": "6", "training.validate_every": "3", "training.checkpoint_every": "1"}
SAMPLE = 20
HEADER = 64


class Lines(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def __str__(self) -> str:
        return "\n".join(self.said)


@pytest.fixture(scope="module")
def whole(train_here: Train, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("damage") / "whole"
    train_here(out, SMALL)
    return out


@pytest.fixture
def half(whole: Path, tmp_path: Path) -> Path:
    """A copy of the training; without its newest checkpoint, that of update 6, it has one more update to go."""
    shutil.copytree(whole, tmp_path / "half")
    return tmp_path / "half"


@contextmanager
def flipped(path: Path, place: int, mask: int = 1) -> Iterator[None]:
    """One byte of the file is changed within the block."""
    before = path.read_bytes()
    changed = bytearray(before)
    changed[place] ^= mask
    path.write_bytes(changed)
    try:
        yield
    finally:
        path.write_bytes(before)


def damage(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def places(path: Path) -> list[int]:
    """All bytes at the beginning, where the headers are, and some of the others."""
    size = path.stat().st_size
    rest = range(min(size, HEADER), size)
    return [*range(min(size, HEADER)), *random.Random(1).sample(rest, min(SAMPLE, len(rest)))]


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_every_damaged_file_of_a_checkpoint_is_found_and_the_one_before_is_used(whole: Path) -> None:
    root = whole / "checkpoints"
    newest = latest(root)
    assert newest is not None
    before = [each for each in checkpoints(root) if each.resumable][-2]
    found = files(newest.folder)
    assert [path.name for path in found] == [
        "checksums.json",
        "optimizer.safetensors",
        "progress.json",
        "weights.safetensors",
    ]
    for path in found:
        for place in places(path):
            with flipped(path, place, 1 << place % 8):
                show = Lines()
                put_damaged_aside(root, show.say)
                (aside,) = root.glob(".*.damaged")
                assert latest(root) == before, (path.name, place)
                aside.rename(newest.folder)
                if path.name != "checksums.json":  # a damaged list of checksums contradicts any file
                    assert path.name in str(show)
                assert f"update {newest.update} is left out" in str(show)
    put_damaged_aside(root, pytest.fail)


def test_every_damaged_file_of_the_data_is_found_and_named(whole: Path) -> None:
    run = Run(whole)
    found = [*files(run.data), run.path / "subwords.model"]
    assert {path.name for path in found} >= {"source.ids", "target.offsets", "about.json", "valid.jsonl", "began.json"}
    for path in found:
        for place in places(path)[::5]:
            with flipped(path, place, 1 << place % 8), pytest.raises(DirectoryError) as caught:
                run.check_prepared()
            if path != run.checksums_file:
                assert path.name in str(caught.value)
    run.check_prepared()


@pytest.mark.parametrize("name", ["recipe.toml", "job.json"])
def test_a_damaged_recipe_or_job_is_found_and_named(whole: Path, name: str) -> None:
    run = Run(whole)
    right = run.read_job()
    path = whole / name
    found = []
    for place in range(0, path.stat().st_size, 11):
        with flipped(path, place, 1 << place % 8):
            try:
                found.append(run.read_job() == right)
            except (DirectoryError, RecipeError) as error:
                found.append(name in str(error))
    assert all(found)


def test_a_file_that_is_cut_short_or_gone_is_found_and_named(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "cut"
    shutil.copytree(whole, out)
    ids = out / "data" / "train" / "source.ids"
    ids.write_bytes(ids.read_bytes()[:-2])
    with pytest.raises(DirectoryError, match=r"source\.ids has .* bytes, but .* were written"):
        Run(out).check_prepared()
    ids.unlink()
    with pytest.raises(DirectoryError, match=r"source\.ids is missing"):
        Run(out).check_prepared()


@pytest.mark.parametrize("name", ["weights.safetensors", "optimizer.safetensors", "progress.json"])
def test_a_training_with_a_damaged_checkpoint_ends_with_the_same_weights(half: Path, whole: Path, name: str) -> None:
    newest = latest(half / "checkpoints")
    assert newest is not None
    path = newest.folder / name
    damage(path, path.stat().st_size // 2)
    show = Lines()
    assert tongsa.resume(half, show=show) is not None
    assert f"{path} is damaged" in str(show)
    assert "resuming after update 5" in str(show)
    assert (half / "weights.safetensors").read_bytes() == (whole / "weights.safetensors").read_bytes()
    assert not list((half / "checkpoints").glob(".*"))


def test_damaged_data_is_prepared_again_and_the_weights_are_the_same(half: Path, whole: Path) -> None:
    ids = half / "data" / "train" / "target.ids"
    damage(ids, 100)
    shutil.rmtree(half / "checkpoints" / "00000006")
    show = Lines()
    assert tongsa.resume(half, show=show) is not None
    assert f"{ids} is damaged" in str(show)
    assert "preparing it again" in str(show)
    assert ids.read_bytes() == (whole / "data" / "train" / "target.ids").read_bytes()
    assert (half / "weights.safetensors").read_bytes() == (whole / "weights.safetensors").read_bytes()
    assert not list(half.glob(".*"))


def test_damaged_data_whose_corpus_is_gone_or_changed_is_refused(whole: Path, tmp_path: Path, corpus: Path) -> None:
    text = tmp_path / "moved"
    for language in ("ko", "en"):
        shutil.copy(f"{corpus}.{language}", f"{text}.{language}")
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    recipe, job = Run(out).read_job()
    options = {**vars(job.options), "corpora": (str(text),)}
    Run(out).write_job(recipe, type(job)(options=type(job.options)(**options), device="cpu", threads=1))
    ids = out / "data" / "train" / "target.ids"
    damage(ids, 100)
    content = ids.read_bytes()
    with (tmp_path / "moved.ko").open("a") as ko, (tmp_path / "moved.en").open("a") as en:
        ko.write("저는 학생입니다.\n")
        en.write("I am a student.\n")
    with pytest.raises(DirectoryError) as changed:
        tongsa.resume(out)
    assert "target.ids is damaged" in str(changed.value)
    assert "no longer the one that the training began with" in str(changed.value)
    (tmp_path / "moved.ko").unlink()
    with pytest.raises(
        DirectoryError, match=r"target\.ids is damaged[^$]*cannot be prepared again: there is no corpus"
    ):
        tongsa.resume(out)
    assert ids.read_bytes() == content, "what was there is there again"
    assert not list(out.glob(".data*"))


def test_a_training_without_a_sound_checkpoint_stops_and_deletes_nothing(half: Path) -> None:
    for checkpoint in checkpoints(half / "checkpoints"):
        (checkpoint.folder / "weights.safetensors").write_bytes(b"")
    present = sorted(path.name for path in (half / "checkpoints").iterdir())
    with pytest.raises(DirectoryError, match="can be resumed from") as caught:
        fit_and_publish(Run(half), Silent())
    assert str(caught.value).count("weights.safetensors") == 2
    assert sorted(path.name for path in (half / "checkpoints").iterdir()) == present


def test_an_average_is_taken_without_a_damaged_checkpoint(half: Path) -> None:
    show = Lines()
    damage(half / "checkpoints" / "00000005" / "weights.safetensors", 2000)
    assert tongsa.resume(half, show=show) is not None
    assert "the average is taken without the checkpoint of update 5" in str(show)
    assert "the average of" not in str(show)
    assert Run(half).read_card().training.weights == "the last checkpoint"


def test_a_training_of_an_older_version_has_no_checksums_and_goes_on(half: Path, whole: Path) -> None:
    for path in half.rglob("checksums.json"):
        path.unlink()
    (half / "data" / "began.json").unlink()
    shutil.rmtree(half / "checkpoints" / "00000006")
    assert tongsa.resume(half) is not None
    assert (half / "weights.safetensors").read_bytes() == (whole / "weights.safetensors").read_bytes()
