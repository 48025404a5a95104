"""XLIFF 1.2 and 2.x."""

from __future__ import annotations

from pathlib import Path

import pytest

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Corpus, Reading, open_corpus

OLD = """<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="a" source-language="en-US" target-language="de-DE" datatype="plaintext"><body>
<trans-unit id="greet"><source>Hello <g id="1">you</g><x id="2"/></source>
<target>Hallo <g id="1">du</g><x id="2"/></target>
<alt-trans><source>Hello</source><target>Hallihallo</target></alt-trans></trans-unit>
<trans-unit id="later"><source>Later</source><target state="needs-translation">Later</target></trans-unit>
<trans-unit id="never"><source>Never</source></trans-unit>
<trans-unit id="code"><source>Run <ph id="1">%s</ph> <bpt id="2">&lt;b&gt;</bpt>now<ept id="2">&lt;/b&gt;</ept></source>
<target>Jetzt <bpt id="2">&lt;b&gt;</bpt><ph id="1">%s</ph><ept id="2">&lt;/b&gt;</ept> ausführen</target></trans-unit>
</body></file></xliff>
"""

NEW = """<?xml version="1.0"?>
<xliff version="2.1" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en" trgLang="de">
<file id="f"><unit id="u1"><originalData><data id="d">{0}</data></originalData>
<mtc:matches xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0">
<mtc:match ref="#s"><source>X</source><target>Y</target></mtc:match></mtc:matches>
<segment id="s1" state="final"><source>One <pc id="1">two</pc> <ph id="2"/></source>
<target>Eins <pc id="1">zwei</pc> <ph id="2"/></target></segment>
<ignorable><source> </source></ignorable>
<segment id="s2"><source>Three <mrk id="m" type="term">four</mrk></source><target>Drei vier</target></segment>
<segment id="s3" state="initial"><source>Five</source><target>Five</target></segment>
</unit></file></xliff>
"""


def opened(path: Path, text: str, source: str = "en", target: str = "de") -> Corpus:
    path.write_text(text, encoding="utf-8")
    return open_corpus([path], Reading(source=source, target=target))


def test_the_old_format_gives_finished_units_and_counts_the_others(tmp_path: Path) -> None:
    corpus = opened(tmp_path / "a.xlf", OLD)
    assert [pair[:2] for pair in corpus] == [
        ('Hello <g id="1">you</g><x id="2"/>', 'Hallo <g id="1">du</g><x id="2"/>'),
        ("Run %s <b>now</b>", "Jetzt <b>%s</b> ausführen"),
    ]
    assert dict(corpus.left_out.dropped) == {
        "units that are marked as unfinished (needs-translation)": 1,
        "units untranslated": 1,
    }


def test_the_new_format_gives_a_pair_for_each_segment(tmp_path: Path) -> None:
    corpus = opened(tmp_path / "a.xliff", NEW)
    assert [pair[:2] for pair in corpus] == [
        ('One <g id="1">two</g> <x id="2"/>', 'Eins <g id="1">zwei</g> <x id="2"/>'),
        ("Three four", "Drei vier"),
    ]
    assert dict(corpus.left_out.dropped) == {"units that are marked as unfinished (initial)": 1}


def test_the_place_is_the_line_and_the_unit(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    assert str(next(iter(opened(path, OLD))).where) == f"{path}, line 4 (unit greet)"


@pytest.mark.parametrize("text", [OLD, NEW])
def test_a_file_of_the_opposite_direction_is_read_backwards(tmp_path: Path, text: str) -> None:
    forwards = [pair[:2] for pair in opened(tmp_path / "a.xlf", text)]
    backwards = [pair[:2] for pair in opened(tmp_path / "b.xlf", text, source="de", target="en")]
    assert backwards == [(target, source) for source, target in forwards]


def test_a_file_of_other_languages_gives_nothing_and_says_so(tmp_path: Path) -> None:
    corpus = opened(tmp_path / "a.xlf", OLD, target="fr")
    assert list(corpus) == []
    assert corpus.left_out.dropped["units of other languages (en-US to de-DE)"] == 2


def test_what_is_not_xml_is_an_error_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"a\.xlf, line 4, column \d+: not XML: mismatched tag"):
        list(opened(tmp_path / "a.xlf", OLD.replace("</g>", "</h>", 1)))
