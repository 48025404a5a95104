"""The report, the page, and what cleaning leaves and removes."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.corpus.planting import plant
from typer.testing import CliRunner

from tongsa.base.errors import CorpusError, UsageError
from tongsa.base.progress import Silent
from tongsa.cli.main import application
from tongsa.corpus.clean import chosen_faults
from tongsa.corpus.report import Report, as_text, length_label, make_report
from tongsa.demo.grammar import write_pairs
from tongsa.formats.pairs import Reading, open_corpus
from tongsa.pages.corpus import draw_corpus
from tongsa.pages.frame import read

PAIRS = 1500
READING = Reading(source="en", target="ko")
LANGUAGES = ["--from", "en", "--to", "ko"]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts, _ = plant([(english, korean) for korean, english in write_pairs(PAIRS, seed=3)])
    texts[50] = ("<script>alert(1)</script> %s", "\u200b<b>둘</b>")
    path = tmp_path_factory.mktemp("corpus") / "all.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in texts), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def report(planted: Path) -> Report:
    return make_report(open_corpus([planted], READING), workers=1, show=Silent())


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(application(), [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_report_tells_sizes_faults_and_places(planted: Path, report: Report) -> None:
    text = "\n".join(as_text(report))
    assert text.startswith(f"{planted}: {PAIRS:,} pairs")
    assert "swapped: source and target are the wrong way round (1.0" in text
    assert f"{planted}, line 51" in text
    assert report.source.lengths.total() == PAIRS
    assert sum(report.ratios.values()) == PAIRS


def test_the_page_is_well_formed_and_escapes_what_the_corpus_says(report: Report) -> None:
    page = draw_corpus(report)
    own = read("kit.js")
    assert page.count("<script") == 1
    assert f"<script>{own}</script>" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "http" not in page.replace("http-equiv", "").replace(own, "")

    class Balanced(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.stack: list[str] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag not in ("meta", "rect", "path"):
                self.stack.append(tag)

        def handle_endtag(self, tag: str) -> None:
            if tag not in ("rect", "path"):
                assert self.stack.pop() == tag

    parser = Balanced()
    parser.feed(page)
    assert parser.stack == []


def test_cleaning_keeps_or_removes_every_pair_and_says_why(planted: Path, tmp_path: Path) -> None:
    said = run("corpus", "clean", planted, *LANGUAGES, "--out", tmp_path / "good.tsv", "--workers", "1")
    kept = [pair[:2] for pair in open_corpus([tmp_path / "good.tsv"], READING)]
    removed = [json.loads(line) for line in (tmp_path / "good.tsv.removed.jsonl").read_text().split("\n")[:-1]]
    before = [pair[:2] for pair in open_corpus([planted], READING)]
    texts = [(entry["translation"]["en"], entry["translation"]["ko"]) for entry in removed]
    assert sorted(kept + texts) == sorted(before)
    assert {name for entry in removed for name in entry["why"]} >= {"shifted", "swapped", "mojibake", "copy", "cut"}
    assert removed[0]["file"] == str(planted)
    assert before[removed[0]["line"] - 1] == texts[0]
    assert f"kept {len(kept):,} of {PAIRS:,} pairs" in said


def test_only_the_named_faults_are_removed(planted: Path, tmp_path: Path) -> None:
    run("corpus", "clean", planted, *LANGUAGES, "--out", tmp_path / "a", "--only", "copy,swapped", "--workers", "1")
    removed = [json.loads(line)["why"] for line in (tmp_path / "a.removed.jsonl").read_text().splitlines()]
    assert {name for why in removed for name in why} == {"copy", "swapped"}


def test_names_of_faults_are_checked() -> None:
    assert chosen_faults(["copy", "cut"], ["cut"], []) == ["copy"]
    assert "numbers" not in chosen_faults([], [], [])
    assert "numbers" in chosen_faults([], [], ["numbers"])
    with pytest.raises(UsageError, match=r"(?s)unknown fault: nonsense.*\n  mojibake"):
        chosen_faults(["nonsense"], [], [])


def test_a_memory_is_converted_sampled_and_deduplicated(tmp_path: Path) -> None:
    texts = [(english, korean) for korean, english in write_pairs(50, seed=1)]
    (tmp_path / "a.en").write_text("".join(f"{english}\n" for english, _ in [*texts, texts[0]]), encoding="utf-8")
    (tmp_path / "a.ko").write_text("".join(f"{korean}\n" for _, korean in [*texts, texts[0]]), encoding="utf-8")
    assert "wrote 51 pairs" in run("corpus", "convert", tmp_path / "a", *LANGUAGES, "--out", tmp_path / "b.tmx")
    assert "kept 50 of 51" in run("corpus", "dedupe", tmp_path / "b.tmx", *LANGUAGES, "--out", tmp_path / "c.po")
    assert "wrote 7 pairs" in run(
        "corpus", "sample", tmp_path / "c.po", *LANGUAGES, "--count", "7", "--out", tmp_path / "d.xliff"
    )
    drawn = [pair[:2] for pair in open_corpus([tmp_path / "d.xliff"], READING)]
    assert len(drawn) == 7
    assert set(drawn) <= set(texts)
    said = run(
        "corpus", "split", tmp_path / "a", *LANGUAGES, "--valid", "5", "--test", "6", "--out", tmp_path / "parts"
    )
    assert "train: 40 pairs" in said
    assert (tmp_path / "parts" / "test.ko").read_text().count("\n") == 6


def test_an_empty_corpus_is_an_error_that_says_what_was_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.tmx").write_text('<tmx><body><tu><tuv xml:lang="fr"><seg>x</seg></tuv></tu></body></tmx>')
    with pytest.raises(CorpusError, match=r"has no pairs\n.*units without en or without ko"):
        make_report(open_corpus([tmp_path / "a.tmx"], READING), show=Silent())


def test_labels_of_lengths_have_no_holes() -> None:
    assert [length_label(place) for place in (0, 1, 3, 13)] == ["1", "2", "4-5", "201+"]
