"""`tongsa translate` with a glossary, and with words to keep."""

from __future__ import annotations

from pathlib import Path

from cli.conftest import Tongsa

SENTENCE = "그는 준호 씨에게 어려운 소설을 보냈습니다."


def test_translate_takes_a_glossary_and_words_to_keep(tongsa: Tongsa, trained_translator: Path, tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text("소설\tsaga|sagas\n", encoding="utf-8")
    (tmp_path / "keep.txt").write_text("준호\n", encoding="utf-8")
    options = ("--glossary", tmp_path / "terms.tsv", "--do-not-translate", tmp_path / "keep.txt")
    plain = tongsa("translate", trained_translator, SENTENCE, "--threads", "1")
    done = tongsa("translate", trained_translator, SENTENCE, "--threads", "1", *options)
    assert (done.code, done.err) == (0, "")
    assert done.out == plain.out.replace("novel", "saga").replace("Junho", "준호")


def test_a_resumed_translation_needs_the_same_terms(tongsa: Tongsa, trained_translator: Path, tmp_path: Path) -> None:
    (tmp_path / "a.ko").write_text(f"{SENTENCE}\n" * 3, encoding="utf-8")
    (tmp_path / "terms.tsv").write_text("소설\tsaga\n", encoding="utf-8")
    command = ("translate", trained_translator, "--input", tmp_path / "a.ko", "--output", tmp_path / "a.en")
    terms = ("--glossary", tmp_path / "terms.tsv")
    assert tongsa(*command, *terms).code == 0
    assert (tmp_path / "a.en").read_text().count("saga") == 3
    assert tongsa(*command, *terms, "--resume").code == 0
    assert "terms" in tongsa.refuses(*command, "--resume")


def test_a_line_that_is_no_term_is_an_error_before_anything_is_loaded(tongsa: Tongsa, tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text("소설\n", encoding="utf-8")
    (tmp_path / "translator.json").write_text("{}")
    told = tongsa.refuses("translate", tmp_path, "text", "--glossary", tmp_path / "terms.tsv")
    assert "terms.tsv, line 1" in told
