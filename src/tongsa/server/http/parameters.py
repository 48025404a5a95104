"""Parameters, however they come: JSON, a form, several parts, a query; then checked against what is expected."""

from __future__ import annotations

from typing import Any, TypeVar
from urllib.parse import parse_qs

import orjson
from pydantic import BaseModel, ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from tongsa.server.http.refusals import invalid

Model = TypeVar("Model", bound=BaseModel)
MOST_FIELDS = 2_000


async def read(request: Request, model: type[Model], lists: tuple[str, ...] = ()) -> Model:
    """The parameters of a request; fields of `lists` may be repeated in forms."""
    given = await _given(request, lists)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise invalid(_told(error)) from None


async def _given(request: Request, lists: tuple[str, ...]) -> dict[str, Any]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    given = _form(request.scope["query_string"], lists) if request.scope["query_string"] else {}
    if kind == "application/json" or kind.endswith("+json"):
        return given | _json(await request.body())
    if kind == "multipart/form-data":
        return given | await _parts(request, lists)
    return given | _form(await request.body(), lists)


def _json(body: bytes) -> dict[str, Any]:
    try:
        values = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise invalid("the body is no JSON") from None
    if not isinstance(values, dict):
        raise invalid("the body is no JSON object")
    return values


def _form(body: bytes, lists: tuple[str, ...]) -> dict[str, Any]:
    try:
        fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except UnicodeDecodeError:
        raise invalid("the body is not UTF-8") from None
    except ValueError:
        raise invalid(f"the form has more than {MOST_FIELDS} fields") from None
    return {name: values if name in lists else values[0] for name, values in fields.items()}


async def _parts(request: Request, lists: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        async with request.form(max_files=1, max_fields=MOST_FIELDS, max_part_size=4 << 20) as form:
            for name in form:
                value = form[name]
                if isinstance(value, UploadFile):
                    found[name] = Upload(name=value.filename or "", data=await value.read())
                else:
                    found[name] = form.getlist(name) if name in lists else value
    except (HTTPException, UnicodeDecodeError, ValueError):
        raise invalid("the form cannot be read") from None
    return found


class Upload(BaseModel):
    """A file of a form."""

    name: str
    data: bytes


def _told(error: ValidationError) -> str:
    """What is wrong, without the value: it is the user's."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "a parameter"
    if first["type"] == "missing":
        return f"missing {name} parameter"
    return f"{name}: {first['msg'][0].lower()}{first['msg'][1:]}"
