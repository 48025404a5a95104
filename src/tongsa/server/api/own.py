"""Tongsa's own API: attention weights, scores, and metrics for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from tongsa.server.api.pipeline import Call
from tongsa.server.api.schemas import Attend, Attention, Error, Score, Scored
from tongsa.server.http.answers import JSON
from tongsa.server.http.refusals import invalid
from tongsa.server.http.routes import FORM, MULTIPART, Interface, Needs
from tongsa.text.lines import tidy
from tongsa.translation.confidence import Calibration

if TYPE_CHECKING:
    from tongsa.translation.translator import Translator

API = Interface(name="Tongsa", error=Error, key_field="api_key", forms=(JSON, FORM, MULTIPART))
MAX_SENTENCE = 600
"""Characters of a sentence to inspect: the weights grow with the square of its length."""
ONE_SENTENCE = Needs(key=True, queue=True, texts=lambda given: [given.q])


@API.route("POST", "/api/attention", Attend, Attention, needs=ONE_SENTENCE)
async def attention(call: Call[Attend]) -> object:
    """Tokens and attention weights of a sentence and its translation, or of a translation that is given."""
    given, service = call.parameters, call.service
    translator = service.direct(given.source, given.target)
    _check(given.q, given.translation)
    chain = service.chain(given.source, given.target)
    service.metrics.count_characters(chain.source, chain.target, len(given.q))
    return await service.translator.in_thread(lambda: _inspect(translator, given.q, given.translation))


@API.route("POST", "/api/score", Score, Scored, needs=ONE_SENTENCE)
async def score(call: Call[Score]) -> object:
    """How likely a translation is, token by token."""
    given, service = call.parameters, call.service
    translator = service.direct(given.source, given.target)
    _check(given.q, given.translation)
    log_probabilities = await service.translator.score(translator, given.q, given.translation)
    return _scored(translator, given.translation, log_probabilities)


METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@API.route("GET", "/metrics", media_type="text/plain")
async def metrics(call: Call[None]) -> object:
    """Metrics for Prometheus."""
    return Response(call.service.metrics.text(), media_type=METRICS_TYPE)


def _check(source: str, target: str | None) -> None:
    if not source.strip():
        raise invalid("q is blank")
    if target is not None and not target.strip():
        raise invalid("translation is blank")
    if max(len(source), len(target or "")) > MAX_SENTENCE:
        raise invalid(f"a sentence to inspect has at most {MAX_SENTENCE} characters")


def _inspect(translator: Translator, source: str, target: str | None) -> dict[str, object]:
    from tongsa.engines.inspection import payload  # needs torch, which translating does without

    if target is None:
        target = translator.translate([source])[0].text
    return {**payload(translator.inspect(source, target)), "translatedText": target}


def _scored(translator: Translator, target: str, log_probabilities: list[float]) -> dict[str, Any]:
    vocabulary = translator.subwords.target
    pieces = [*vocabulary.pieces(vocabulary.encode(tidy(target))), "</s>"]
    average = sum(log_probabilities) / len(log_probabilities)
    tokens = zip(pieces, log_probabilities, strict=True)
    return {
        "log_probability": sum(log_probabilities),
        "average": average,
        "confidence": Calibration.of(translator.card.confidence)(average),
        "tokens": [{"text": piece, "log_probability": value} for piece, value in tokens],
    }
