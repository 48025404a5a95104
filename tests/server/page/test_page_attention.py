"""The attention view."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from playwright.sync_api import expect
from tests.server.page.service import HEADS, LAYERS, Open, Service

from tongsa.models.embeddings import sinusoids


def colours(page: Any) -> list[str]:
    """The colours of the large map's cells."""
    cells = page.locator(".av-map > g:first-of-type rect")
    found: list[str] = cells.evaluate_all("all => all.map(one => one.getAttribute('fill'))")
    return found


def choose(page: Any, group: str, label: str) -> None:
    page.get_by_role("group", name=group, exact=True).get_by_role("radio", name=label, exact=True).check(force=True)


def test_switching_the_head_and_the_layer_changes_the_picture(looking: Any) -> None:
    seen = {tuple(colours(looking))}
    for head in range(1, HEADS + 1):
        choose(looking, "Heads of this layer", str(head))
        seen.add(tuple(colours(looking)))
    assert len(seen) == HEADS + 1
    choose(looking, "Layer", "2")
    assert tuple(colours(looking)) != ()
    label = looking.locator(".av-map").get_attribute("aria-label")
    assert label == f"Encoder–decoder attention, Layer 2, head {HEADS}"


def test_every_layer_shows_its_heads_as_small_pictures(looking: Any) -> None:
    assert looking.get_by_role("group", name="Layer", exact=True).get_by_role("radio").count() == LAYERS
    assert looking.locator(".av-heads canvas").count() == HEADS + 1
    inked = "all => all.map(one => new Set(one.getContext('2d').getImageData(0, 0, one.width, one.height).data).size)"
    assert min(looking.locator(".av-heads canvas").evaluate_all(inked)) > 3


def test_pointing_at_a_word_follows_it_in_both_pictures(looking: Any) -> None:
    choose(looking, "Layer", "1")
    choose(looking, "Heads of this layer", "2")  # it looks one token to the right
    looking.locator(".av-column.query .av-word").nth(0).hover()
    expect(looking.locator(".av-reading")).to_contain_text("The step that writes “der” looks at")
    expect(looking.locator(".av-reading li").first).to_have_text("dog 90 %")
    assert looking.locator(".av-wires path.on").count() >= 1
    expect(looking.locator(".av-frame")).to_have_count(1)
    expect(looking.locator(".av-map text.on")).to_have_text("der")
    looking.locator(".av-column.key .av-word").nth(1).hover()
    expect(looking.locator(".av-reading")).to_contain_text("“dog” is looked at most by")
    expect(looking.locator(".av-reading li").first).to_have_text("der 90 %")


def test_pointing_into_the_heat_map_follows_its_row(looking: Any) -> None:
    looking.locator(".av-map > g:first-of-type rect").nth(5).hover()  # second row of four columns
    expect(looking.locator(".av-word.on")).to_have_text("Hund")


def test_a_click_holds_a_word_until_the_next(looking: Any) -> None:
    word = looking.locator(".av-column.query .av-word").nth(1)
    word.click()
    looking.locator("h1").hover()
    expect(word).to_have_attribute("aria-pressed", "true")
    expect(looking.locator(".av-reading")).to_contain_text("Hund")
    word.click()
    looking.locator("h1").hover()
    expect(word).to_have_attribute("aria-pressed", "false")


def test_self_attention_of_the_decoder_masks_what_comes_later(looking: Any) -> None:
    choose(looking, "Kind of attention", "Decoder self-attention")
    expect(looking.locator(".av-column.key .av-word").first).to_have_text("‹start›")
    masked = [fill.startswith("url(#av-hatch") for fill in colours(looking)]
    assert masked == [column > row for row in range(4) for column in range(4)]


def test_the_figure_of_the_paper_chooses_a_kind_too(looking: Any) -> None:
    looking.locator(".av-box.able", has_text="Masked").click()
    expect(looking.get_by_role("radio", name="Decoder self-attention")).to_be_checked()


def test_positions_are_a_heat_map_with_a_wave_for_each_dimension(looking: Any) -> None:
    choose(looking, "Kind of attention", "Positions")
    expect(looking.locator(".av-table")).to_be_visible()
    assert looking.locator(".av-table").evaluate("one => [one.width, one.height]") == [16, 256]
    expect(looking.locator(".av-positions-reading")).to_contain_text("a sine with a wavelength of 6.3 positions")
    looking.get_by_role("slider", name="Dimension").fill("3")
    expect(looking.locator(".av-positions-reading")).to_contain_text("3: a cosine with a wavelength of 19.9 positions")


def test_the_page_computes_the_sinusoids_of_the_model(page: Any) -> None:
    made = page.evaluate("import('/static/kit/attention/positions.js').then((one) => one.sinusoidTable(256, 16))")
    torch.testing.assert_close(torch.tensor(made), sinusoids(256, 16), atol=1e-5, rtol=0)


def test_a_model_says_which_kinds_it_lacks(open_page: Open, service: Service) -> None:
    service.lacks = {"encoder", "decoder"}
    page = open_page()
    page.fill("#source", "the dog sleeps")
    page.click("#show-attention")
    expect(page.locator(".av-lacking")).to_have_text(
        "This model has no: Encoder self-attention, Decoder self-attention."
    )
    expect(page.get_by_role("radio", name="Encoder self-attention")).to_be_disabled()
    expect(page.get_by_role("radio", name="Encoder–decoder attention")).to_be_checked()
    expect(page.locator("math")).to_have_count(0)  # the formula is the Transformer's


def test_a_model_without_weights_says_so(open_page: Open, service: Service) -> None:
    service.lacks = {"encoder", "decoder", "cross"}
    page = open_page()
    page.fill("#source", "the dog sleeps")
    page.click("#show-attention")
    expect(page.locator(".av-none")).to_contain_text("gives no attention weights")


def test_stepping_through_the_words_follows_one_after_the_other(looking: Any) -> None:
    looking.get_by_role("button", name="Step through the words").click()
    expect(looking.locator(".av-word.on")).to_have_text("der")
    expect(looking.locator(".av-word.on")).to_have_text("Hund")
    looking.get_by_role("button", name="Stop").click()
    expect(looking.get_by_role("button", name="Step through the words")).to_be_visible()


def test_of_several_sentences_one_is_chosen(page: Any, service: Service) -> None:
    page.fill("#source", "Good morning. The dog sleeps.")
    page.click("#show-attention")
    expect(page.locator("#sentences option")).to_have_count(2)
    page.select_option("#sentences", "1")
    expect(page.locator(".av-column.key .av-word").nth(1)).to_have_text("dog")
    assert service.asked[-1] == ("/api/attention", {"q": "The dog sleeps.", "source": "en", "target": "de"})


def test_the_view_follows_what_is_typed_and_keeps_what_was_chosen(looking: Any) -> None:
    choose(looking, "Kind of attention", "Encoder self-attention")
    choose(looking, "Heads of this layer", "3")
    looking.fill("#source", "Good morning")
    expect(looking.locator(".av-column.key .av-word").first).to_have_text("Good")
    expect(looking.get_by_role("radio", name="Encoder self-attention")).to_be_checked()
    expect(looking.get_by_role("radio", name="3", exact=True).last).to_be_checked()


def test_all_weights_are_there_as_a_table(looking: Any) -> None:
    looking.locator("summary", has_text="All weights as a table").click()
    rows = looking.locator(".av-numbers tbody tr")
    assert rows.count() == 4
    assert sum(float(cell) for cell in rows.first.locator("td").all_inner_texts()) == pytest.approx(1, abs=0.03)
