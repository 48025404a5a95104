"""The application: all interfaces, the page, and the background tasks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from tongsa import __version__
from tongsa.base.errors import CorpusError, MissingExtraError, TongsaError, UsageError
from tongsa.base.registry import Registry
from tongsa.pages.frame import STATIC
from tongsa.server.api import deepl, libretranslate, own, teaching
from tongsa.server.api.reference import add_route, reference
from tongsa.server.http.answers import Json
from tongsa.server.http.logs import log_failure
from tongsa.server.http.middleware import RequestMiddleware
from tongsa.server.http.refusals import INTERNAL_ERROR, Refusal, invalid
from tongsa.server.http.routes import Interface, Interfaces
from tongsa.server.work.service import Service

INTERFACES: Registry[Interface] = Registry(
    "tongsa.endpoints",
    {
        "libretranslate": libretranslate.API,
        "deepl": deepl.API,
        "tongsa": own.API,
        "teaching": teaching.API,
    },
    kind="HTTP interface",
)
PAGE = Path(__file__).parent / "page"
_PATH = re.compile(r"(?<!\S)(?:/|[A-Za-z]:\\)\w")
"""The beginning of an absolute path."""
CHECK_SECONDS = 2.0
"""Interval at which translators are checked for changes and the usage of keys is saved."""


def application(service: Service, *, cors: Sequence[str] = (), background: bool = True) -> RequestMiddleware:
    """The ASGI application that uvicorn runs. Without `background`, nothing is reloaded or saved automatically."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(_run_in_background(service)) if background else None
        yield
        if task:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        service.close()

    app = FastAPI(
        title="Tongsa",
        version=__version__,
        summary="Translators behind the interfaces of LibreTranslate and DeepL, and Tongsa's own",
        openapi_url="/spec",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,  # a redirect would be built from the client's own Host header
    )
    interfaces = Interfaces([*INTERFACES.values(), *_parsing(service)])
    for interface, route in interfaces:
        add_route(app, service, interface, route)
    _add_pages(app, service)
    _add_error_handlers(app, interfaces)
    if cors:
        app.add_middleware(CORSMiddleware, allow_origins=list(cors), allow_methods=["*"], allow_headers=["*"])
    return RequestMiddleware(
        app,
        interfaces,
        limits=service.limits,
        metrics=service.metrics,
        refuse_if_full=service.queue.refuse_if_full,
    )


async def _run_in_background(service: Service) -> None:
    """Reload translators that were trained again, save what keys have used, delete old files, end idle workers."""
    while True:
        await asyncio.sleep(CHECK_SECONDS)
        service.files.sweep()
        await asyncio.to_thread(service.translator.workers.end_idle)
        await asyncio.to_thread(service.save_usage)
        await service.reload()


def _parsing(service: Service) -> list[Interface]:
    """The interface of the parser, if the service has one; it needs torch, which translating does without."""
    if service.parser is None:
        return []
    from tongsa.server.api import parsing

    return [parsing.API]


def _add_pages(app: FastAPI, service: Service) -> None:
    def parsing_page() -> Response:
        from tongsa.server.api.parsing import parsing_page

        return Response(parsing_page(keys=service.keys is not None), media_type="text/html")

    if service.parser is not None:
        app.add_api_route("/parse", parsing_page, methods=["GET", "HEAD"], include_in_schema=False)

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> Response:
        if service.parser is not None and not service.translators.directions:
            return parsing_page()
        return FileResponse(PAGE / "index.html", headers={"cache-control": "no-cache"})

    @app.api_route("/docs", methods=["GET", "HEAD"], include_in_schema=False)
    async def docs() -> Response:
        return Response(reference(app.openapi()), media_type="text/html")

    app.mount("/static/kit", StaticFiles(directory=STATIC), name="kit")
    app.mount("/static", StaticFiles(directory=PAGE), name="static")


def _add_error_handlers(app: FastAPI, interfaces: Interfaces) -> None:
    """Every error is answered in the form of the interface that was called."""

    @app.exception_handler(Refusal)
    async def refuse(request: Request, refusal: Refusal) -> Json:
        return interfaces.refused(request.scope["path"], refusal)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Json:
        answer = interfaces.refused(request.scope["path"], Refusal(error.status_code, str(error.detail)))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(TongsaError)
    async def tongsa_error(request: Request, error: TongsaError) -> Json:
        """Answer an error about the request; others are about this machine, and may name its files."""
        if isinstance(error, (CorpusError, UsageError)) and not _PATH.search(error.what):
            refusal = invalid(error.what)
        elif isinstance(error, MissingExtraError):
            refusal = Refusal(501, f"This server cannot do that: {error.what}")
        else:
            log_failure("request failed", error, {"why": error.what})
            refusal = Refusal(500, INTERNAL_ERROR)
        return interfaces.refused(request.scope["path"], refusal)

    @app.exception_handler(Exception)
    async def failure(request: Request, error: Exception) -> Json:
        """Answer an unexpected error; the middleware logs it."""
        return interfaces.refused(request.scope["path"], Refusal(500, INTERNAL_ERROR))
