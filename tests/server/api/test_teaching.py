"""What can be done to a model over HTTP agrees with the library."""

from __future__ import annotations

import asyncio
import copy
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from starlette.testclient import TestClient
from tests.server.running import SENTENCE, in_a_loop
from tests.small_translators import with_checkpoints

from tongsa.lab.interventions import Head, Place, attentions
from tongsa.models.transformer import Transformer
from tongsa.server.app import application
from tongsa.server.http.limits import parse
from tongsa.server.work.kept_answers import KeptAnswers
from tongsa.server.work.service import Service
from tongsa.server.work.translators import Translators
from tongsa.translation.translator import Translator

PAIR = {"q": SENTENCE, "source": "ko", "target": "en"}


@pytest.fixture(scope="module")
def directory(trained_translator: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_checkpoints(trained_translator, tmp_path_factory.mktemp("teaching") / "ko-en")


@pytest.fixture(scope="module")
def translator(directory: Path) -> Translator:
    return Translator.load(directory, engine="native", threads=1)


@pytest.fixture(scope="module")
def client(directory: Path, translator: Translator) -> Iterator[TestClient]:
    service = Service(translators=Translators([directory], lambda _: translator), limits=parse(""), workers=1)
    with TestClient(application(service, background=False), raise_server_exceptions=False) as made:
        yield made


def answer(client: TestClient, path: str, **more: object) -> Any:
    found = client.post(path, json={**PAIR, **more})
    assert found.status_code == 200, found.text
    return found.json()


@pytest.mark.parametrize(("place", "number"), [("encoder", 0), ("decoder", 2), ("cross", 1)])
def test_a_head_switched_off_gives_what_zeroed_rows_of_w_o_give(
    client: TestClient, translator: Translator, place: Place, number: int
) -> None:
    """The whole distribution of each step, of which the answer has the tokens that were written."""
    found = answer(client, "/api/interventions", heads_off=[Head(place, 0, number).name])
    model = translator.native.model
    assert isinstance(model, Transformer)
    zeroed = copy.deepcopy(model)
    output = attentions(zeroed)[place][0].w_o
    width = output.in_features // model.config.heads
    with torch.no_grad():
        output.weight[:, number * width : (number + 1) * width] = 0
    engine = translator.native.with_model(zeroed)
    source = translator.encode([SENTENCE])[0].ids
    written = translator.native.translate([source], translator.search)[0][0].ids
    for column, each in ((1, translator.native), (2, engine)):
        told = [token[column] for token in found["tokens"]]
        assert told == pytest.approx(each.score([source], [written])[0], abs=2e-5)
    assert found["before"] == translator.translate([SENTENCE])[0].text
    assert found["after"] == translator.subwords.target.decode(engine.translate([source], translator.search)[0][0].ids)
    assert found["log_probability"][0] > found["log_probability"][1]


def test_nothing_done_changes_nothing(client: TestClient, translator: Translator) -> None:
    found = answer(client, "/api/interventions")
    assert found["before"] == found["after"]
    assert {change for layers in found["changed"].values() for heads in layers for change in heads} == {0.0}
    assert isinstance(translator.native.model, Transformer)
    layers = attentions(translator.native.model)
    heads = translator.native.model.config.heads
    assert {place: [len(each) for each in found["changed"][place]] for place in layers} == {
        place: [heads] * len(each) for place, each in layers.items()
    }


@pytest.mark.parametrize("what", [{"scale": False}, {"positions": "none"}, {"positions": "shuffled"}, {"cross": False}])
def test_what_else_can_be_done_makes_the_translation_less_likely(client: TestClient, what: dict[str, object]) -> None:
    before, after = answer(client, "/api/interventions", **what)["log_probability"]
    assert after < before - 0.5


def test_another_word_is_read_in_place_of_the_sentence(client: TestClient, translator: Translator) -> None:
    other = SENTENCE.replace("책을", "편지를")
    found = answer(client, "/api/interventions", instead=other)
    assert found["after"] == translator.translate([other])[0].text != found["before"]
    assert found["changed"]["decoder"], "what is written stays comparable"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"heads_off": ["cross.9.1"]}, "no head 1 in layer 9 of cross"),
        ({"heads_off": ["cross.0.0"]}, "no head 0 in layer 0 of cross"),
        ({"heads_off": ["cross"]}, "'cross' names no head"),
        ({"heads_off": ["cross." + "1" * 9 + ".1"]}, "heads_off"),
        ({"heads_off": ["elsewhere.1.1"]}, "names no head"),
        ({"heads_off": ["cross.1.1"] * 2_000}, "heads_off"),
        ({"positions": "upside down"}, "positions"),
        ({"q": "a" * 601}, "at most 600 characters"),
        ({"instead": "a" * 601}, "at most 600 characters"),
        ({"q": " "}, "blank"),
        ({"instead": " "}, "blank"),
    ],
)
def test_what_cannot_be_done_is_refused(client: TestClient, more: dict[str, Any], words: str) -> None:
    refused = client.post("/api/interventions", json={**PAIR, **more})
    assert refused.status_code == 400
    assert words in refused.json()["error"]


def test_the_numbers_of_a_head_are_those_of_equation_1(client: TestClient) -> None:
    shown = answer(client, "/api/attention")
    found = answer(client, "/api/numbers", translation=shown["translatedText"], head="decoder.1.2")
    q, k, v, weights = (torch.tensor(found[name]) for name in ("q", "k", "v", "weights"))
    scores = torch.tensor(found["scores"])
    torch.testing.assert_close(q @ k.T, scores, atol=2e-2, rtol=0)
    torch.testing.assert_close(scores / math.sqrt(q.shape[1]), torch.tensor(found["scaled"]), atol=1e-3, rtol=0)
    steps = range(len(q))
    assert [[value is None for value in row] for row in found["masked"]] == [[k > q for k in steps] for q in steps]
    assert all(found["weights"][row][column] == 0 for row in steps for column in steps if column > row)
    torch.testing.assert_close(weights, torch.tensor(shown["decoder"][0][1]), atol=1e-3, rtol=0)
    torch.testing.assert_close(weights @ v, torch.tensor(found["output"]), atol=1e-2, rtol=0)


def test_the_beam_is_the_search_of_the_translator(client: TestClient, translator: Translator) -> None:
    found = answer(client, "/api/beam")
    assert (found["beam"], found["alpha"]) == (translator.search.beam, translator.search.length_penalty)
    assert found["hypotheses"][0]["text"] == translator.translate([SENTENCE])[0].text
    for one in found["hypotheses"]:
        leaf = found["nodes"][one["node"]]
        assert (leaf["fate"], leaf["token"], leaf["log_probability"]) == ("finished", "</s>", one["log_probability"])
    first = found["nodes"][0]
    assert len(first["next"]) == 10
    assert 0 < sum(p for _, p in first["next"]) <= 1.0001
    assert answer(client, "/api/beam", beam=1)["beam"] == 1
    assert client.post("/api/beam", json={**PAIR, "beam": 11}).status_code == 400


def test_the_training_is_told_checkpoint_by_checkpoint(client: TestClient, translator: Translator) -> None:
    shown = answer(client, "/api/attention")
    now = answer(client, "/api/training", translation=shown["translatedText"])
    assert now["updates"] == [10, 200]
    assert now["update"] is None
    assert now["cross"] == shown["cross"]
    early, late = (answer(client, "/api/training", translation=shown["translatedText"], update=n) for n in (10, 200))
    assert late["translation"] == now["translation"] == shown["translatedText"]
    assert early["translation"] != late["translation"]
    assert early["log_probability"] < late["log_probability"]
    assert early["cross"] != late["cross"]
    missing = client.post("/api/training", json={**PAIR, "translation": "A.", "update": 11})
    assert missing.status_code == 400
    assert "no checkpoint of update 11" in missing.json()["error"]


def test_answers_are_kept_within_their_bytes_and_made_one_at_a_time() -> None:
    made: list[int] = []
    under_way = 0

    async def run() -> None:
        answers = KeptAnswers(25)

        async def make(key: int) -> bytes:
            nonlocal under_way
            under_way += 1
            assert under_way == 1
            await asyncio.sleep(0)
            made.append(key)
            under_way -= 1
            return b"x" * (10 if key < 9 else 30)

        await asyncio.gather(*(answers.get(key, lambda key=key: make(key)) for key in (1, 2, 1, 3)))  # type: ignore[misc]
        assert made == [1, 2, 3]
        await answers.get(1, lambda: make(1))
        assert made == [1, 2, 3], "used last but one, so still kept"
        await answers.get(2, lambda: make(2))
        assert made == [1, 2, 3, 2]
        await answers.get(9, lambda: make(9))
        assert answers.held <= 25

    in_a_loop(run())
