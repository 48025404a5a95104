"""What a long job shows."""

from __future__ import annotations

import io
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tongsa.base import progress
from tongsa.base.progress import Plain, Silent, Terminal, duration, for_this_stream


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (59.4, "59s"), (59.6, "1m 00s"), (200, "3m 20s"), (3599.9, "1h 00m"), (7500, "2h 05m")],
)
def test_durations_read_as_people_say_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@given(st.floats(0, 10**7))
def test_durations_never_say_sixty(seconds: float) -> None:
    assert not re.search(r"\b6\ds|\b60m", duration(seconds))


def test_lines_of_a_plain_bar_have_rate_and_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, *(second for second in (5.0, 12.0, 12.0, 13.0, 40.0, 40.0, 40.0))])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with Plain().bar("encoding", 100, "pairs") as bar:
        bar.advance(10)
        bar.advance(20, "note")
        bar.advance(10)
        bar.advance(60)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "encoding: 30 of 100 pairs, 2.5/s  note  28s left"
    assert lines[1] == "encoding: 100 of 100 pairs, 2.5/s"


def test_the_rate_of_a_resumed_job_is_that_of_what_it_did_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr("tongsa.base.progress.time.monotonic", lambda: now[0])
    with Plain().bar("training", 100, "updates", done=40) as bar:
        now[0] += 10
        bar.advance(20, "loss 1")
    assert (
        capsys.readouterr().err
        == "training: 60 of 100 updates, 2.0/s  loss 1  20s left\n" + "training: 60 of 100 updates, 2.0/s  20s left\n"
    )


def test_a_plain_bar_without_a_total_counts(capsys: pytest.CaptureFixture[str]) -> None:
    with Plain().bar("reading", None, "pairs") as bar:
        bar.advance(1234)
    assert re.fullmatch(r"reading: 1,234 pairs, [\d,.]+/s\n", capsys.readouterr().err)


def test_nothing_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    for show in (Plain(), Silent(), Terminal()):
        show.say("text [with] brackets")
        with show.bar("title", 2, "pairs") as bar:
            bar.advance(1)
            bar.advance(1, "note")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("text [with] brackets") == 2


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_bar_shows_total_time_left_and_the_beginning_of_the_note_in_any_width(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.StringIO()
    show = Terminal()
    show.console = Console(file=written, width=width, force_terminal=True, color_system=None, highlight=False)
    with show.bar("training", 20_000, "updates") as bar:
        for update in range(1, 1001):
            bar.advance(1, f"loss 3.141  2,345 tokens/s  update {update:,}  BLEU 12.3")
        bar.progress.refresh()  # type: ignore[attr-defined]
        bar.advance(0, "validating")
        bar.progress.refresh()  # type: ignore[attr-defined]
        lines = [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line) for line in re.split(r"[\r\n]", written.getvalue())]
    last = [line for line in lines if line.strip()][-1]
    assert "1,000/20,000 updates" in last
    assert re.search(r"\d+:\d\d", last), last
    assert last.rstrip().endswith("validating")
    assert all(len(line) <= width for line in lines)
    assert any("loss 3.141" in line for line in lines) or width == 60


def test_a_terminal_gets_a_bar_and_a_pipe_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tty(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Tty())
    assert isinstance(for_this_stream(), Terminal)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(for_this_stream(), Plain)
