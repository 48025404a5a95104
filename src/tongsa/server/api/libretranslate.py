"""LibreTranslate's API, as used by Weblate, Mastodon, calibre, libretranslatepy and deep-translator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse

from tongsa.formats.registry import suffixes_with
from tongsa.server.api.pipeline import Call
from tongsa.server.api.schemas import (
    Detect,
    Detected,
    Error,
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
from tongsa.server.http.answers import JSON
from tongsa.server.http.refusals import Refusal, invalid
from tongsa.server.http.routes import FORM, MULTIPART, Interface, Needs
from tongsa.server.work.marked import TranslatedText
from tongsa.server.work.queued import TextOptions
from tongsa.server.work.service import Service
from tongsa.server.work.translators import TranslatorChain
from tongsa.text.languages import language_name

API = Interface(name="LibreTranslate", error=Error, key_field="api_key", forms=(JSON, FORM, MULTIPART))
_HOST = re.compile(r"[\w.-]+(:\d+)?|\[[\da-fA-F:.]+\](:\d+)?")
TYPING_PAUSE = 300
"""Milliseconds that the page waits after the last keystroke before it translates."""


@API.route(
    "POST", "/translate", Translate, Translated, needs=Needs(key=True, queue=True, texts=lambda given: given.texts)
)
async def translate(call: Call[Translate]) -> object:
    """Translate a text, or several."""
    given, limits = call.parameters, call.service.limits
    if not limits.allows("alternatives", given.alternatives):
        raise invalid(f"alternatives must be at most {limits.alternatives}")
    chains, detected = await _chains(call.service, given.source, given.target, given.texts)
    if given.glossary and given.source.lower() == "auto":
        raise invalid("a glossary needs the source language")
    options = TextOptions(
        glossary=call.service.glossary(given.glossary, call.owner, chains[0]) if given.glossary else None,
        kind=given.format,
        alternatives=given.alternatives,
        confidence=given.confidence and given.format == "text",
    )
    translated = await call.service.translate(given.texts, chains, options)
    return _answer(given, translated, chains, detected)


@API.route("GET", "/languages", answer=list[ServedLanguage])
async def languages(call: Call[None]) -> object:
    """The languages that can be translated from, each with those it can be translated to."""
    ours = call.service.translators
    return [{"code": code, "name": language_name(code), "targets": ours.targets(code)} for code in ours.languages]


@API.route("POST", "/detect", Detect, list[Detected], needs=Needs(key=True, texts=lambda given: [given.q]))
async def detect(call: Call[Detect]) -> object:
    """Detect the language of a text, the most likely first."""
    (found,) = await call.service.detect([call.parameters.q], call.service.translators.languages)
    return [{"language": code, "confidence": percent} for code, percent in found]


@API.route(
    "POST",
    "/translate_file",
    TranslateFile,
    TranslatedFile,
    needs=Needs(key=True, queue=True, upload=True, charge=lambda given: len(given.file.data)),
    forms=(MULTIPART,),
)
async def translate_file(call: Call[TranslateFile]) -> object:
    """Translate a document; the answer has the URL to download it from."""
    given = call.parameters
    suffix = Path(given.file.name).suffix.lower()
    supported = suffixes_with("open_document")
    if suffix not in supported:
        raise invalid(f"file format not supported; supported are {' '.join(supported)}")
    if given.source.lower() == "auto":
        raise invalid("the source language of a file must be given")
    chain = call.service.chain(given.source, given.target)
    glossary = call.service.glossary(given.glossary, call.owner, chain) if given.glossary else None
    data, kind = await call.service.translator.document(given.file.data, suffix, chain, glossary)
    name = await call.service.files.store(data, kind)
    return {"translatedFileUrl": f"{_origin(call.request)}/download_file/{name}"}


@API.route("GET", "/download_file/{name}", media_type="application/octet-stream")
async def download_file(call: Call[None]) -> object:
    """Download a translated document while it is still stored."""
    name = call.request.path_params["name"]
    path = call.service.files.find(name)
    headers = {"content-disposition": f'attachment; filename="translation{path.suffix}"'}
    return FileResponse(path, media_type="application/octet-stream", headers=headers)  # sent as it is read


@API.route("POST", "/suggest", Suggest, Success, needs=Needs(key=True, texts=lambda given: [given.q, given.s]))
async def suggest(call: Call[Suggest]) -> object:
    """Suggest a better translation; stored only if the service has a data folder."""
    given, service = call.parameters, call.service
    if not service.suggestions.enabled:
        raise Refusal(403, "Suggestions are disabled on this server.")
    chain = service.chain(given.source, given.target)
    await service.suggestions.add(chain.source, chain.target, given.q, given.s)
    return {"success": True}


@API.route("GET", "/frontend/settings", answer=Settings)
async def settings(call: Call[None]) -> object:
    """Settings for a page."""
    service = call.service
    source, target = service.translators.directions[0]
    return {
        "charLimit": service.limits.characters or -1,
        "frontendTimeout": TYPING_PAUSE,
        "apiKeys": service.keys is not None,
        "keyRequired": service.keys is not None,
        "suggestions": service.suggestions.enabled,
        "filesTranslation": True,
        "supportedFilesFormat": suffixes_with("open_document"),
        "language": {
            "source": {"code": source, "name": language_name(source)},
            "target": {"code": target, "name": language_name(target)},
        },
    }


@API.route("GET", "/health", answer=Health)
async def health(call: Call[None]) -> object:
    """Whether the service is running."""
    return {"status": "ok"}


def _origin(request: Request) -> str:
    """The URL that the client used for this service, if its Host header is valid."""
    host = request.headers.get("host", "")
    if not _HOST.fullmatch(host):
        host = ":".join(map(str, request.scope["server"]))
    return f"{request.scope['scheme']}://{host}"


async def _chains(
    service: Service, source: str, target: str, texts: Sequence[str]
) -> tuple[list[TranslatorChain], list[tuple[str, int]]]:
    """A chain for each text; with `auto`, also the language detected in each."""
    if source.lower() != "auto":
        return [service.chain(source, target)] * len(texts), []
    service.translators.code(target)
    detected = [found[0] for found in await service.detect(texts, service.translators.sources)]
    return [service.chain(language, target) for language, _ in detected], detected


def _answer(
    given: Translate,
    translated: list[TranslatedText],
    chains: list[TranslatorChain],
    detected: list[tuple[str, int]],
) -> dict[str, Any]:
    """Lists if `q` was a list, single values if it was a text."""
    columns: dict[str, list[Any]] = {"translatedText": [each.text for each in translated]}
    if given.source.lower() == "auto":
        columns["detectedLanguage"] = [{"language": code, "confidence": percent} for code, percent in detected]
    if given.alternatives:
        columns["alternatives"] = [list(each.alternatives) for each in translated]
    if given.confidence and given.format == "text":
        columns["confidence"] = [{"score": round(each.confidence, 5), "words": each.words} for each in translated]
    answer: dict[str, Any] = columns if isinstance(given.q, list) else {name: each[0] for name, each in columns.items()}
    via = dict.fromkeys(pivot for chain in chains for pivot in chain.via)
    return answer | ({"via": list(via)} if via else {})
