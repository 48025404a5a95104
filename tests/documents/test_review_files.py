"""A review that is worked in: written, corrected, and given back as a translation memory."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import Fake, upper

from tongsa.base.errors import UsageError
from tongsa.cli.document import DocumentOptions, translate_files
from tongsa.documents import Resources, TranslatedDocument, translate_document
from tongsa.documents.memory import Memory
from tongsa.documents.review import write_review
from tongsa.documents.tagged import tagged, tagged_like, untagged
from tongsa.documents.translate import translate_segments
from tongsa.formats.pairs import Reading, open_corpus
from tongsa.formats.segments import ContentBuilder, Languages, Outcome, Segment
from tongsa.pages.review import draw_review
from tongsa.translation.glossary import Glossary

LANGUAGES = Languages(source="en", target="de")
PAGE = '<p>Open the <b>old</b> file.</p>\n<p>Tom &amp; Jerry wait.</p>\n<p>Press <a href="x">here</a> twice.</p>\n'
EVERYTHING = 1.1
"""A confidence that no translation reaches: everything is reviewed."""


def translated(folder: Path, memory: Path | None = None, page: str = PAGE) -> TranslatedDocument:
    source = folder / "page.html"
    source.write_text(page, encoding="utf-8")
    read = Memory.read([memory] if memory else [], LANGUAGES)
    return translate_document(Fake(str.upper), source, folder / "page.de.html", resources=Resources(memory=read))


def corrected_catalog(text: str) -> str:
    """What a person does in an editor of catalogs: two messages corrected, one of them not finished."""
    first, rest = text.split('msgid "Open the <1>old</1> file."')
    first = first[::-1].replace(", fuzzy\n"[::-1], "\n"[::-1], 1)[::-1]
    rest = rest.replace("OPEN THE <1>OLD</1> FILE.", "Öffne die <1>alte</1> Datei.", 1)
    return f'{first}msgid "Open the <1>old</1> file."{rest}'.replace("PRESS <1>HERE</1>", "Hier <1>unfertig</1>")


def corrected_xliff(text: str) -> str:
    before, unit, after = text.partition("<trans-unit id=")
    units = [f"<trans-unit id={each}" for each in (unit + after).split("<trans-unit id=")[1:]]
    for place, each in enumerate(units):
        if "OPEN THE" in each:
            done = each.replace("needs-review-translation", "final", 1)
            units[place] = done.replace("OPEN THE", "Öffne die").replace("OLD", "alte").replace("FILE.", "Datei.")
        if "PRESS" in each:
            units[place] = each.replace("PRESS", "unfertig")
    return before + "".join(units)


@pytest.mark.parametrize(("name", "correct"), [("r.po", corrected_catalog), ("r.xliff", corrected_xliff)])
def test_a_corrected_unit_goes_into_the_document_and_an_unfinished_one_does_not(
    tmp_path: Path, name: str, correct: Callable[[str], str]
) -> None:
    done = translated(tmp_path)
    review = tmp_path / name
    assert write_review(review, [done], LANGUAGES, EVERYTHING) == 3
    assert not list(open_corpus([review], Reading(source="en", target="de"))), "nothing is finished yet"
    review.write_text(correct(review.read_text(encoding="utf-8")), encoding="utf-8")
    again = translated(tmp_path, memory=review)
    written = again.target.read_text(encoding="utf-8")
    assert "Öffne die <b>alte</b> Datei." in written
    assert "unfertig" not in written
    assert [outcome.state for outcome in again.outcomes] == ["memory", "translated", "translated"]
    assert Memory.read([review], LANGUAGES).left_out, "what is not finished is told"
    assert write_review(review, [again], LANGUAGES, EVERYTHING) == 2, "what was corrected needs no other review"


@pytest.mark.skipif(not shutil.which("msgfmt"), reason="needs msgfmt of gettext")
def test_gettext_accepts_a_review_with_the_same_text_twice(tmp_path: Path) -> None:
    done = translated(tmp_path, page="<p>Good day</p>\n<p>Good day</p>\n<p>Good\nnight</p>\n")
    write_review(tmp_path / "r.po", [done], LANGUAGES, EVERYTHING)
    subprocess.run(["msgfmt", "--check", "-o", "/dev/null", tmp_path / "r.po"], check=True)


def test_the_reasons_and_the_place_are_in_the_file(tmp_path: Path) -> None:
    memory = Memory()
    memory.add("Open the new file.", "Öffne die neue Datei.")
    segment = Segment(id="line 7", content=("Open the old file.",), longest=5)
    resources = Resources(memory=memory, glossary=Glossary({"file": "Datei"}), fuzzy=0.75)
    outcomes = translate_segments([segment], upper(), resources)
    done = TranslatedDocument(tmp_path / "a b.txt", tmp_path / "x", [segment], outcomes)
    write_review(tmp_path / "r.po", [done], LANGUAGES)
    text = (tmp_path / "r.po").read_text(encoding="utf-8")
    assert "#. from the translation memory, the translation of a similar text (83%)" in text
    assert "#. too long: 21 characters, at most 5 are allowed" in text
    assert '#| msgid "Open the new file."' in text
    assert f"#: \u2068{tmp_path}/a b.txt\u2069:7" in text
    write_review(tmp_path / "r.xliff", [done], LANGUAGES)
    text = (tmp_path / "r.xliff").read_text(encoding="utf-8")
    assert (
        '<target state="needs-review-translation" state-qualifier="fuzzy-match">Öffne die neue Datei.</target>' in text
    )
    assert '<alt-trans match-quality="83%" origin="memory">' in text
    assert 'maxwidth="5" size-unit="char"' in text


def test_what_the_format_does_not_write_is_told_not_to_be_corrected_here(tmp_path: Path) -> None:
    segment = Segment(id="line 1", content=("Open it",), left="HTML left in the source language")
    done = TranslatedDocument(tmp_path / "a.md", tmp_path / "x", [segment], translate_segments([segment], upper()))
    assert write_review(tmp_path / "r.po", [done], LANGUAGES) == 1
    assert "#. a correction here has no effect: edit the document" in (tmp_path / "r.po").read_text(encoding="utf-8")


def outcome_of(text: str, entries: dict[str, str], fuzzy: float | None = None, **more: object) -> Outcome:
    memory = Memory()
    for source, target in entries.items():
        memory.add(source, target)
    resources = Resources(memory=memory, fuzzy=fuzzy, **more)  # type: ignore[arg-type]
    (found,) = translate_segments([Segment(id="1", content=(text,))], upper(), resources)
    return found


@pytest.mark.parametrize(
    ("text", "source", "target", "expected"),
    [
        ("Page 7 of 200", "Page 3 of 10", "Seite 3 von 10", "Seite 7 von 200"),
        ("Wait 5 minutes, {user}!", "Wait 12 minutes, %s!", "Warte 12 Minuten, %s!", "Warte 5 Minuten, {user}!"),
        (
            "See https://b.example/x.",
            "See https://a.example/.",
            "Siehe https://a.example/.",
            "Siehe https://b.example/x.",
        ),
        ("From 3 to 3", "From 1 to 1", "Von 1 bis 1", "Von 3 bis 3"),
    ],
)
def test_an_entry_in_which_only_numbers_or_placeholders_differ_is_adapted(
    text: str, source: str, target: str, expected: str
) -> None:
    found = outcome_of(text, {source: target})
    assert (found.text, found.state) == (expected, "fuzzy")
    assert found.near is not None


@pytest.mark.parametrize(
    ("text", "source", "target"),
    [
        ("Page 7", "Page 3", "Dritte Seite"),
        ("From 3 to 4", "From 1 to 1", "Von 1 bis 1"),
        ("Page 7", "Page 3", "Seite 3 (3)"),
        ("2 files", "1 file", "1 Datei"),
        ("Page 7", "Page 3", "Seite\0 3"),
    ],
)
def test_an_entry_that_cannot_be_adapted_surely_is_not(text: str, source: str, target: str) -> None:
    assert outcome_of(text, {source: target}).state in ("translated", "copied")


def test_a_similar_entry_is_used_only_if_it_is_asked_for_and_only_with_the_same_placeholders() -> None:
    entries = {"Open the new file.": "Öffne die neue Datei.", "Remove %s from the old list": "Entferne es"}
    assert outcome_of("Open the old file.", entries).state == "translated"
    found = outcome_of("Open the old file.", entries, fuzzy=0.75)
    assert (found.text, found.state) == ("Öffne die neue Datei.", "fuzzy")
    assert found.confidence == pytest.approx(0.83, abs=0.01)
    assert outcome_of("Open the old file.", entries, fuzzy=0.95).state == "translated"
    assert outcome_of("Remove %s from the new list", entries, fuzzy=0.75).state == "translated"


def test_a_missing_term_is_a_reason() -> None:
    glossary = Glossary({"file": "Datei"})
    assert outcome_of("the file", {"the file": "die Akte"}, glossary=glossary).notes == ("term missing: file -> Datei",)
    assert outcome_of("the file", {"the file": "der Dateien"}, glossary=glossary).notes == ()


def test_tags_stand_for_marks_and_come_back() -> None:
    builder = ContentBuilder()
    builder.text("Press ")
    builder.open("<b>", "b")
    builder.text("here")
    builder.alone("<img>")
    builder.close("</b>", "b")
    content = builder.content()
    assert tagged(content) == "Press <1>here<2/></1>"
    turned = untagged("<1><2/>Hier</1> drücken", content)
    assert turned is not None
    assert tagged_like(content, turned) == "<1><2/>Hier</1> drücken"
    for broken in ("<1>Hier</1>", "<1><2/><2/>Hier</1>", "</1><2/>Hier<1>", "<1><2/>Hier</1><3/>", "Hier"):
        assert untagged(broken, content) is None, broken
    assert tagged(("a <1> b", *content)) is None, "the text has such tags of its own"


def test_a_likeness_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    class Show:
        def say(self, text: str) -> None: ...

    with pytest.raises(UsageError, match="--fuzzy is 75"):
        translate_files(Fake(str.upper), [], DocumentOptions(fuzzy=75), Show())  # type: ignore[arg-type]


def test_the_page_shows_both_texts_and_what_differs_from_the_memory(tmp_path: Path) -> None:
    memory = Memory()
    memory.add("Open the new <file>.", "Öffne die neue <Datei>.")
    segments = [Segment(id="line 1", content=("Open the old <file>.",)), Segment(id="line 2", content=("<Hello> you",))]
    outcomes = translate_segments(segments, upper(), Resources(memory=memory, fuzzy=0.75))
    page = draw_review([TranslatedDocument(tmp_path / "a.txt", tmp_path / "x", segments, outcomes)], LANGUAGES)
    assert "Open the <del>new</del> &lt;file&gt;." in page
    assert "Open the <ins>old</ins> &lt;file&gt;." in page
    assert "<file>" not in page
    assert "<Hello>" not in page
