"""The content of a PO file: entries, with the positions where they can be edited, and plural forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tongsa.base.errors import CorpusError

COLUMNS = 78
"""Column at which gettext's tools wrap lines."""
LONGEST = 1 << 20
"""Longest entry, in characters without its comments."""

_KEYWORD = re.compile(r"(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,2}\])?)\s*(?=\")")
_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)"\s*$')
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9A-Fa-f]{1,2}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


@dataclass
class Entry:
    start: int
    """Position of the entry's first comment or keyword."""
    line: int
    texts: dict[str, str] = field(default_factory=dict)
    """Texts by keyword, without msgctxt."""
    context: str | None = None
    obsolete: bool = False
    """Commented out with `#~`; such an entry has no texts."""
    flags: set[str] = field(default_factory=set)
    message: int = 0
    """Position of the entry's first keyword."""
    target: tuple[int, int] = (0, 0)
    """From the first msgstr to the end of the last."""
    flag_lines: list[tuple[int, int, str]] = field(default_factory=list)

    @property
    def is_plural(self) -> bool:
        return "msgid_plural" in self.texts

    @property
    def is_translated(self) -> bool:
        return any(text for name, text in self.texts.items() if name.startswith("msgstr"))

    @property
    def forms(self) -> list[str]:
        """The translations: one, or one for each plural form, in order."""
        names = sorted((name for name in self.texts if name.startswith("msgstr")), key=lambda name: (len(name), name))
        return [self.texts[name] for name in names]

    def with_flag(self, flag: str) -> list[tuple[int, int, str]]:
        if self.flag_lines:
            start, end, line = self.flag_lines[0]
            return [(start, end, line.rstrip("\r\n").replace("#,", f"#, {flag},", 1) + "\n")]
        return [(self.message, self.message, f"#, {flag}\n")]

    def without_flag(self, flag: str) -> list[tuple[int, int, str]]:
        edits = []
        for start, end, line in self.flag_lines:
            left = [each for each in _flags(line) if each != flag]
            edits.append((start, end, f"#, {', '.join(left)}\n" if left else ""))
        return edits


def _flags(line: str) -> list[str]:
    return [flag.strip() for flag in line[2:].split(",") if flag.strip()]


def entries(lines: Iterable[str], path: Path) -> Iterator[Entry]:
    """Parse the entries, in order, one at a time; `lines` may have their line ends, which count in positions."""
    builder: _Builder | None = None
    at = 0
    for number, line in enumerate(lines, 1):
        start, at = at, at + len(line)
        stripped = line.strip()
        keyword = _KEYWORD.match(stripped)
        is_comment = stripped.startswith("#")
        if (
            builder
            and builder.has_translation
            and (is_comment or not stripped or (keyword and keyword[1] in ("msgid", "msgctxt")))
        ):
            yield builder.whole()
            builder = None
        if not stripped or stripped.startswith("#~"):
            builder = builder if builder and builder.pieces else None
            if _OBSOLETE.match(stripped):
                yield Entry(start, number, obsolete=True)
            continue
        if builder is None:
            builder = _Builder(path, start, number)
        if not is_comment:
            builder.add_string(stripped, keyword, (start, at), number)
        elif stripped.startswith("#,"):
            builder.add_flags(stripped, (start, at, line), number)
    if builder and builder.pieces:
        yield builder.whole()


_OBSOLETE = re.compile(r"#~\s*msgid\s")


class _Builder:
    """Collects the lines of one entry."""

    def __init__(self, path: Path, start: int, line: int) -> None:
        self.path = path
        self.entry = Entry(start, line)
        self.pieces: dict[str, list[str]] = {}
        self.has_translation = False
        self.name = ""
        self.length = 0

    def add_flags(self, stripped: str, span: tuple[int, int, str], number: int) -> None:
        self._count(len(stripped), number)
        self.entry.flags |= set(_flags(stripped))
        self.entry.flag_lines.append(span)

    def add_string(self, stripped: str, keyword: re.Match[str] | None, span: tuple[int, int], number: int) -> None:
        """Read the string of a keyword, or a continuation of the previous string."""
        string = _STRING.match(stripped[keyword.end() :] if keyword else stripped)
        if not string or not (keyword or self.name):
            raise CorpusError(
                f"{self.path}, line {number:,}: not a message catalog: {stripped[:60]!r}",
                "See the place with:  msgfmt --check -o /dev/null FILE",
            )
        self._count(len(string[1]), number)
        if keyword:
            if not self.pieces:
                self.entry.message = span[0]
            self.name = keyword[1]
        self.pieces.setdefault(self.name, []).append(unescaped(string[1]))
        if self.name.startswith("msgstr"):
            self.has_translation = True
            self.entry.target = (self.entry.target[0] or span[0], span[1])

    def whole(self) -> Entry:
        entry = self.entry
        entry.texts = {name: "".join(pieces) for name, pieces in self.pieces.items()}
        entry.context = entry.texts.pop("msgctxt", None)
        if "msgid" not in entry.texts or not self.has_translation:
            raise CorpusError(f"{self.path}, line {entry.line:,}: an entry without msgid or msgstr")
        return entry

    def _count(self, length: int, number: int) -> None:
        self.length += length
        if self.length > LONGEST:
            raise CorpusError(f"{self.path}, line {number:,}: an entry of more than {LONGEST:,} characters")


def unescaped(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code in _ESCAPED:
            return _ESCAPED[code]
        if code[0] == "x" and len(code) > 1:
            return chr(int(code[1:], 16))
        return chr(int(code, 8)) if code[0] in "01234567" else match.group()

    return _ESCAPE.sub(one, text)


def quoted(text: str) -> str:
    """Quote a text as gettext does: on one line if it fits, else an empty string followed by wrapped lines."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\r", "\\r")
    escaped = re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", lambda m: f"\\{ord(m.group()):03o}", escaped)
    lines = [line.replace("\n", "\\n") for line in re.findall(r"[^\n]*\n|[^\n]+", escaped)]
    if len(lines) <= 1 and len(escaped) + 9 <= COLUMNS:
        return f'"{"".join(lines)}"\n'
    wrapped = [piece for line in lines for piece in _wrapped(line)]
    return '""\n' + "".join(f'"{piece}"\n' for piece in wrapped)


def _wrapped(line: str) -> list[str]:
    pieces = [""]
    for word in re.findall(r"\S*\s+|\S+", line):
        if pieces[-1] and len(pieces[-1]) + len(word) + 2 > COLUMNS:
            pieces.append("")
        pieces[-1] += word
    return pieces


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
"""Plural forms of languages that differ from `one` and `many`."""

_TOKEN = re.compile(r"(\d{1,9}|n|&&|\|\||[=!<>]=|[<>!?:()%*/+-])")
LONGEST_EXPRESSION = 1000
"""Longest plural expression, in characters without blanks."""
_DEEPEST = 30
"""Nested brackets, conditions and negations in a plural expression; those of real languages have at most six."""
_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))


def forms_of(language: str) -> str:
    """Return the `Plural-Forms` of a language: `de_AT` has those of `de`."""
    code = language.lower().replace("-", "_")
    return FORMS.get(code) or FORMS.get(code.split("_")[0]) or _TWO


@dataclass(frozen=True)
class Plurals:
    count: int
    singular: int | None
    """The form used only for the number 1, if there is one."""

    @classmethod
    def parse(cls, header: str) -> Plurals | None:
        """Parse the value of `Plural-Forms`; None for a template's `nplurals=INTEGER`."""
        match = re.search(r"nplurals\s*=\s*(\d{1,2})\s*;\s*plural\s*=\s*([^;]+)", header)
        if not match or not 1 <= int(match[1]) <= 20:
            return None
        numbers: dict[int, set[int]] = {}
        for n in range(200):
            numbers.setdefault(evaluate(match[2], n), set()).add(n)
        return cls(int(match[1]), next((form for form, used in numbers.items() if used == {1}), None))


def evaluate(expression: str, n: int) -> int:
    """Evaluate a C plural expression for one number; only numbers, n and operators are allowed."""
    words = expression.split()
    length = sum(map(len, words))
    tokens = [token for word in words for token in _TOKEN.findall(word)] if length <= LONGEST_EXPRESSION else []
    if not tokens or sum(map(len, tokens)) != length:
        raise CorpusError(f"the plural expression {expression.strip()[:80]!r} cannot be read")
    return _Expression([*tokens, ""], n).whole()


class _Expression:
    """Recursive descent: the conditional, then operators from the weakest to the strongest."""

    def __init__(self, tokens: list[str], n: int) -> None:
        self.tokens, self.n, self.at, self.depth = tokens, n, 0, 0

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

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise CorpusError(f"a plural expression is nested more than {_DEEPEST} deep")
        yield
        self.depth -= 1

    def _conditional(self) -> int:
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        with self._deeper():
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
            with self._deeper():
                return int(not self._unary())
        if self._take("("):
            with self._deeper():
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
