from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tongsa.models.contracts import Attention
from tongsa.pages.translation import write_translation_report
from tongsa.runs.directory import Run
from tongsa.translation.translator import Translator

GOOD = [(f"고양이가 개를 봐요 {n}", f"the cat sees the dog {n}", f"the cat sees a dog {n}") for n in range(40)]
VOID = {"meta", "img", "br"}
SIGNATURE = "nrefs:1|case:mixed"
HOSTILE = '</script><script>alert(1)</script><img src="http://evil.example/x" onerror=alert(2)>"\'&\x00\x1b'


class Tree(HTMLParser):
    """Checks that every element is closed, and collects tags, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "script" not in self.open and "style" not in self.open:
            self.text += data


def written(directory: Path, translator: Translator) -> Tree:
    path = write_translation_report(Run(directory), translator)
    assert path == directory / "report.html"
    return Tree(path.read_text(encoding="utf-8"))


def test_a_whole_run_shows_every_section(run_with: Callable[..., Path], translator: Translator) -> None:
    directory = run_with(400, 50, GOOD)
    page = written(directory, translator)
    for words in ("Korean → English", "12.3", "nrefs:1|case:mixed", "29,000", "Loss", "BLEU", "Learning rate"):
        assert words in page.text
    for words in ("Gradient norm", "Scores by length", "Worst", "Encoder–decoder attention", "Decoder self-attention"):
        assert words in page.text
    again = f"tongsa train 'data/my corpus' --from ko --to en --recipe {directory}/recipe.toml"
    assert again in page.text
    assert "missing" not in page.text


def test_nothing_is_loaded_from_outside(run_with: Callable[..., Path], translator: Translator) -> None:
    directory = run_with(50, 10, GOOD)
    page = written(directory, translator)
    links = [value or "" for _, attributes in page.tags for key, value in attributes.items() if key in ("src", "href")]
    assert links
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in links)
    assert not {"link", "iframe", "object", "video", "base"} & {tag for tag, _ in page.tags}
    source = (directory / "report.html").read_text(encoding="utf-8")
    assert "url(" not in source
    assert "@import" not in source


def test_hostile_sentences_stay_text(run_with: Callable[..., Path], translator: Translator) -> None:
    directory = run_with(50, 10, [(f"{HOSTILE}{n}", f"{HOSTILE} a", f"b {HOSTILE}") for n in range(12)])
    card = (directory / "translator.json").read_text(encoding="utf-8")
    card = card.replace("data/my corpus", "<img src=x onerror=alert(3)>").replace(SIGNATURE, "<b onclick=alert(4)>")
    (directory / "translator.json").write_text(card, encoding="utf-8")
    page = written(directory, translator)
    assert all(tag != "img" or (attributes["src"] or "").startswith("data:") for tag, attributes in page.tags)
    assert not [key for _, attributes in page.tags for key in attributes if key.startswith("on")]
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert sum("type" not in attributes for attributes in scripts) == 1, "the page has one script of its own"
    assert "alert(1)" in page.text
    assert not re.search(r"[\x00-\x08\x1b]", page.text)


def test_only_the_script_of_the_page_may_run(run_with: Callable[..., Path], translator: Translator) -> None:
    directory = run_with(50, 10, GOOD)
    write_translation_report(Run(directory), translator)
    source = (directory / "report.html").read_text(encoding="utf-8")
    script = re.findall(r"<script>(.*?)</script>", source, re.DOTALL)[-1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in source


def test_half_a_surrogate_pair_and_an_endless_line_do_not_break_the_page(
    run_with: Callable[..., Path], translator: Translator
) -> None:
    odd = [("half \ud83d of it", "a \udc00", "b"), ("word " * 5000, "long " * 5000, "longer " * 5000), ("", "", "")]
    page = written(run_with(0, 0, odd), translator)
    assert "more characters" in page.text
    assert len(page.text) < 20_000


def test_an_empty_directory_says_what_is_missing(run_with: Callable[..., Path], translator: Translator) -> None:
    page = written(run_with(), translator)
    assert "log.jsonl is missing" in page.text
    assert "validation.jsonl is missing" in page.text
    assert "[training]" in page.text


def test_one_update_one_validation_and_one_example_are_enough(
    run_with: Callable[..., Path], translator: Translator
) -> None:
    page = written(run_with(1, 1, GOOD[:1]), translator)
    assert "best 0.01 at update 1" in page.text
    assert "the cat sees a dog 0" in page.text


def test_a_log_with_nonsense_in_it_still_gives_curves(run_with: Callable[..., Path], translator: Translator) -> None:
    extra = '{"event": "update", "update": 51, "seconds": 26, "log_loss": NaN, "gradient_norm": null}\n{"event": "upd'
    page = written(run_with(50, 10, GOOD, extra), translator)
    assert "Loss" in page.text


def test_a_log_of_something_else_counts_as_missing(run_with: Callable[..., Path], translator: Translator) -> None:
    directory = run_with(5)
    (directory / "log.jsonl").write_text('{"something": "else"}\n[1, 2]\n', encoding="utf-8")
    assert "log.jsonl is missing" in written(directory, translator).text


def test_what_cleaning_left_out_is_told_where_the_log_has_it(
    run_with: Callable[..., Path], translator: Translator
) -> None:
    extra = '{"event": "cleaning", "update": 0, "seconds": 0, "seen": 29100, "dropped": {"with an empty side": 100}}\n'
    page = written(run_with(5, 0, GOOD, extra), translator)
    assert "left out with an empty side" in page.text
    assert "29,100" in page.text
    assert "made by translating" not in page.text


def test_pairs_that_were_made_are_told_apart(run_with: Callable[..., Path], translator: Translator) -> None:
    extra = (
        '{"event": "cleaning", "update": 0, "seconds": 0, "seen": 29000, "dropped": {}}\n'
        '{"event": "diversify", "update": 0, "seconds": 0, "pairs": 29000, "made": 57123}\n'
    )
    page = written(run_with(5, 0, GOOD, extra), translator)
    assert "made by translating the text" in page.text
    assert "57,123" in page.text


def test_a_model_without_attention_says_so(
    run_with: Callable[..., Path], translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = Attention(encoder=[], decoder=[], cross=[])
    monkeypatch.setattr(type(translator.native), "attention", lambda self, source, target: nothing)
    assert "No attention to show" in written(run_with(5, 0, GOOD), translator).text


def test_a_long_run_gives_a_small_page(run_with: Callable[..., Path], translator: Translator) -> None:
    directory = run_with(20_000, 100, GOOD * 10)
    write_translation_report(Run(directory), translator)
    assert (directory / "report.html").stat().st_size < 600_000
