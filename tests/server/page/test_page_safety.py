"""Text stays text, wherever it comes from: the reader, a file's name, the server."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect
from tests.server.page.service import STATIC, Open, Service
from tests.server.page.test_page_files import DROP

HOSTILE = "<img/src=x/onerror=window.hurt=1><script>window.hurt=1</script>\"'&</textarea>"


def unhurt(page: Any) -> None:
    page.wait_for_timeout(200)
    assert page.evaluate("window.hurt") is None
    assert page.locator("img").count() == 0


def test_markup_that_is_typed_is_shown_as_it_is(page: Any) -> None:
    page.fill("#source", HOSTILE)
    expect(page.locator("#target")).to_have_text(HOSTILE)
    page.click("#show-attention")
    expect(page.locator(".av-word").first).to_have_text(HOSTILE)
    expect(page.locator(".av-map")).to_contain_text("onerror")
    unhurt(page)


def test_markup_in_a_files_name_is_shown_as_it_is(page: Any) -> None:
    page.evaluate(DROP, [f"{HOSTILE.replace('/', '')}.txt", "x"])
    expect(page.locator("#files")).to_contain_text("<imgsrc=x")
    unhurt(page)


def test_markup_in_what_the_server_says_is_shown_as_it_is(open_page: Open, service: Service) -> None:
    service.languages = [{"code": "en", "name": HOSTILE, "targets": [HOSTILE]}]
    service.settings["supportedFilesFormat"] = [HOSTILE]
    service.refuse = [(400, {}, {"error": HOSTILE})]
    page = open_page()
    assert page.locator("#to option").inner_text() == HOSTILE
    page.fill("#source", "the dog")
    expect(page.get_by_role("alert")).to_contain_text(HOSTILE)
    unhurt(page)


def test_an_answer_that_is_not_what_it_should_be_breaks_nothing(page: Any) -> None:
    page.route("**/translate", lambda route: route.fulfill(status=500, body="<html>oops"))
    page.fill("#source", "the dog")
    expect(page.get_by_role("alert")).to_contain_text("Something went wrong on the server")


@pytest.mark.parametrize("path", sorted(STATIC.rglob("*.*")), ids=lambda path: path.relative_to(STATIC).as_posix())
def test_nothing_is_fetched_from_elsewhere_and_no_markup_is_parsed(path: Any) -> None:
    text = path.read_text(encoding="utf-8")
    addresses = text.replace("http://www.w3.org/", "")  # names of SVG and MathML, never fetched
    assert "http://" not in addresses
    assert "https://" not in addresses
    for parsed in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert parsed not in text
    if path.suffix == ".html":
        assert "style=" not in text
        assert "onclick" not in text
    assert len(text.splitlines()) <= 400
