"""The page in a real browser: Debian's chromium, driven by Playwright. Script errors and breaches of policy fail."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright:  pip install 'tongsa[dev]'")

from tests.server.page.service import Faults, Open, Service, running  # noqa: E402

PATIENCE = 30_000
"""Milliseconds: a busy machine is no failure."""
playwright.expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """While it lasts its event loop is this thread's, and other tests have loops of their own: a module, no longer."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        pytest.skip("needs a browser:  apt-get install chromium")
    with playwright.sync_playwright() as driver:
        # root has no sandbox of its own in a container
        opened = driver.chromium.launch(executable_path=found, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield opened
        opened.close()


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as made:
        yield made


@pytest.fixture
def open_page(browser: Any, service: Service) -> Iterator[Open]:
    """`open_page(locale="ko-KR", color_scheme="dark", ...)`: the page, ready to type into."""
    contexts, faults = [], []

    def opened(path: str = "", **settings: Any) -> Any:
        given = {"locale": "en-GB", "viewport": {"width": 1280, "height": 900}, "accept_downloads": True, **settings}
        context = browser.new_context(**given)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
        page.on("dialog", lambda dialog: (faults.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(service.url + path)
        playwright.expect(page.locator("#to option")).not_to_have_count(0)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def page(open_page: Open) -> Any:
    return open_page()


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    """For pages that are files: whatever they load from elsewhere, or complain of, fails."""
    opened, faults = browser.new_page(locale="en-GB"), []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    opened.on("request", lambda asked: faults.append(asked.url) if asked.url.startswith("http") else None)
    yield opened
    opened.close()
    assert faults == []


@pytest.fixture(scope="session")
def faults() -> Faults:
    """`faults(page)`: what axe-core finds serious or critical, with the element."""
    package = pytest.importorskip("axe_playwright_python", reason="needs axe-core:  pip install 'tongsa[dev]'")
    axe = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

    def found(page: Any) -> list[str]:
        page.evaluate(axe)
        answer = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{fault['id']}: {node['html'][:150]} {node.get('failureSummary', '')[:200]}"
            for fault in answer["violations"]
            if fault["impact"] in ("serious", "critical")
            for node in fault["nodes"]
        ]

    return found


@pytest.fixture
def looking(page: Any) -> Any:
    """The page with the view open on four tokens."""
    page.fill("#source", "the dog sleeps")
    playwright.expect(page.locator("#target")).to_have_text("der Hund schläft")
    page.get_by_role("button", name="Show attention").click()
    playwright.expect(page.locator(".av-map")).to_be_visible()
    return page
