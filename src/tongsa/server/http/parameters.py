"""Parameters of a request: decoded from JSON, a form, several parts or the query, then validated."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, TypeVar
from urllib.parse import parse_qs

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError
from python_multipart.multipart import parse_options_header
from starlette.requests import Request

from tongsa.server.http.refusals import Refusal, invalid

Model = TypeVar("Model", bound=BaseModel)
MAX_FIELDS = 2_000
MAX_HEAD = 2 << 10
"""Bytes of the headers of one part of a form."""
LARGE = 64 << 10
"""Bodies of at least this many bytes are decoded in a thread, to keep the event loop free."""


class Parameters(BaseModel):
    """Base of all request schemas. Unknown fields are ignored, as LibreTranslate and DeepL do."""

    model_config = ConfigDict(extra="ignore")


class Upload(BaseModel):
    """A file in a form."""

    name: str
    data: bytes


async def decode(request: Request, repeated: tuple[str, ...] = ()) -> dict[str, Any]:
    """The parameters as they were sent; in forms, those named in `repeated` are lists."""
    body, query = await request.body(), request.scope["query_string"]
    kind = request.headers.get("content-type", "")
    if len(body) < LARGE:
        return _decode(body, query, kind, repeated)
    return await asyncio.to_thread(_decode, body, query, kind, repeated)


def _decode(body: bytes, query: bytes, content_type: str, repeated: tuple[str, ...]) -> dict[str, Any]:
    given = _form(query, repeated) if query else {}
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        return given | _json(body)
    if kind == "multipart/form-data":
        return given | _parts(body, content_type, repeated)
    return given | _form(body, repeated)


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


def _parts(body: bytes, content_type: str, repeated: tuple[str, ...]) -> dict[str, Any]:
    """Read a form of several parts, in memory: libraries write large files to the disk."""
    boundary = parse_options_header(content_type[:MAX_HEAD])[1].get(b"boundary", b"")
    found: dict[str, Any] = {}
    for number, (head, content) in enumerate(_split(body, boundary)):
        if number >= MAX_FIELDS:
            raise invalid(f"the form has more than {MAX_FIELDS} fields")
        options = _disposition(head)
        try:
            name = options[b"name"].decode()
            if b"filename" in options:
                value: str | Upload = Upload(name=options[b"filename"].decode(), data=content)
            else:
                value = content.decode()
        except (KeyError, UnicodeDecodeError):
            raise _unreadable() from None
        if name in repeated and isinstance(value, str):
            found.setdefault(name, []).append(value)
        elif isinstance(value, Upload) and any(isinstance(each, Upload) for each in found.values()):
            raise invalid("the form has more than one file")
        else:
            found.setdefault(name, value)
    return found


def _split(body: bytes, boundary: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The headers and the content of each part of a form. A part ends where a line begins with the boundary."""
    line = b"--" + boundary
    at = 0 if body.startswith(line) else body.find(b"\r\n" + line) + 2
    if not boundary or not body.startswith(line, at):
        raise _unreadable()
    while not body.startswith(b"--", at := at + len(line)):
        head = body.find(b"\r\n\r\n", at, at + MAX_HEAD)
        end = body.find(b"\r\n" + line, head + 2)
        if head < 0 or end < 0:
            raise _unreadable()
        yield body[at:head], body[head + 4 : end]
        at = end + 2


def _disposition(head: bytes) -> dict[bytes, bytes]:
    """The parameters of a part's header Content-Disposition: its name, and that of a file."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-disposition":
            return parse_options_header(value.strip())[1]
    raise _unreadable()


def _unreadable() -> Refusal:
    return invalid("the form cannot be read")


def _message(error: ValidationError) -> str:
    """Describe what is wrong, without the value, which is the user's text."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "a parameter"
    if first["type"] == "missing":
        return f"missing {name} parameter"
    return f"{name}: {first['msg'][0].lower()}{first['msg'][1:]}"
