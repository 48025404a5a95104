"""Trainings that are really killed, in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

import tongsa
from tongsa.models.weights import read_tensors
from tongsa.training.checkpoint import checkpoints, latest
from tongsa.translation.translator import Translator

if TYPE_CHECKING:
    from conftest import Training

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs POSIX signals")]

Make = Callable[[str], "Training"]
Whole = Callable[[int], Path]

processes = pytest.mark.parametrize("processes", [1, 2])


def assert_identical(one: Path, other: Path) -> None:
    """The last checkpoint with Adam's moments, and what is published: bit for bit."""
    left, right = latest(one / "checkpoints"), latest(other / "checkpoints")
    assert left is not None
    assert right is not None
    assert left.update == right.update
    for mine, theirs in ((left.weights(), right.weights()), (left.moments(), right.moments())):
        assert mine.keys() == theirs.keys()
        assert [name for name in mine if not torch.equal(mine[name], theirs[name])] == []
    assert (one / "weights.safetensors").read_bytes() == (other / "weights.safetensors").read_bytes()


def gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def wait_until(what: Callable[[], object], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    assert what()


def test_a_training_killed_several_times_resumes_to_identical_weights(
    corpus: Path, training: Make, uninterrupted: Whole
) -> None:
    """Killed between two updates, and while a checkpoint is being written."""
    run = training("killed")
    run.begin(corpus, {"training.checkpoint_every": "1"})
    run.wait_for(lambda: run.updates() >= 3)
    run.kill()
    first = saved_at(run)
    assert 2 <= first < 20, "it was killed on the way"
    run.resume()
    kill_while_a_checkpoint_is_written(run)
    assert f"resuming after update {first}" in run.said
    assert first < saved_at(run) < 24
    Translator.load(run.out, device="cpu").translate(["안녕하세요."])  # validated at update 8, so it is published
    tongsa.resume(run.out)
    assert not list((run.out / "checkpoints").glob(".*"))
    assert_identical(run.out, uninterrupted(1))


def kill_while_a_checkpoint_is_written(run: Training) -> None:
    run.wait_for(lambda: run.updates() >= 10)
    run.wait_for(lambda: list((run.out / "checkpoints").glob(".*.tmp")), every=0.002)
    run.kill()


def test_two_processes_told_to_end_bereft_and_killed_resume_to_identical_weights(
    corpus: Path, training: Make, uninterrupted: Whole
) -> None:
    """One training, ended in three ways: by SIGTERM to both, by the worker's death, by the leader's."""
    run = training("two")
    run.begin(corpus, {"training.processes": "2", "training.checkpoint_every": "1"})
    run.wait_for(lambda: run.updates() >= 3)
    told = run.children()
    assert told
    for process in (*told, run.pid):  # as a cluster does: the leader saves, as after Ctrl-C, and stops the others
        os.kill(process, signal.SIGTERM)
    assert run.finish() == 130, run.said
    assert all(map(gone, told))
    first = saved_at(run)
    assert first == run.updates() < 20

    run.resume()
    run.wait_for(lambda: run.updates() > first)
    os.kill(run.children()[0], signal.SIGKILL)
    assert run.finish() == 2
    assert "a worker process of this training has died: it has ended by signal 9 (SIGKILL)" in run.said
    assert "tongsa resume" in run.said
    assert "Traceback" not in run.said

    run.resume()
    run.wait_for(run.children)
    orphans = run.children()
    kill_while_a_checkpoint_is_written(run)
    wait_until(lambda: all(map(gone, orphans)), seconds=300)
    assert first < saved_at(run) < 24
    tongsa.resume(run.out)
    assert not list((run.out / "checkpoints").glob(".*"))
    assert_identical(run.out, uninterrupted(2))


def test_a_training_killed_before_its_first_checkpoint_begins_again(
    corpus: Path, training: Make, uninterrupted: Whole
) -> None:
    run = training("early")
    run.begin(corpus, {"training.checkpoint_every": "1"})
    run.wait_for(lambda: (run.out / "job.json").is_file())
    run.kill()
    tongsa.resume(run.out)
    assert_identical(run.out, uninterrupted(1))


def test_a_worker_that_has_just_been_started_does_not_outlive_a_killed_leader(corpus: Path, training: Make) -> None:
    """It is still importing then, and cannot have asked to be told of the leader's death."""
    run = training("newborn")
    run.begin(corpus, {"training.processes": "2"})
    run.wait_for(run.children)
    workers = run.children()
    run.kill()
    wait_until(lambda: all(map(gone, workers)), seconds=300)


def test_a_worker_behind_a_launcher_works_and_does_not_outlive_a_killed_leader(
    corpus: Path, training: Make, tmp_path: Path
) -> None:
    """As in a venv on Windows, where a launcher stands between: the leader is not the parent of its worker."""
    launcher = tmp_path / "launcher"
    launcher.write_text(f'#!/bin/sh\necho $$ >> {tmp_path}/launchers\n{sys.executable} "$@"\nexit $?\n')
    launcher.chmod(0o755)
    run = training("launched")
    run.python = launcher
    run.begin(corpus, {"training.processes": "2", "training.updates": "100000"})
    run.wait_for(lambda: run.updates() >= 2)
    (between,) = (tmp_path / "launchers").read_text().split()
    (worker,) = run.children(int(between))
    run.kill()
    wait_until(lambda: gone(worker), seconds=300)


@processes
def test_ctrl_c_saves_and_says_how_to_go_on_and_resuming_gives_identical_weights(
    corpus: Path, training: Make, uninterrupted: Whole, processes: int
) -> None:
    run = training("interrupted")
    run.begin(corpus, {"training.processes": str(processes)})  # no checkpoint is due before the interruption
    run.wait_for(lambda: run.updates() >= 3)
    workers = run.children()
    run.interrupt()
    assert run.finish() == 130, run.said
    assert "Traceback" not in run.said
    assert f"tongsa resume {run.out}" in run.said
    assert all(map(gone, workers))
    assert saved_at(run) == run.updates()
    tongsa.resume(run.out)
    assert_last_weights_identical(run.out, uninterrupted(processes))


def saved_at(run: Training) -> int:
    """The update of the last checkpoint."""
    saved = latest(run.out / "checkpoints")
    assert saved is not None
    return saved.update


def assert_last_weights_identical(one: Path, other: Path) -> None:
    left, right = latest(one / "checkpoints"), latest(other / "checkpoints")
    assert left is not None
    assert right is not None
    mine, theirs = left.weights(), right.weights()
    assert left.update == right.update
    assert [name for name in mine if not torch.equal(mine[name], theirs[name])] == []


def test_two_processes_give_the_losses_and_weights_of_one(uninterrupted: Whole) -> None:
    """With dropout and subword sampling on; only the order of sums differs."""
    one, two = ([*map(json.loads, (uninterrupted(n) / "log.jsonl").read_text().splitlines())] for n in (1, 2))
    for key in ("loss", "log_loss", "gradient_norm"):
        left, right = ([event[key] for event in log if event["event"] == "update"] for log in (one, two))
        assert len(left) == 24
        assert left == pytest.approx(right, rel=2e-4)
    first, second = (
        read_tensors(checkpoints(uninterrupted(n) / "checkpoints")[-1].folder / "weights.safetensors") for n in (1, 2)
    )
    for name, weight in first.items():
        # A bias of the keys adds the same to all scores of a query: its gradient is nothing but rounding.
        if not name.endswith("w_k.bias"):
            torch.testing.assert_close(
                weight, second[name], atol=2e-4, rtol=0, msg=lambda text, name=name: f"{name}: {text}"
            )
