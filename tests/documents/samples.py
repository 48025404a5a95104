"""A document of each kind, with the things that break in it."""

from __future__ import annotations

import io
import zipfile

HTML = b"""<!DOCTYPE html>
<html lang="en"><head><title>My page &mdash; home</title><meta name="description" content="a nice page">
<style>p{color:red}</style><script>var a = "<b>hello</b>";</script></head>
<body class=x>
<!-- a comment -->
<p>Hello <b>big</b> world &amp; all, see <a href="x.html" title="the link">this <i>nice</i> link</a>.
   Second line here.</p><p><b>whole bold</b></p>
<p>Run <code>rm -rf</code> now. <img src=a.png alt="a picture">after</p><pre>keep me</pre>
<ul><li>one item<li>two items</ul><p translate="no">keep that</p><span class="notranslate">and that</span>
caf&eacute; 5&nbsp;km away<br>a < b & c
</body></html>
"""

MARKDOWN = b"""---
title: keep me
---
# A heading here #

Some *nice* text with **bold and _nested_ words**, a [link text](http://x.y/z_a "tip"),
an image ![alt text](a.png), `code span`, snake_case_name, 2 * 3 * 4, and a <b>tag</b>
that goes on.\x20\x20
After the hard break [defined] and [not defined] \\* star.

- item one
  goes on here
- [ ] task two
  1. nested three

> quoted text
> more quoted text

| name | value |
|------|:-----:|
| some cell | other `a|b` cell |

```python
keep = "this"
```

    indented code

Setext heading
==============

<div>
html block
</div>

[defined]: http://a.b/c "title"
[^1]: a foot note
***
Last line[^1] costs $5 and $6.
"""

TEXT = """A title

This paragraph was wrapped by hand at about seventy columns, so that its
sentences go on from one line to the next. It has a URL,
https://tongsa.example/a?b=c, and 5 km of text.

  - a bullet that is
    short
Short line.
\tIndented with a tab \u2014 and a dash\r
The end""".encode()

PO = rb"""# Title
#, fuzzy
msgid ""
msgstr ""
"Project-Id-Version: x\n"
"Content-Type: text/plain; charset=CHARSET\n"
"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\n"

#. note
#: a.c:1
#, c-format
msgid "Hello %s, you have 100% of \"it\"\n"
msgstr ""

#: b.c:2
msgctxt "menu"
msgid "_Open"
msgstr ""

#, c-format, no-wrap
msgid "%d file was found in a very long line of text that has to be wrapped at some point"
msgid_plural "%d files were found in a very long line of text that has to be wrapped at some point"
msgstr[0] ""
msgstr[1] ""

#, fuzzy
msgid "done"
msgstr "fertig?"

msgid "kept"
msgstr "behalten"

#~ msgid "old"
#~ msgstr "alt"
"""

XLIFF_1 = b"""<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
  <file original="a" source-language="en" datatype="plaintext">
    <body>
      <trans-unit id="1">
        <source>Hello <g id="1">big</g> world<x id="2"/>.</source>
      </trans-unit>
      <trans-unit id="2"><source>done</source><target state="final">fertig</target></trans-unit>
      <trans-unit id="3" translate="no"><source>keep me</source></trans-unit>
      <trans-unit id="4">
        <source>One thing. Two things.</source>
        <seg-source><mrk mtype="seg" mid="0">One thing.</mrk> <mrk mtype="seg" mid="1">Two <bpt id="1">&lt;b&gt;</bpt>\
things<ept id="1">&lt;/b&gt;</ept> here.</mrk></seg-source>
        <note>a note</note>
      </trans-unit>
    </body>
  </file>
</xliff>
"""

XLIFF_2 = b"""<?xml version='1.0' encoding='utf-8'?>
<xliff version="2.0" srcLang="en" xmlns="urn:oasis:names:tc:xliff:document:2.0">
 <file id="f1"><unit id="u1">
   <segment><source>Hello <pc id="1">big</pc> world &amp; all<ph id="2"/> things.</source></segment>
   <segment id="s1" state="final"><source>a b</source><target>x</target></segment>
 </unit></file>
</xliff>"""

TMX = b"""<?xml version="1.0"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en"/><body>
  <tu tuid="7">
    <tuv xml:lang="en-US">
      <seg>Press <bpt i="1">&lt;b&gt;</bpt>this<ept i="1">&lt;/b&gt;</ept> button %s now.</seg>
    </tuv>
  </tu>
  <tu><tuv xml:lang="en"><seg>a thing</seg></tuv><tuv xml:lang="de"><seg>ein Ding</seg></tuv></tu>
</body></tmx>
"""

SRT = """1
00:00:01,000 --> 00:00:03,500
<i>The first line of a cue</i>
and its second line.

2
00:00:04,000 --> 00:00:06,000
- Who is it?
- It is me, {\\an8}really.

3
00:00:07,000 --> 00:00:08,000
42
""".replace("\n", "\r\n").encode()

VTT = b"""WEBVTT - a title

NOTE a comment that stays

STYLE
::cue { color: red }

intro
00:01.000 --> 00:03.000 align:start line:0
<v Ann>Hello there, <c.loud>my dear</c> friend
"""

JSON = b"""{
  "title": "A nice page",
  "menu": {"open": "Open the {file} now", "count": 3, "items": ["first \\u00e9 one", "second\\tone", true, null]},
  "@title": {"description": "not a message"},
  "icu": "{n, plural, one {# file} other {# files}} found"
}
"""

CSV = b"\r\n".join(
    [
        b"id;en;de;note",
        b'1;"Hello; ""you""";;keep',
        b"2;Done;Fertig;keep",
        b'3;A last thing;"";',
        b"",
    ]
)

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_DOCUMENT = f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<w:document {_W}><w:body>
<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>The annual report</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">This is the </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>first</w:t></w:r>\
<w:r><w:rPr><w:lang w:val="en-US"/></w:rPr><w:t xml:space="preserve"> para</w:t></w:r><w:proofErr w:type="spellStart"/>\
<w:r><w:t>graph of it</w:t></w:r><w:r><w:footnoteReference w:id="1"/></w:r><w:r><w:t>.</w:t><w:br/>\
<w:t>A new line</w:t></w:r></w:p>
<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>\
<w:r><w:fldChar w:fldCharType="end"/></w:r><w:hyperlink w:anchor="x"><w:r><w:t>a link</w:t></w:r></w:hyperlink>\
<w:r><w:t xml:space="preserve"> to somewhere</w:t></w:r></w:p>
<w:p><w:r><w:pict><w:txbxContent><w:p><w:r><w:t>in a box</w:t></w:r></w:p></w:txbxContent></w:pict></w:r>\
<w:r><w:t>beside the box</w:t></w:r></w:p>
<w:sectPr/></w:body></w:document>"""

_OFFICE = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)
_CONTENT = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document-content {_OFFICE}><office:body><office:text>\
<text:h text:style-name="H1">The annual report</text:h>\
<text:p>This is the <text:span text:style-name="T1">first</text:span> paragraph<text:note><text:note-body>\
<text:p>with a note</text:p></text:note-body></text:note> of it.<text:line-break/>A new line</text:p>\
<text:p/></office:text></office:body></office:document-content>"""


def zipped(parts: dict[str, str]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for number, (name, text) in enumerate(parts.items()):
            how = zipfile.ZIP_STORED if number == 0 else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text, how)
    return written.getvalue()


DOCX = zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": _DOCUMENT, "word/media/a.png": "not text"})
ODT = zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": _CONTENT, "meta.xml": "<m/>"})

SAMPLES: dict[str, bytes] = {
    "page.html": HTML,
    "read.md": MARKDOWN,
    "plain.txt": TEXT,
    "app.po": PO,
    "one.xlf": XLIFF_1,
    "two.xliff": XLIFF_2,
    "memory.tmx": TMX,
    "film.srt": SRT,
    "film.vtt": VTT,
    "strings.json": JSON,
    "table.csv": CSV,
    "letter.docx": DOCX,
    "letter.odt": ODT,
}
