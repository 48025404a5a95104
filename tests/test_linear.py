"""Every regular expression takes linear time, for texts made of its own alphabet."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pumping import MOST, Pump, growth, repeated

import tongsa

SOURCE = Path(tongsa.__file__).parent
METHODS = {"compile", "match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn"}
QUICK = 0.004
"""CPU seconds; 8,000 characters take longer in quadratic time."""

MADE_AT_RUN_TIME: dict[str, list[str]] = {
    "tongsa.corpus.words f'[{ranges}]'": ["[가-힣]"],
    "tongsa.documents.glossary '|'.join(map(_matching, longest_first))": [r"(?<!\w)[aA]\ b(?!\w)|(?<!\w)[aA](?!\w)"],
    "tongsa.documents.glossary f'{begins}{re.escape(term)}{ends}'": [r"(?<!\w)a\ a(?!\w)"],
    "tongsa.documents.glossary begins + '\\\\s+'.join(words) + ends": [r"(?<!\w)aaa\w{0,3}\s+bbb\w{0,3}(?!\w)"],
    'tongsa.formats.csv f\'"(?:[^"]|"")*+"|[^{re.escape(separator)}\\\\r\\\\n]*+\'': [r'"(?:[^"]|"")*+"|[^,\r\n]*+'],
    "tongsa.formats.html_tags f'<(/?){re.escape(name)}(?=[\\\\s/>])[^>]*+>?'": [r"<(/?)code(?=[\s/>])[^>]*+>?"],
    "tongsa.server.work.marked f'<(/?)({\\'|\\'.join(map(re.escape, names))})(?:\\\\s[^<>]*+)?>'": [
        r"<(/?)(x|keep)(?:\s[^<>]*+)?>"
    ],
}
"""Patterns with parts that are known only at run time, and examples of them."""


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


def patterns(use: Use) -> list[re.Pattern[Any]]:
    names = vars(import_module(use.module))
    try:
        texts = [_value(use.call.args[0], names)]
    except NameError:
        texts = MADE_AT_RUN_TIME[str(use)]
    flags = next((_value(keyword.value, names) for keyword in use.call.keywords if keyword.arg == "flags"), 0)
    if use.method in ("compile", "match", "fullmatch", "search", "finditer", "findall"):
        flags = (
            _value(use.call.args[-1], names) if len(use.call.args) == (2 if use.method == "compile" else 3) else flags
        )
    return [re.compile(text, flags) for text in texts]


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
    for pattern in patterns(use):
        call = run(pattern, method(use))
        growths = {unit: growth(call, repeated(*unit), QUICK) for unit in Pump(pattern).units(most=100)}
        slow = {unit: ratio for unit, ratio in growths.items() if ratio > MOST}
        assert not slow, f"{method(use)} of {pattern.pattern!r}"
