"""Documents through a model that was really trained: Korean in, English out, every placeholder exactly once."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from samples import zipped
from typer.testing import CliRunner

from tongsa.cli.main import application
from tongsa.demo.grammar import corpus
from tongsa.documents import Languages, Options, open_document, translate_document
from tongsa.formats.segments import visible
from tongsa.text.placeholders import find
from tongsa.translation.translator import Translator

KOREAN = [korean for korean, _ in corpus(0, 0, 8, seed=1)[2]]
A, B, C, D = KOREAN[:4]
MARKED = f"{A} %(name)s {{0}}"
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_OFFICE = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)
XLIFF = f"""<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="ko"
 target-language="en" datatype="plaintext"><body><trans-unit id="1"><source>{MARKED}</source></trans-unit>
<trans-unit id="2"><source>{B}</source></trans-unit></body></file></xliff>"""
TMX = f"""<tmx version="1.4"><header srclang="ko" segtype="sentence" o-tmf="a" adminlang="en" creationtool="a"
 creationtoolversion="1" datatype="plaintext"/><body>
<tu><tuv xml:lang="ko"><seg>{MARKED}</seg></tuv></tu></body></tmx>"""
DOCUMENTS: dict[str, bytes] = {
    "a.txt": f"{MARKED}\n\n{B} {C}\n".encode(),
    "a.md": f"# {B}\n\n{A} `code` [{C}](https://example.org/a) **{D}** %(name)s {{0}}\n".encode(),
    "a.html": f'<p>{MARKED} <b>{B}</b> &amp; <a href="https://example.org" title="{C}">{D}</a></p>'.encode(),
    "a.po": f'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n#, python-format\nmsgid "{A} %(name)s"\n'
    f'msgstr ""\n\nmsgid "{B} {{0}}"\nmsgstr ""\n'.encode(),
    "a.xliff": XLIFF.encode(),
    "a.tmx": TMX.encode(),
    "a.srt": f"1\n00:00:01,000 --> 00:00:02,000\n{A}\n\n2\n00:00:03,000 --> 00:00:04,000\n<i>{B}</i>\n".encode(),
    "a.vtt": f"WEBVTT\n\n00:01.000 --> 00:02.000\n{A} {{0}}\n".encode(),
    "a.json": json.dumps(
        {"one": MARKED, "two": [B, "{n, plural, one {# 책} other {# 책}}"]}, ensure_ascii=False
    ).encode(),
    "a.csv": f"ko,en\n{A},\n{B} %s,\n".encode(),
    "a.docx": zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f"<w:document {_W}><w:body><w:p><w:r><w:t>{MARKED}</w:t></w:r></w:p></w:body>"
            "</w:document>",
        }
    ),
    "a.odt": zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {_OFFICE}><office:body><office:text><text:p>{MARKED}</text:p>"
            "</office:text></office:body></office:document-content>",
        }
    ),
}
HANGUL = re.compile("[가-힣]")


def placeholders(text: str) -> Counter[str]:
    return Counter(each.text for each in find(text))


@pytest.fixture(scope="module")
def translator(trained_translator: Path) -> Translator:
    return Translator.load(trained_translator, threads=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_format_comes_out_translated_with_every_placeholder_once(
    name: str, translator: Translator, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(DOCUMENTS[name])
    done = translate_document(translator, tmp_path / name, tmp_path / f"new.{name}")
    assert any(outcome.state == "translated" for outcome in done.outcomes)
    for segment, outcome in zip(done.segments, done.outcomes, strict=True):
        assert placeholders(visible(segment.content)) == placeholders(outcome.text)
        if outcome.state == "translated":
            assert not HANGUL.search(outcome.text), outcome
    again = open_document(done.target, Options(languages=Languages(source="ko", target="en")))
    assert list(again.segments) or name.endswith((".po", ".xliff", ".tmx", ".csv")), "the new file can be read"


@pytest.mark.slow
def test_the_command_writes_every_document_and_says_what_became_of_it(trained_translator: Path, tmp_path: Path) -> None:
    for name, data in DOCUMENTS.items():
        (tmp_path / f"{Path(name).suffix[1:]}-{name}").write_bytes(data)
    files = sorted(tmp_path.iterdir())
    arguments = ["translate", trained_translator, "--document", *files, "-o", tmp_path / "out", "--threads", "1"]
    result = CliRunner().invoke(application(), [str(each) for each in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert len(list((tmp_path / "out").iterdir())) == len(DOCUMENTS)
    assert result.output.count(" translated") >= len(DOCUMENTS)
    assert "1 left in the source language" in result.output, "branches of an ICU message want a person"


@pytest.mark.slow
def test_a_sentence_over_two_cues_is_translated_as_the_whole_sentence(translator: Translator, tmp_path: Path) -> None:
    cues = [half for korean in KOREAN for half in _halves(korean)]
    times = [f"00:00:{2 * at:02},000 --> 00:00:{2 * at + 1:02},900" for at in range(len(cues))]
    blocks = [f"{number}\n{time}\n{cue}\n" for number, (time, cue) in enumerate(zip(times, cues, strict=True), 1)]
    (tmp_path / "a.srt").write_text("\n".join(blocks))
    done = translate_document(translator, tmp_path / "a.srt")
    assert [visible(segment.content) for segment in done.segments] == KOREAN
    assert [outcome.text for outcome in done.outcomes] == [each.text for each in translator.translate(KOREAN)]
    written = [block.split("\n", 2) for block in done.target.read_text().strip().split("\n\n")]
    assert [time for _, time, _ in written] == times
    pairs = zip(written[::2], written[1::2], strict=True)
    assert [f"{above[2]} {below[2]}" for above, below in pairs] == [outcome.text for outcome in done.outcomes]


def _halves(text: str) -> tuple[str, str]:
    words = text.split()
    return " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])


@pytest.mark.slow
def test_a_page_of_dialects_is_translated_as_its_sentences_are(translator: Translator, tmp_path: Path) -> None:
    page = (
        f'---\ntitle: {A}\n---\n\n::: warning {B}\n{C}\n:::\n\n!!! note "{D}"\n    {A}\n\n> [!NOTE]\n> {B}\n\n'
        f'<div>\n<p>{C}<sup><a href="#1">1</a></sup></p>\n</div>\n\n![{D}](a.png)\n'
    )
    (tmp_path / "a.md").write_text(page)
    done = translate_document(translator, tmp_path / "a.md")
    for korean, english in zip(KOREAN[:4], translator.translate(KOREAN[:4]), strict=True):
        page = page.replace(korean, english.text)
    assert done.target.read_text() == page
