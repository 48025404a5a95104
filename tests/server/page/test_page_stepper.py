"""The context vector of a walk-through, stepped through in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import expect
from tests.server.page.service import Faults

from tongsa.lab.walk_through.context import Summed
from tongsa.lab.walk_through.context_page import draw_context

SOURCE, TARGET = ("▁고양이", "가", "▁자", "요", "</s>"), ("<s>", "▁The", "▁cat", "▁sleeps")
STEPS = len(SOURCE) * len(TARGET)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    weights = torch.rand(len(TARGET), len(SOURCE)).mul(4).softmax(-1)
    context = Summed(source=SOURCE, target=TARGET, weights=weights, values=torch.randn(len(SOURCE), 32))
    (tmp_path / "context.html").write_text(draw_context(context, "a model", "en"), encoding="utf-8")
    return tmp_path / "context.html"


def _stands_at(tab: Any, step: int) -> None:
    """So many terms are shown, and their sum below them."""
    expect(tab.locator(".stepper output")).to_have_text(f"{step} / {STEPS}")
    expect(tab.locator(".stepper tbody tr:visible")).to_have_count((step - 1) % len(SOURCE) + 2)
    expect(tab.locator(".stepper h3:visible")).to_have_count(1)


def test_buttons_keys_and_the_slider_move_by_steps(tab: Any, file: Path) -> None:
    tab.goto(file.as_uri())
    _stands_at(tab, 1)
    tab.get_by_role("button", name="Next step").click()
    _stands_at(tab, 2)
    tab.get_by_role("button", name="Step back").click()
    tab.get_by_role("button", name="Step back").click()
    _stands_at(tab, 1)
    tab.locator(".stepper").focus()
    for _ in range(6):
        tab.keyboard.press("ArrowRight")
    _stands_at(tab, 7)
    tab.keyboard.press("ArrowLeft")
    _stands_at(tab, 6)
    tab.get_by_role("slider").fill(str(STEPS))
    _stands_at(tab, STEPS)


def test_the_sum_on_the_page_is_that_of_its_terms(tab: Any, file: Path) -> None:
    tab.goto(file.as_uri())
    tab.get_by_role("slider").fill(str(len(SOURCE)))
    rows = [
        [float(text) for text in row.locator("td:not(.bar)").all_inner_texts() if text]
        for row in tab.locator(".stepper tbody tr:visible").all()
    ]
    terms, total = rows[:-1], rows[-1]
    assert len(terms) == len(SOURCE)
    assert [sum(column) for column in zip(*terms, strict=True)] == pytest.approx(total, abs=0.01 * len(SOURCE))


def test_it_plays_pauses_and_begins_again_at_the_end(tab: Any, file: Path) -> None:
    tab.clock.install()
    tab.goto(file.as_uri())
    tab.get_by_role("button", name="Play").click()
    expect(tab.get_by_role("button", name="Pause")).to_be_visible()
    tab.clock.run_for(2000)
    _stands_at(tab, 3)
    tab.locator(".stepper").focus()
    tab.keyboard.press("Space")
    tab.clock.run_for(5000)
    _stands_at(tab, 3)
    tab.keyboard.press("Space")
    tab.clock.run_for(60_000)
    _stands_at(tab, STEPS)
    expect(tab.get_by_role("button", name="Play")).to_be_visible()
    tab.keyboard.press("Space")
    _stands_at(tab, 1)


def test_on_a_phone_only_the_table_is_wider_than_the_screen(tab: Any, file: Path, faults: Faults) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.goto(file.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    for button in tab.locator(".stepper button").all():
        assert button.bounding_box()["height"] >= 40, "large enough for a finger"
    assert faults(tab) == []
