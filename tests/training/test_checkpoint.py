"""Checkpoints: whole or not at all, and no more of them than are needed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tongsa.data.batches import Position
from tongsa.evaluation.metrics import METRICS
from tongsa.training import checkpoint as module
from tongsa.training.checkpoint import (
    Progress,
    average,
    checkpoints,
    latest,
    prune,
    save_checkpoint,
    spread,
    to_average,
)


def save(root: Path, update: int, score: float | None = None) -> dict[str, Tensor]:
    weights = {"w": torch.full((2,), float(update))}
    save_checkpoint(root, weights, {"exp_avg": torch.zeros(2)}, Progress(update=update, score=score))
    return weights


def updates(root: Path) -> list[int]:
    return [each.update for each in checkpoints(root)]


def test_a_checkpoint_gives_back_what_was_saved(tmp_path: Path) -> None:
    progress = Progress(
        update=7,
        position=Position(3, 4),
        seconds=1.25,
        target_tokens=99,
        fraction=0.1,
        best_score=2.5,
        best_update=5,
        score=1.5,
    )
    saved = save_checkpoint(
        tmp_path, {"w": torch.randn(3)}, {"exp_avg": torch.randn(3), "step": torch.tensor(7.0)}, progress
    )
    found = latest(tmp_path)
    assert found == saved
    assert found is not None
    assert found.progress() == progress
    assert isinstance(found.progress().position, Position)
    assert set(found.moments()) == {"exp_avg", "step"}
    assert list(found.weights()) == ["w"]


class Killed(BaseException):
    """Stands for a kill at this very place."""


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_kill_between_two_writes_leaves_the_old_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    save(tmp_path, 1)
    done = 0
    write = module.save_file

    def failing(tensors: dict[str, Tensor], path: Path) -> None:
        nonlocal done
        if done == writes:
            raise Killed
        write(tensors, path)
        done += 1

    monkeypatch.setattr(module, "save_file", failing)
    if writes == 2:  # both tensors are written, progress.json is not
        monkeypatch.setattr(module.json, "dumps", lambda *args, **options: (_ for _ in ()).throw(Killed))
    with pytest.raises(Killed):
        save(tmp_path, 2)
    monkeypatch.undo()
    assert updates(tmp_path) == [1]
    assert save(tmp_path, 2)["w"][0] == 2
    assert updates(tmp_path) == [1, 2]


def test_a_half_written_folder_is_no_checkpoint_and_is_cleared_away(tmp_path: Path) -> None:
    """What a real kill leaves: nothing tidies up behind it."""
    save(tmp_path, 1)
    leftover = tmp_path / ".00000002.123.tmp"
    leftover.mkdir()
    (leftover / "weights.safetensors").write_bytes(b"half")
    assert updates(tmp_path) == [1]
    save(tmp_path, 2)
    prune(tmp_path, keep=5, best_by=None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00000001", "00000002"]


def test_prune_keeps_the_last_for_the_average_and_the_newest_for_resuming(tmp_path: Path) -> None:
    for update in range(1, 7):
        save(tmp_path, update)
        prune(tmp_path, keep=3, best_by=None)
    assert updates(tmp_path) == [4, 5, 6]
    assert [each.update for each in checkpoints(tmp_path) if each.resumable] == [5, 6]


def test_prune_keeps_the_best_for_the_average(tmp_path: Path) -> None:
    for update, score in enumerate([3.0, 9.0, 1.0, 8.0, 2.0, 4.0], 1):
        save(tmp_path, update, score)
        prune(tmp_path, keep=2, best_by=METRICS["bleu"])
    assert updates(tmp_path) == [2, 4, 5, 6]
    assert [each.update for each in to_average(checkpoints(tmp_path), 2, best_by=METRICS["bleu"])] == [4, 2]
    newest = latest(tmp_path)
    assert newest is not None
    assert newest.update == 6


def test_snapshots_stay_from_the_whole_training_and_change_no_average(tmp_path: Path) -> None:
    for update in range(1, 41):
        save(tmp_path, update, float(update % 7))
        prune(tmp_path, keep=3, best_by=METRICS["bleu"], snapshots=6)
    kept = updates(tmp_path)
    best = to_average(checkpoints(tmp_path), 3, best_by=METRICS["bleu"])
    assert {each.update for each in best} == {27, 34, 20}, "as without snapshots"
    assert {1, 39, 40} <= set(kept)
    assert len(kept) <= 6 + 3 + 2
    steps = [later / earlier for earlier, later in pairwise(spread(kept, 6))]
    assert max(steps) < 4, "no long part of the training is missing"


def test_spread_keeps_the_ends_and_as_many_as_it_may() -> None:
    assert spread([1, 2, 3, 100, 101, 102], 3) == [1, 3, 102]
    assert spread([5, 6, 7], 12) == [5, 6, 7]
    assert spread([5, 6, 7], 0) == []
    assert spread([5, 6, 7], 1) == [7]


def test_a_score_of_0_is_the_worst_one_and_not_a_missing_one(tmp_path: Path) -> None:
    for update, score in enumerate([0.3, 0.0, None, 0.2], 1):
        save(tmp_path, update, score)
    best = [
        [each.update for each in to_average(checkpoints(tmp_path), keep, best_by=METRICS["bleu"])]
        for keep in (1, 2, 3, 4)
    ]
    assert best == [[1], [4, 1], [2, 4, 1], [2, 4, 1]]


def test_one_checkpoint_to_average_still_leaves_two_to_resume_from(tmp_path: Path) -> None:
    for update in range(1, 5):
        save(tmp_path, update)
        prune(tmp_path, keep=1, best_by=None)
    assert updates(tmp_path) == [3, 4]


@pytest.mark.parametrize("by_score", [True, False])
def test_a_kill_while_pruning_leaves_no_half_checkpoint_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_score: bool
) -> None:
    for update in range(1, 7):
        save(tmp_path, update, float(update))

    def half(folder: Path, *args: object, **options: object) -> None:
        (Path(folder) / "progress.json").unlink()
        raise Killed

    monkeypatch.setattr(module.shutil, "rmtree", half)
    with pytest.raises(Killed):
        prune(tmp_path, keep=2, best_by=METRICS["bleu"] if by_score else None)
    monkeypatch.undo()
    for each in checkpoints(tmp_path):
        assert each.progress().update == each.update
    prune(tmp_path, keep=2, best_by=METRICS["bleu"] if by_score else None)
    assert updates(tmp_path) == [5, 6]
    assert not list(tmp_path.glob(".*"))


def test_checkpoints_are_ordered_by_number_not_by_name(tmp_path: Path) -> None:
    for update in (99_999_999, 100_000_001, 5):
        save(tmp_path, update)
    assert updates(tmp_path) == [5, 99_999_999, 100_000_001]


def test_the_average_is_the_mean(tmp_path: Path) -> None:
    torch.manual_seed(0)
    weights = [{"a": torch.randn(3), "b": torch.randn(2, 2)} for _ in range(4)]
    for update, each in enumerate(weights):
        save_checkpoint(tmp_path, each, {}, Progress(update=update))
    found = average(checkpoints(tmp_path))
    for name in ("a", "b"):
        expected = torch.stack([each[name] for each in weights]).double().mean(dim=0).float()
        assert torch.equal(found[name], expected)
        assert found[name].dtype == torch.float32


def test_no_checkpoints_is_no_error(tmp_path: Path) -> None:
    assert checkpoints(tmp_path / "none") == []
    assert latest(tmp_path / "none") is None
