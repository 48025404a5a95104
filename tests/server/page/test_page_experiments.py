"""What the reader can do to the model, and how its search and its training are shown."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect
from tests.server.page.service import Open, Service
from tests.server.page.test_page_attention import choose


def asked(service: Service, path: str) -> list[dict[str, Any]]:
    return [body for to, body in service.asked if to == path]


def test_heads_are_switched_off_and_on_again(looking: Any, service: Service) -> None:
    choose(looking, "Kind of attention", "Interventions")
    head = looking.get_by_role("button", name="Encoder–decoder attention, layer 2, head 3")
    head.click()
    expect(head).to_have_attribute("aria-pressed", "true")
    expect(looking.locator(".ex-pair")).to_contain_text("ein Hund schläft")
    expect(looking.locator(".ex-pair mark")).to_have_text("ein")
    expect(looking.locator(".ex-result")).to_contain_text("−0.40 before, −1.40 after (−1.00)")
    expect(looking.locator(".ex-tokens li").first).to_have_text("der 90 % → 33 %")
    expect(looking.locator(".ex-changed li")).to_have_text(["Encoder–decoder attention, layer 2, head 3 50 %"])
    expect(head).to_have_text("50")
    (body,) = asked(service, "/api/interventions")
    pair = {"q": "the dog sleeps", "source": "en", "target": "de"}
    kept = {"scale": True, "positions": "kept", "cross": True}
    assert body == {**pair, **kept, "heads_off": ["cross.2.3"]}
    head.click()
    expect(looking.locator(".ex-result")).to_contain_text("Switch something off")
    assert len(asked(service, "/api/interventions")) == 1, "nothing done needs no answer"


def test_changes_are_combined_and_undone_together(looking: Any, service: Service) -> None:
    choose(looking, "Kind of attention", "Interventions")
    looking.get_by_label("Divide by √d_k").uncheck()
    looking.get_by_label("The decoder sees the source").uncheck()
    choose(looking, "Positions", "shuffled")
    looking.get_by_label("Replace a word of the sentence").fill("the cat sleeps")
    expect(looking.locator(".ex-result")).to_contain_text("−4.40 after")
    expect(looking.locator(".ex-result")).to_contain_text("cannot be compared: Encoder self-attention")
    body = asked(service, "/api/interventions")[-1]
    done = {name: body[name] for name in ("scale", "positions", "cross", "instead")}
    assert done == {"scale": False, "positions": "shuffled", "cross": False, "instead": "the cat sleeps"}
    looking.get_by_role("button", name="Undo everything").click()
    expect(looking.locator(".ex-result")).to_contain_text("Switch something off")
    expect(looking.get_by_label("Divide by √d_k")).to_be_checked()
    expect(looking.get_by_label("Replace a word of the sentence")).to_have_value("the dog sleeps")


def test_the_arrow_keys_reach_every_head(looking: Any) -> None:
    choose(looking, "Kind of attention", "Interventions")
    looking.get_by_role("button", name="Encoder self-attention, layer 1, head 1").focus()
    for key in ("ArrowRight", "ArrowDown", "Space"):
        looking.keyboard.press(key)
    head = looking.get_by_role("button", name="Encoder self-attention, layer 2, head 2")
    expect(head).to_be_focused()
    expect(head).to_have_attribute("aria-pressed", "true")


def test_a_refusal_is_told_where_the_answer_would_stand(looking: Any) -> None:
    looking.route("**/api/interventions", lambda route: route.fulfill(status=400, json={"error": "no <b>head</b>"}))
    choose(looking, "Kind of attention", "Interventions")
    looking.locator(".ex-head").first.click()
    expect(looking.locator(".av-status")).to_have_text("no <b>head</b>")


def test_the_length_penalty_ranks_the_translations_anew(looking: Any) -> None:
    choose(looking, "Kind of attention", "Beam search")
    best = looking.locator(".bt-ranked li.best")
    expect(best).to_contain_text("log P −1.00 / lp 1.00 = −1.000, 3 tokens")
    path = looking.locator(".bt-node.best bdi")
    expect(path).to_have_text(["der", "Hund", "‹end›"])
    looking.get_by_role("slider", name="Length penalty α").fill("3")
    # -1.2 / 1.5^3 is more than -1 / (8/6)^3
    expect(best).to_contain_text("log P −1.20 / lp 3.38 = −0.356, 4 tokens")
    expect(path).to_have_text(["der", "Hund", "schläft", "‹end›"])


def test_a_node_tells_its_score_and_the_likeliest_next_tokens(looking: Any) -> None:
    choose(looking, "Kind of attention", "Beam search")
    looking.get_by_role("button", name="ein, log P −1.60, kept").click()
    detail = looking.locator(".bt-detail")
    expect(detail).to_contain_text("ein log P −1.60, kept")
    expect(detail.locator("li")).to_have_count(10)
    expect(detail.locator("li").first).to_have_text("t050 %")
    looking.keyboard.press("ArrowRight")
    expect(detail).to_contain_text("ein Hund log P −1.80")
    looking.keyboard.press("ArrowUp")
    expect(detail).to_contain_text("der Hund log P −0.50")


def test_pruned_branches_can_be_hidden_and_the_beam_be_wider(looking: Any, service: Service) -> None:
    choose(looking, "Kind of attention", "Beam search")
    expect(looking.locator(".bt-node")).to_have_count(9)
    looking.get_by_label("Show what was pruned").uncheck()
    expect(looking.locator(".bt-node")).to_have_count(8)
    expect(looking.locator(".bt-node.pruned")).to_have_count(0)
    choose(looking, "Hypotheses in the beam", "8")
    expect(looking.get_by_role("radio", name="8", exact=True)).to_be_checked()
    assert [body.get("beam") for body in asked(service, "/api/beam")] == [None, 8]


def test_the_slider_goes_through_the_training(looking: Any, service: Service) -> None:
    choose(looking, "Kind of attention", "Training")
    said = looking.locator(".tr-said")
    expect(said).to_contain_text("The finished translator: der Hund schläft")
    slider = looking.get_by_role("slider", name="Updates")
    slider.fill("0")
    expect(said).to_contain_text("Update 10: Hund 10")
    expect(said).to_contain_text("Log-probability of “der Hund schläft”: −100.00.")
    expect(slider).to_have_attribute("aria-valuetext", "Update 10")
    slider.press("ArrowRight")
    expect(said).to_contain_text("Update 200: Hund 200")
    expect(looking.locator(".tr-list li bdi")).to_have_text(["Hund 10", "Hund 200", "der Hund schläft"])
    slider.fill("0")
    expect(said).to_contain_text("Update 10: Hund 10")
    assert [body.get("update") for body in asked(service, "/api/training")] == [None, 10, 200], "each is asked for once"
    expect(looking.locator(".tr-picture .av-map")).to_have_attribute(
        "aria-label", "Encoder–decoder attention, Update 10"
    )


def test_the_training_plays_from_the_first_checkpoint_to_the_last(looking: Any) -> None:
    choose(looking, "Kind of attention", "Training")
    looking.get_by_role("button", name="Play the training").click()
    expect(looking.locator(".tr-list li")).to_have_count(3)
    expect(looking.get_by_role("button", name="Play the training")).to_be_visible()
    expect(looking.locator(".tr-said")).to_contain_text("The finished translator")


def test_a_run_without_checkpoints_says_how_to_keep_some(looking: Any) -> None:
    none = {"updates": [], "update": None, "translation": "x", "log_probability": -1.0}
    answer = {**none, "encoder": [], "decoder": [], "cross": []}
    looking.route("**/api/training", lambda route: route.fulfill(json=answer))
    choose(looking, "Kind of attention", "Training")
    expect(looking.locator(".tr-command")).to_contain_text("training.snapshots=12")


def test_the_numbers_of_a_head_are_there_on_demand(looking: Any, service: Service) -> None:
    choose(looking, "Kind of attention", "Decoder self-attention")
    looking.locator(".nu summary").click()
    expect(looking.locator(".nu")).to_contain_text("Choose a head above")
    choose(looking, "Heads of this layer", "2")
    choose(looking, "Matrix", "masked")
    rows = looking.locator(".nu tbody tr")
    expect(rows.first.locator("td")).to_have_text(["0.00", "−∞", "−∞", "−∞"])
    choose(looking, "Matrix", "softmax")
    expect(rows.first.locator("td")).to_have_text(["0.25", "0.00", "0.00", "0.00"])
    choose(looking, "Matrix", "Q")
    expect(looking.locator(".nu caption")).to_have_text("Q = x W^Q: what each row looks for")
    (body,) = asked(service, "/api/numbers")
    assert re.fullmatch(r"decoder\.\d\.2", body["head"])
    assert body["translation"] == "der Hund schläft"


def test_another_model_than_the_transformer_has_a_beam_but_no_heads(open_page: Open, service: Service) -> None:
    service.lacks = {"encoder", "decoder"}
    page = open_page()
    page.fill("#source", "the dog sleeps")
    page.click("#show-attention")
    expect(page.get_by_role("radio", name="Beam search")).to_be_enabled()
    expect(page.get_by_role("radio", name="Interventions")).to_have_count(0)


def test_another_sentence_begins_anew(looking: Any) -> None:
    choose(looking, "Kind of attention", "Interventions")
    looking.locator(".ex-head").first.click()
    expect(looking.locator(".ex-pair")).to_be_visible()
    looking.fill("#source", "Good morning")
    expect(looking.locator(".ex-head").first).to_have_attribute("aria-pressed", "false")
    expect(looking.get_by_label("Replace a word of the sentence")).to_have_value("Good morning")
