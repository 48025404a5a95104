"""Tongsa's own API: attention weights, scores, and metrics for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from tongsa.server.api.pipeline import Call
from tongsa.server.api.schemas import Attend, Attention, Error, Score, Scored
from tongsa.server.http.answers import JSON, Json
from tongsa.server.http.refusals import invalid
from tongsa.server.http.routes import FORM, MULTIPART, Interface, Needs

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
    check_sentences(given.q, given.translation)
    chain = service.chain(given.source, given.target)
    service.metrics.count_characters(chain.source, chain.target, len(given.q))
    return await service.translator.in_thread(lambda: Json(_inspect(translator, given.q, given.translation)))


@API.route("POST", "/api/score", Score, Scored, needs=ONE_SENTENCE)
async def score(call: Call[Score]) -> object:
    """How likely a translation is, token by token."""
    given, service = call.parameters, call.service
    translator = service.direct(given.source, given.target)
    check_sentences(given.q, given.translation)
    tokens = await service.translator.score(translator, given.q, given.translation)
    return _scored(translator, translator.encode([given.q])[0].ids, tokens)


METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@API.route("GET", "/metrics", needs=Needs(key=True), media_type="text/plain")
async def metrics(call: Call[None]) -> object:
    """Metrics for Prometheus; where the service has keys, with one (`Authorization: Bearer KEY`)."""
    return Response(call.service.metrics.text(), media_type=METRICS_TYPE)


def check_sentences(source: str, translation: str | None = None) -> None:
    """Refuse a sentence to inspect, or a translation of it, that is blank or too long."""
    if not source.strip():
        raise invalid("q is blank")
    if translation is not None and not translation.strip():
        raise invalid("translation is blank")
    if max(len(source), len(translation or "")) > MAX_SENTENCE:
        raise invalid(f"a sentence to inspect has at most {MAX_SENTENCE} characters")


def _inspect(translator: Translator, source: str, target: str | None) -> dict[str, object]:
    from tongsa.engines.inspection import payload  # needs torch, which translating does without

    if target is not None:
        return {**payload(translator.inspect(source, target)), "translatedText": target}
    (found,) = translator.translate([source])
    return {**payload(found.attention or translator.inspect(source, found.text)), "translatedText": found.text}


def _scored(translator: Translator, source: list[int], tokens: list[tuple[str, float]]) -> dict[str, Any]:
    total = sum(log_probability for _, log_probability in tokens)
    return {
        "log_probability": total,
        "average": total / len(tokens),
        "confidence": translator.confidence(source, total, len(tokens) - 1),
        "tokens": [{"text": text, "log_probability": log_probability} for text, log_probability in tokens],
    }
