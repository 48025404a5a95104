"""Rules of Markdown's dialects: MkDocs' admonitions and tabs, formulas, code in template tags, MDX.

Each is a rule of markdown-it: it returns True if a block begins at a line, and moves `state.line` behind it. Searches
for the end of a block are remembered if they fail, so that no line is searched from many beginnings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

TITLED = re.compile(
    r""":{3,}[ \t]*+(?:\{[^{}\n]*+\}|[\w-]++(?:[ \t]*+\{[^{}\n]*+\})?+)"""
    r"""(?:\[(?P<bracketed>[^\[\]\n]++)\]|[ \t]++(?P<plain>[^\s{:][^\n{}]*+))?"""
    r"""|`{3,}[ \t]*+\{[\w-]++\}[ \t]++(?P<directive>[^\n`]++)"""
    r"""|(?:!!!|\?\?\?\+?)[ \t]*+[^"\n]*+"(?P<quoted>[^"\n]++)"|===[+!]?[ \t]++"(?P<tab>[^"\n]++)\""""
)
"""The first line of a container, an admonition or a tab, with its title."""
_MKDOCS = re.compile(r'(?:!!!|\?\?\?\+?)[ \t]*+[\w"]|===[+!]?[ \t]++"[^"\n]*+"[ \t]*+$')
_INDENT = 4
_TEMPLATE_CODE = re.compile(
    r"\{(?:%-?[ \t]*+(highlight|comment|mermaid)\b|\{[<%][ \t]*+(highlight|mermaid|math|raw)\b)"
)
_IMPORT = re.compile(
    r"""import[ \t]*+(?:(?:[^\n'"]*+(?<=[ }]from[ ]))?+['"][^'"\n]++['"];?[ \t]*+$|[\w$*, \t]*+\{[^{}\n'"]*+$)"""
)
_EXPORT = re.compile(
    r"export[ \t]++(?:(?:const|let|var)[ \t]++[\w${\[]"
    r"|default[ \t]++(?:function|class|async|\(|\{|[\w.$]++[;(]?[ \t]*+$)"
    r"|(?:async[ \t]++)?function\b|class[ \t]++\w|\{|\*[ \t])"
)
_LINE_END = r"\n(?![ \t]*+\n)"
_BLANK = rf"(?:[ \t]|{_LINE_END})"
_BRACED = rf"\{{(?:[^{{}}\n]|{_LINE_END}|\{{(?:[^{{}}\n]|{_LINE_END}|\{{[^{{}}\n]*+\}})*+\}})*+\}}"
_COMPONENT = re.compile(
    rf"""</?(?:>|[A-Z][\w.]*+(?:{_BLANK}++(?:[\w:-]++(?:=(?:"[^"\n]*+"|'[^'\n]*+'|{_BRACED}))?+|{_BRACED}))*+{_BLANK}*+/?>)"""
)
"""A tag of a component; no blank line is part of it."""
BEFORE_FENCE = ("paragraph", "reference", "blockquote", "list")


@dataclass
class Dialects:
    is_mdx: bool
    _no_formula_before: int = -1
    """No formula begins above this line, from where the last search began."""
    _ends: dict[str, int] = field(default_factory=dict)
    """Where the next end of a template tag stands, by its name."""

    def add_to(self, parser: MarkdownIt) -> None:
        ruler = parser.block.ruler
        for name, rule, interrupts in (
            ("mkdocs", self.mkdocs, True),
            ("formula", self.formula, True),
            ("template_code", self.template_code, True),
            ("modules", self.modules, False),
            ("jsx", self.jsx, True),
        ):
            ruler.before("fence", name, rule, {"alt": list(BEFORE_FENCE) if interrupts else []})

    def mkdocs(self, state: StateBlock, start: int, end: int, silent: bool) -> bool:
        """`!!! note "Title"`, `??? note`, `=== "Tab"`, and the indented blocks below."""
        begin, stop = state.bMarks[start] + state.tShift[start], state.eMarks[start]
        if state.src[begin : begin + 1] not in ("!", "?", "=") or state.is_code_block(start):
            return False
        if not _MKDOCS.match(state.src, begin, stop):
            return False
        if silent:
            return True
        indent = state.sCount[start] + _INDENT
        after = start + 1
        while after < end and (state.isEmpty(after) or state.sCount[after] >= indent):
            after += 1
        before = state.blkIndent, state.parentType, state.lineMax
        state.blkIndent, state.parentType, state.lineMax = indent, "mkdocs", after
        state.push("mkdocs_open", "div", 1)
        state.md.block.tokenize(state, start + 1, after)
        state.push("mkdocs_close", "div", -1)
        state.blkIndent, state.parentType, state.lineMax = before
        state.line = after
        return True

    def formula(self, state: StateBlock, start: int, end: int, silent: bool) -> bool:
        """`$$ ... $$` over one or more lines, without blank lines."""
        text = _text(state, start)
        if not text.startswith("$$") or state.is_code_block(start) or start < self._no_formula_before:
            return False
        last = start
        if len(text) < 4 or not text.endswith("$$"):
            last = -1 if "$$" in text[2:] else self._end_of_formula(state, start + 1, end)
        if last < 0:
            return False
        if not silent:
            state.line = last + 1
        return True

    def _end_of_formula(self, state: StateBlock, line: int, end: int) -> int:
        while line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
            if _text(state, line).endswith("$$"):
                return line
            line += 1
        self._no_formula_before = line
        return -1

    def template_code(self, state: StateBlock, start: int, end: int, silent: bool) -> bool:
        """Code in tags: `{% highlight x %} ... {% endhighlight %}`, `{{< highlight x >}} ... {{< /highlight >}}`."""
        begin, stop = state.bMarks[start] + state.tShift[start], state.eMarks[start]
        opened = _TEMPLATE_CODE.match(state.src, begin, stop)
        if not opened or state.is_code_block(start):
            return False
        closing = f"end{opened[1]}" if opened[1] else f"/{opened[2]}"
        at = self._ends.get(closing, 0)
        if at < opened.end():
            at = state.src.find(closing, opened.end())
            self._ends[closing] = at if at >= 0 else len(state.src)
        if not 0 <= at < state.eMarks[end - 1]:
            return False
        if not silent:
            line = start
            while state.eMarks[line] <= at:
                line += 1
            state.line = line + 1
        return True

    def modules(self, state: StateBlock, start: int, end: int, silent: bool) -> bool:
        """`import X from "y"` and `export const x = ...` of MDX, up to a blank line."""
        begin, stop = state.bMarks[start] + state.tShift[start], state.eMarks[start]
        if state.level or state.sCount[start] or silent:
            return False
        if not (_IMPORT.match(state.src, begin, stop) or _EXPORT.match(state.src, begin, stop)):
            return False
        line = start + 1
        while line < end and not state.isEmpty(line):
            line += 1
        if not self.is_mdx and state.src[begin : state.eMarks[line - 1]].rstrip()[-1:] not in ";'\"})]":
            return False  # a sentence of English
        state.line = line
        return True

    def jsx(self, state: StateBlock, start: int, end: int, silent: bool) -> bool:
        """A tag of a component, `<Tabs items={[1, 2]}>`, alone on its lines; what it encloses is Markdown again."""
        begin, stop = state.bMarks[start] + state.tShift[start], state.eMarks[start]
        if state.src[begin : begin + 1] != "<":
            return False
        tag = _COMPONENT.match(state.src, begin, stop if silent else state.eMarks[end - 1])
        if not tag:
            return False
        line = start
        while state.eMarks[line] < tag.end():
            line += 1
        rest = state.src[tag.end() : state.eMarks[line]].strip()
        if (rest and (silent or not rest.endswith(">"))) or min(state.sCount[start : line + 1]) < state.blkIndent:
            return False
        if not silent:
            state.line = line + 1
        return True


def _text(state: StateBlock, line: int) -> str:
    """Return a line without its prefix, and without white space at its end."""
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
