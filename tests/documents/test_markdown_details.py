"""Markdown: CommonMark and its dialects, read by a real parser and written back byte for byte."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from fakes import BAD, Fake, identity, upper
from markdown_it import MarkdownIt
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from tongsa.documents import Options, read_document, translate_document
from tongsa.documents.translate import translate_segments
from tongsa.formats.markdown_blocks import MOST_NESTED
from tongsa.formats.markdown_inline import Inlines
from tongsa.formats.segments import Outcome, Segment, visible

DIALECTS = (Path(__file__).parent / "dialects.md").read_text()


def shouting() -> Fake:
    """Upper-cases every word, and keeps what has digits or signs in it; blanks are single, as a model writes them."""
    word = re.compile(r"(?<![\w{<`$%#.:/@&])[A-Za-z]+(?![\w}>`:/@;])")
    return Fake(lambda text: word.sub(lambda match: match.group().upper(), re.sub(" +", " ", text)))


def outcomes(text: str, options: Options, translator: Fake, name: str) -> tuple[list[Segment], list[Outcome], str]:
    document = read_document(text.encode(), Path(name), options)
    segments = list(document.segments)
    done = translate_segments(segments, translator)
    return segments, done, document.write(done).decode()


def translated(text: str, options: Options, translator: Fake | None = None, name: str = "a.md") -> str:
    return outcomes(text, options, translator or shouting(), name)[2]


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("::: warning\nsome text\n:::\n", "::: warning\nSOME TEXT\n:::\n"),
        ("::: warning a title\nsome text\n:::\n", "::: warning A TITLE\nSOME TEXT\n:::\n"),
        (":::tip[a title]{#x}\nsome text\n:::\n", ":::tip[A TITLE]{#x}\nSOME TEXT\n:::\n"),
        (":::: a\n::: b\nsome text\n:::\n::::\n", ":::: a\n::: b\nSOME TEXT\n:::\n::::\n"),
        ("::: {.note #id}\nsome text\n:::\n", "::: {.note #id}\nSOME TEXT\n:::\n"),
        ('!!! warning "a title"\n    some text\n', '!!! warning "A TITLE"\n    SOME TEXT\n'),
        ("!!! warning\n\n    some text\n\nmore\n", "!!! warning\n\n    SOME TEXT\n\nMORE\n"),
        ("??? note\n    - one\n    - two\n", "??? note\n    - ONE\n    - TWO\n"),
        ('=== "a tab"\n\n    some text\n', '=== "A TAB"\n\n    SOME TEXT\n'),
        ("term\n: definition here\n", "TERM\n: DEFINITION HERE\n"),
        ("term\n\n:   one\n\n    two\n", "TERM\n\n:   ONE\n\n    TWO\n"),
        ("## heading {#anchor}\n", "## HEADING {#anchor}\n"),
        ("heading {#anchor}\n===\n", "HEADING {#anchor}\n===\n"),
        ("## a heading ##\n", "## A HEADING ##\n"),
        ("> [!NOTE]\n> some text\n", "> [!NOTE]\n> SOME TEXT\n"),
        ("> [!tip]+ a title\n> some text\n", "> [!tip]+ A TITLE\n> SOME TEXT\n"),
        ("- [ ] one\n- [x] two\n", "- [ ] ONE\n- [x] TWO\n"),
        ("{% include a.html title='keep' %}\n\nsome text\n", "{% include a.html title='keep' %}\n\nSOME TEXT\n"),
        ("some text\n{: .keep #this}\n", "SOME TEXT\n{: .keep #this}\n"),
        ("{{< keep this >}}\nsome text\n{{< /keep >}}\n", "{{< keep this >}}\nSOME TEXT\n{{< /keep >}}\n"),
        ("{% highlight x %}\nkeep this\n\nkeep this\n{% endhighlight %}\n", None),
        ("press <kbd>Ctrl</kbd> now\n", "PRESS <kbd>Ctrl</kbd> NOW\n"),
        ("import Keep from './this';\n\nsome text\n", "import Keep from './this';\n\nSOME TEXT\n"),
        ("import {\n  Keep,\n} from 'x';\n", None),
        ("export const keep = 'this';\n", None),
        ("export something to a file\n", "EXPORT SOMETHING TO A FILE\n"),
        ("[^1]: a note\n\n    goes on\n", "[^1]: A NOTE\n\n    GOES ON\n"),
        ("[keep]: http://a.b 'a title'\n", "[keep]: http://a.b 'A TITLE'\n"),
        ('[some text](http://a.b "a title")\n', '[SOME TEXT](http://a.b "A TITLE")\n'),
        ("![some text](a.png 'a title')\n", "![SOME TEXT](a.png 'A TITLE')\n"),
        ("one <img src='a' alt='some text'> two\n", "ONE <img src='a' alt='SOME TEXT'> TWO\n"),
        ("<div>\nsome <b>text</b>\n</div>\n", "<div>\nSOME <b>TEXT</b>\n</div>\n"),
        ("> <div>\n> some text\n> </div>\n", "> <div>\n> SOME TEXT\n> </div>\n"),
        ("<!-- keep -->\nsome text\n", "<!-- keep -->\nSOME TEXT\n"),
        ("<div>\n<pre>\nkeep\n</pre>\n</div>\n", None),
        ("<Tabs a={['keep']}>\n\nsome text\n\n</Tabs>\n", "<Tabs a={['keep']}>\n\nSOME TEXT\n\n</Tabs>\n"),
        ("<Card\n  label='a label'\n  b={() => keep}\n/>\n", "<Card\n  label='A LABEL'\n  b={() => keep}\n/>\n"),
        ("<Card>\nsome text\n</Card>\n", "<Card>\nSOME TEXT\n</Card>\n"),
        ("$$\nkeep = this\n$$\n", None),
        ("```{note} a title\n:keep: this\n\nsome text\n```\n", "```{note} A TITLE\n:keep: this\n\nSOME TEXT\n```\n"),
        ("```{code-block} keep\nthis\n```\n", None),
        ("*[keep]: a language\n", "*[keep]: A LANGUAGE\n"),
        ("- item\n\n      keep this\n", "- ITEM\n\n      keep this\n"),
        ("some text\n    goes on\n", "SOME TEXT\n    GOES ON\n"),
        ("| one | two |\n| --- | --- |\n| three | four |\n", "| ONE | TWO |\n| --- | --- |\n| THREE | FOUR |\n"),
        ("[text](not an address)\n", "[TEXT](NOT AN ADDRESS)\n"),
        ("[text]({% link keep.md %})\n", "[TEXT]({% link keep.md %})\n"),
        ("[text](a){target=_blank}\n", "[TEXT](a){target=_blank}\n"),
        ("**bold *nested* words***\n", "**BOLD *NESTED* WORDS***\n"),
        ("a snake_case_name here\n", "A snake_case_name HERE\n"),
    ],
)
def test_text_is_translated_and_nothing_else(options: Options, text: str, new: str | None) -> None:
    expected = text if new is None else new
    assert translated(text, options) == expected
    crlf = translated(text.replace("\n", "\r\n"), options)
    assert crlf == expected.replace("\n", "\r\n")
    assert translated(text, options, identity()) == text


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("title: some words", "title: SOME WORDS"),
        ('title: "some \\"words\\""', 'title: "SOME \\"WORDS\\""'),
        ("description: 'it''s some words'", "description: 'IT''S SOME WORDS'"),
        ("layout: some words", "layout: some words"),
        ("Title: some words # keep", "Title: SOME WORDS # keep"),
    ],
)
def test_titles_of_front_matter_are_translated(options: Options, text: str, new: str) -> None:
    assert translated(f"---\n{text}\n---\n\nmore\n", options) == f"---\n{new}\n---\n\nMORE\n"


def test_front_matter_stays_valid_whatever_the_translation(options: Options) -> None:
    colon = Fake(lambda text: f"{text}: Yes # no")
    assert translated("---\ntitle: some words\n---\n", options, colon) == '---\ntitle: "some words: Yes # no"\n---\n'
    assert translated('+++\ntitle = "a \\"b\\" c"\n+++\n', options) == '+++\ntitle = "A \\"B\\" C"\n+++\n'


def test_what_is_left_of_front_matter_is_said(options: Options) -> None:
    _, done, _ = outcomes("---\ndescription: >\n  some words\n---\n", options, upper(), "a.md")
    assert [(each.state, each.notes) for each in done] == [
        ("source", ("description of several lines is not translated",))
    ]


def test_a_label_keeps_its_link_when_its_text_is_translated(options: Options) -> None:
    definition = "\n[the index]: http://a.b\n"
    assert translated(f"see [the index] here\n{definition}", options).startswith("SEE [THE INDEX][the index] HERE\n")
    assert translated(f"see [the index][] here\n{definition}", options).startswith("SEE [THE INDEX][the index] HERE\n")
    assert translated(f"see [some text][the Index]\n{definition}", options).startswith("SEE [SOME TEXT][the Index]\n")


def test_a_label_without_words_stays_as_it_is(options: Options) -> None:
    text = "see [`code`] and [1] here\n\n[`code`]: http://a.b\n[1]: http://a.b/1\n"
    assert translated(text, options).startswith("SEE [`code`] AND [1] HERE\n")


def test_a_badge_is_one_mark_with_a_description_of_its_own(options: Options) -> None:
    segments, _, new = outcomes("see [![a badge](a.svg)](http://b.c) here\n", options, shouting(), "a.md")
    assert [visible(segment.content) for segment in segments] == ["see  here", "a badge"]
    assert "[![A BADGE](a.svg)](http://b.c)" in new


def test_references_are_characters(options: Options) -> None:
    assert translated("this &amp; that&nbsp;thing &copy; me\n", options) == "THIS &amp; THAT&nbsp;THING &copy; ME\n"
    und = Fake(lambda text: text.replace(" & ", " und "))
    assert translated("this &amp; that\n", options, und) == "this und that\n"


def test_text_that_is_nested_too_deeply_is_left_and_said(options: Options) -> None:
    text = "good words\n\n" + "> " * (MOST_NESTED + 5) + "deep words\n"
    _, done, new = outcomes(text, options, shouting(), "a.md")
    assert new == text.replace("good words", "GOOD WORDS")
    assert [outcome.notes for outcome in done if outcome.state == "source"] == [
        (f"nested more than {MOST_NESTED} levels deep",)
    ]


def test_a_directive_with_a_syntax_of_its_own_is_left_and_said(options: Options) -> None:
    text = "```{figure} a.png\n:name: keep\n\nsome words\n```\n\n```{code-block} python\nkeep = 1\n```\n"
    _, done, new = outcomes(text, options, shouting(), "a.md")
    assert new == text
    assert [outcome.notes for outcome in done] == [("the directive {figure} is not translated",)]


def test_emphasis_is_matched_as_commonmark_matches_it() -> None:
    """Elements without letters are left out: they are one mark here."""
    chance = random.Random(1)
    parser = MarkdownIt("commonmark")
    compared = 0
    for _ in range(1_000):
        text = "a" + "".join(chance.choice(["*", "**", "_", "__", "***", "a", "b ", ". "]) for _ in range(9)) + "z"
        signs = {1: "<", -1: ">", 0: ""}
        children = parser.parseInline(text)[0].children or []
        wanted = "".join(signs[child.nesting] + (child.markup or child.content) for child in children)
        inlines = Inlines(set(), str)
        inlines.add(text, 0, "", last=True)
        marked = inlines.marked()
        found = "".join(
            part
            if isinstance(part, str)
            else {"open": "<", "close": ">", "alone": ""}[part.role] + marked.raws[part.number]
            for part in marked.parts
        )
        if not re.search(r"<[^a-z>]*>", wanted):
            assert found == wanted
            compared += 1
    assert compared > 700


def test_expressions_of_mdx_are_kept(options: Options) -> None:
    text = "hello {props.name.toUpperCase()} there\n\n    not code in this dialect\n"
    new = "HELLO {props.name.toUpperCase()} THERE\n\n    NOT CODE IN THIS DIALECT\n"
    assert translated(text, options, name="a.mdx") == new


def skeleton(text: str) -> list[tuple[str, str, str]]:
    """Everything of a page but its words, as another reader sees it."""
    parser = MarkdownIt("commonmark").enable("table")
    footnote_plugin(parser)
    deflist_plugin(parser)
    container_plugin(parser, "any", validate=lambda params, _: bool(params.strip()))
    found = []
    for token in parser.parse(text):
        if token.type in ("fence", "code_block"):
            found.append((token.type, token.info if not token.info.startswith("{") else "", ""))
        for child in token.children or [token]:
            if child.type in ("text", "softbreak", "inline", "html_block", "fence", "code_block"):
                continue
            addresses = str(child.attrs.get("href") or child.attrs.get("src") or "")
            found.append((child.type, addresses, child.content if child.type in ("code_inline", "html_inline") else ""))
    return found


def test_a_page_of_all_dialects_keeps_its_structure(options: Options) -> None:
    segments, done, new = outcomes(DIALECTS, options, shouting(), "a.md")
    assert sorted(skeleton(new)) == sorted(skeleton(DIALECTS))
    assert new.lower().count("keep") == DIALECTS.lower().count("keep") == new.count("keep")
    assert len(new.splitlines()) in range(len(DIALECTS.splitlines()) - 1, len(DIALECTS.splitlines()) + 2)
    assert {outcome.state for outcome in done} <= {"translated", "copied"}
    assert translated(DIALECTS, options, identity()) == DIALECTS
    words = {word for segment in segments for word in re.findall(r"\w{4,}", visible(segment.content).lower())}
    wanted = "handbook care thorns idea left drink balcony light title slowly second roses water rainy first directive"
    assert set(wanted.split()) - words == set()
    assert "keep" not in words


@pytest.mark.parametrize("bad", BAD)
def test_no_translator_breaks_a_page_of_all_dialects(bad: str, options: Options) -> None:
    kept = r"https?://[^\s)'\"]+|`[^`\n]+`|\[\^\w+\]|^#+|^:::.?|^!!!|^===|\{%.*?%\}|\{\{.*?\}\}|\{[#:].*?\}|^\$\$|<[^<>\n]+>"
    new = translated(DIALECTS, options, BAD[bad]())
    found = [
        sorted(re.sub(r'(?:title|alt|label)="[^"]*"', "", each) for each in re.findall(kept, text, re.MULTILINE))
        for text in (DIALECTS, new)
    ]
    assert found[0] == found[1]


def test_the_documentation_of_this_project_comes_back_byte_for_byte(tmp_path: Path) -> None:
    pages = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))
    assert pages
    for page in pages[:8]:
        done = translate_document(identity(), page, tmp_path / page.name)
        assert done.target.read_bytes() == page.read_bytes()
