"""The path of a request from its route to its handler: the same order of refusals for all routes of all interfaces.

    413, 408, 429   the body is too large, too slow, or too much is in memory      `http.middleware`
    429             the queue is full
    400             the body cannot be decoded
    400, 403, 429   no key, or an unknown one; too many unknown ones from this address
    429             the client's requests of this minute are used up
    400             a parameter is missing or wrong
    400             too many texts or characters
    456             the client's characters of this month are used up
    400, 403, 404   what the handler itself refuses: languages, files, glossaries

The queue comes first, so that under load a refusal costs little and is not charged. The body is decoded before the
key is checked, since a key may be among the parameters. What the handler refuses is not charged to the month.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from tongsa.base.errors import TongsaError
from tongsa.server.http.answers import Json
from tongsa.server.http.keys import Key
from tongsa.server.http.parameters import decode, validate
from tongsa.server.http.refusals import Refusal, invalid
from tongsa.server.http.routes import Interface, Route
from tongsa.server.work.service import Service

P = TypeVar("P")


@dataclass(frozen=True)
class Call(Generic[P]):
    """A request that was admitted, as a handler sees it."""

    service: Service
    request: Request
    parameters: P
    client: Key

    @property
    def owner(self) -> str:
        """Owner of the client's glossaries: the name of the key, or "" for all clients without one."""
        return self.client.name if self.client.digest else ""


def endpoint(service: Service, interface: Interface, route: Route) -> Callable[[Request], Awaitable[Response]]:
    """The route as a function for FastAPI."""

    async def respond(request: Request) -> Response:
        with service.queue.place() if route.needs.queue else nullcontext():
            return await _respond(service, interface, route, request)

    return respond


async def _respond(service: Service, interface: Interface, route: Route, request: Request) -> Response:
    needs = route.needs
    given: dict[str, Any] = {}
    if route.parameters or (needs.key and interface.key_field):
        given = await decode(request, route.repeated)
    client = ANYBODY
    if needs.key:
        client = _identify(service, interface, request, given)
        service.allowances.spend_request(client)
        request.scope["tongsa.client"] = client.name if client.digest else ""
    parameters = validate(given, route.parameters) if route.parameters else None
    characters = _check_sizes(service, route, parameters)
    service.allowances.spend_characters(client, characters)
    request.scope["tongsa.characters"] = characters
    try:
        answer = await route.handler(Call(service, request, parameters, client))
    except (Refusal, TongsaError):
        service.allowances.refund_characters(client, characters)
        raise
    return answer if isinstance(answer, Response) else Json(answer, route.status)


ANYBODY = Key(name="")


def _identify(service: Service, interface: Interface, request: Request, given: dict[str, Any]) -> Key:
    """The client: the holder of the key if the service has keys, otherwise the address."""
    host = request.client.host if request.client else ""
    if service.keys is None:
        return Key(name=host)
    key = given.get(interface.key_field) if interface.key_field else None
    key = key if key and isinstance(key, str) else _key_in_header(request)
    if not key:
        raise Refusal(interface.missing_key, "Please contact the server operator to get an API key")
    return service.wrong_keys.check(host, service.keys.find(key))


def _key_in_header(request: Request) -> str:
    """`Authorization: DeepL-Auth-Key K` or `Authorization: Bearer K`"""
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if kind.lower() in ("deepl-auth-key", "bearer") else ""


def _check_sizes(service: Service, route: Route, parameters: Any) -> int:
    """Refuse a request that is too large; return the number of characters to charge."""
    characters = 0
    if route.needs.texts:
        texts = route.needs.texts(parameters)
        characters = sum(map(len, texts))
        limits = service.limits
        if not limits.allows("characters", characters):
            raise invalid(f"request ({characters}) exceeds text limit ({limits.characters})")
        if not limits.allows("texts", len(texts)):
            raise invalid(f"more than {limits.texts} texts")
    return route.needs.charge(parameters) if route.needs.charge else characters
