"""A page of the docs and its Korean twin say the same: they are changed together, or these tests fail.

Compared section by section: headings, code blocks, tables, lists, links, what stands in `backticks`, and numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
KOREAN = sorted([*ROOT.glob("*.ko.md"), *ROOT.glob("docs/**/*.ko.md")])
FIRST_PAGES = ["README", *(f"docs/{name}" for name in ("index", "install", "tutorial", "concepts", "guide"))]
FIRST_PAGES += [f"docs/{name}" for name in ("paper", "lab", "recipes", "attention", "serving", "corpora", "documents")]
"""What a newcomer meets."""

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?<=\n\n)((?: {4}.*\n)+)")
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")
NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?:e\d+)?")
LANGUAGE_CODE = re.compile(r"\b(ko|en|de)\b")


@dataclass
class Section:
    """What the two pages have in common between one heading and the next."""

    level: int
    title: str
    blocks: list[tuple[str, str]] = field(default_factory=list)
    """Language of a code block, and its text as far as it must be the same."""
    tables: list[list[int]] = field(default_factory=list)
    """Number of cells of each row of each table."""
    items: int = 0
    links: Counter[str] = field(default_factory=Counter)
    codes: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)


def page_path(korean: Path) -> Path:
    return korean.with_name(korean.name.replace(".ko.md", ".md"))


def sections(text: str) -> list[Section]:
    """The page cut at its headings. A line in a code block that begins with # is none."""
    blocks = [(each[1], each[2]) for each in FENCE.finditer(text)]
    bare = FENCE.sub("\0", text)
    found = [Section(0, "")]
    for part in re.split(r"^(?=#+ )", bare, flags=re.MULTILINE):
        head = re.match(r"(#+) (.*)\n", part)
        if head:
            found.append(Section(len(head[1]), head[2]))
            part = part[head.end() :]
        section = found[-1]
        section.blocks = [shown(*blocks.pop(0)) for _ in range(part.count("\0"))]
        section.blocks += [shown("", each) for each in INDENTED.findall(part)]
        fill(section, INDENTED.sub("", part))
    return found


def shown(language: str, text: str) -> tuple[str, str]:
    """A program without comments, sentences and codes of languages; of other text its length."""
    if language == "text" and "tongsa " not in text:
        return language, f"{len(text.splitlines())} lines"
    text = re.sub(r"\s+#.*", "", text)
    text = re.sub(r'"[^"\n]*"', lambda quoted: '"..."' if " " in quoted[0] else quoted[0], text)
    return language, LANGUAGE_CODE.sub("...", text)


def fill(section: Section, prose: str) -> None:
    for table in re.findall(r"(?:^\|.*\n?)+", prose, re.MULTILINE):
        section.tables.append([len(re.findall(r"(?<!\\)\|", row)) - 1 for row in table.splitlines()])
    section.items = len(re.findall(r"^\s*(?:-|\d+\.) ", prose, re.MULTILINE))
    section.links = Counter(target for _, target in LINK.findall(prose))
    prose = LINK.sub(r"\1", prose)
    section.codes = {LANGUAGE_CODE.sub("...", " ".join(code.split())) for code in CODE.findall(prose)}
    section.numbers = set(NUMBER.findall(CODE.sub("", prose)))


def slug(title: str) -> str:
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", LINK.sub(r"\1", title).lower()).replace(" ", "-")


def anchors(page: Path) -> list[str]:
    return [slug(each.title) for each in sections(page.read_text(encoding="utf-8"))]


def same_place(target: str, folder: Path) -> str:
    """A link of either page as a file of the English docs and the number of a heading in it."""
    if target.startswith("http"):
        return target
    name, _, anchor = target.partition("#")
    path = (folder / name).resolve()
    english = page_path(path)
    return f"{english}#{anchors(path).index(anchor)}" if anchor else str(english)


def differences(english: str, korean: str, folder: Path = ROOT) -> list[str]:
    """Where a Korean page differs from its twin in what both must have; nothing if they agree."""
    ours, theirs = sections(english), sections(korean)
    if [each.level for each in ours] != [each.level for each in theirs]:
        headings = [" / ".join(each.title for each in page if each.level) for page in (ours, theirs)]
        return [f"headings: {headings[0]}\n     and: {headings[1]}"]
    found = []
    for one, other in zip(ours, theirs, strict=True):
        where = one.title or "the top"
        links = [Counter(same_place(each, folder) for each in page.links.elements()) for page in (one, other)]
        for name, left, right in [
            ("code blocks", one.blocks, other.blocks),
            ("tables", one.tables, other.tables),
            ("list items", one.items, other.items),
            ("links", links[0], links[1]),
            ("backticks", one.codes, other.codes),
        ]:
            if left != right:
                found.append(f"{where}: {name}: {left}\n  and in Korean: {right}")
        if missing := one.numbers - other.numbers:
            found.append(f"{where}: numbers that the Korean page lacks: {sorted(missing)}")
    return found


@pytest.mark.parametrize("page", KOREAN, ids=lambda page: page.name)
def test_a_korean_page_has_what_its_twin_has(page: Path) -> None:
    english = page_path(page).read_text(encoding="utf-8")
    found = differences(english, page.read_text(encoding="utf-8"), page.parent)
    assert not found, "\n".join([f"{page.name} and {page_path(page).name} differ:", *found])


@pytest.mark.parametrize("name", FIRST_PAGES)
def test_every_page_that_a_newcomer_meets_is_there_in_korean(name: str) -> None:
    assert (ROOT / f"{name}.ko.md").exists()


@pytest.mark.parametrize("page", KOREAN, ids=lambda page: page.name)
def test_twins_link_each_other_at_the_top(page: Path) -> None:
    english = page_path(page)
    assert f"[한국어]({page.name})" in english.read_text(encoding="utf-8")[:1000]
    assert f"[English]({english.name})" in page.read_text(encoding="utf-8")[:1000]


@pytest.mark.parametrize("page", KOREAN, ids=lambda page: page.name)
def test_a_korean_page_links_to_korean_pages(page: Path) -> None:
    for text, target in LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / target.partition("#")[0]).resolve()
        if text != "English" and path.with_suffix(".ko.md") in KOREAN:
            pytest.fail(f"{page.name} links to {target}, which is there in Korean")


def test_links_into_a_page_lead_to_a_heading_of_it() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for _, target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            name, _, anchor = target.partition("#")
            if anchor and name.endswith(".md") and not name.startswith("http"):
                assert anchor in anchors(page.parent / name), f"{page.name} links to {target}"


ENGLISH_PAGE = """# A page

[한국어](README.ko.md)

Trains for `--minutes 30` and 3 seeds ([guide](docs/guide.md#the-cache)).

```
tongsa train data/train --from en --to de   # a comment
```

| a | b |
| --- | --- |
| 1 | 2.5 |

## More

- one
"""
KOREAN_PAGE = """# 페이지

[English](README.md)

시드 3개로 `--minutes 30` 동안 학습합니다([안내서](docs/guide.ko.md#캐시)).

```
tongsa train data/train --from ko --to en   # 설명
```

| 가 | 나 |
| --- | --- |
| 1 | 2.5 |

## 더

- 하나
"""


def test_twins_that_say_the_same_do_not_differ() -> None:
    assert differences(ENGLISH_PAGE, KOREAN_PAGE) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("## More", "## New\n\nText.\n\n## More", "headings"),
        ("## More", "### More", "headings"),
        ("--from en --to de", "--from en --to de --minutes 5", "code blocks"),
        ("```\n\n|", "```\n\n    python more.py\n\n|", "code blocks"),
        ("| 1 | 2.5 |", "| 1 | 2.5 |\n| 3 | 4 |", "tables"),
        ("- one", "- one\n- two", "list items"),
        ("docs/guide.md#the-cache", "docs/guide.md#python", "links"),
        ("docs/guide.md#the-cache", "docs/lab.md", "links"),
        ("`--minutes 30`", "`--minutes 45`", "backticks"),
        ("2.5", "2.7", "numbers"),
        ("3 seeds", "5 seeds", "numbers"),
    ],
)
def test_a_change_on_one_side_only_is_told(old: str, new: str, told: str) -> None:
    assert old in ENGLISH_PAGE
    found = differences(ENGLISH_PAGE.replace(old, new), KOREAN_PAGE)
    assert found
    assert told in found[0]
