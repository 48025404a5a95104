"""Files, chosen and dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.server.page.service import Service

DROP = """([name, text]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name, {type: "text/plain"}));
  const event = (kind) => new DragEvent(kind, {dataTransfer: carried, bubbles: true, cancelable: true});
  document.body.dispatchEvent(event("dragenter"));
  window.overlaid = !document.getElementById("drop").hidden;
  document.body.dispatchEvent(event("dragover"));
  document.body.dispatchEvent(event("drop"));
}"""


def test_a_dropped_file_is_translated_and_can_be_downloaded(page: Any, service: Service, tmp_path: Path) -> None:
    page.evaluate(DROP, ["letter.txt", "Good morning."])
    assert page.evaluate("window.overlaid")
    expect(page.locator("#drop")).to_be_hidden()
    expect(page.locator("#files")).to_contain_text("letter.txt is translated.")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "x.txt"  # the server's name counts before ours
    download.value.save_as(tmp_path / "got.txt")
    assert (tmp_path / "got.txt").read_text(encoding="utf-8") == "Guten Morgen."
    sent = next(body for path, body in service.asked if path == "/translate_file")
    assert b"Good morning." in sent
    assert b'name="target"\r\n\r\nde' in sent


def test_a_chosen_file_is_translated(page: Any) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Translate a file").click()
    chooser.value.set_files([{"name": "a.txt", "mimeType": "text/plain", "buffer": b"x"}])
    expect(page.locator("#files")).to_contain_text("a.txt is translated.")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#files")).to_be_hidden()


def test_a_file_that_no_reader_knows_is_not_sent(page: Any, service: Service) -> None:
    page.evaluate(DROP, ["film.mp4", "x"])
    expect(page.locator("#files")).to_contain_text(
        "This server cannot translate .mp4 files. Supported formats: .txt .docx"
    )
    assert not [path for path, _ in service.asked if path == "/translate_file"]


@pytest.mark.parametrize("url", ["javascript:alert(1)//download_file/x", "https://elsewhere.example/other"])
def test_an_address_that_leads_elsewhere_is_not_followed(page: Any, url: str) -> None:
    page.route("**/translate_file", lambda route: route.fulfill(json={"translatedFileUrl": url}))
    page.evaluate(DROP, ["letter.txt", "Good morning."])
    expect(page.locator("#files")).to_contain_text("letter.txt could not be translated.")
    assert page.locator("#files a").count() == 0
