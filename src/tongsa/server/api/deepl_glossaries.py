"""Glossaries over HTTP: DeepL's version 2, of one direction each, and version 3, of several."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema
from starlette.responses import Response

from tongsa.server.api.schemas import Asked
from tongsa.server.http.answers import JSON, Json, deepl_described
from tongsa.server.http.parameters import read
from tongsa.server.http.refusals import Refusal
from tongsa.server.work.glossaries import Dictionary, StoredGlossary
from tongsa.server.work.service import Service


class Entries(Asked):
    """Terms of one direction."""

    source_lang: str = Field(min_length=1, max_length=32)
    target_lang: str = Field(min_length=1, max_length=32)
    entries: str
    entries_format: Literal["tsv", "csv"] = "tsv"


class NewGlossary(Entries):
    name: str = Field(min_length=1, max_length=1024)


class NewGlossaries(Asked):
    name: str = Field(min_length=1, max_length=1024)
    dictionaries: list[Entries] = Field(min_length=1)


class Change(Asked):
    name: Annotated[str, Field(min_length=1, max_length=1024)] | SkipJsonSchema[None] = None
    dictionaries: list[Entries] = Field(default=[])


class Direction(Asked):
    source_lang: str = Field(min_length=1, max_length=32)
    target_lang: str = Field(min_length=1, max_length=32)


class GlossaryInfo(BaseModel):
    glossary_id: str
    name: str
    ready: bool
    source_lang: str
    target_lang: str
    creation_time: str
    entry_count: int


class GlossaryInfos(BaseModel):
    glossaries: list[GlossaryInfo]


class DictionaryInfo(BaseModel):
    source_lang: str
    target_lang: str
    entry_count: int


class GlossariesInfo(BaseModel):
    glossary_id: str
    name: str
    creation_time: str
    dictionaries: list[DictionaryInfo]


class GlossariesInfos(BaseModel):
    glossaries: list[GlossariesInfo]


class LanguagePair(BaseModel):
    source_lang: str
    target_lang: str


class LanguagePairs(BaseModel):
    supported_languages: list[LanguagePair]


class DictionaryEntries(Entries):
    pass


class AllEntries(BaseModel):
    dictionaries: list[DictionaryEntries]


def routes(service: Service) -> APIRouter:
    router = APIRouter()
    desk = Desk(service)
    _version_2(router, service, desk)
    _version_3(router, service, desk)
    return router


class Desk:
    """What both versions do."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def owner(self, request: Request) -> str:
        client = self.service.client(request)
        return client.name if client.digest else ""

    def find(self, request: Request, id: str) -> StoredGlossary:
        return self.service.glossaries.find(id, self.owner(request))

    def dictionary(self, asked: Entries) -> Dictionary:
        terms = self.service.glossaries.terms(asked.entries, asked.entries_format)
        source, target = self.direction(asked.source_lang, asked.target_lang)
        return Dictionary(source=source, target=target, terms=terms)

    def direction(self, source: str, target: str) -> tuple[str, str]:
        return self.service.translators.code(source), self.service.translators.code(target)


def _version_2(router: APIRouter, service: Service, desk: Desk) -> None:
    @router.post("/v2/glossaries", **deepl_described(GlossaryInfo, NewGlossary, status=201))
    async def create(request: Request) -> Response:
        owner = desk.owner(request)
        asked = await read(request, NewGlossary)
        glossary = service.glossaries.add(
            StoredGlossary(name=asked.name, owner=owner, dictionaries=(desk.dictionary(asked),))
        )
        return Json(_single(glossary), 201)

    @router.get("/v2/glossaries", **deepl_described(GlossaryInfos))
    async def every(request: Request) -> Response:
        glossary = service.glossaries.of(desk.owner(request))
        return Json({"glossaries": [_single(each) for each in glossary if len(each.dictionaries) == 1]})

    @router.get("/v2/glossary-language-pairs", **deepl_described(LanguagePairs))
    async def pairs(request: Request) -> Response:
        desk.owner(request)
        directions = service.translators.directions
        return Json({"supported_languages": [{"source_lang": s, "target_lang": t} for s, t in directions]})

    @router.get("/v2/glossaries/{id}", **deepl_described(GlossaryInfo))
    async def one(request: Request, id: str) -> Response:
        return Json(_single(desk.find(request, id)))

    @router.delete("/v2/glossaries/{id}", **deepl_described(None, status=204))
    async def remove(request: Request, id: str) -> Response:
        service.glossaries.remove(desk.find(request, id))
        return Response(status_code=204)

    entries = deepl_described(None)
    entries["responses"][200] = {"content": {"text/tab-separated-values": {"schema": {"type": "string"}}}}

    @router.get("/v2/glossaries/{id}/entries", response_class=Response, **entries)
    async def terms(request: Request, id: str) -> Response:
        glossary = desk.find(request, id)
        _single(glossary)
        return Response(glossary.dictionaries[0].tsv(), media_type="text/tab-separated-values")


def _version_3(router: APIRouter, service: Service, desk: Desk) -> None:
    @router.post("/v3/glossaries", **deepl_described(GlossariesInfo, NewGlossaries, forms=(JSON,), status=201))
    async def create_several(request: Request) -> Response:
        owner = desk.owner(request)
        asked = await read(request, NewGlossaries)
        dictionaries = {(each.source, each.target): each for each in map(desk.dictionary, asked.dictionaries)}
        glossary = StoredGlossary(name=asked.name, owner=owner, dictionaries=tuple(dictionaries.values()))
        return Json(_several(service.glossaries.add(glossary)), 201)

    @router.get("/v3/glossaries", **deepl_described(GlossariesInfos))
    async def all_of_several(request: Request) -> Response:
        return Json({"glossaries": [_several(each) for each in service.glossaries.of(desk.owner(request))]})

    @router.get("/v3/glossaries/{id}", **deepl_described(GlossariesInfo))
    async def one_of_several(request: Request, id: str) -> Response:
        return Json(_several(desk.find(request, id)))

    @router.patch("/v3/glossaries/{id}", **deepl_described(GlossariesInfo, Change, forms=(JSON,)))
    async def change(request: Request, id: str) -> Response:
        glossary = desk.find(request, id)
        asked = await read(request, Change)
        dictionaries = [desk.dictionary(each) for each in asked.dictionaries]
        if asked.name:
            glossary = service.glossaries.rename(glossary, asked.name)
        for each in dictionaries:
            glossary = service.glossaries.put(glossary, each, merge=True)
        return Json(_several(glossary))

    @router.put("/v3/glossaries/{id}/dictionaries", **deepl_described(DictionaryInfo, Entries, forms=(JSON,)))
    async def replace(request: Request, id: str) -> Response:
        glossary = desk.find(request, id)
        dictionary = desk.dictionary(await read(request, Entries))
        service.glossaries.put(glossary, dictionary, merge=False)
        return Json(_counted(dictionary))

    @router.delete("/v3/glossaries/{id}/dictionaries", **deepl_described(None, status=204))
    async def drop(request: Request, id: str, source_lang: str = "", target_lang: str = "") -> Response:
        glossary = desk.find(request, id)
        service.glossaries.drop(glossary, glossary.dictionary(*desk.direction(source_lang, target_lang)))
        return Response(status_code=204)

    @router.delete("/v3/glossaries/{id}", **deepl_described(None, status=204))
    async def remove_several(request: Request, id: str) -> Response:
        service.glossaries.remove(desk.find(request, id))
        return Response(status_code=204)

    @router.get("/v3/glossaries/{id}/entries", **deepl_described(AllEntries))
    async def terms_of_several(request: Request, id: str, source_lang: str = "", target_lang: str = "") -> Response:
        glossary = desk.find(request, id)
        dictionary = glossary.dictionary(*desk.direction(source_lang, target_lang))
        entries = {"entries": dictionary.tsv(), "entries_format": "tsv"}
        return Json({"dictionaries": [_languages(dictionary) | entries]})


def _languages(dictionary: Dictionary) -> dict[str, Any]:
    return {"source_lang": dictionary.source, "target_lang": dictionary.target}


def _counted(dictionary: Dictionary) -> dict[str, Any]:
    return _languages(dictionary) | {"entry_count": len(dictionary.terms)}


def _single(glossary: StoredGlossary) -> dict[str, Any]:
    if len(glossary.dictionaries) != 1:
        raise Refusal(404, "This glossary has several directions: ask for it at /v3/glossaries")
    about = {"glossary_id": glossary.id, "name": glossary.name, "ready": True, "creation_time": glossary.made}
    return about | _counted(glossary.dictionaries[0])


def _several(glossary: StoredGlossary) -> dict[str, Any]:
    about = {"glossary_id": glossary.id, "name": glossary.name, "creation_time": glossary.made}
    return about | {"dictionaries": [_counted(each) for each in glossary.dictionaries]}
