"""Every format: what is not translated comes back as it was, and no translator can break what is."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from fakes import BAD, Fake, identity, upper
from lxml import etree
from samples import SAMPLES

from tongsa.documents import Options, read_document
from tongsa.documents.translate import translate_segments
from tongsa.formats.segments import Mark, Outcome, Segment
from tongsa.formats.xml_tree import parse, serialize

XML = [name for name in SAMPLES if name.endswith(("xlf", "xliff", "tmx"))]
IN_PLACE = [name for name in SAMPLES if name not in XML and not name.endswith("po")]


def translated(name: str, translator: Fake, options: Options) -> tuple[bytes, Sequence[Segment], list[Outcome]]:
    document = read_document(SAMPLES[name], Path(name), options)
    segments = list(document.segments)
    outcomes = translate_segments(segments, translator)
    return document.write(outcomes), segments, outcomes


@pytest.mark.parametrize("name", SAMPLES)
def test_reading_and_writing_without_translating_gives_the_same_bytes(name: str, options: Options) -> None:
    document = read_document(SAMPLES[name], Path(name), options)
    assert document.segments, "the sample has something to translate"
    assert document.write([]) == SAMPLES[name]


@pytest.mark.parametrize("name", [name for name in IN_PLACE if not name.endswith("csv")])
def test_a_translation_that_changes_nothing_changes_no_byte(name: str, options: Options) -> None:
    assert translated(name, identity(), options)[0] == SAMPLES[name]


@pytest.mark.parametrize("name", XML)
def test_xml_is_written_canonically_identical(name: str) -> None:
    written = serialize(parse(SAMPLES[name], name), SAMPLES[name])
    canonical = [etree.tostring(parse(data, name), method="c14n") for data in (written, SAMPLES[name])]
    assert canonical[0] == canonical[1]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_segment_that_can_be_translated_is(name: str, options: Options) -> None:
    written, segments, outcomes = translated(name, upper(), options)
    assert written != SAMPLES[name]
    for segment, outcome in zip(segments, outcomes, strict=True):
        letters = "".join(part for part in segment.content if isinstance(part, str))
        if re.search(r"\b[a-z]{3,}\b(?![.,_])", letters) and "100%" not in letters:
            assert outcome.state == "translated", segment
            assert outcome.content != segment.content, segment


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", SAMPLES)
def test_no_translator_loses_or_doubles_a_mark(name: str, bad: str, options: Options) -> None:
    written, segments, outcomes = translated(name, BAD[bad](), options)
    for segment, outcome in zip(segments, outcomes, strict=True):
        marks = [
            sorted(p.number for p in content if isinstance(p, Mark)) for content in (segment.content, outcome.content)
        ]
        assert marks[0] == marks[1], segment
    assert skeleton(name, written) == skeleton(name, SAMPLES[name])


def skeleton(name: str, data: bytes) -> object:
    """What a translation must leave alone, read by other means than ours."""
    kind = Path(name).suffix
    text = data.decode(errors="replace")
    if kind == ".html":
        tags = re.findall(r"<(?:[^<>\"]|\"[^\"]*\")+>|&nbsp;", text.replace('lang="de"', 'lang="en"'))
        return sorted(re.sub(r'(title|alt|content)="[^"]*"', r"\1", tag) for tag in tags)
    if kind == ".md":
        return sorted(re.findall(r"https?://[^\s)]+|`[^`]+`|\[\^1\]|^#+|\*+|\||^```|<[^<>]+>", text, re.MULTILINE))
    if kind in (".srt", ".vtt"):
        return re.findall(r".*-->.*|^\d+$|<[^<>]*>", text, re.MULTILINE)
    if kind == ".json":
        return shape(json.loads(text))
    if kind == ".csv":
        return [line.split(";")[0] for line in text.splitlines()]
    if kind in (".docx", ".odt"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            part = "word/document.xml" if kind == ".docx" else "content.xml"
            others = {each: archive.read(each) for each in archive.namelist() if each != part}
            root = etree.fromstring(archive.read(part))
            names = [etree.QName(each).localname for each in root.iter()]
            return others, sorted(each for each in names if each not in ("r", "rPr", "t", "proofErr", "lang", "b"))
    if kind in (".xlf", ".xliff", ".tmx"):
        root = etree.fromstring(data)
        return [etree.tostring(each, method="c14n") for each in root.iter("{*}source", "{*}seg") if is_original(each)]
    return sorted(re.findall(r"https?://[^\s,]+|\d+ km|^#[.:~].*|^msgid.*", text, re.MULTILINE))


def is_original(element: etree._Element) -> bool:
    return not any(
        "match" in str(each.tag) or each.get("{http://www.w3.org/XML/1998/namespace}lang") == "de"
        for each in element.iterancestors()
    )


def shape(value: object) -> object:
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    return "text" if isinstance(value, str) else value
