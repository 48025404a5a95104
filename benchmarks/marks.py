"""Marks in sentences of every format: is each kept exactly once, and is the sentence translated as without it?

    python benchmarks/marks.py runs/en-de data/test.en              one sentence of a line
    python benchmarks/marks.py runs/en-de data/test.en --sentences 50 --show 3

Each kind of mark is put into each sentence, at its beginning, middle or end, in each format that can hold it. `once`:
every mark of the source is in the translation exactly once. `same`: the translation without its marks equals the
translation of the sentence that never had them. A word that must stay untranslated, such as `<code>word</code>`, stands
for the words that it replaces: all others must be the same. `review`: what is not the same is listed for review.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tongsa.documents import Languages, Options, read_document
from tongsa.documents.review import wants_review
from tongsa.documents.translate import TranslatorLike, translate_segments
from tongsa.formats.segments import Content, Outcome, Segment
from tongsa.translation.options import TranslateOptions
from tongsa.translation.translator import Translator

INSERTED = {
    "printf": "%s",
    "named printf": "%(count)d",
    "brace": "{name}",
    "double brace": "{{ color }}",
    "shell": "${path}",
    "nesting": "$t(common.more)",
    "numbered": "{0}",
    "emoji": "\U0001f389",
    "arrow": "→",
    "url": "https://example.org/a?b=1",
    "identifier": "btn_submit_form",
    "colour": "#ff0000",
    "quoted": '"%s"',
    "in brackets": "({count})",
}
"""Marks that any text can hold."""
TAG = {"Weblate": '<x id="3"></x>', "empty tag": "<br/>"}
"""Tags in the text of formats that have none of their own."""
ESCAPES = {
    "apostrophe": ("'", "&#39;"),
    "ampersand": ("&", "&amp;"),
    "blank": ("\u00a0", "&nbsp;"),
    "quote": ('"', "&quot;"),
}


@dataclass(frozen=True)
class Case:
    """A sentence with a mark, as it is written in a format, and what it is compared with."""

    kind: str
    format: str
    marked: str
    bare: str
    """The sentence that never had the mark."""
    mark: str = ""
    """The mark where it is part of the text rather than of the format."""
    word: bool = False
    """The mark stands for a word of the sentence and stays untranslated."""


def cases(sentences: Sequence[str]) -> list[Case]:
    found: list[Case] = []
    for number, sentence in enumerate(sentences):
        words = sentence.split()
        for place, (kind, mark) in enumerate(INSERTED.items()):
            text = inserted(words, mark, number + place)
            formats = [name for name in FORMATS if not (name == "srt" and mark.startswith("("))]  # a sound there
            found += [Case(kind, name, written(name, text), sentence, mark) for name in formats]
        for place, (kind, mark) in enumerate(TAG.items()):
            text = inserted(words, mark, number + place)
            found += [Case(kind, name, written(name, text), sentence, mark) for name in FORMATS if name not in MARKUP]
        found += _escaped(words, sentence, number)
        found += _own_marks(words, sentence, number)
    return found


def inserted(words: Sequence[str], mark: str, turn: int) -> str:
    """Put a mark at the beginning, in the middle, or at the end, before the full stop."""
    if turn % 3 == 0:
        return " ".join([mark, *words])
    if turn % 3 == 1:
        middle = len(words) // 2
        return " ".join([*words[:middle], mark, *words[middle:]])
    end = re.fullmatch(r"(.*?)([.!?]*)", words[-1], re.DOTALL)
    assert end
    return " ".join([*words[:-1], end[1], mark]) + end[2]


def _escaped(words: Sequence[str], sentence: str, number: int) -> list[Case]:
    at = 1 + number % max(1, len(words) - 2)
    found = []
    for kind, (character, escape) in ESCAPES.items():
        if kind == "blank":
            texts = [f"{' '.join(words[:at])}{each}{' '.join(words[at:])}" for each in (" ", escape)]
        elif kind == "ampersand":
            texts = [" ".join([*words[:at], each, *words[at:]]) for each in (character, escape)]
        else:
            texts = [
                " ".join([*words[:at], f"{each}{words[at]}{each}", *words[at + 1 :]]) for each in (character, escape)
            ]
        found += [Case(kind, name, texts[1], texts[0]) for name in ("html", "md", "po", "json", "txt")]
    return found


def _own_marks(words: Sequence[str], sentence: str, number: int) -> list[Case]:
    """Marks of the formats themselves."""
    at = number % max(1, len(words) - 1)
    end = re.fullmatch(r"(.*?)([^\w]*)", words[at], re.DOTALL)
    assert end

    def around(before: str, after: str) -> str:
        return " ".join([*words[:at], f"{before}{end[1]}{after}{end[2]}", *words[at + 1 :]])

    own = {
        "html": {"bold": ("<b>", "</b>"), "link": ('<a href="a.html">', "</a>")},
        "md": {"bold": ("**", "**"), "link": ("[", "](a.html)")},
        "xliff": {"bold": ('<g id="1">', "</g>")},
    }
    found = [Case(kind, name, around(*pair), sentence) for name, kinds in own.items() for kind, pair in kinds.items()]
    for name, (before, after) in {"html": ("<code>", "</code>"), "md": ("`", "`")}.items():
        found.append(Case("code", name, around(before, after), sentence, word=True))
    alone = {
        "html": {"image": '<img src="a.png">', "note": '<sup><a href="#f1">1</a></sup>'},
        "md": {"image": "![](a.png)", "note": "[^1]"},
        "xliff": {"image": '<x id="1"/>', "note": '<ph id="2">[1]</ph>'},
    }
    for name, kinds in alone.items():
        for place, (kind, mark) in enumerate(kinds.items()):
            found.append(Case(kind, name, inserted(words, mark, number + place + 1), sentence))
    return found


def written(name: str, text: str) -> str:
    """Write a text in a format whose own characters must be escaped."""
    return html.escape(text, quote=False) if name in ("html", "xliff") else text


MARKUP = ("html", "md")


def _xliff(texts: Iterable[str], languages: Languages) -> str:
    units = "".join(f'<trans-unit id="{i}"><source>{text}</source></trans-unit>' for i, text in enumerate(texts))
    return (
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" datatype="plaintext" '
        f'source-language="{languages.source}" target-language="{languages.target}"><body>{units}</body></file></xliff>'
    )


def _po(texts: Iterable[str], languages: Languages) -> str:
    head = f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: {languages.target}\\n"\n'
    return head + "".join(
        f'\nmsgctxt "{i}"\nmsgid {json.dumps(text, ensure_ascii=False)}\nmsgstr ""\n' for i, text in enumerate(texts)
    )


FORMATS: dict[str, Callable[[Iterable[str], Languages], str]] = {
    "txt": lambda texts, _: "".join(f"{text}\n\n" for text in texts),
    "md": lambda texts, _: "".join(f"{text}\n\n" for text in texts),
    "html": lambda texts, _: "".join(f"<p>{text}</p>\n" for text in texts),
    "po": _po,
    "xliff": _xliff,
    "json": lambda texts, _: json.dumps(list(texts), ensure_ascii=False),
    "srt": lambda texts, _: "".join(
        f"{i}\n00:{i // 60 % 60:02}:{i % 60:02},000 --> 00:{i // 60 % 60:02}:{i % 60:02},900\n{text}\n\n"
        for i, text in enumerate(texts, 1)
    ),
}
"""How sentences are written as a document of each format, a segment each."""


@dataclass(frozen=True)
class Verdict:
    case: Case
    outcome: Outcome
    once: bool
    same: bool
    wanted: str

    @property
    def reviewed(self) -> bool:
        return wants_review(self.outcome)


def judged(translator: TranslatorLike, all_cases: Sequence[Case]) -> list[Verdict]:
    """Translate all cases, and the sentences without marks."""
    languages = Languages(source=translator.card.source, target=translator.card.target)
    segments: list[tuple[Case, Segment]] = []
    for name, write in FORMATS.items():
        here = [case for case in all_cases if case.format == name]
        data = write([case.marked for case in here], languages).encode()
        found = list(read_document(data, Path(f"a.{name}"), Options(languages=languages)).segments)
        assert len(found) == len(here), f"{name}: {len(here)} sentences became {len(found)} segments"
        segments += zip(here, found, strict=True)
    outcomes = translate_segments([segment for _, segment in segments], translator)
    bare = list(dict.fromkeys(case.bare for case in all_cases))
    wanted = dict(zip(bare, (each.text for each in translator.translate(bare, TranslateOptions())), strict=True))
    return [
        _verdict(case, segment, outcome, wanted[case.bare])
        for (case, segment), outcome in zip(segments, outcomes, strict=True)
    ]


def _verdict(case: Case, segment: Segment, outcome: Outcome, wanted: str) -> Verdict:
    before, after = _marks(segment.content), _marks(outcome.content)
    source, text = (
        "".join(part for part in content if isinstance(part, str)) for content in (segment.content, outcome.content)
    )
    is_text = case.mark and case.mark in source
    once = before == after and (not is_text or text.count(case.mark) == 1)
    gap = "\0" if case.word else " "
    rest = text.replace(case.mark, gap) if case.mark else text
    if case.word:
        rest = "".join(part if isinstance(part, str) else "\0" for part in outcome.content)
    for character, escape in ESCAPES.values():
        rest = rest.replace(escape, character)
    return Verdict(case, outcome, once, _alike(rest, wanted), wanted)


def _marks(content: Content) -> Counter[int]:
    return Counter(part.number for part in content if not isinstance(part, str))


def _alike(rest: str, wanted: str) -> bool:
    """Compare without regard to blanks; a word that was kept stands for at most three others."""
    before, kept, after = tidy(rest).partition("\0")
    other = tidy(wanted)
    if not kept:
        return before == other
    if not (other.startswith(before) and other.endswith(after)) or len(before) + len(after) > len(other):
        return False
    return len(wanted.split()) - len(rest.replace("\0", " ").split()) <= 3


def tidy(text: str) -> str:
    return re.sub(r"\s+", "", text.replace("\u00a0", " "))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("translator", type=Path)
    parser.add_argument("text", type=Path, help="sentences of the source language, one of a line")
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--show", type=int, default=0, help="cases of each kind to print that are not the same")
    given = parser.parse_args()
    translator = Translator.load(given.translator)
    lines = [line.strip() for line in given.text.read_text(encoding="utf-8").splitlines()]
    sentences = [line for line in dict.fromkeys(lines) if fits(line)][: given.sentences]
    begin = time.monotonic()
    verdicts = judged(translator, cases(sentences))
    print(f"{len(verdicts):,} cases of {len(sentences)} sentences in {time.monotonic() - begin:.0f} s")
    groups: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        groups[verdict.case.kind].append(verdict)
    for kind, group in sorted(groups.items()):
        print(f"  {kind:14} {_shares(group)}")
        for verdict in [each for each in group if not each.same or not each.once][: given.show]:
            print(f"      {verdict.case.format}: {verdict.case.marked}")
            print(f"          {verdict.outcome.text}   ({', '.join(verdict.outcome.notes)})")
            print(f"          {verdict.wanted}")
    for name in FORMATS:
        print(f"  {name:14} {_shares([each for each in verdicts if each.case.format == name])}")
    print(f"  {'all':14} {_shares(verdicts)}")


def fits(line: str) -> bool:
    """Return True for one plain sentence of some words."""
    return 5 <= len(line.split()) <= 20 and bool(re.fullmatch(r"[\w\s,-]+[.!?]", line))


def _shares(group: Sequence[Verdict]) -> str:
    count = max(1, len(group))
    once, same = sum(each.once for each in group) / count, sum(each.same for each in group) / count
    others = [each for each in group if not each.same]
    reviewed = sum(each.reviewed for each in others)
    return f"{len(group):6,} cases   once {once:6.1%}   same {same:6.1%}   review {reviewed} of {len(others)} others"


if __name__ == "__main__":
    main()
