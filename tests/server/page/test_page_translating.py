"""Typing and reading."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect
from tests.server.page.service import Open, Service

BUSY = (429, {"Retry-After": "1"}, {"error": "Slowdown: too many requests"})


def test_what_is_typed_is_translated_while_typing(page: Any, service: Service) -> None:
    page.locator("#source").press_sequentially("Good morning", delay=20)
    expect(page.locator("#target")).to_have_text("gut Morgen")
    assert service.texts()[-1] == "Good morning"
    assert len(service.texts()) < len("Good morning") / 2  # it waits for a pause


def test_an_answer_that_comes_too_late_is_thrown_away(page: Any, service: Service) -> None:
    service.slow["the dog"] = 1.2
    page.fill("#source", "the dog")
    page.wait_for_timeout(400)
    page.fill("#source", "Good morning")
    expect(page.locator("#target")).to_have_text("gut Morgen")
    page.wait_for_timeout(1200)
    expect(page.locator("#target")).to_have_text("gut Morgen")


def test_an_emptied_text_empties_the_translation(page: Any) -> None:
    page.fill("#source", "Good morning")
    expect(page.locator("#target")).to_have_text("gut Morgen")
    page.click("#clear")
    expect(page.locator("#target")).to_contain_text("appears here")
    expect(page.locator("#copy")).to_be_disabled()
    expect(page.locator("#alternatives")).to_be_hidden()
    expect(page.locator("#source")).to_be_focused()


def test_words_that_the_model_doubts_are_marked_and_named(page: Any) -> None:
    page.fill("#source", "Good zebra")
    expect(page.locator("#target .word.low")).to_have_text("zebra")
    expect(page.locator("#target .word.high")).to_have_text("gut")
    expect(page.locator("#doubts")).to_contain_text("zebra (30%)")
    page.uncheck("#confidence")
    expect(page.locator("#doubts")).to_be_empty()
    assert "confident" not in page.get_attribute("#target", "class")


def test_an_alternative_takes_the_place_of_the_translation(page: Any) -> None:
    page.fill("#source", "Good morning")
    page.get_by_role("button", name="Use this translation: gut Morgen wohl").click()
    expect(page.locator("#target")).to_have_text("gut Morgen wohl")
    expect(page.get_by_role("button", name="Use this translation: gut Morgen", exact=True)).to_be_visible()


def test_the_translation_is_copied(open_page: Open) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.fill("#source", "Good morning")
    expect(page.locator("#target")).to_have_text("gut Morgen")
    page.click("#copy")
    expect(page.locator("#copy")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "gut Morgen"


def test_a_detected_language_is_told_and_can_be_swapped(page: Any, service: Service) -> None:
    page.select_option("#from", "auto")
    page.fill("#source", "Good morning")
    expect(page.locator("#detected")).to_have_text("Detected: English (93%)")
    page.click("#swap")
    expect(page.locator("#source")).to_have_value("gut Morgen")
    assert (page.input_value("#from"), page.input_value("#to")) == ("de", "en")
    expect(page.locator("#target")).to_have_text("gut Morgen")
    assert service.asked[-1][1]["source"] == "de"


def test_only_targets_that_there_are_can_be_chosen(page: Any) -> None:
    assert page.locator("#to option").evaluate_all("all => all.map(one => one.value)") == ["de", "ko"]
    page.select_option("#from", "de")
    assert page.locator("#to option").evaluate_all("all => all.map(one => one.value)") == ["en"]
    assert page.locator("#from option").evaluate_all("all => all.map(one => one.value)") == ["auto", "en", "de"]


def test_a_way_through_a_third_language_is_told(page: Any) -> None:
    page.select_option("#to", "ko")
    page.fill("#source", "Good morning")
    expect(page.locator("#via")).to_contain_text("Translated through German")
    expect(page.locator("#swap")).to_be_disabled()


def test_choices_are_there_again_after_a_reload(page: Any) -> None:
    page.select_option("#from", "de")
    page.reload()
    expect(page.locator("#to option")).not_to_have_count(0)
    assert (page.input_value("#from"), page.input_value("#to")) == ("de", "en")


def test_a_busy_server_is_asked_again_when_it_says_so(page: Any, service: Service) -> None:
    service.refuse = [BUSY]
    page.fill("#source", "Good morning")
    expect(page.get_by_role("alert")).to_contain_text("busy")
    expect(page.locator("#target")).to_have_text("gut Morgen")
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_reader_who_will_not_wait_tries_at_once(page: Any, service: Service) -> None:
    service.refuse = [(429, {"Retry-After": "60"}, {"error": "Slowdown"})]
    page.fill("#source", "Good morning")
    page.get_by_role("button", name="Try now").click()
    expect(page.locator("#target")).to_have_text("gut Morgen")


def test_without_a_connection_the_text_is_safe_and_goes_on_afterwards(page: Any) -> None:
    page.context.set_offline(True)
    page.fill("#source", "Good morning")
    expect(page.get_by_role("alert")).to_contain_text("offline")
    expect(page.locator("#source")).to_have_value("Good morning")
    page.context.set_offline(False)
    expect(page.locator("#target")).to_have_text("gut Morgen")


def test_a_refusal_is_told_in_the_servers_words(page: Any, service: Service) -> None:
    service.refuse = [(400, {}, {"error": "zz is not supported"})]
    page.fill("#source", "Good morning")
    expect(page.get_by_role("alert")).to_contain_text("zz is not supported")


def test_a_text_beyond_the_limit_is_not_sent(page: Any, service: Service) -> None:
    page.fill("#source", "a" * 201)
    expect(page.get_by_role("alert")).to_contain_text("exceeds this server’s limit of 200 characters")
    assert service.texts() == []
    page.fill("#source", "Good morning")
    expect(page.locator("#target")).to_have_text("gut Morgen")


def test_a_key_is_asked_for_where_one_is_needed_and_sent(open_page: Open, service: Service) -> None:
    service.settings["keyRequired"] = True
    page = open_page()
    page.fill("#key", "a secret")
    page.press("#key", "Enter")
    page.fill("#source", "Good morning")
    expect(page.locator("#target")).to_have_text("gut Morgen")
    assert service.asked[-1][1]["api_key"] == "a secret"
    assert page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})").count("secret") == 0


def test_a_server_without_translators_says_so(browser: Any, service: Service) -> None:
    service.languages = []
    page = browser.new_page()
    page.goto(service.url)
    expect(page.get_by_role("alert")).to_be_visible()
    page.close()
