"""DeepL's API: version 2, and the glossaries of version 3, as used by Weblate and the `deepl` package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from starlette.responses import Response

from tongsa.server.api.deepl_schemas import (
    AllEntries,
    ChangedGlossaries,
    Dictionaries,
    DictionaryInfo,
    Direction,
    Entries,
    GlossariesInfo,
    GlossariesInfos,
    GlossaryInfo,
    GlossaryInfos,
    Language,
    LanguagePairs,
    LanguageType,
    Message,
    NewGlossary,
    Translate,
    Translations,
    Usage,
)
from tongsa.server.api.pipeline import Call
from tongsa.server.http.answers import JSON
from tongsa.server.http.refusals import Refusal, invalid
from tongsa.server.http.routes import Interface, Needs
from tongsa.server.work.glossaries import Dictionary, StoredGlossary
from tongsa.server.work.queued import TextOptions
from tongsa.server.work.service import Service
from tongsa.server.work.translators import TranslatorChain
from tongsa.text.languages import language_name
from tongsa.translation.glossary import Glossary

T = TypeVar("T")
API = Interface(name="DeepL", error=Message, prefixes=("/v2/", "/v3/"), missing_key=403)
KEY = Needs(key=True)
MAX_TAGS = 100
"""Names of elements to leave untranslated."""
UNLIMITED = 1_000_000_000_000
"""The character limit that DeepL reports for accounts without one."""


@API.route(
    "POST",
    "/v2/translate",
    Translate,
    Translations,
    needs=Needs(key=True, queue=True, texts=lambda given: given.text),
    repeated=("text", "ignore_tags"),
)
async def translate(call: Call[Translate]) -> object:
    """Translate texts; a source language that is not given is detected."""
    texts = call.parameters.text
    chains = await _chains(call.service, call.parameters)
    translated = await call.service.translate(texts, chains, _options(call, chains[0]))
    return {
        "translations": [
            {
                "detected_source_language": chain.source.upper(),
                "text": each.text,
                "billed_characters": len(text),
                **({"via": [pivot.upper() for pivot in chain.via]} if chain.via else {}),
            }
            for text, chain, each in zip(texts, chains, translated, strict=True)
        ]
    }


async def _chains(service: Service, given: Translate) -> list[TranslatorChain]:
    if given.source_lang:
        return [service.chain(given.source_lang, given.target_lang)] * len(given.text)
    target = service.translators.code(given.target_lang)
    sources = [code for code in service.translators.sources if target in service.translators.targets(code)]
    if not sources:
        raise invalid(f"no language can be translated to {target}")
    detected = await service.detect(given.text, sources)
    return [service.chain(found[0][0], target) for found in detected]


def _options(call: Call[Translate], chain: TranslatorChain) -> TextOptions:
    given = call.parameters
    glossary: Glossary | None = None
    if given.glossary_id:
        if not given.source_lang:
            raise invalid("glossary_id needs source_lang")
        glossary = call.service.glossary(given.glossary_id, call.owner, chain)
    tags = tuple(name.strip() for names in given.ignore_tags for name in names.split(",") if name.strip())
    if len(tags) > MAX_TAGS:
        raise invalid(f"more than {MAX_TAGS} ignore_tags")
    kind: Literal["text", "html", "xml"] = given.tag_handling or "text"
    return TextOptions(kind=kind, whole=given.split_sentences == "0", glossary=glossary, untouched=tags)


@API.route("GET", "/v2/languages", LanguageType, list[Language], needs=KEY)
@API.route("POST", "/v2/languages", LanguageType, list[Language], needs=KEY)
async def languages(call: Call[LanguageType]) -> object:
    """Languages to translate from, or with `type=target` those to translate to."""
    ours = call.service.translators
    targets = dict.fromkeys(target for source in ours.sources for target in ours.targets(source))
    codes: Sequence[str] = list(targets) if call.parameters.type == "target" else ours.sources
    return [{"language": code.upper(), "name": language_name(code), "supports_formality": False} for code in codes]


@API.route("GET", "/v2/usage", answer=Usage, needs=KEY)
async def usage(call: Call[None]) -> object:
    """How much of its month the key has used."""
    used = call.service.allowances.used(call.client)
    return {"character_count": used, "character_limit": call.client.characters or UNLIMITED}


# Glossaries, version 2: one direction each


@API.route("POST", "/v2/glossaries", NewGlossary, GlossaryInfo, needs=KEY, status=201)
async def create_glossary(call: Call[NewGlossary]) -> object:
    """Create a glossary of one direction."""

    def create() -> StoredGlossary:
        dictionary = _dictionary(call.service, call.parameters)
        glossary = StoredGlossary(name=call.parameters.name, owner=call.owner, dictionaries=(dictionary,))
        return call.service.glossaries.add(glossary)

    return _single(await _changed(call, create))


@API.route("GET", "/v2/glossaries", answer=GlossaryInfos, needs=KEY)
async def list_glossaries(call: Call[None]) -> object:
    """The client's glossaries of one direction."""
    glossaries = call.service.glossaries.of(call.owner)
    return {"glossaries": [_single(each) for each in glossaries if len(each.dictionaries) == 1]}


@API.route("GET", "/v2/glossary-language-pairs", answer=LanguagePairs, needs=KEY)
async def language_pairs(call: Call[None]) -> object:
    """The directions that a glossary can be made for."""
    pairs = call.service.translators.directions
    return {"supported_languages": [{"source_lang": source, "target_lang": target} for source, target in pairs]}


@API.route("GET", "/v2/glossaries/{id}", answer=GlossaryInfo, needs=KEY)
async def show_glossary(call: Call[None]) -> object:
    """Information about a glossary of one direction."""
    return _single(_found(call))


@API.route("GET", "/v2/glossaries/{id}/entries", needs=KEY, media_type="text/tab-separated-values")
async def show_entries(call: Call[None]) -> object:
    """The entries of a glossary of one direction, as TSV."""
    glossary = _found(call)
    _single(glossary)
    return Response(glossary.dictionaries[0].tsv(), media_type="text/tab-separated-values")


@API.route("DELETE", "/v2/glossaries/{id}", needs=KEY, status=204)
@API.route("DELETE", "/v3/glossaries/{id}", needs=KEY, status=204)
async def delete_glossary(call: Call[None]) -> object:
    """Delete a glossary."""
    await _changed(call, lambda: call.service.glossaries.remove(_found(call)))
    return Response(status_code=204)


# Glossaries, version 3: several directions


@API.route("POST", "/v3/glossaries", Dictionaries, GlossariesInfo, needs=KEY, forms=(JSON,), status=201)
async def create_dictionaries(call: Call[Dictionaries]) -> object:
    """Create a glossary of one or more directions."""

    def create() -> StoredGlossary:
        dictionaries = [_dictionary(call.service, each) for each in call.parameters.dictionaries]
        last = {(each.source, each.target): each for each in dictionaries}
        glossary = StoredGlossary(name=call.parameters.name, owner=call.owner, dictionaries=tuple(last.values()))
        return call.service.glossaries.add(glossary)

    return _several(await _changed(call, create))


@API.route("GET", "/v3/glossaries", answer=GlossariesInfos, needs=KEY)
async def list_all_glossaries(call: Call[None]) -> object:
    """All glossaries of the client."""
    return {"glossaries": [_several(each) for each in call.service.glossaries.of(call.owner)]}


@API.route("GET", "/v3/glossaries/{id}", answer=GlossariesInfo, needs=KEY)
async def show_dictionaries(call: Call[None]) -> object:
    """Information about a glossary and its directions."""
    return _several(_found(call))


@API.route("PATCH", "/v3/glossaries/{id}", ChangedGlossaries, GlossariesInfo, needs=KEY, forms=(JSON,))
async def change_glossary(call: Call[ChangedGlossaries]) -> object:
    """Rename a glossary, or add entries to it."""

    def change() -> StoredGlossary:
        glossaries, glossary = call.service.glossaries, _found(call)
        dictionaries = [_dictionary(call.service, each) for each in call.parameters.dictionaries]
        if call.parameters.name:
            glossary = glossaries.rename(glossary, call.parameters.name)
        for each in dictionaries:
            glossary = glossaries.put(glossary, each, merge=True)
        return glossary

    return _several(await _changed(call, change))


@API.route("PUT", "/v3/glossaries/{id}/dictionaries", Entries, DictionaryInfo, needs=KEY, forms=(JSON,))
async def replace_dictionary(call: Call[Entries]) -> object:
    """Replace all entries of one direction."""

    def change() -> Dictionary:
        glossary = _found(call)
        dictionary = _dictionary(call.service, call.parameters)
        call.service.glossaries.put(glossary, dictionary, merge=False)
        return dictionary

    return _counted(await _changed(call, change))


@API.route("DELETE", "/v3/glossaries/{id}/dictionaries", Direction, needs=KEY, status=204)
async def delete_dictionary(call: Call[Direction]) -> object:
    """Delete one direction of a glossary."""

    def change() -> StoredGlossary:
        glossary = _found(call)
        return call.service.glossaries.drop(glossary, _of_direction(call, glossary))

    await _changed(call, change)
    return Response(status_code=204)


@API.route("GET", "/v3/glossaries/{id}/entries", Direction, AllEntries, needs=KEY)
async def show_dictionary(call: Call[Direction]) -> object:
    """The entries of one direction."""
    dictionary = _of_direction(call, _found(call))
    entries = {"entries": dictionary.tsv(), "entries_format": "tsv"}
    return {"dictionaries": [_languages(dictionary) | entries]}


async def _changed(call: Call[Any], change: Callable[[], T]) -> T:
    """Change glossaries, one request at a time, in a thread: reading entries and flushing files take time."""
    async with call.service.glossaries.changing:
        return await call.service.translator.in_thread(change)


def _found(call: Call[Any]) -> StoredGlossary:
    return call.service.glossaries.find(call.request.path_params["id"], call.owner)


def _dictionary(service: Service, given: Entries) -> Dictionary:
    terms = service.glossaries.terms(given.entries, given.entries_format)
    source, target = service.translators.code(given.source_lang), service.translators.code(given.target_lang)
    return Dictionary(source=source, target=target, terms=terms)


def _of_direction(call: Call[Direction], glossary: StoredGlossary) -> Dictionary:
    code = call.service.translators.code
    return glossary.dictionary(code(call.parameters.source_lang), code(call.parameters.target_lang))


def _languages(dictionary: Dictionary) -> dict[str, Any]:
    return {"source_lang": dictionary.source, "target_lang": dictionary.target}


def _counted(dictionary: Dictionary) -> dict[str, Any]:
    return _languages(dictionary) | {"entry_count": len(dictionary.terms)}


def _single(glossary: StoredGlossary) -> dict[str, Any]:
    if len(glossary.dictionaries) != 1:
        raise Refusal(404, "This glossary has several directions: request it at /v3/glossaries")
    about = {"glossary_id": glossary.id, "name": glossary.name, "ready": True, "creation_time": glossary.made}
    return about | _counted(glossary.dictionaries[0])


def _several(glossary: StoredGlossary) -> dict[str, Any]:
    about = {"glossary_id": glossary.id, "name": glossary.name, "creation_time": glossary.made}
    return about | {"dictionaries": [_counted(each) for each in glossary.dictionaries]}
