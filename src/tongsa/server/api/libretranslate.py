"""LibreTranslate's API: what Weblate, Mastodon, calibre, libretranslatepy and deep-translator speak."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from tongsa.formats.registry import suffixes_with
from tongsa.server.api.schemas import (
    Detect,
    Detected,
    Health,
    ServedLanguage,
    Settings,
    Success,
    Suggest,
    Translate,
    Translated,
    TranslatedFile,
    TranslateFile,
)
from tongsa.server.http.answers import PARTS, Json, described
from tongsa.server.http.parameters import read
from tongsa.server.http.refusals import Refusal, invalid
from tongsa.server.work.marked import TranslatedText
from tongsa.server.work.names import name_of
from tongsa.server.work.queued import TranslateOptions
from tongsa.server.work.service import Service
from tongsa.server.work.translators import TranslatorChain

_HOST = re.compile(r"[\w.-]+(:\d+)?|\[[\da-fA-F:.]+\](:\d+)?")
TYPING_PAUSE = 300
"""Milliseconds after the last key stroke until the page asks."""


def routes(service: Service) -> APIRouter:
    router = APIRouter(tags=["LibreTranslate"])

    @router.post("/translate", **described(Translated, Translate))
    async def translate(request: Request) -> Response:
        """Translate a text, or several."""
        asked = await read(request, Translate)
        client = service.client(request, asked.api_key)
        texts = [asked.q] if isinstance(asked.q, str) else asked.q
        if not service.limits.allows("alternatives", asked.alternatives):
            raise invalid(f"alternatives must be at most {service.limits.alternatives}")
        chains, detected = await _chains(service, asked.source, asked.target, texts)
        options = TranslateOptions(
            kind=asked.format,
            alternatives=asked.alternatives,
            trust=asked.confidence and asked.format == "text",
        )
        with service.queue.place():
            service.admit(request, client, texts, chains)
            said = await spoken(service, texts, chains, options)
        return Json(_answer(asked, said, chains, detected))

    @router.get("/languages", **described(list[ServedLanguage]))
    async def languages() -> Response:
        """The languages that can be translated from, each with those it can be translated to."""
        ours = service.translators
        return Json([{"code": code, "name": name_of(code), "targets": ours.targets(code)} for code in ours.languages])

    @router.post("/detect", **described(list[Detected], Detect))
    async def detect(request: Request) -> Response:
        """The language of a text, the likeliest first."""
        asked = await read(request, Detect)
        client = service.client(request, asked.api_key)
        service.admit(request, client, [asked.q], [TranslatorChain("", "", (), ())])
        (found,) = await service.detected([asked.q], service.translators.languages)
        return Json([{"language": code, "confidence": percent} for code, percent in found])

    @router.post("/translate_file", **described(TranslatedFile, TranslateFile, forms=(PARTS,)))
    async def translate_file(request: Request) -> Response:
        """Translate a document; the answer tells where to fetch it."""
        asked = await read(request, TranslateFile)
        client = service.client(request, asked.api_key)
        suffix = Path(asked.file.name).suffix.lower()
        if suffix not in suffixes_with("open_document"):
            raise invalid(f"file format not supported; supported are {' '.join(suffixes_with('open_document'))}")
        if asked.source.lower() == "auto":
            raise invalid("the source language of a file must be named")
        chain = service.chain(asked.source, asked.target)
        with service.queue.place():
            service.allowances.spend_characters(client, len(asked.file.data))
            data, kind = await service.translator.document(asked.file.data, suffix, chain)
        name = service.files.store(data, kind)
        return Json({"translatedFileUrl": f"{_origin(request)}/download_file/{name}"})

    @router.get("/download_file/{name}", response_class=Response, responses=_FILE)
    async def download_file(name: str) -> Response:
        """A translated document, as long as it is kept."""
        data = service.files.find(name)
        headers = {"content-disposition": f'attachment; filename="translation{Path(name).suffix}"'}
        return Response(data, media_type="application/octet-stream", headers=headers)

    @router.post("/suggest", **described(Success, Suggest))
    async def suggest(request: Request) -> Response:
        """Suggest a better translation; kept only where the service has a folder for it."""
        asked = await read(request, Suggest)
        client = service.client(request, asked.api_key)
        if service.data is None:
            raise Refusal(403, "Suggestions are disabled on this server.")
        chain = service.chain(asked.source, asked.target)
        service.admit(request, client, [asked.q, asked.s], [chain, chain])
        line = json.dumps(
            {"q": asked.q, "s": asked.s, "source": chain.source, "target": chain.target}, ensure_ascii=False
        )
        with (service.data / "suggestions.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        return Json({"success": True})

    @router.get("/frontend/settings", **described(Settings))
    async def settings() -> Response:
        """What a page needs to know."""
        source, target = service.translators.directions[0]
        return Json(
            {
                "charLimit": service.limits.characters or -1,
                "frontendTimeout": TYPING_PAUSE,
                "apiKeys": service.keys is not None,
                "keyRequired": service.keys is not None,
                "suggestions": service.data is not None,
                "filesTranslation": True,
                "supportedFilesFormat": suffixes_with("open_document"),
                "language": {
                    "source": {"code": source, "name": name_of(source)},
                    "target": {"code": target, "name": name_of(target)},
                },
            }
        )

    @router.get("/health", **described(Health))
    async def health() -> Response:
        return Json({"status": "ok"})

    return router


_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
    404: {"description": "There is no such file, or its time is over"},
}


def _origin(request: Request) -> str:
    """Where the client has found us, if it says so in words that a URL can hold."""
    host = request.headers.get("host", "")
    if not _HOST.fullmatch(host):
        host = ":".join(map(str, request.scope["server"]))
    return f"{request.scope['scheme']}://{host}"


async def _chains(
    service: Service, source: str, target: str, texts: Sequence[str]
) -> tuple[list[TranslatorChain], list[tuple[str, int]]]:
    """A chain for each text; with `auto`, also which language each was found to be in."""
    if source.lower() != "auto":
        return [service.chain(source, target)] * len(texts), []
    service.translators.code(target)
    detected = [found[0] for found in await service.detected(texts, service.translators.sources)]
    return [service.chain(language, target) for language, _ in detected], detected


async def spoken(
    service: Service, texts: Sequence[str], chains: Sequence[TranslatorChain], options: TranslateOptions
) -> list[TranslatedText]:
    """Each text by its chain; those of the same chain together."""
    found: dict[int, TranslatedText] = {}
    for chain in dict.fromkeys(chains):
        places = [place for place, each in enumerate(chains) if each == chain]
        said = await service.translator.texts([texts[place] for place in places], chain, options)
        found |= zip(places, said, strict=True)
    return [found[place] for place in range(len(texts))]


def _answer(
    asked: Translate, said: list[TranslatedText], chains: list[TranslatorChain], detected: list[tuple[str, int]]
) -> dict[str, Any]:
    """Lists where a list was asked, single values where a text was."""
    columns: dict[str, list[Any]] = {"translatedText": [each.text for each in said]}
    if asked.source.lower() == "auto":
        columns["detectedLanguage"] = [{"language": code, "confidence": percent} for code, percent in detected]
    if asked.alternatives:
        columns["alternatives"] = [list(each.alternatives) for each in said]
    if asked.confidence and asked.format == "text":
        columns["confidence"] = [{"score": round(each.trust.score, 3), "words": each.trust.words} for each in said]
    answer: dict[str, Any] = columns if isinstance(asked.q, list) else {name: each[0] for name, each in columns.items()}
    via = dict.fromkeys(middle for chain in chains for middle in chain.via)
    return answer | ({"via": list(via)} if via else {})
