"""The OpenAPI document, and the same as a page (/docs) that loads nothing from other sites."""

from __future__ import annotations

import inspect
import re
from html import escape
from typing import Any

from fastapi import FastAPI

from tongsa.pages.frame import Section, heading, page
from tongsa.server.api.pipeline import endpoint
from tongsa.server.http.answers import JSON
from tongsa.server.http.routes import Interface, Route
from tongsa.server.work.service import Service

REASONS = {
    400: "A parameter is missing or invalid",
    403: "The key is unknown, or the function is disabled",
    404: "Not found",
    408: "The request took too long to arrive",
    413: "The request is too large, or its document takes too much time or memory to read",
    429: "Too many requests: try again after the seconds in Retry-After",
    456: "The key's quota is used up",
    501: "The server lacks an optional package",
    503: "The answer took too long, or something cannot be stored or started now: try again later",
}
_PATH_PARAMETER = re.compile(r"\{(\w+)\}")


def add_route(app: FastAPI, service: Service, interface: Interface, route: Route) -> None:
    """Add a declared route to the application and to its OpenAPI document."""
    failures: dict[int | str, dict[str, Any]] = {
        status: {"model": interface.error, "description": reason} for status, reason in REASONS.items()
    }
    respond = endpoint(service, interface, route)
    if route.method == "GET":  # the server leaves the body out
        app.add_api_route(route.path, respond, methods=["HEAD"], include_in_schema=False, response_model=None)
    app.add_api_route(
        route.path,
        respond,
        methods=[route.method],
        name=route.handler.__name__,
        description=inspect.getdoc(route.handler) or "",
        tags=[interface.name],
        status_code=route.status,
        response_model=None,
        responses={route.status: _answer(route), **failures},
        openapi_extra=_request(route),
    )


def _answer(route: Route) -> dict[str, Any]:
    if route.answer is not None:
        return {"model": route.answer}
    if route.media_type == JSON:
        return {"description": "Done"}
    schema = {"type": "string"} | ({} if route.media_type.startswith("text/") else {"format": "binary"})
    return {"content": {route.media_type: {"schema": schema}}}


def _request(route: Route) -> dict[str, Any]:
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PATH_PARAMETER.findall(route.path)
    ]
    extra: dict[str, Any] = {}
    if route.parameters is not None:
        schema = _inlined(route.parameters.model_json_schema())
        if route.forms:
            extra["requestBody"] = {"required": True, "content": {form: {"schema": schema} for form in route.forms}}
        else:
            required = schema.get("required", ())
            parameters += [
                {"name": name, "in": "query", "required": name in required, "schema": about}
                for name, about in schema["properties"].items()
            ]
    return extra | ({"parameters": parameters} if parameters else {})


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its definitions inlined: references to `#/$defs` cannot be resolved in an OpenAPI document."""
    definitions = schema.pop("$defs", {})

    def inline(part: Any) -> Any:
        if isinstance(part, dict):
            if name := str(part.get("$ref", "")).rpartition("/")[2]:
                return inline(definitions[name])
            return {key: inline(value) for key, value in part.items()}
        return [inline(each) for each in part] if isinstance(part, list) else part

    return {key: inline(value) for key, value in schema.items()}


def reference(document: dict[str, Any]) -> str:
    """The page: a section for each interface, with the parameters and answers of its routes."""
    interfaces: dict[str, str] = {}
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            tag = next(iter(route.get("tags", ())), "Others")
            interfaces[tag] = interfaces.get(tag, "") + _route(path, method, route)
    about = document["info"]
    return page(
        "Tongsa: HTTP interface",
        heading=heading(
            f"Tongsa {escape(about['version'])}",
            over="HTTP interface",
            text=f'{escape(about["summary"])}. As OpenAPI: <a href="/spec">/spec</a>',
        ),
        sections=[
            Section(key=f"interface-{number}", title=tag, content=content)
            for number, (tag, content) in enumerate(interfaces.items())
        ],
        footer='<a href="/">Translate on the page</a>',
        served="/static/kit",
    )


def _route(path: str, method: str, route: dict[str, Any]) -> str:
    content = route.get("requestBody", {}).get("content", {})
    fields = next(iter(content.values()))["schema"] if content else {}
    required = fields.get("required", [])
    rows = "".join(_field(name, field, required) for name, field in fields.get("properties", {}).items())
    answers = "".join(
        f"<li>{escape(status)}: {escape(answer.get('description', ''))}</li>"
        for status, answer in route.get("responses", {}).items()
    )
    return (
        f'<h3><code class="route">{method.upper()} {escape(path)}</code></h3>'
        f"<p>{escape(route.get('description', ''))}</p>"
        + (f"<p>As {escape(', '.join(content))}</p><ul>{rows}</ul>" if rows else "")
        + f"<details><summary>Answers</summary><ul>{answers}</ul></details>"
    )


def _field(name: str, field: dict[str, Any], required: list[str]) -> str:
    kinds = [each.get("type", "") for each in field.get("anyOf", [field])]
    about = escape(field.get("description", ""))
    optional = "" if name in required else ", optional"
    return f"<li><code>{escape(name)}</code> ({escape(' or '.join(kinds))}{optional}) {about}</li>"
