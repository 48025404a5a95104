"""Bulk translation into files: records, kills at the very points, devices and pipes, two jobs at once."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from small_translators import learnt_translator, sentences
from tongsa.base import partial
from tongsa.base.errors import DirectoryError, LockedError, UsageError, WriteError
from tongsa.base.partial import PartialOutput

SETTINGS = {"weights": "1f0c", "search.beam": "4"}


def opened(path: Path, *, resume: bool = False, settings: dict[str, str] = SETTINGS) -> PartialOutput:
    return PartialOutput(path, settings, resume=resume, say=print)


def finished(path: Path, text: str, *, resume: bool = False) -> None:
    output = opened(path, resume=resume)
    output.write(text, lines=text.count("\n"), digest=text)
    output.finish()
    output.close()


def seen(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


class KilledError(BaseException):
    """The process ends here."""


def kill(*_: object) -> None:
    raise KilledError


def test_an_older_output_is_not_taken_for_the_result_of_a_job_that_was_killed_early(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("of another input\n")
    opened(path).close()  # killed before its first window
    output = opened(path, resume=True)
    assert not output.note.complete
    output.write("new\n", lines=1, digest="d")
    assert path.read_text() == "of another input\n"
    output.finish()
    output.close()
    assert path.read_text() == "new\n"


@pytest.mark.parametrize("point", ["rename_over", "sync"])
@pytest.mark.parametrize("resumed", [False, True])
def test_a_kill_around_the_last_rename_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, resumed: bool
) -> None:
    path = tmp_path / "out"
    path.write_text("old\n")
    output = opened(path, resume=resumed)
    output.write("new\n", lines=1, digest="d")
    with monkeypatch.context() as patch:
        patch.setattr(partial, point, kill)
        with pytest.raises(KilledError):
            output.finish()
    output.close()
    assert path.read_text() == ("old\n" if point == "rename_over" else "new\n")
    output = opened(path, resume=True)
    assert output.note.complete
    assert (output.note.lines, output.note.input) == (1, "d")
    output.finish()
    output.close()
    assert path.read_text() == "new\n"
    assert seen(tmp_path) == ["out"]


def test_a_finished_output_is_known_by_its_record_alone(tmp_path: Path) -> None:
    path = tmp_path / "out"
    finished(path, "new\n", resume=True)
    output = opened(path, resume=True)
    assert output.note.complete
    output.finish()
    output.close()
    finished(path, "newer\n")  # a job that leaves no record removes the earlier one
    output = opened(path, resume=True)
    assert not output.note.complete
    output.close()


def test_a_record_of_other_settings_is_refused_and_names_them(tmp_path: Path) -> None:
    finished(tmp_path / "out", "new\n", resume=True)
    with pytest.raises(UsageError, match=r"search\.beam: 4 before, 1 now"):
        opened(tmp_path / "out", resume=True, settings={**SETTINGS, "search.beam": "1"})


def test_an_output_that_was_changed_is_not_called_complete(tmp_path: Path) -> None:
    path = tmp_path / "out"
    finished(path, "new\n", resume=True)
    path.write_text("new\nand more\n")
    with pytest.raises(DirectoryError, match="something has changed it"):
        opened(path, resume=True)
    finished(path, "again\n")
    assert path.read_text() == "again\n"


def test_a_partial_file_that_was_cut_is_not_continued(tmp_path: Path) -> None:
    output = opened(tmp_path / "out")
    output.write("one\ntwo\n", lines=2, digest="d")
    output.close()
    (tmp_path / "out.part").write_text("one\n")
    with pytest.raises(DirectoryError, match=r"has 4 bytes, but 8 were written"):
        opened(tmp_path / "out", resume=True)


def test_the_second_job_on_an_output_is_told_who_has_it(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("out")
    output = opened(tmp_path / "out")
    for name in ("out", "link"):
        with pytest.raises(LockedError, match=f"process {os.getpid()} on .*, since 20"):
            opened(tmp_path / name)
    output.close()
    opened(tmp_path / "out").close()


def test_an_output_through_a_link_replaces_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk/out")
    finished(tmp_path / "link", "new\n")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "disk" / "out").read_text() == "new\n"
    assert seen(tmp_path) == ["disk", "link"]


def test_a_directory_is_no_output(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="directory"):
        opened(tmp_path)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return learnt_translator(tmp_path_factory.mktemp("translators") / "learnt")


def translate(directory: Path, *more: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tongsa", "translate", directory, "--threads", "1", "--beam", "1", *more]
    return subprocess.run(
        list(map(str, command)),
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def test_the_command_streams_into_pipes_and_refuses_to_resume_there(directory: Path, tmp_path: Path) -> None:
    source, pipe, link = (tmp_path / name for name in ("source", "pipe", "link"))
    source.write_text("".join(f"{text}\n" for text, _ in sentences(3)))
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    to_standard_output = translate(directory, "--input", source, "--output", "-")
    assert to_standard_output.stdout.count("\n") == 3
    found: list[str] = []
    reader = Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    done = translate(directory, "--input", source, "--output", link)
    assert done.returncode == 0, done.stderr
    reader.join(timeout=600)
    assert found == [to_standard_output.stdout]
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert seen(tmp_path) == ["link", "pipe", "source"]
    refused = translate(directory, "--input", source, "--output", pipe, "--resume")
    assert refused.returncode == 2
    assert "--resume needs a file" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_the_command_writes_into_devices_and_says_when_they_are_full(
    directory: Path, tmp_path: Path, null_device: Path
) -> None:
    source = tmp_path / "source"
    source.write_text("a\n")
    done = translate(directory, "--input", source, "--output", null_device)
    assert done.returncode == 0, done.stderr
    assert null_device.is_char_device()
    full = translate(directory, "--input", source, "--output", "/dev/full")
    assert full.returncode == 2
    assert "/dev/full cannot be written: No space left on device" in full.stderr
    assert "Traceback" not in full.stderr
    refused = translate(directory, "--input", source, "--output", tmp_path)
    assert (refused.returncode, "is a directory" in refused.stderr) == (2, True)
