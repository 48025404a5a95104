"""The page as it is really served, in front of a translator that has learnt something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.server.page.test_page_files import DROP
from tests.server.running import SENTENCE, Start


@pytest.fixture
def tab(browser: Any, start: Start, translators: tuple[Path, Path]) -> Iterator[Any]:
    opened, faults = browser.new_page(locale="en-GB"), []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    opened.set_default_timeout(30_000)
    opened.goto(start(*translators).url + "/")
    yield opened
    opened.close()
    assert faults == []


def test_a_sentence_is_translated_looked_into_and_a_file_comes_back(tab: Any, tmp_path: Path) -> None:
    tab.locator("#from").select_option("ko")
    tab.locator("#to").select_option("en")
    tab.fill("#source", SENTENCE)
    expect(tab.locator("#target .word").first).to_be_visible()
    expect(tab.locator("#alternatives button").first).to_be_visible()
    tab.click("#show-attention")
    expect(tab.locator(".av-map")).to_be_visible()
    expect(tab.locator(".av-column.key .av-word").last).to_have_text("‹end›")
    for kind in ("Encoder self-attention", "Decoder self-attention", "Positions"):
        tab.get_by_role("radio", name=kind).check(force=True)
    tab.evaluate(DROP, ["letter.txt", SENTENCE])
    with tab.expect_download() as download:
        tab.get_by_role("link", name="Download").click()
    download.value.save_as(tmp_path / "got.txt")
    assert (tmp_path / "got.txt").read_text(encoding="utf-8").strip() == tab.locator("#target").inner_text().strip()


def test_a_way_through_a_third_language_is_told_by_the_service_too(tab: Any) -> None:
    tab.locator("#from").select_option("auto")
    tab.locator("#to").select_option("fr")
    tab.fill("#source", SENTENCE)
    expect(tab.locator("#detected")).to_contain_text("Korean")
    expect(tab.locator("#via")).to_contain_text("Translated through English")
