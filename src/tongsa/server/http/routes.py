"""Routes as declarations: what a route needs before its handler runs, and which interface it belongs to.

    API = Interface(name="LibreTranslate", error=Error)

    @API.route("POST", "/detect", Detect, list[Detected], needs=Needs(key=True, texts=lambda given: [given.q]))
    async def detect(call: Call[Detect]) -> object: ...

`tongsa.server.api.pipeline` meets the needs, in one order for all routes of all interfaces.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from tongsa.base.errors import UsageError
from tongsa.server.http.answers import JSON, Json
from tongsa.server.http.refusals import Refusal

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

Handler = Callable[[Any], Awaitable[object]]
H = TypeVar("H", bound=Handler)


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What a request must have, and what it is charged, before a handler sees it."""

    key: bool = False
    """Identify the client, by its key where the service has keys, and charge one request of its minute."""
    queue: bool = False
    """Hold a place in the queue until the answer is ready."""
    upload: bool = False
    """The limits for files apply to the size of the body and to the time for the answer."""
    texts: Callable[[Any], Sequence[str]] | None = None
    """The texts among the parameters: limited in number and characters, and charged to the client's month."""
    charge: Callable[[Any], int] | None = None
    """Characters to charge, where they are not those of `texts`."""


@dataclass(frozen=True, kw_only=True)
class Route:
    """A method and a path, the schemas of request and answer, what it needs, and the function that answers it."""

    method: str
    path: str
    handler: Handler
    needs: Needs
    parameters: type[BaseModel] | None = None
    answer: Any = None
    """A pydantic model, or a list of one; None for an answer that is not JSON."""
    status: int = 200
    forms: tuple[str, ...] = ()
    """Content types that a body may have, for the OpenAPI document; none if the parameters are in the query."""
    repeated: tuple[str, ...] = ()
    """Parameters that may occur several times in a form."""
    media_type: str = JSON
    """Content type of the answer."""


@dataclass(frozen=True, kw_only=True)
class Interface:
    """The routes of one API, and the form of its refusals."""

    name: str
    error: type[BaseModel]
    """Schema of a refusal."""
    error_body: Callable[[Refusal], object] | None = None
    """Makes the body of a refusal; by default the message is the one field of `error`."""
    prefixes: tuple[str, ...] = ()
    """Paths that begin with one of these belong to this interface, even if no route has them."""
    missing_key: int = 400
    """Status when a key is needed and none is given."""
    key_field: str | None = None
    """Parameter that may hold the key, which is also accepted in the header Authorization."""
    forms: tuple[str, ...] = (JSON, FORM)
    """Default content types of a body."""
    routes: list[Route] = field(default_factory=list)

    def route(
        self,
        method: str,
        path: str,
        parameters: type[BaseModel] | None = None,
        answer: Any = None,
        *,
        needs: Needs = Needs(),  # frozen
        status: int = 200,
        forms: tuple[str, ...] | None = None,
        repeated: tuple[str, ...] = (),
        media_type: str = JSON,
    ) -> Callable[[H], H]:
        """Declare a route. Its handler takes a `Call` and returns a Response, or a value to answer as JSON."""
        has_body = parameters is not None and method in ("POST", "PUT", "PATCH")

        def declare(handler: H) -> H:
            route = Route(
                method=method,
                path=path,
                handler=handler,
                needs=needs,
                parameters=parameters,
                answer=answer,
                status=status,
                forms=(self.forms if forms is None else forms) if has_body else (),
                repeated=repeated,
                media_type=media_type,
            )
            self.routes.append(route)
            return handler

        return declare

    def refused(self, refusal: Refusal) -> Json:
        if self.error_body:
            body = self.error_body(refusal)
        else:
            (name,) = self.error.model_fields
            body = {name: refusal.message}
        return Json(body, refusal.status, headers=refusal.headers)


class Interfaces:
    """All interfaces of a service; the first one answers refusals for paths that belong to none."""

    def __init__(self, interfaces: Iterable[Interface]) -> None:
        self.interfaces = tuple(interfaces)
        self.needs: dict[str, Needs] = {}
        """The needs of the routes, by path; paths with parameters are not included."""
        seen: dict[tuple[str, str], str] = {}
        for interface, route in self:
            other = seen.setdefault((route.method, route.path), interface.name)
            if other is not interface.name:
                raise UsageError(f"{interface.name} and {other} both have {route.method} {route.path}")
            if "{" not in route.path:
                self.needs[route.path] = route.needs

    def __iter__(self) -> Iterator[tuple[Interface, Route]]:
        for interface in self.interfaces:
            for route in interface.routes:
                yield interface, route

    def refused(self, path: str, refusal: Refusal) -> Json:
        """The refusal in the form of the interface that the path belongs to."""
        found = (each for each in self.interfaces if each.prefixes and path.startswith(each.prefixes))
        return next(found, self.interfaces[0]).refused(refusal)
