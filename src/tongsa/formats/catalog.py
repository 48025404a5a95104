"""The entries of a PO file, each with the places in the file where it can be edited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tongsa.base.errors import CorpusError

COLUMNS = 78
"""Where gettext's own tools break lines."""

_KEYWORD = re.compile(r"(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,2}\])?)\s*(?=\")")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"\s*$')
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9A-Fa-f]{1,2}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


@dataclass
class Entry:
    start: int
    """Where its first comment, or itself, begins."""
    line: int
    texts: dict[str, str] = field(default_factory=dict)
    context: str | None = None
    flags: set[str] = field(default_factory=set)
    message: int = 0
    """Where its first keyword begins."""
    target: tuple[int, int] = (0, 0)
    """From the first msgstr to the end of the last."""
    flag_lines: list[tuple[int, int, str]] = field(default_factory=list)

    @property
    def is_plural(self) -> bool:
        return "msgid_plural" in self.texts

    @property
    def is_translated(self) -> bool:
        return any(text for name, text in self.texts.items() if name.startswith("msgstr"))

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


def entries(text: str, path: Path) -> Iterator[Entry]:
    """The entries that are in use, in order; obsolete ones are passed over."""
    entry: Entry | None = None
    name = ""
    at = 0
    for number, line in enumerate(re.findall(r"[^\n]*\n|[^\n]+", text), 1):
        start, at = at, at + len(line)
        stripped = line.strip()
        keyword = _KEYWORD.match(stripped)
        is_comment = stripped.startswith("#")
        if (
            entry
            and "msgstr" in "".join(entry.texts)
            and (is_comment or not stripped or (keyword and keyword[1] in ("msgid", "msgctxt")))
        ):
            yield _whole(entry, path)
            entry = None
        if not stripped or stripped.startswith("#~"):
            entry = entry if entry and entry.texts else None
            continue
        if entry is None:
            entry = Entry(start, number)
        if is_comment:
            if stripped.startswith("#,"):
                entry.flags |= set(_flags(stripped))
                entry.flag_lines.append((start, at, line))
            continue
        name = _string(entry, name, stripped, keyword, (start, at), f"{path}, line {number:,}")
    if entry and entry.texts:
        yield _whole(entry, path)


def _string(
    entry: Entry, name: str, stripped: str, keyword: re.Match[str] | None, span: tuple[int, int], where: str
) -> str:
    """A keyword's string, or one that goes on with the last."""
    string = _STRING.match(stripped[keyword.end() :] if keyword else stripped)
    if not string or not (keyword or name):
        raise CorpusError(
            f"{where}: not a message catalog: {stripped[:60]!r}", "See the place with:  msgfmt --check FILE"
        )
    if keyword:
        if not entry.texts and entry.context is None:
            entry.message = span[0]
        name = keyword[1]
    value = unescaped(string[1])
    if name == "msgctxt":
        entry.context = (entry.context or "") + value
    else:
        entry.texts[name] = entry.texts.get(name, "") + value
    if name.startswith("msgstr"):
        entry.target = (entry.target[0] or span[0], span[1])
    return name


def _whole(entry: Entry, path: Path) -> Entry:
    if "msgid" not in entry.texts or not any(name.startswith("msgstr") for name in entry.texts):
        raise CorpusError(f"{path}, line {entry.line:,}: an entry without msgid or msgstr")
    return entry


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
    """As gettext writes it: one line where it fits, else an empty string and a line for each line and each width."""
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
