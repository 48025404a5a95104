"""Streams of lines: order, memory, repetition, latency, and jobs that are killed."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import pytest

from small_translators import learnt_translator, sentences
from tongsa.base.errors import UsageError
from tongsa.base.partial import PartialOutput
from tongsa.cli.main import main
from tongsa.decoding import Search
from tongsa.decoding.search import Sampling
from tongsa.translation import stream as streams
from tongsa.translation.options import TranslateOptions
from tongsa.translation.stream import Lines, Stream
from tongsa.translation.translator import Translation

DEFAULT = TranslateOptions()
TONGSA = [sys.executable, "-m", "tongsa"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return learnt_translator(tmp_path_factory.mktemp("translators") / "learnt")


class Shouting:
    """A translator that shouts, and counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.search = Search()

    def translate(self, texts: Sequence[str], options: TranslateOptions) -> list[Translation]:
        self.asked += texts
        return [Translation(text=text.upper(), tokens=("A",)) for text in texts]


def decode(line: bytes, number: int) -> str:
    return line.decode()


def shout(data: bytes, options: TranslateOptions = DEFAULT) -> tuple[list[str], Shouting]:
    translator = Shouting()
    stream = Stream(translator, options, decode)  # type: ignore[arg-type]
    done = list(stream.translate(Lines(io.BytesIO(data))))
    assert [window.window.first for window in done] == [
        1 + sum(len(before.translations) for before in done[:i]) for i in range(len(done))
    ]
    return [translation.text for window in done for translation in window.translations], translator


def test_every_line_is_answered_in_order() -> None:
    lines = [f"line {i} {'x' * (i % 70)}" for i in range(20_000)]
    found, _ = shout("\n".join(lines).encode())
    assert found == [line.upper() for line in lines]


def test_blank_lines_and_a_missing_last_end_keep_their_places() -> None:
    assert shout(b"a\n\n\nb\r\nc")[0] == ["A", "", "", "B\r", "C"]
    assert shout(b"")[0] == []


def test_a_text_that_comes_again_is_translated_once() -> None:
    found, translator = shout(b"one\ntwo\n" * 5_000)
    assert found == ["ONE", "TWO"] * 5_000
    assert sorted(translator.asked) == ["one", "two"]


def test_draws_are_made_for_every_line() -> None:
    _, translator = shout(b"one\n" * 10, TranslateOptions(search=Search(sampling=Sampling())))
    assert translator.asked == ["one"] * 10


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "REMEMBERED", 100)
    stream = Stream(Shouting(), DEFAULT, decode)  # type: ignore[arg-type]
    data = b"".join(b"%d\n" % i for i in range(5_000))
    assert sum(len(done.translations) for done in stream.translate(Lines(io.BytesIO(data)))) == 5_000
    assert len(stream._slots) == 100


def test_an_error_comes_after_the_windows_before_it() -> None:
    def strict(line: bytes, number: int) -> str:
        if number == 3_000:
            raise UsageError("line 3,000 is bad")
        return line.decode()

    stream = Stream(Shouting(), DEFAULT, strict)  # type: ignore[arg-type]
    found = 0
    with pytest.raises(UsageError, match="3,000"):  # noqa: PT012 (what came before is counted)
        for done in stream.translate(Lines(io.BytesIO(b"x\n" * 5_000))):
            found += len(done.translations)
    assert 0 < found < 3_000


def test_a_skipped_part_is_hashed_like_a_translated_one() -> None:
    data = b"a\nb\nc\nd"
    whole = list(Lines(io.BytesIO(data)).windows(lambda: 100))
    lines = Lines(io.BytesIO(data))
    lines.skip(2)
    rest = list(lines.windows(lambda: 100))
    assert rest[0].first == 3
    assert [line for window in rest for line in window.lines] == [b"c", b"d"]
    assert rest[-1].digest == whole[-1].digest


def test_a_line_on_a_pipe_is_answered_when_it_comes(directory: Path) -> None:
    command = [*TONGSA, "translate", str(directory), "--threads", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT) as process:
        assert process.stdin
        assert process.stdout
        for source, _ in sentences(3):
            process.stdin.write(source.encode() + b"\n")
            process.stdin.flush()
            assert process.stdout.readline().endswith(b"\n")
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


def test_the_note_of_a_cut_off_job_cuts_what_came_after_it(tmp_path: Path) -> None:
    path = tmp_path / "out"
    output = PartialOutput(path, {"a": "1"}, resume=False, say=print)
    output.write("one\n", lines=1, digest="d")
    output.close()
    with (tmp_path / "out.part").open("ab") as file:
        file.write(b"two\nhal")
    with pytest.raises(UsageError, match="interrupted"):
        PartialOutput(path, {"a": "1"}, resume=False, say=print)
    with pytest.raises(UsageError, match="other settings"):
        PartialOutput(path, {"a": "2"}, resume=True, say=print)
    output = PartialOutput(path, {"a": "1"}, resume=True, say=print)
    assert (output.note.lines, output.note.input) == (1, "d")
    output.write("two\n", lines=1, digest="e")
    output.finish()
    output.close()
    assert path.read_text() == "one\ntwo\n"
    assert sorted(file.name for file in tmp_path.iterdir() if not file.name.startswith(".")) == ["out"]


def job(directory: Path, source: Path, output: Path, *more: str) -> list[str]:
    common = ["--threads", "1", "--beam", "1", *more]
    return ["translate", str(directory), "-i", str(source), "-o", str(output), *common]


class Run(Protocol):
    def __call__(self, directory: Path, source: Path, output: Path, *more: str) -> tuple[int, str]: ...


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a job in this process; its exit code, and what it says."""

    def here(directory: Path, source: Path, output: Path, *more: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["tongsa", *job(directory, source, output, *more)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        return code, capsys.readouterr().err

    return here


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    while not condition():
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.02)


def test_a_killed_job_goes_on_and_loses_or_doubles_no_line(directory: Path, tmp_path: Path, run: Run) -> None:
    source, output, whole = (tmp_path / name for name in ("source", "output", "whole"))
    lines = [f"{text} {i}" for i in range(12) for text, _ in sentences(100)]
    source.write_text("".join(line + "\n" for line in lines))
    with subprocess.Popen(
        [*TONGSA, *job(directory, source, output)], env=ENVIRONMENT, stderr=subprocess.DEVNULL
    ) as process:
        wait_for((tmp_path / "output.part.json").is_file, process)
        process.send_signal(signal.SIGKILL)
    assert not output.exists()
    assert 0 < len((tmp_path / "output.part").read_bytes().splitlines()) < len(lines)
    changed = tmp_path / "changed"
    changed.write_text("x\n" + source.read_text())
    assert "have changed" in run(directory, changed, output, "--resume")[1]
    code, said = run(directory, source, output, "--resume")
    assert code == 0, said
    assert "continuing after line" in said
    assert run(directory, source, whole)[0] == 0
    assert output.read_text() == whole.read_text()
    assert len(output.read_text().splitlines()) == len(lines)
    assert "complete" in run(directory, source, output, "--resume")[1]


def test_a_compressed_file_is_read(directory: Path, tmp_path: Path, run: Run) -> None:
    text = "".join(source + "\n" for source, _ in sentences(5))
    (tmp_path / "plain").write_text(text)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("plain", "packed.gz"):
        assert run(directory, tmp_path / name, tmp_path / f"{name}.out")[0] == 0
    assert (tmp_path / "packed.gz.out").read_text() == (tmp_path / "plain.out").read_text()
