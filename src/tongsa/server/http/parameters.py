"""Parameters of a request: decoded from JSON, a form, several parts or the query, then validated."""

from __future__ import annotations

from typing import Any, TypeVar
from urllib.parse import parse_qs

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from tongsa.server.http.refusals import invalid

Model = TypeVar("Model", bound=BaseModel)
MAX_FIELDS = 2_000


class Parameters(BaseModel):
    """Base of all request schemas. Unknown fields are ignored, as LibreTranslate and DeepL do."""

    model_config = ConfigDict(extra="ignore")


class Upload(BaseModel):
    """A file in a form."""

    name: str
    data: bytes


async def decode(request: Request, repeated: tuple[str, ...] = ()) -> dict[str, Any]:
    """The parameters as they were sent; in forms, those named in `repeated` are lists."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    given = _form(request.scope["query_string"], repeated) if request.scope["query_string"] else {}
    if kind == "application/json" or kind.endswith("+json"):
        return given | _json(await request.body())
    if kind == "multipart/form-data":
        return given | await _parts(request, repeated)
    return given | _form(await request.body(), repeated)


def validate(given: dict[str, Any], model: type[Model]) -> Model:
    """The parameters as an object, or a refusal that names the first one that is wrong."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise invalid(_message(error)) from None


def _json(body: bytes) -> dict[str, Any]:
    try:
        values = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise invalid("the body is not valid JSON") from None
    if not isinstance(values, dict):
        raise invalid("the body is not a JSON object")
    return values


def _form(body: bytes, repeated: tuple[str, ...]) -> dict[str, Any]:
    try:
        fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except UnicodeDecodeError:
        raise invalid("the body is not UTF-8") from None
    except ValueError:
        raise invalid(f"the form has more than {MAX_FIELDS} fields") from None
    return {name: values if name in repeated else values[0] for name, values in fields.items()}


async def _parts(request: Request, repeated: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        async with request.form(max_files=1, max_fields=MAX_FIELDS, max_part_size=4 << 20) as form:
            for name in form:
                value = form[name]
                if isinstance(value, UploadFile):
                    found[name] = Upload(name=value.filename or "", data=await value.read())
                else:
                    found[name] = form.getlist(name) if name in repeated else value
    except (HTTPException, UnicodeDecodeError, ValueError):
        raise invalid("the form cannot be read") from None
    return found


def _message(error: ValidationError) -> str:
    """Describe what is wrong, without the value, which is the user's text."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "a parameter"
    if first["type"] == "missing":
        return f"missing {name} parameter"
    return f"{name}: {first['msg'][0].lower()}{first['msg'][1:]}"
