"""DOCX and ODT as LibreOffice writes them: translated, they open there again with all their text."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from fakes import identity, losing, upper

from tongsa.documents import translate_document

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("soffice"), reason="needs LibreOffice Writer (soffice)"),
]

PAGE = """<html><body><h1>The annual report</h1>
<p>This is the <b>first</b> paragraph with <i>some <b>nested</b> words</i> and a <a href="https://example.org/a">link
to a page</a>. It has two sentences.</p><ul><li>One item</li><li>Another <u>item</u> here</li></ul>
<table border="1"><tr><td>Cell one</td><td>Cell <b>two</b></td></tr></table>
<p>Line one<br>line two after a break.</p></body></html>"""


def convert(folder: Path, kind: str, *files: Path) -> None:
    profile = f"-env:UserInstallation=file://{folder / 'profile'}"
    command = ["soffice", profile, "--headless", "--convert-to", kind, "--outdir", str(folder), *map(str, files)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)


def test_office_documents_open_again_after_translation(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGE)
    convert(tmp_path, "odt:writer8", tmp_path / "page.html")
    convert(tmp_path, "docx:MS Word 2007 XML", tmp_path / "page.odt")
    new = []
    for source in (tmp_path / "page.odt", tmp_path / "page.docx"):
        same = translate_document(identity(), source, tmp_path / f"same{source.suffix}")
        assert same.target.read_bytes() == source.read_bytes()
        for translator in (upper, losing):
            target = tmp_path / f"{translator.__name__}-{source.suffix[1:]}{source.suffix}"
            new.append(translate_document(translator(), source, target).target)
    convert(tmp_path, "txt:Text (encoded):UTF8", *new)
    for suffix in ("odt", "docx"):
        text = (tmp_path / f"upper-{suffix}.txt").read_text(encoding="utf-8-sig")
        assert "This IS THE FIRST PARAGRAPH WITH SOME NESTED WORDS AND a LINK" in text
        assert "Line ONE\nLINE TWO" in text
        assert "first paragraph with some nested words" in (tmp_path / f"losing-{suffix}.txt").read_text("utf-8-sig")
