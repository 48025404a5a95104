"""/docs: the OpenAPI document as a page that loads nothing from elsewhere."""

from __future__ import annotations

from html import escape
from typing import Any


def reference(document: dict[str, Any]) -> str:
    """A section for each route: how it is called, its fields, its answers."""
    sections = "".join(
        _route(path, method, route) for path, methods in document["paths"].items() for method, route in methods.items()
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tongsa: the interface</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"></head><body><main>'
        f"<h1>Tongsa {escape(document['info']['version'])}</h1><p>{escape(document['info']['summary'])}. "
        'The same for programs: <a href="/spec">/spec</a></p>'
        f"{sections}</main></body></html>"
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
        f"<section><h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(route.get('description', ''))}</p>"
        + (f"<p>As {escape(', '.join(content))}</p><ul>{rows}</ul>" if rows else "")
        + f"<details><summary>Answers</summary><ul>{answers}</ul></details></section>"
    )


def _field(name: str, field: dict[str, Any], required: list[str]) -> str:
    kinds = [each.get("type", "") for each in field.get("anyOf", [field])]
    about = escape(field.get("description", ""))
    must = "" if name in required else ", optional"
    return f"<li><code>{escape(name)}</code> ({escape(' or '.join(kinds))}{must}) {about}</li>"
