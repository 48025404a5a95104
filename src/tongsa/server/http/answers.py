"""Answers as bytes, and how a route is described in the OpenAPI document."""

from __future__ import annotations

from typing import Any

import orjson
from pydantic import BaseModel
from starlette.responses import Response

from tongsa.server.api.schemas import Error, Message
from tongsa.server.http.refusals import Refusal

FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data"
JSON = "application/json"
_REASONS = {
    400: "A parameter is missing or cannot be used",
    403: "The key is not known, or the function is switched off",
    404: "There is no such thing",
    408: "The request took too long to arrive",
    413: "The request is too large",
    429: "Too many requests: come back after the time that Retry-After tells",
    456: "What the key may use is used up",
    503: "The answer took too long",
}


class Json(Response):
    media_type = JSON

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


def refused(path: str, refusal: Refusal) -> Json:
    name = "message" if path.startswith(("/v2/", "/v3/")) else "error"
    return Json({name: refusal.message}, refusal.status, headers=refusal.headers)


def described(
    answer: type[BaseModel] | Any,
    asked: type[BaseModel] | None = None,
    *,
    forms: tuple[str, ...] = (JSON, FORM, PARTS),
    status: int = 200,
    error: type[BaseModel] = Error,
) -> dict[str, Any]:
    """The arguments of a route that reads its parameters itself: what it is asked, and what it answers."""
    failures = {code: {"model": error, "description": reason} for code, reason in _REASONS.items()}
    answers: dict[int | str, dict[str, Any]] = {status: {"model": answer} if answer else {"description": "Done"}}
    described: dict[str, Any] = {
        "response_model": None,
        "status_code": status,
        "responses": answers | failures,
    }
    if asked is not None:
        schema = asked.model_json_schema()
        content = {form: {"schema": schema} for form in forms}
        described["openapi_extra"] = {"requestBody": {"required": True, "content": content}}
    return described


def deepl_described(
    answer: type[BaseModel] | Any,
    asked: type[BaseModel] | None = None,
    *,
    forms: tuple[str, ...] = (JSON, FORM),
    status: int = 200,
) -> dict[str, Any]:
    return described(answer, asked, forms=forms, status=status, error=Message)
