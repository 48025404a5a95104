"""A training text without its faulty pairs: what is left out, what is counted, and when nothing is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.corpus.planting import plant

from tongsa.base.progress import Silent
from tongsa.corpus.clean import Cleaned
from tongsa.demo.grammar import write_pairs
from tongsa.formats.pairs import Reading, open_corpus
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.training.run import prepare

PAIRS = 1200


class Heard(Silent):
    """Remembers what was said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[int]]:
    """A file of pairs in which some targets are copies of the source, and where they are."""
    texts, truth = plant([(english, korean) for korean, english in write_pairs(PAIRS, seed=3)], share=0.02)
    path = tmp_path_factory.mktemp("corpus") / "all.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in texts), encoding="utf-8")
    return path, truth["copy"]


def _cleaned(path: Path, show: Silent, most: float = 1e9) -> Cleaned:
    return Cleaned(open_corpus([path], Reading(source="en", target="ko")), show, 1, most)


def test_copies_are_left_out_and_counted_on_every_pass(copies: tuple[Path, set[int]]) -> None:
    path, planted = copies
    corpus = _cleaned(path, Silent())
    passes = [list(corpus) for _ in range(2)]
    assert passes[0] == passes[1]
    lines = {pair.where.line for pair in passes[0]}
    assert not lines & {number + 1 for number in planted}
    assert sum(corpus.left_out.dropped.values()) == PAIRS - len(passes[0])
    assert any("untranslated (copy)" in line for line in corpus.left_out.lines())


def test_a_corpus_is_taken_as_it_is_if_there_is_no_time_or_nothing_to_learn_from(
    copies: tuple[Path, set[int]], tmp_path: Path
) -> None:
    show = Heard()
    assert len(list(_cleaned(copies[0], show, most=PAIRS - 1))) == PAIRS
    assert any("not cleaned: 1,200 pairs" in line for line in show.lines)
    few = tmp_path / "few.tsv"
    few.write_text("".join(f"{number}\t{number}\n" for number in range(999)), encoding="utf-8")
    assert len(list(_cleaned(few, Silent()))) == 999


@pytest.mark.parametrize(("settings", "cleans"), [({}, True), ({"corpus.clean": "false"}, False)])
def test_auto_cleans_and_says_so(
    copies: tuple[Path, set[int]], tmp_path: Path, settings: dict[str, str], cleans: bool
) -> None:
    show = Heard()
    options = TrainOptions(corpora=(str(copies[0]),), source="en", target="ko", threads=1, settings=settings)
    prepare(Run(tmp_path / "run"), options, show)
    assert any("untranslated (copy)" in line for line in show.lines) == cleans


SCRIPT = """
from tongsa.base.progress import Silent
from tongsa.corpus.clean import Cleaned
from tongsa.formats.pairs import Reading, open_corpus

print("begins")
corpus = open_corpus(["all.tsv"], Reading(source="en", target="ko"))
print(len(list(Cleaned(corpus, Silent(), workers=2))) > 3000)
"""


def test_workers_do_not_run_an_unguarded_script_again(tmp_path: Path) -> None:
    pairs = "".join(f"{english}\t{korean}\n" for korean, english in write_pairs(4100, seed=3))
    (tmp_path / "all.tsv").write_text(pairs, encoding="utf-8")
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert done.stdout.split() == ["begins", "True"], done.stderr[-2000:]
