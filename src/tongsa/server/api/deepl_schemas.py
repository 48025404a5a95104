"""Requests and answers of DeepL's API."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema

from tongsa.server.http.parameters import Parameters


def _listed(value: Any) -> Any:
    """A single value may come without a list around it."""
    return [value] if isinstance(value, str) else value


class Translate(Parameters):
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


class LanguageType(Parameters):
    type: Literal["source", "target"] = "source"


class Language(BaseModel):
    language: str
    name: str
    supports_formality: bool


class Usage(BaseModel):
    character_count: int
    character_limit: int


class Direction(Parameters):
    source_lang: str = Field(min_length=1, max_length=32)
    target_lang: str = Field(min_length=1, max_length=32)


class Entries(Direction):
    """Terms of one direction."""

    entries: str
    entries_format: Literal["tsv", "csv"] = "tsv"


class NewGlossary(Entries):
    name: str = Field(min_length=1, max_length=1024)


class Dictionaries(Parameters):
    name: str = Field(min_length=1, max_length=1024)
    dictionaries: list[Entries] = Field(min_length=1)


class ChangedGlossaries(Parameters):
    name: Annotated[str, Field(min_length=1, max_length=1024)] | SkipJsonSchema[None] = None
    dictionaries: list[Entries] = Field(default=[])


class DictionaryInfo(BaseModel):
    source_lang: str
    target_lang: str
    entry_count: int


class GlossaryInfo(DictionaryInfo):
    glossary_id: str
    name: str
    ready: bool
    creation_time: str


class GlossaryInfos(BaseModel):
    glossaries: list[GlossaryInfo]


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


class DictionaryEntries(BaseModel):
    source_lang: str
    target_lang: str
    entries: str
    entries_format: Literal["tsv", "csv"]


class AllEntries(BaseModel):
    dictionaries: list[DictionaryEntries]


class Message(BaseModel):
    message: str
