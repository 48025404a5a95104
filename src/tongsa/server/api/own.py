"""Tongsa's own API: attention weights, scores, and what Prometheus reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from tongsa.server.api.schemas import Attend, Attention, Score, Scored
from tongsa.server.http.answers import Json, described
from tongsa.server.http.parameters import read
from tongsa.server.http.refusals import invalid
from tongsa.server.work.service import Service
from tongsa.server.work.translators import TranslatorChain
from tongsa.text.lines import tidy
from tongsa.translation.confidence import Calibration

if TYPE_CHECKING:
    from tongsa.translation.translator import Translator

LONGEST = 600
"""Characters of a sentence to look into: weights grow with the square of it."""


def routes(service: Service) -> APIRouter:
    router = APIRouter(tags=["Tongsa"])

    @router.post("/api/attention", **described(Attention, Attend))
    async def attention(request: Request) -> Response:
        """Tokens and attention weights of one sentence and its translation, or of a translation that is given."""
        asked = await read(request, Attend)
        client = service.client(request, asked.api_key)
        translator = service.direct(asked.source, asked.target)
        _check(asked.q, asked.translation)
        with service.queue.place():
            service.admit(request, client, [asked.q], [service.chain(asked.source, asked.target)])
            return Json(await service.translator.in_thread(lambda: _seen(translator, asked.q, asked.translation)))

    @router.post("/api/score", **described(Scored, Score))
    async def score(request: Request) -> Response:
        """How likely a translation is, token by token."""
        asked = await read(request, Score)
        client = service.client(request, asked.api_key)
        translator = service.direct(asked.source, asked.target)
        _check(asked.q, asked.translation)
        with service.queue.place():
            service.admit(request, client, [asked.q], [TranslatorChain("", "", (), ())])
            logs = await service.translator.score(translator, asked.q, asked.translation)
        return Json(_scored(translator, asked.translation, logs))

    @router.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """For Prometheus."""
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return router


def _check(source: str, target: str | None) -> None:
    if not source.strip():
        raise invalid("q is blank")
    if target is not None and not target.strip():
        raise invalid("translation is blank")
    if max(len(source), len(target or "")) > LONGEST:
        raise invalid(f"a sentence here has at most {LONGEST} characters")


def _seen(translator: Translator, source: str, target: str | None) -> dict[str, object]:
    from tongsa.engines.inspection import payload  # needs torch, which translating does without

    if target is None:
        target = translator.translate([source])[0].text
    return {**payload(translator.inspect(source, target)), "translatedText": target}


def _scored(translator: Translator, target: str, logs: list[float]) -> dict[str, Any]:
    vocabulary = translator.subwords.target
    pieces = [*vocabulary.pieces(vocabulary.encode(tidy(target))), "</s>"]
    average = sum(logs) / len(logs)
    return {
        "log_probability": sum(logs),
        "average": average,
        "confidence": Calibration.of(translator.card.confidence)(average),
        "tokens": [{"text": piece, "log_probability": log} for piece, log in zip(pieces, logs, strict=True)],
    }
