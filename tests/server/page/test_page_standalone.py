"""The file that `tongsa inspect` writes, and a notebook's frame, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import expect
from tests.server.running import SENTENCE
from tests.small_translators import with_checkpoints

from tongsa.engines.inspection import Facts, Inspection
from tongsa.lab.teaching import stored_experiments
from tongsa.models.contracts import Attention
from tongsa.models.embeddings import sinusoids
from tongsa.pages.attention import frame, page, sentence
from tongsa.runs.directory import Run
from tongsa.translation.translator import Translator


@pytest.fixture
def seen() -> Inspection:
    torch.manual_seed(0)
    source, target = ("▁고양이", "가", "▁<img/src=x>", "</s>"), ("▁The", "▁cat", "</s>")

    def weights(queries: int, keys: int) -> list[torch.Tensor]:
        return [torch.rand(1, 4, queries, keys).mul(4).softmax(-1) for _ in range(2)]

    facts = Facts(architecture="transformer", source="ko", target="en", d_model=16, d_k=4, positions="sinusoidal")
    return Inspection(source, target, Attention(weights(4, 4), weights(3, 3), weights(3, 4)), facts, sinusoids(20, 16))


def test_the_file_needs_no_server_and_keeps_to_its_policy(tab: Any, seen: Inspection, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(page(seen), encoding="utf-8")
    tab.goto((tmp_path / "a.html").as_uri())
    expect(tab.locator("h1")).to_have_text("고양이가 <img/src=x>")
    expect(tab.locator(".av-map")).to_be_visible()
    before = tab.locator(".av-map").inner_html()
    tab.get_by_role("radio", name="3", exact=True).check(force=True)
    assert tab.locator(".av-map").inner_html() != before
    expect(tab.locator("math")).to_have_count(1)
    expect(tab.locator(".av-letters")).to_contain_text("= 4")
    for kind in ("Encoder self-attention", "Decoder self-attention", "Positions"):
        tab.get_by_role("radio", name=kind).check(force=True)
    expect(tab.locator(".av-table")).to_be_visible()


def test_page_and_python_show_a_token_alike(tab: Any, seen: Inspection, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(page(seen), encoding="utf-8")
    tab.goto((tmp_path / "a.html").as_uri())
    from tongsa.engines.inspection import shown

    assert tab.locator(".av-column.key bdi").all_inner_texts() == [shown(token) for token in seen.source_tokens]


@pytest.fixture(scope="module")
def experimental(trained_translator: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page of a real translator, with stored experiments and two checkpoints."""
    copied = with_checkpoints(trained_translator, tmp_path_factory.mktemp("file") / "ko-en")
    translator = Translator.load(copied, engine="native", threads=1)
    inspection = translator.inspect(SENTENCE)
    stored = stored_experiments(translator, Run(copied), SENTENCE, sentence(inspection.target_tokens))
    return page(inspection, stored)


@pytest.mark.parametrize("width", [390, 1280])
def test_a_file_has_the_answers_of_its_experiments(tab: Any, experimental: str, tmp_path: Path, width: int) -> None:
    (tmp_path / "a.html").write_text(experimental, encoding="utf-8")
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto((tmp_path / "a.html").as_uri())
    tab.get_by_role("radio", name="Interventions").check(force=True)
    first, second = (tab.locator(".ex-head").nth(place) for place in (0, 1))
    first.click()
    expect(tab.locator(".ex-pair")).to_be_visible()
    second.click()
    expect(first).to_have_attribute("aria-pressed", "false")  # one change at a time is stored
    expect(second).to_have_attribute("aria-pressed", "true")
    for label in ("Divide by", "The decoder sees"):
        tab.get_by_label(label).uncheck()
        expect(tab.locator(".ex-result")).to_contain_text("Log-probability of the first translation")
    for order in ("none", "shuffled"):
        tab.get_by_role("radio", name=order).check(force=True)
        expect(tab.locator(".av-status")).to_have_text("")
    tab.get_by_role("radio", name="Beam search").check(force=True)
    expect(tab.locator(".bt-ranked li.best")).to_be_visible()
    tab.get_by_role("radio", name="Training").check(force=True)
    tab.get_by_role("slider", name="Updates").fill("0")
    expect(tab.locator(".tr-said")).to_contain_text("Update 10")
    expect(tab.locator(".tr-picture .av-map")).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_a_notebooks_frame_draws_itself_in_its_sandbox(tab: Any, seen: Inspection) -> None:
    tab.set_content(f"<p>A notebook</p>{frame(seen)}")
    inside = tab.frame_locator("iframe")
    expect(inside.locator(".av-map")).to_be_visible()
    inside.locator(".av-word").first.hover()
    expect(inside.locator(".av-reading")).to_contain_text("The step that writes “The” looks at")
