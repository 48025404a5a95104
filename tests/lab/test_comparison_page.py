"""Table and page tell what was measured, load nothing from outside, and let no text of the data become markup."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path

import tongsa
from tongsa.evaluation.significance import TestedScore, chance
from tongsa.lab.compare.comparison import Comparison
from tongsa.lab.compare.html import COLOURS, draw_comparison
from tongsa.lab.compare.plan import ALL_MODELS
from tongsa.lab.compare.table import cells, markdown, terminal

Finished = tuple[Path, Comparison]


class Balance(HTMLParser):
    """Whether every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: object) -> None:
        if tag not in ("meta", "img", "br", "path", "circle", "image", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "circle", "image", "rect"):
            assert self.open.pop() == tag


def test_the_page_has_every_section_and_every_model(finished: Finished) -> None:
    html = (finished[0] / "comparison.html").read_text(encoding="utf-8")
    for key in ("scores", "figures", "table1", "attention", "examples", "recipes"):
        assert f'<section id="{key}">' in html
    assert html.count('<figure class="chart wide">') == 4
    assert html.count('<figure class="attends">') == 1  # of the two, only this one attends
    assert "gru: no attention to draw" in html
    assert html.count('<article class="answers">') == len(finished[1].examples) == 4
    balance = Balance()
    balance.feed(html)
    assert balance.open == []


def test_the_page_loads_nothing_from_outside(finished: Finished) -> None:
    html = (finished[0] / "comparison.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in html
    addresses = re.findall(r'(?:src|href)="([^"#][^"]{0,20})', html)
    assert addresses
    assert all(address.startswith("data:image/png") for address in addresses)


def test_text_of_the_data_stays_text(finished: Finished) -> None:
    comparison = finished[1]
    evil = '<script>alert("x")</script>'
    example = dataclasses.replace(
        comparison.examples[0], source=evil, reference=evil, translations={"gru": evil, "small": evil}
    )
    results = {
        name: dataclasses.replace(result, picture=result.picture and dataclasses.replace(
            result.picture, rows=[evil] * len(result.picture.rows), columns=[evil] * len(result.picture.columns)))
        for name, result in comparison.results.items()
    }  # fmt: skip
    runs = {name: {1: result} for name, result in results.items()}
    changed = dataclasses.replace(comparison, examples=[example], runs=runs, unfinished={"lstm": evil})
    assert "alert(" in draw_comparison(changed)
    assert "<script>alert" not in draw_comparison(changed)


def test_the_best_stands_first_and_has_no_p(finished: Finished) -> None:
    comparison = finished[1]
    lines = cells(comparison)
    scores = [comparison.scores[line[0]]["bleu"].score for line in lines]
    assert scores == sorted(scores, reverse=True)
    assert [line[8] == "best" for line in lines] == [True, False]


def test_the_terminal_table_is_aligned(finished: Finished) -> None:
    head, rule, *rows = terminal([finished[1]]).split("\n")[:4]
    assert {len(line) for line in (head, rule, *rows)} == {len(head)}


def test_markdown_rows_have_as_many_cells_as_their_head(finished: Finished) -> None:
    for block in markdown([finished[1]]).strip().split("\n\n"):
        if block.startswith("|"):
            assert len({line.count("|") - line.count("\\|") for line in block.split("\n")}) == 1


def test_all_models_have_colours_of_their_own() -> None:
    assert len(ALL_MODELS) <= COLOURS
    style = (Path(tongsa.__file__).parent / "pages" / "static" / "kit.css").read_text(encoding="utf-8")
    assert all(f".m{i} {{" in style for i in range(COLOURS))


def test_a_sure_difference_is_marked() -> None:
    def tested(p: float | None) -> TestedScore:
        return TestedScore(score=1.0, interval=0.1, p=p, signature="")

    assert [chance(tested(p), "best") for p in (None, 0.2, 0.03, 0.0001)] == ["best", "0.200", "0.030*", "<0.001*"]
