"""Requests and answers of LibreTranslate's API and of Tongsa's own."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema

from tongsa.server.http.parameters import Parameters, Upload

Language = Annotated[str, Field(min_length=1, max_length=32, description="A code from /languages, in any case")]
ApiKey = Annotated[str | SkipJsonSchema[None], Field(default=None, description="Needed if the service requires keys")]


def _number(value: Any) -> Any:
    """Clients of LibreTranslate may send it empty."""
    return 0 if value in ("", None) else value


GLOSSARY: Any = Field(default="", description="Use the terms of this glossary, made at /v2/glossaries")


class Keyed(Parameters):
    api_key: ApiKey = None


class Translate(Keyed):
    q: str | list[str] = Field(description="A text or several texts")
    source: Language = Field(description="A code from /languages, or auto")
    target: Language
    format: Literal["text", "html"] = "text"
    alternatives: Annotated[int, BeforeValidator(_number), Field(ge=0)] = 0
    confidence: bool = Field(default=False, description="Also return how reliable each word is")
    glossary: str = GLOSSARY

    @property
    def texts(self) -> list[str]:
        return [self.q] if isinstance(self.q, str) else self.q


class Detect(Keyed):
    q: str


class TranslateFile(Keyed):
    file: Annotated[Upload, Field(json_schema_extra={"type": "string", "format": "binary"})]
    source: Language
    target: Language
    glossary: str = GLOSSARY


class Suggest(Keyed):
    q: str
    s: str
    source: Language
    target: Language


class Attend(Keyed):
    q: str
    source: Language
    target: Language
    translation: str | SkipJsonSchema[None] = None


class Score(Keyed):
    q: str
    translation: str
    source: Language
    target: Language


class Detected(BaseModel):
    language: str
    confidence: int


class WordTrust(BaseModel):
    text: str
    confidence: float | None


class TextTrust(BaseModel):
    score: float
    words: list[WordTrust]


class Translated(BaseModel):
    translatedText: str | list[str]
    detectedLanguage: Detected | list[Detected] | SkipJsonSchema[None] = None
    alternatives: list[str] | list[list[str]] | SkipJsonSchema[None] = None
    via: list[str] | SkipJsonSchema[None] = None
    confidence: TextTrust | list[TextTrust] | SkipJsonSchema[None] = None


class ServedLanguage(BaseModel):
    code: str
    name: str
    targets: list[str]


class TranslatedFile(BaseModel):
    translatedFileUrl: str


class Success(BaseModel):
    success: bool


class Health(BaseModel):
    status: str


class NamedLanguage(BaseModel):
    code: str
    name: str


class LanguageChoice(BaseModel):
    source: NamedLanguage
    target: NamedLanguage


class Settings(BaseModel):
    charLimit: int
    frontendTimeout: int
    apiKeys: bool
    keyRequired: bool
    suggestions: bool
    filesTranslation: bool
    supportedFilesFormat: list[str]
    language: LanguageChoice


class TokenScore(BaseModel):
    text: str
    log_probability: float


class Scored(BaseModel):
    log_probability: float
    average: float
    confidence: float
    tokens: list[TokenScore]


Weights = list[list[list[list[float]]]]


class Attention(BaseModel):
    source: list[str]
    target: list[str]
    translatedText: str
    encoder: Weights
    decoder: Weights
    cross: Weights
    architecture: str
    positions: str
    d_model: int


class Error(BaseModel):
    error: str
