"""The commands and programs that README and docs show are run as they stand, with less time to train.

Their Korean twins show the same ones: see test_translated_docs.py.
"""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tongsa.cli.main import main
from tongsa.demo import grammar
from tongsa.demo.grammar import corpus, write_pairs

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    "README.md",
    "docs/guide.md",
    "docs/tutorial.md",
    "docs/paper.md",
    "docs/attention.md",
    "docs/corpora.md",
    "docs/documents.md",
    "docs/quality.md",
]
BLOCK = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)
TOO_LONG_HERE = ("make demo", "make test", "make lint", "make bench", "pip install", "torchrun")


def blocks(page: str) -> list[tuple[str, str]]:
    return BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with the files that the pages speak of; any two languages will do."""
    folder = tmp_path
    sizes = {"data/train": 300, "data/valid": 40, "data/test": 30, "new/train": 60}
    for seed, (part, count) in enumerate(sizes.items()):
        pairs = list(write_pairs(count, seed=seed))
        (folder / part).parent.mkdir(exist_ok=True)
        for language, side in (("ko", 0), ("en", 1), ("de", 0)):
            text = "".join(pair[side] + "\n" for pair in pairs)
            (folder / f"{part}.{language}").write_text(text, encoding="utf-8")
    (folder / "manual.md").write_text("# A manual\n\nRead **this** page at <https://example.org>.\n", encoding="utf-8")
    (folder / "news.en").write_text("A man.\n\nTwo dogs.\n", encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_everything_that_a_page_shows_runs_in_its_order(
    page: str, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, which has torch already, where no shell or service is shown."""
    monkeypatch.chdir(desk)
    monkeypatch.setattr(grammar, "corpus", lambda train, *parts, seed: corpus(train, *(8 for _ in parts), seed=seed))
    for language, text in blocks(page):
        if language == "python":
            exec(compile(quick_program(text), page, "exec"), {"__name__": "__main__"})
        elif language == "":
            for line in commands(text):
                command = quick_command(line)
                if line.startswith("tongsa serve"):
                    serve_and_stop(in_a_shell(command), desk)
                elif re.search("[<>|]", line):
                    run(in_a_shell(command), desk)
                else:
                    monkeypatch.setattr(sys, "argv", shlex.split(command))
                    assert exit_code() == 0, f"{command}\n{capsys.readouterr()}"


def commands(text: str) -> list[str]:
    """The lines of a block that shows a shell, without comments at their ends."""
    lines = [line.split("   #")[0].strip() for line in text.splitlines() if line.strip()]
    return [line for line in lines if not line.startswith(TOO_LONG_HERE)]


SMALL = {
    "subwords.size": "1000",
    "model.d_model": "32",
    "training.updates": "2",
    "training.validation_pairs": "8",
    "training.processes": "1",
    "decoding.max_extra": "3",
}


def quick_command(line: str) -> str:
    assert line.startswith("tongsa "), f"a command that this test does not know: {line}"
    quick = re.sub(r"--minutes \S+", "--minutes 0.02", line).replace("--pairs 20000", "--pairs 400")
    quick = quick.replace("--models lstm,lstm-attention,convs2s,transformer", "--models lstm,transformer")
    if line.startswith("tongsa demo"):
        return f"{quick} --threads 1"
    if not re.match(r"tongsa (train|rounds|distill|lab compare)", line):
        return quick
    settings = dict(SMALL)
    if "--tune" in line:
        quick = re.sub(r"--minutes \S+", "", quick).replace("--tune 8", "--tune 2")
        settings |= {"training.updates": "16"}
    if "--task" not in line and "--models" not in line:
        settings |= {"model.encoder_layers": "1", "model.decoder_layers": "1", "model.d_ff": "32"}
    return " ".join([quick, "--threads 1", *(f"--set {key}={value}" for key, value in settings.items())])


def quick_program(text: str) -> str:
    """A directory of its own: that of the commands is taken."""
    quick = text.replace("minutes=30", f"minutes=0.02, threads=1, settings={SMALL}")
    return re.sub(r'out="([^"]+)"', r'out="\1-again"', quick)


def exit_code() -> int:
    """Of the command that stands in sys.argv."""
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def in_a_shell(command: str) -> str:
    return command.replace("tongsa", f"{shlex.quote(sys.executable)} -m tongsa", 1)


def run(command: str, folder: Path) -> None:
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def serve_and_stop(command: str, folder: Path) -> None:
    """It answers, and ends well when it is told to."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(shlex.split(f"{command} --port {port}"), cwd=folder)
    try:
        for _ in range(1500):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                    assert answer.status == 200
                break
            except urllib.error.URLError:
                assert server.poll() is None, f"{command} ended by itself"
                time.sleep(0.2)
        else:
            pytest.fail(f"{command} does not answer")
    finally:
        server.terminate()
    assert server.wait(timeout=180) == 0


def test_make_has_the_targets_that_the_pages_name() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {word for page in PAGES for word in re.findall(r"make (demo|test|lint|bench)\b", (ROOT / page).read_text())}
    assert named <= targets


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page} links to {target}"
