"""Keyboard only, phones, two interfaces, two colour schemes, and no serious fault that axe-core knows of."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.server.page.service import Faults, Open, Service

PHONE = {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
KINDS = ["Encoder self-attention", "Decoder self-attention", "Encoder–decoder attention", "Positions"]
EXPERIMENTS = {"Interventions": ".ex-head", "Beam search": ".bt-node", "Training": ".tr-list li"}
"""Each with what is there when it is drawn."""
HANGUL = re.compile("[가-힣]")


def look(page: Any) -> None:
    page.fill("#source", "the dog sleeps zebra")
    expect(page.locator("#target")).to_contain_text("Hund")
    page.click("#show-attention")
    expect(page.locator(".av-map")).to_be_visible()


def focused(page: Any) -> str:
    found: str = page.evaluate("(({id, className, tagName}) => id || className || tagName)(document.activeElement)")
    return found


def tab_to(page: Any, wanted: str) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", wanted):
            return
    raise AssertionError(f"the Tab key does not reach {wanted}; it stands at {focused(page)}")


def test_everything_can_be_done_with_the_keyboard_alone(page: Any) -> None:
    page.keyboard.press("Tab")
    assert focused(page) == "skip"
    page.keyboard.press("Enter")
    page.keyboard.type("the dog sleeps")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#target")).to_have_text("der Hund schläft")
    tab_to(page, ".alternatives button")
    page.keyboard.press("Enter")
    expect(page.locator("#target")).to_have_text("der Hund schläft wohl")
    tab_to(page, "#show-attention")
    page.keyboard.press("Enter")
    expect(page.locator(".av-map")).to_be_visible()
    tab_to(page, ".av-kinds input")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("radio", name="Decoder self-attention")).to_be_checked()
    expect(page.get_by_role("radio", name="Decoder self-attention")).to_be_focused()
    tab_to(page, ".av-heads input")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".av-heads label").nth(1).locator("input")).to_be_focused()
    tab_to(page, ".av-word")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".av-reading")).to_contain_text("“Hund” looks back at")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".av-reading")).to_contain_text("is looked at most by")
    tab_to(page, ".av-play")


def test_files_can_be_chosen_with_the_keyboard(page: Any) -> None:
    with page.expect_file_chooser():
        tab_to(page, "#choose")
        page.keyboard.press("Enter")


def test_focus_is_always_seen(page: Any) -> None:
    page.fill("#source", "the dog")
    page.locator("#interface").focus()
    for _ in range(10):
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", focused(page)


def test_nothing_is_wider_than_a_phone(open_page: Open) -> None:
    page = open_page(**PHONE)
    look(page)
    for kind in KINDS:
        page.get_by_role("radio", name=kind).check(force=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, kind
    for kind, drawn in EXPERIMENTS.items():
        page.get_by_role("radio", name=kind).check(force=True)
        expect(page.locator(drawn).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, kind
        assert small_targets(page) == [], kind
    panes = [page.locator(pane).bounding_box() for pane in ("#source", "#target")]
    assert panes[1]["y"] >= panes[0]["y"] + panes[0]["height"]  # one above the other
    assert small_targets(page) == []


def test_the_titles_of_the_axes_are_whole_however_short_the_sentence(open_page: Open) -> None:
    page = open_page(**PHONE)
    page.fill("#source", "dog")
    page.click("#show-attention")
    expect(page.locator(".av-map")).to_be_visible()
    outside = """map => [...map.querySelectorAll("text")].filter((text) => {
        const [all, one] = [map.getBoundingClientRect(), text.getBoundingClientRect()];
        return one.left < all.left || one.right > all.right || one.top < all.top || one.bottom > all.bottom;
    }).map((text) => text.textContent)"""
    for kind in KINDS[:3]:
        page.get_by_role("radio", name=kind).check(force=True)
        assert page.locator(".av-map").evaluate(outside) == [], kind


def small_targets(page: Any) -> list[str]:
    """Buttons and selects that a finger does not hit."""
    found: list[str] = page.locator("button:visible, select:visible").evaluate_all(
        "all => all.filter(one => one.getBoundingClientRect().height < 24).map(one => one.outerHTML)"
    )
    return found


def test_a_tap_follows_a_word_on_a_phone(open_page: Open) -> None:
    page = open_page(**PHONE)
    look(page)
    page.locator(".av-column.query .av-word").nth(1).tap()
    expect(page.locator(".av-reading")).to_contain_text("Hund")


def test_a_korean_browser_is_spoken_to_in_korean(open_page: Open) -> None:
    page = open_page(locale="ko-KR")
    assert page.evaluate("document.documentElement.lang") == "ko"
    expect(page).to_have_title("통사: 번역")
    expect(page.get_by_label("번역할 글")).to_be_visible()
    assert page.locator("#from option").all_inner_texts()[:2] == ["언어 감지", "영어"]
    look(page)
    expect(page.locator(".av-lines")).to_contain_text("원문 (키)")
    said = page.locator(".attention p, legend, figcaption, .under span, .settings span, .top p").all_inner_texts()
    assert [text for text in said if re.search("[a-z]{4}", text) and not HANGUL.search(text)] == []


def test_the_language_of_the_page_can_be_changed_and_is_kept(page: Any) -> None:
    look(page)
    page.get_by_label("Language of this page").select_option("ko")
    expect(page.get_by_role("button", name="어텐션 닫기")).to_be_visible()
    expect(page.locator(".av-kinds")).to_contain_text("인코더–디코더 어텐션")
    expect(page.locator("#target")).to_contain_text("Hund")
    page.reload()
    expect(page.get_by_label("번역할 글")).to_be_visible()


@pytest.mark.parametrize(
    ("texts", "least"), [("texts.js", 60), ("kit/attention/texts.js", 40), ("kit/attention/experiment_texts.js", 60)]
)
def test_both_interfaces_say_the_same_things(page: Any, texts: str, least: int) -> None:
    text = page.evaluate(f"fetch('static/{texts}').then((answer) => answer.text())")
    english, korean = text.split("  ko: {")[0], text.split("  ko: {")[1].split("\n};")[0]
    entries = [dict(re.findall(r'^    "([\w.]+)": "(.*)",$', part, re.MULTILINE)) for part in (english, korean)]
    assert len(entries[0]) > least
    assert list(entries[0]) == list(entries[1])
    for key, words in entries[0].items():
        assert set(re.findall(r"\{\w+\}", words)) == set(re.findall(r"\{\w+\}", entries[1][key])), key
        assert HANGUL.search(entries[1][key]) or not re.search("[A-Za-z]", re.sub(r"\{\w+\}", "", words)), key


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_system_chooses_the_colours_unless_the_reader_does(open_page: Open, scheme: str) -> None:
    page = open_page(color_scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor"
    light, dark = "rgb(251, 250, 247)", "rgb(20, 22, 27)"
    assert page.evaluate(paper) == (light if scheme == "light" else dark)
    other = "dark" if scheme == "light" else "light"
    page.get_by_label("Theme").select_option(other)
    assert page.evaluate(paper) == (dark if other == "dark" else light)
    page.reload()
    assert page.evaluate(paper) == (dark if other == "dark" else light)


def test_the_pictures_change_their_colours_with_the_page(page: Any) -> None:
    look(page)
    cell = page.locator(".av-map > g:first-of-type rect").nth(3)
    before = cell.get_attribute("fill")
    page.get_by_label("Theme").select_option("dark")
    assert page.locator(".av-map > g:first-of-type rect").nth(3).get_attribute("fill") != before


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(open_page: Open, faults: Faults, scheme: str, settings: dict[str, Any]) -> None:
    page = open_page(color_scheme=scheme, reduced_motion="reduce", **settings)
    assert faults(page) == []
    look(page)
    page.locator(".av-column.query .av-word").nth(1).click()
    for kind in KINDS:
        page.get_by_role("radio", name=kind).check(force=True)
        assert faults(page) == [], kind
    for kind, drawn in EXPERIMENTS.items():
        page.get_by_role("radio", name=kind).check(force=True)
        expect(page.locator(drawn).first).to_be_visible()
        if kind == "Interventions":
            page.locator(drawn).first.click()
            expect(page.locator(".ex-pair")).to_be_visible()
        assert faults(page) == [], kind


def test_axe_finds_no_serious_fault_where_something_went_wrong(
    open_page: Open, faults: Faults, service: Service
) -> None:
    service.settings["keyRequired"] = True
    service.refuse = [(429, {"Retry-After": "100"}, {"error": "Slowdown"})]
    page = open_page(locale="ko-KR")
    page.fill("#source", "the dog")
    expect(page.get_by_role("alert")).to_be_visible()
    assert faults(page) == []
