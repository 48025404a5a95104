"""Blocks of Markdown: a CommonMark parser (markdown-it) finds where text stands; `markdown_rules` adds dialects to it.

The parser's rules are wrapped, so that each tells the positions of its text while it runs: that is the only moment at
which the prefixes of quotes and lists are known. Positions are those of the file, whatever its line ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.rules_block import StateBlock
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from tongsa.formats.markdown_inline import without_code
from tongsa.formats.markdown_rules import TITLED, Dialects

MOST_NESTED = 60
"""Levels of quotes, lists and containers; what is nested more deeply stays in the source language."""

Span = tuple[int, int]
Kind = Literal["text", "html", "title", "left"]

_HEADING = re.compile(r"#{1,6}(?:[ \t]++|$)")
_HEADING_END = re.compile(r"(?<![ \t])(?:[ \t]++#++)?[ \t]*+$")
_ATTRIBUTES = re.compile(r"(?<![ \t])[ \t]*+\{[:#.][^{}\n]*+\}[ \t]*+$")
_TASK = re.compile(r"\[[ xX]\][ \t]++")
_ALERT = re.compile(r"\[![\w-]++\][+-]?[ \t]*+")
_ABBREVIATION = re.compile(r"\*\[[^\]\n]++\]:[ \t]++")
_TEMPLATE_LINE = re.compile(
    r"(?:\{%[^\n]*+(?<=%\})|\{\{[<%][^\n]*+(?<=[>%]\}\})|\{:[^{}\n]*+\})[ \t\r]*+$|:[\w-]++:(?:[ \t]|\r?$)"
)
"""A line of nothing but a template tag (Liquid, Hugo), a list of attributes (kramdown) or an option (MyST)."""
_TITLE_AT_END = re.compile(r"""[ \t]("(?:[^"\\\n]|\\.)++"|'(?:[^'\\\n]|\\.)++'|\((?:[^()\\\n]|\\.)++\))[ \t\r]*+$""")
_DIRECTIVES = re.compile(
    r"[ \t]*+\{(?:note|warning|tip|important|caution|danger|attention|hint|error|seealso|admonition|topic|sidebar"
    r"|margin|dropdown|card|grid|grid-item|tab-set|tab-item|epigraph|pull-quote|versionadded|versionchanged|deprecated)\}"
)
"""Directives of MyST whose content is Markdown."""
_PROSE_DIRECTIVE = re.compile(r"\{(?:figure|list-table|table|csv-table|glossary|prf:\w++|exercise|solution)\}")
"""Directives with text in a syntax of their own."""


@dataclass(frozen=True)
class Block:
    """A piece of text: a paragraph, a heading, a cell, the title of a container."""

    kind: Kind
    spans: Sequence[Span]
    """The text of each line."""
    reason: str = ""
    """Why it is left in the source language."""


@dataclass
class Blocks:
    """The blocks of a document, and the labels of its links."""

    found: list[Block] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)


def read_blocks(text: str, start: int, *, is_mdx: bool) -> Blocks:
    """Find the blocks of a text; what is before `start` is blank for the parser."""
    recorder = _Recorder()
    parser = _parser(recorder, is_mdx=is_mdx)
    environment: dict[str, Any] = {}
    # as many characters as in the text, so that positions are the same
    plain = text[start:].replace("\r\n", " \n").replace("\r", "\n").replace("\0", "\ufffd")
    parser.block.parse(" " * start + plain if start < 2 else " " * (start - 1) + "\n" + plain, parser, environment, [])
    recorder.found.sort(key=lambda block: block.spans[0])
    return Blocks(recorder.found, set(environment.get("references", ())))


class _LimitedBlocks(ParserBlock):
    """Tells what it leaves out, instead of leaving it out silently."""

    recorder: _Recorder

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:
        if state.level >= MOST_NESTED:
            self.recorder.too_deep(state, startLine, endLine)
            state.line = endLine
        else:
            super().tokenize(state, startLine, endLine)


def _parser(recorder: _Recorder, *, is_mdx: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 10 * MOST_NESTED})
    parser.block = _LimitedBlocks()
    parser.block.recorder = recorder
    footnote_plugin(parser)
    deflist_plugin(parser)
    container_plugin(parser, "container", validate=lambda params, _: bool(params.strip()))
    container_plugin(parser, "directive", marker="`", validate=lambda params, _: bool(_DIRECTIVES.match(params)))
    dialects = Dialects(is_mdx=is_mdx)
    dialects.add_to(parser)
    if is_mdx:
        parser.block.ruler.disable("code")
    records: dict[str, Callable[[StateBlock, int, int], None]] = {
        "paragraph": recorder.paragraph,
        "heading": recorder.heading,
        "lheading": recorder.underlined_heading,
        "table": recorder.table,
        "deflist": recorder.terms,
        "container_container": recorder.title,
        "container_directive": recorder.title,
        "mkdocs": recorder.title,
        "reference": recorder.reference,
        "fence": recorder.directive,
        "html_block": recorder.html,
        "jsx": recorder.html,
    }
    ruler = parser.block.ruler
    for rule in list(ruler.__rules__):
        if record := records.get(rule.name):
            ruler.at(rule.name, _recording(rule.fn, record), {"alt": rule.alt})
    return parser


Rule = Callable[[StateBlock, int, int, bool], bool]


def _recording(rule: Rule, record: Callable[[StateBlock, int, int], None]) -> Rule:
    def wrapped(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        matched = rule(state, start, end, silent)
        if matched and not silent:
            record(state, start, state.line)
        return matched

    return wrapped


@dataclass
class _Recorder:
    """Takes down the positions of text. Each method is called right after a rule has matched lines."""

    found: list[Block] = field(default_factory=list)

    def _add(self, kind: Kind, spans: Sequence[Span], reason: str = "") -> None:
        if any(start < end for start, end in spans):
            self.found.append(Block(kind, spans, reason))

    def paragraph(self, state: StateBlock, start: int, end: int) -> None:
        lines = [_line(state, line) for line in range(start, end)]
        first = state.src[slice(*lines[0])]
        parent = state.tokens[-4].type if len(state.tokens) > 3 else ""  # before the three tokens of this paragraph
        if parent == "blockquote_open" and (alert := _ALERT.match(first)):
            self._add("text", [(lines[0][0] + alert.end(), lines[0][1])])
            lines = lines[1:]
        elif parent == "list_item_open" and (task := _TASK.match(first)):
            lines[0] = (lines[0][0] + task.end(), lines[0][1])
        if all(state.src.startswith("|", begin) for begin, _ in lines):
            self._rows(state, lines)  # a table without the line below its head
            return
        for group in _groups(state.src, lines):
            self._add("text", group)

    def heading(self, state: StateBlock, start: int, end: int) -> None:
        begin, stop = _line(state, start)
        marker = _HEADING.match(state.src, begin, stop)
        begin = marker.end() if marker else begin
        text = state.src[begin:stop]
        closing = _ATTRIBUTES.search(text) or _HEADING_END.search(text)
        self._add("text", [(begin, begin + closing.start() if closing else stop)])

    def underlined_heading(self, state: StateBlock, start: int, end: int) -> None:
        lines = [_line(state, line) for line in range(start, end - 1)]
        attributes = _ATTRIBUTES.search(state.src[slice(*lines[-1])])
        if attributes:
            lines[-1] = (lines[-1][0], lines[-1][0] + attributes.start())
        self._add("text", lines)

    def table(self, state: StateBlock, start: int, end: int) -> None:
        self._rows(state, [_line(state, line) for line in range(start, end) if line != start + 1])

    def _rows(self, state: StateBlock, lines: Sequence[Span]) -> None:
        for begin, stop in lines:
            for cell in _cells(state.src[begin:stop], begin):
                self._add("text", [cell])

    def terms(self, state: StateBlock, start: int, end: int) -> None:
        """The terms of a definition list; their definitions are paragraphs, which have been recorded."""
        opened = next(at for at in range(len(state.tokens) - 1, -1, -1) if _opens_list(state, at, start))
        level = state.tokens[opened].level + 1
        for token in state.tokens[opened:]:
            if token.type == "dt_open" and token.level == level and token.map:
                self._add("text", [_line(state, token.map[0])])

    def title(self, state: StateBlock, start: int, end: int) -> None:
        """The title of a container (`::: warning Title`), an admonition (`!!! note "Title"`), a tab (`=== "Title"`)."""
        begin, stop = _line(state, start)
        titled = TITLED.match(state.src, begin, stop)
        if titled and titled.lastgroup:
            self._add("text", [titled.span(titled.lastgroup)])

    def reference(self, state: StateBlock, start: int, end: int) -> None:
        """The title of `[label]: address "title"`."""
        begin, stop = _line(state, end - 1)
        if title := _TITLE_AT_END.search(state.src[begin:stop]):
            self._add("title", [(begin + title.start(1) + 1, begin + title.end(1) - 1)])

    def directive(self, state: StateBlock, start: int, end: int) -> None:
        if directive := _PROSE_DIRECTIVE.match(state.tokens[-1].info.strip()):
            spans = [_line(state, line) for line in range(start, end)]
            self._add("left", spans, f"the directive {directive.group()} is not translated")

    def html(self, state: StateBlock, start: int, end: int) -> None:
        self._add("html", [(state.bMarks[line], state.eMarks[line]) for line in range(start, end)])

    def too_deep(self, state: StateBlock, start: int, end: int) -> None:
        spans = [_line(state, line) for line in range(start, end)]
        self._add("left", spans, f"nested more than {MOST_NESTED} levels deep")


def _line(state: StateBlock, line: int) -> Span:
    """Return the span of a line without its prefix, and without white space at its end."""
    begin, stop = state.bMarks[line] + state.tShift[line], state.eMarks[line]
    return begin, max(begin, begin + len(state.src[begin:stop].rstrip(" \t")))


def _groups(text: str, lines: Sequence[Span]) -> Iterator[list[Span]]:
    """Split the lines of a paragraph at template tags, and before definitions of abbreviations."""
    group: list[Span] = []
    for begin, stop in lines:
        abbreviation = _ABBREVIATION.match(text, begin, stop)
        if abbreviation or _TEMPLATE_LINE.match(text, begin, stop):
            yield group
            group = [(abbreviation.end(), stop)] if abbreviation else []
        else:
            group.append((begin, stop))
    yield group


def _cells(line: str, at: int) -> Iterator[Span]:
    """Split at bars that are neither escaped nor inside code."""
    for cell in without_code(line).split("|"):
        inner = cell.strip()
        if inner:
            start = at + len(cell) - len(cell.lstrip())
            yield start, start + len(inner)
        at += len(cell) + 1


def _opens_list(state: StateBlock, at: int, line: int) -> bool:
    token = state.tokens[at]
    return token.type == "dl_open" and token.level == state.level and (token.map or [-1])[0] == line
