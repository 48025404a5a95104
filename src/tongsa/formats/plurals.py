"""Plural forms of gettext: how many there are in a language, and which of them is the singular."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tongsa.base.errors import CorpusError

_TWO = "nplurals=2; plural=(n != 1);"
_SLAVIC = "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);"
FORMS: dict[str, str] = {
    **dict.fromkeys(("ja", "ko", "zh", "th", "vi", "id", "ms", "lo", "my", "yue"), "nplurals=1; plural=0;"),
    **dict.fromkeys(("fr", "pt_br", "oc", "br", "hy", "ln", "mg", "tg", "wa"), "nplurals=2; plural=(n > 1);"),
    **dict.fromkeys(("ru", "uk", "be", "sr", "hr", "bs"), f"nplurals=3; plural={_SLAVIC}"),
    **dict.fromkeys(("cs", "sk"), "nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;"),
    "pl": "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);",
    "ro": "nplurals=3; plural=(n==1 ? 0 : (n==0 || (n%100 > 0 && n%100 < 20)) ? 1 : 2);",
    "lt": "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2);",
    "lv": "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);",
    "sl": "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);",
    "ga": "nplurals=5; plural=(n==1 ? 0 : n==2 ? 1 : n<7 ? 2 : n<11 ? 3 : 4);",
    "gd": "nplurals=4; plural=(n==1 || n==11) ? 0 : (n==2 || n==12) ? 1 : (n > 2 && n < 20) ? 2 : 3;",
    "cy": "nplurals=4; plural=(n==1) ? 0 : (n==2) ? 1 : (n != 8 && n != 11) ? 2 : 3;",
    "mt": "nplurals=4; plural=(n==1 ? 0 : n==0 || (n%100>1 && n%100<11) ? 1 : (n%100>10 && n%100<20) ? 2 : 3);",
    "ar": "nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5;",
    "is": "nplurals=2; plural=(n%10!=1 || n%100==11);",
    "mk": "nplurals=2; plural=(n%10==1 && n%100!=11 ? 0 : 1);",
}
"""Where a language differs from `one` and `many`."""

_TOKEN = re.compile(r"\s*(\d{1,9}|n|&&|\|\||[=!<>]=|[<>!?:()%*/+-])")
_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))


def forms_of(language: str) -> str:
    """The `Plural-Forms` of a language: `de_AT` has those of `de`."""
    code = language.lower().replace("-", "_")
    return FORMS.get(code) or FORMS.get(code.split("_")[0]) or _TWO


@dataclass(frozen=True)
class Plurals:
    count: int
    singular: int | None
    """The form that only the number 1 has, if there is one."""

    @classmethod
    def parse(cls, header: str) -> Plurals | None:
        """From the value of `Plural-Forms`; none where it is a template's `nplurals=INTEGER`."""
        match = re.search(r"nplurals\s*=\s*(\d{1,2})\s*;\s*plural\s*=\s*([^;]+)", header)
        if not match or not 1 <= int(match[1]) <= 20:
            return None
        numbers: dict[int, set[int]] = {}
        for n in range(200):
            numbers.setdefault(evaluate(match[2], n), set()).add(n)
        return cls(int(match[1]), next((form for form, used in numbers.items() if used == {1}), None))


def evaluate(expression: str, n: int) -> int:
    """A plural expression of C for one number; nothing but numbers, n and operators is understood."""
    tokens = _TOKEN.findall(expression)
    if "".join(tokens) != re.sub(r"\s+", "", expression) or len(tokens) > 500:
        raise CorpusError(f"the plural expression {expression.strip()[:80]!r} cannot be read")
    return _Expression([*tokens, ""], n).whole()


class _Expression:
    """Recursive descent: the conditional, then operators from the weakest to the strongest."""

    def __init__(self, tokens: list[str], n: int) -> None:
        self.tokens, self.n, self.at = tokens, n, 0

    def whole(self) -> int:
        value = self._conditional()
        if self.tokens[self.at]:
            raise CorpusError(f"a plural expression goes on after its end: {self.tokens[self.at]!r}")
        return value

    def _take(self, *wanted: str) -> str:
        token = self.tokens[self.at]
        if token and token in wanted:
            self.at += 1
            return token
        return ""

    def _conditional(self) -> int:
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        if_so = self._conditional()
        if not self._take(":"):
            raise CorpusError("a plural expression has a `?` without a `:`")
        otherwise = self._conditional()
        return if_so if condition else otherwise

    def _binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while operator := self._take(*_LEVELS[level]):
            left = _apply(operator, left, self._binary(level + 1))
        return left

    def _unary(self) -> int:
        if self._take("!"):
            return int(not self._unary())
        if self._take("("):
            value = self._conditional()
            if not self._take(")"):
                raise CorpusError("a plural expression has a bracket that never closes")
            return value
        token = self.tokens[self.at]
        self.at += 1
        if token == "n":
            return self.n
        if not token.isdigit():
            raise CorpusError("a plural expression ends in the middle")
        return int(token)


def _apply(operator: str, left: int, right: int) -> int:
    if operator in ("/", "%") and right == 0:
        raise CorpusError("a plural expression divides by zero")
    return {
        "||": lambda: int(bool(left or right)),
        "&&": lambda: int(bool(left and right)),
        "==": lambda: int(left == right),
        "!=": lambda: int(left != right),
        "<": lambda: int(left < right),
        ">": lambda: int(left > right),
        "<=": lambda: int(left <= right),
        ">=": lambda: int(left >= right),
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "/": lambda: left // right,
        "%": lambda: left % right,
    }[operator]()
