"""Word and OpenDocument: notes, content controls, links, languages, properties, and what is left."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from fakes import Fake, FakeCard, identity, losing, upper
from lxml import etree
from samples import zipped

from tongsa.documents import Languages, Options, read_document
from tongsa.documents.translate import translate_segments
from tongsa.formats.segments import Outcome, Segment, visible

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STYLES = f"""<w:styles {W}><w:docDefaults><w:rPrDefault><w:rPr><w:lang w:val="en-US" w:eastAsia="zh-CN"/></w:rPr>
</w:rPrDefault></w:docDefaults></w:styles>"""
CORE = """<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>the annual report</dc:title><dc:subject>some numbers</dc:subject>
<dc:creator>keep me</dc:creator><dc:language>en-US</dc:language></cp:coreProperties>"""


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def field(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def instruction(text: str) -> str:
    return f"<w:r><w:instrText>{text}</w:instrText></w:r>"


def docx(body: str, **parts: str) -> bytes:
    names = {name.replace("__", "/") + ".xml": text for name, text in parts.items()}
    document = f"<w:document {W}><w:body>{body}</w:body></w:document>"
    return zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": document, **names})


def translated(
    data: bytes, name: str = "a.docx", translator: Fake | None = None
) -> tuple[dict[str, Any], list[Segment], list[Outcome]]:
    translator = translator or Fake(str.upper)
    languages = Languages(source=translator.card.source, target=translator.card.target)
    document = read_document(data, Path(name), Options(languages=languages))
    segments = list(document.segments)
    outcomes = translate_segments(segments, translator)
    with zipfile.ZipFile(io.BytesIO(document.write(outcomes))) as archive:
        parts = {each: archive.read(each) for each in archive.namelist() if each.endswith(".xml")}
    return {each: etree.fromstring(part) for each, part in parts.items()}, segments, outcomes


def text(root: Any) -> str:
    return "".join(root.itertext())


@pytest.mark.parametrize("translator", [lambda: Fake(str.upper), losing, upper])
def test_the_blank_after_the_number_of_a_footnote_is_kept(translator: Any) -> None:
    paragraph = f"<w:p><w:r><w:footnoteRef/></w:r>{run(' some words here.')}</w:p>"
    notes = f"<w:footnotes {W}><w:footnote>{paragraph}</w:footnote></w:footnotes>"
    roots, _, _ = translated(docx("", word__footnotes=notes), translator=translator())
    (new,) = roots["word/footnotes.xml"].iter("{*}p")
    assert [etree.QName(each).localname for each in new.iter()][2] == "footnoteRef"
    assert text(new).lower().startswith(" some words here")


def test_marks_at_the_edges_of_a_paragraph_stay_there() -> None:
    body = (
        f"<w:p><w:bookmarkStart/>{run('some words.')}<w:r><w:footnoteReference w:id='1'/></w:r><w:bookmarkEnd/></w:p>"
    )
    roots, segments, _ = translated(docx(body))
    assert [segment.content for segment in segments] == [("some words.",)]
    names = [etree.QName(each).localname for each in roots["word/document.xml"].iter()]
    assert [name for name in names if name not in ("r", "rPr")][2:] == [
        "p",
        "bookmarkStart",
        "t",
        "footnoteReference",
        "bookmarkEnd",
    ]


def test_a_content_control_in_a_sentence_is_translated_and_keeps_its_properties() -> None:
    control = f"<w:sdt><w:sdtPr><w:alias w:val='keep'/></w:sdtPr><w:sdtContent>{run('good')}</w:sdtContent></w:sdt>"
    roots, segments, _ = translated(docx(f"<w:p>{run('some ')}{control}{run(' words')}</w:p>"))
    assert [visible(segment.content) for segment in segments] == ["some good words"]
    root = roots["word/document.xml"]
    assert text(root) == "SOME GOOD WORDS"
    assert text(root.find(".//{*}sdtContent")) == "GOOD"
    assert root.find(".//{*}sdtPr/{*}alias") is not None


def test_the_choice_of_a_list_stays_and_is_said() -> None:
    control = (
        "<w:sdt><w:sdtPr><w:dropDownList><w:listItem w:displayText='yes please'/></w:dropDownList></w:sdtPr>"
        f"<w:sdtContent>{run('yes please')}</w:sdtContent></w:sdt>"
    )
    roots, segments, outcomes = translated(docx(f"<w:p>{run('some words ')}{control}{run(' here')}</w:p>"))
    assert text(roots["word/document.xml"].find(".//{*}sdtContent")) == "yes please"
    assert [(visible(s.content), o.notes) for s, o in zip(segments, outcomes, strict=True) if o.state == "source"] == [
        ("yes please", ("the choice of a list is not translated",))
    ]


def test_the_text_of_a_link_that_is_a_field_is_translated() -> None:
    link = field("begin") + instruction(' HYPERLINK "http://a.b"') + field("separate") + run("this page") + field("end")
    page = field("begin") + instruction(" PAGE ") + field("separate") + run("seven") + field("end")
    roots, _, _ = translated(docx(f"<w:p>{run('see ')}{link}{run(' on ')}{page}{run(' now')}</w:p>"))
    root = roots["word/document.xml"]
    shown = "".join(each.text for each in root.iter("{*}t"))
    assert "THIS PAGE" in shown
    assert "seven" in shown
    kinds = [each.get(f"{{{root.nsmap['w']}}}fldCharType") for each in root.iter("{*}fldChar")]
    assert kinds == ["begin", "separate", "end"] * 2


def test_the_first_line_of_a_table_of_contents_is_translated() -> None:
    first = f"<w:p>{field('begin')}{instruction('TOC')}{field('separate')}{run('the first part')}</w:p>"
    second = f"<w:p>{run('the second part')}</w:p><w:p>{field('end')}</w:p>"
    roots, _, _ = translated(docx(first + second))
    assert [text(p) for p in roots["word/document.xml"].iter("{*}p")] == ["TOCTHE FIRST PART", "THE SECOND PART", ""]


def test_the_language_of_the_text_is_declared() -> None:
    lang = '<w:lang w:val="en-GB"/>'
    other = '<w:lang w:val="fr-FR"/>'
    data = docx(
        f"<w:p>{run('some words', lang)}</w:p><w:p>{run('more words', other)}</w:p>",
        word__styles=STYLES,
        docProps__core=CORE,
    )
    roots, _, _ = translated(data)
    key = f"{{{roots['word/styles.xml'].nsmap['w']}}}"
    (declared,) = roots["word/styles.xml"].iter("{*}lang")
    assert (declared.get(f"{key}val"), declared.get(f"{key}eastAsia")) == ("de-DE", "zh-CN")
    assert [each.get(f"{key}val") for each in roots["word/document.xml"].iter("{*}lang")] == ["de-DE", "fr-FR"]
    korean = Fake(str.upper, FakeCard("en", "ko"))
    (declared,) = translated(data, translator=korean)[0]["word/styles.xml"].iter("{*}lang")
    assert (declared.get(f"{key}val"), declared.get(f"{key}eastAsia")) == ("en-US", "ko-KR")


def test_title_and_subject_are_translated() -> None:
    roots, _, _ = translated(docx(f"<w:p>{run('some words')}</w:p>", docProps__core=CORE))
    core = roots["docProps/core.xml"]
    assert [each.text for each in core] == ["THE ANNUAL REPORT", "SOME NUMBERS", "keep me", "de-DE"]


def test_the_description_of_a_picture_is_translated() -> None:
    picture = '<w:r><w:drawing><wp:docPr xmlns:wp="urn:wp" id="1" name="keep" descr="a red flower"/></w:drawing></w:r>'
    roots, _, _ = translated(docx(f"<w:p>{run('some words')}{picture}</w:p>"))
    described = roots["word/document.xml"].find(".//{*}docPr")
    assert (described.get("name"), described.get("descr")) == ("keep", "A RED FLOWER")


def test_text_of_charts_and_diagrams_is_said() -> None:
    a = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    data = docx(
        f"<w:p>{run('some words')}</w:p>",
        word__charts__chart1=f"<c {a}><a:t>sales by year</a:t><v>2020</v><v>north</v></c>",
        word__diagrams__data1=f"<d {a}><a:t>first step</a:t></d>",
    )
    _, segments, outcomes = translated(data)
    left = {visible(s.content): o.notes[0] for s, o in zip(segments, outcomes, strict=True) if o.state == "source"}
    assert left == {
        "sales by year": "the text of a chart is not translated",
        "north": "the text of a chart is not translated",
        "first step": "the text of a diagram is not translated",
    }


def test_nothing_changes_where_nothing_is_translated() -> None:
    data = docx(f"<w:p>{run('some words')}</w:p>", word__styles=STYLES, docProps__core=CORE)
    document = read_document(data, Path("a.docx"), Options(languages=Languages(source="en", target="de")))
    assert document.write(translate_segments(list(document.segments), identity())) == data


def test_open_document_declares_its_language_and_has_titles_and_descriptions() -> None:
    names = (
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
        'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" '
        'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    )
    data = zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<o {names}><text:p>some words</text:p><svg:desc>a red flower</svg:desc></o>",
            "styles.xml": f'<s {names}><style fo:language="en" fo:country="US"/><style fo:language="fr"/></s>',
            "meta.xml": f"<m {names}><dc:title>the report</dc:title><dc:language>en-US</dc:language></m>",
        }
    )
    roots, _, _ = translated(data, "a.odt")
    assert text(roots["content.xml"]) == "SOME WORDSA RED FLOWER"
    key = f"{{{roots['styles.xml'].nsmap['fo']}}}"
    declared = [(each.get(f"{key}language"), each.get(f"{key}country")) for each in roots["styles.xml"]]
    assert declared == [("de", "DE"), ("fr", None)]
    assert [each.text for each in roots["meta.xml"]] == ["THE REPORT", "de-DE"]
