"""Every regular expression and every parser of text takes linear time, for texts made of its own alphabet."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tongsa
from documents.fakes import Fake, upper
from pumping import MOST, Pump, growth, repeated
from tongsa.documents import Options, read_document
from tongsa.documents.translate import translate_segments
from tongsa.formats.segments import Languages
from tongsa.server.work.marked import elements
from tongsa.text.lines import nfc
from tongsa.text.placeholders import find
from tongsa.text.sentences import split
from tongsa.translation.glossary import Glossary, Target

SOURCE = Path(tongsa.__file__).parent
METHODS = {"compile", "match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn"}
QUICK = 0.0015
"""CPU seconds; 3,200 characters take longer in quadratic time."""

LONG_DOCUMENT = 8_000
"""Characters of a document, which Python reads line by line and mark by mark."""

LOCALS: dict[str, Any] = {
    "alike": "x|keep",
    "name": "code",
    "names": ["x", "keep"],
    "patterns": [r"(?<!\w)aaaa(?!\w)", r"(?i:(?<!\w)aaa\w{0,3}\s+bbb\w{0,3}(?!\w))"],
    "ranges": "가-힣",
    "separator": ",",
}
"""Examples of the local variables that patterns are made of at run time; add yours here."""


class Use(NamedTuple):
    """A call of the `re` module."""

    module: str
    call: ast.Call
    name: str
    """The name that a compiled pattern is given."""

    @property
    def method(self) -> str:
        assert isinstance(self.call.func, ast.Attribute)
        return self.call.func.attr

    def __str__(self) -> str:
        return f"{self.module} {ast.unparse(self.call.args[0])}"


def uses() -> Iterator[Use]:
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "\nimport re\n" not in text:
            continue
        module = ".".join(("tongsa", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        tree = ast.parse(text)
        names = {
            id(node.value): node.targets[0].id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.func.attr in METHODS
            ):
                yield Use(module, node, names.get(id(node), ""))


def compiled(use: Use) -> re.Pattern[Any]:
    names = {**LOCALS, **vars(import_module(use.module))}
    flags = next((_value(keyword.value, names) for keyword in use.call.keywords if keyword.arg == "flags"), 0)
    if use.method == "compile" and len(use.call.args) == 2:
        flags = _value(use.call.args[1], names)
    elif use.method in ("match", "fullmatch", "search", "finditer", "findall") and len(use.call.args) == 3:
        flags = _value(use.call.args[2], names)
    return re.compile(_value(use.call.args[0], names), flags)


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    """The value of an expression of the source."""
    return eval(compile(ast.Expression(node), "<pattern>", "eval"), names)


@cache
def everything() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))


def method(use: Use) -> str:
    """How the pattern is used: only at the beginning of a text, or anywhere in it."""
    methods = {use.method}
    if use.method == "compile":
        private = use.name.startswith("_")
        text = Path(import_module(use.module).__file__ or "").read_text(encoding="utf-8") if private else everything()
        methods = set(re.findall(rf"\b{use.name}\.(\w+)\(", text)) if use.name else set()
    return min(methods) if methods and methods <= {"match", "fullmatch"} else "search"


def run(pattern: re.Pattern[Any], method: str) -> Callable[[str], object]:
    def once(text: str) -> object:
        subject: Any = text if isinstance(pattern.pattern, str) else text.encode("utf-8", "replace")
        if method == "search":
            return sum(1 for _ in pattern.finditer(subject))
        return getattr(pattern, method)(subject)

    return once


USES = list(uses())


@pytest.mark.parametrize("use", USES, ids=str)
def test_regular_expression_takes_linear_time(use: Use) -> None:
    pattern = compiled(use)
    call = run(pattern, method(use))
    growths = {unit: growth(call, repeated(*unit), QUICK) for unit in Pump(pattern).units()}
    slow = {unit: ratio for unit, ratio in growths.items() if ratio > MOST}
    assert not slow, f"{method(use)} of {pattern.pattern!r}"


LANGUAGES = Languages(source="en", target="de")
CUE = "00:00:01,000 --> 00:00:02,000\n"
# fmt: off
PARSED: dict[str, list[str]] = {
    ".md": [
        "`", "`a", "``a", "[", "]", "[a](", "](", "![", "[^", "*a ", "_a", "~~a", "<a ", "<a b='", "<!--", "$", "$a",
        "{", "\\", "|", "| a ", "> ", "- ", "1. ", "# ", " #", "a  \n", "a\\\n", "-", "- [ ] ", "[a]: b\n", "a", " ",
        "::: a\n", ":::\n", "!!! a\n", '=== "a"\n    ', "a\n: b\n", "$$\n", "$$a\n", "\n$$a\n", "{% highlight %}\n",
        "{{< raw", "{{", "<A b={\n", "<A b\n", "\n<A b\n\n", "\n<A>\n", "<Ab>\n", "\nimport {\n\n",
        "\nexport const a\n", "[^a]: ", "[^a]: b\n", "> [!NOTE]\n", "***a**", "*a_ ", "a*", "**a*", "```{note}\n",
        "  - ", ">", "\n>>a\n", "[a]: b 'c\n", "\n<div>\n", "<kbd>", "<sup>1</sup>", "[![", "![a](b 'c", "[a]",
        "[a][", "&amp;", "{#a}", "\n{: a", "*[a]: b\n", "- a\n\n  ", "\n  :", "<a id='a'>", "\n|a|b|\n|-|-|\n|a|b|",
        "1. a\n   ", "{a", "\n> - ", "\n- > a", "\n    a", "\n\ta\n", "[a]:\n", "\n[", "\n[a\\", "[a]: <",
    ],
    ".html": [
        "<", "<a", "<a ", "<p b", "<a b='", '<a b="', "<!--", "<!", "<?", "<![CDATA[", "</", "</b>", "<b>", "<b></i>",
        "='", "&", "&amp;", "<br>", "<p>a</p>", "<a title='a b'>", "<code>", "<i translate=no>", "<img alt='a b'>a",
    ],
    ".srt": [
        f"\n\n{CUE}a b", f"\n{CUE}a", "\n1", "<", "<i", "<i>", "</i>", "{\\", "\n- a", " ", "a ", "\n", "\n\t", "가",
        "(a) ", " (a)", "(", "[a", "♪ ", "A B: ", ">> ", f"\n\n{CUE}<i>a</i>", f"\n\n{CUE}(a)",
    ],
    ".vtt": ["\n\n00:01.000 --> 00:02.000\na b", "\n\nNOTE a", "<c.b", "<v A>a"],
    ".txt": [
        "a\n", "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h\n", " ", ".", ". ", "a. ", "3. ",
        "%s", "(", "\r", "\n- a", "가", "\u0301\u0327", "e.g. ", "<b>a</b>", "</b>", "<b>", "{n, plural, ", "`a", "http://a)",
    ],
}
# fmt: on
"""What documents of each kind are made of."""


def parsed_and_written(suffix: str, translator: Fake) -> Callable[[str], object]:
    def run(text: str) -> object:
        document = read_document(text.encode(), Path(f"x{suffix}"), Options(languages=LANGUAGES))
        return document.write(translate_segments(list(document.segments), translator))

    return run


@pytest.mark.parametrize("suffix", PARSED)
def test_document_is_translated_in_linear_time(suffix: str) -> None:
    call = parsed_and_written(suffix, upper())
    before = f"1\n{CUE}a b" if suffix in (".srt", ".vtt") else "a b "
    units = [(before, unit, "" if number % 2 else " a >") for number, unit in enumerate(PARSED[suffix])]
    growths = {unit: growth(call, repeated(*unit), quick=0.25, long=LONG_DOCUMENT) for unit in units}
    assert not {unit: ratio for unit, ratio in growths.items() if ratio > MOST}


@pytest.mark.parametrize("language", ["en", "de", "ja"])
def test_text_is_cut_in_linear_time(language: str) -> None:
    units = [".", ". ", "a. ", "3. ", "z. B. ", "。", "。」", '"', ".)", "\n", " ", "a, ", "A", "…", "? (", "1.", "가"]
    growths = {
        unit: growth(lambda text: split(text, language), repeated("가 ", unit, "a"), quick=0.06, long=LONG_DOCUMENT)
        for unit in units
    }
    assert not {unit: ratio for unit, ratio in growths.items() if ratio > MOST}


def test_placeholders_are_found_in_linear_time() -> None:
    parts = [
        "<a ",
        "<a b='",
        "<a b=' c='<",
        "<!--",
        "{a,plural,{",
        "`'",
        "`a",
        "%(",
        "http://",
        "http://a)",
        "1,",
        "1'",
    ]
    parts += ["a@", "$a", "{{", "{a", "&a", "www.", "mailto:.", "%0"]
    growths = {part: growth(find, repeated("", part, ""), quick=0.1, long=16_000) for part in parts}
    assert not {part: ratio for part, ratio in growths.items() if ratio > MOST}


def test_terms_are_found_in_linear_time() -> None:
    glossary = Glossary({"a": "b", "a a": "c", "aaaa": "d", "파일": "e"})
    for part in ("a", "a ", "aaa ", "파"):
        assert growth(glossary.find, repeated("", part, ""), quick=0.1, long=16_000) <= MOST
        assert growth(Target.of("aaaa aaa").found, repeated("", part, ""), 0.1, 16_000) <= MOST


def test_accents_in_a_row_are_normalised_in_linear_time() -> None:
    assert growth(nfc, repeated("a", "\u0300\u0327", ""), quick=0.02, long=16_000) <= MOST


def test_kept_elements_are_found_in_linear_time() -> None:
    for unit in ("<x>", "</x>", "<x ", "<x></y>"):
        assert growth(lambda text: list(elements(text, ["x", "y"])), repeated("", unit, ""), 0.1, 16_000) <= MOST
