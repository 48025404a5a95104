"""DeepL's API, version 2, and the glossaries of version 3: what Weblate and the `deepl` package speak."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema
from starlette.responses import Response

from tongsa.server.api import deepl_glossaries
from tongsa.server.api.libretranslate import spoken
from tongsa.server.api.schemas import Asked
from tongsa.server.http.answers import Json, deepl_described
from tongsa.server.http.keys import Key
from tongsa.server.http.parameters import read
from tongsa.server.http.refusals import invalid
from tongsa.server.work.names import name_of
from tongsa.server.work.queued import TranslateOptions
from tongsa.server.work.service import Service
from tongsa.server.work.translators import TranslatorChain

LISTS = ("text", "ignore_tags")
UNLIMITED = 1_000_000_000_000
"""What DeepL itself tells whose characters are not counted."""


def _listed(value: Any) -> Any:
    """One text may come without its list; names of tags with commas between."""
    return [value] if isinstance(value, str) else value


class Translate(Asked):
    text: Annotated[list[str], BeforeValidator(_listed)] = Field(min_length=1)
    target_lang: str = Field(min_length=1, max_length=32)
    source_lang: Annotated[str, Field(max_length=32)] | SkipJsonSchema[None] = None
    tag_handling: Literal["xml", "html", ""] | SkipJsonSchema[None] = None
    ignore_tags: Annotated[list[str], BeforeValidator(_listed)] = Field(default=[])
    split_sentences: Annotated[Literal["0", "1", "nonewlines"], BeforeValidator(str)] = "1"
    glossary_id: str | SkipJsonSchema[None] = None


class Translation(BaseModel):
    detected_source_language: str
    text: str
    billed_characters: int


class Translations(BaseModel):
    translations: list[Translation]


class Language(BaseModel):
    language: str
    name: str
    supports_formality: bool


class Usage(BaseModel):
    character_count: int
    character_limit: int


class LanguageType(Asked):
    type: Literal["source", "target"] = "source"


def routes(service: Service) -> APIRouter:
    router = APIRouter(tags=["DeepL"])

    @router.post("/v2/translate", **deepl_described(Translations, Translate))
    async def translate(request: Request) -> Response:
        """Translate texts; a source language that is not given is detected."""
        client = service.client(request)
        asked = await read(request, Translate, LISTS)
        chains = await _chains(service, asked)
        options = _options(service, client, asked, chains)
        with service.queue.place():
            service.admit(request, client, asked.text, chains)
            said = await spoken(service, asked.text, chains, options)
        return Json(
            {
                "translations": [
                    {
                        "detected_source_language": chain.source.upper(),
                        "text": each.text,
                        "billed_characters": len(text),
                        **({"via": [middle.upper() for middle in chain.via]} if chain.via else {}),
                    }
                    for text, chain, each in zip(asked.text, chains, said, strict=True)
                ]
            }
        )

    @router.get("/v2/languages", **deepl_described(list[Language]))
    @router.post("/v2/languages", **deepl_described(list[Language], LanguageType))
    async def languages(request: Request) -> Response:
        """Languages to translate from, or with `type=target` those to translate to."""
        service.client(request)
        asked = await read(request, LanguageType)
        ours = service.translators
        targets = dict.fromkeys(target for source in ours.sources for target in ours.targets(source))
        codes: Sequence[str] = list(targets) if asked.type == "target" else ours.sources
        return Json([{"language": code.upper(), "name": name_of(code), "supports_formality": False} for code in codes])

    @router.get("/v2/usage", **deepl_described(Usage))
    async def usage(request: Request) -> Response:
        """What the key has used of its month."""
        client = service.client(request)
        limit = client.characters or UNLIMITED
        return Json({"character_count": service.allowances.used(client), "character_limit": limit})

    router.include_router(deepl_glossaries.routes(service))
    return router


async def _chains(service: Service, asked: Translate) -> list[TranslatorChain]:
    if asked.source_lang:
        return [service.chain(asked.source_lang, asked.target_lang)] * len(asked.text)
    target = service.translators.code(asked.target_lang)
    sources = [code for code in service.translators.sources if target in service.translators.targets(code)]
    if not sources:
        raise invalid(f"nothing is translated to {target}")
    detected = await service.detected(asked.text, sources)
    return [service.chain(found[0][0], target) for found in detected]


def _options(service: Service, client: Key, asked: Translate, chains: list[TranslatorChain]) -> TranslateOptions:
    glossary = None
    if asked.glossary_id:
        if not asked.source_lang:
            raise invalid("glossary_id goes with source_lang")
        if len(chains[0].translators) != 1:
            raise invalid("a glossary needs a translator of this very direction")
        kept = service.glossaries.find(asked.glossary_id, client.name if client.digest else "")
        glossary = kept.dictionary(chains[0].source, chains[0].target).glossary()
    tags = tuple(name.strip() for names in asked.ignore_tags for name in names.split(",") if name.strip())
    kind: Literal["text", "html", "xml"] = asked.tag_handling or "text"
    return TranslateOptions(kind=kind, whole=asked.split_sentences == "0", glossary=glossary, untouched=tags)
