"""The application: routes, errors as JSON, the page, and what runs beside the requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from tongsa import __version__
from tongsa.base.errors import TongsaError
from tongsa.pages.frame import STATIC
from tongsa.server.api import deepl, libretranslate, own
from tongsa.server.api.reference import reference
from tongsa.server.http.answers import Json, refused
from tongsa.server.http.edge import Edge
from tongsa.server.http.refusals import Refusal
from tongsa.server.work.service import Service

PAGE = Path(__file__).parent / "page"
WATCH_SECONDS = 2.0
"""Between two looks at the translators' directories, and two writings of what was used."""


def application(service: Service, *, cors: Sequence[str] = (), watch: bool = True) -> Edge:
    """What uvicorn runs."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(_watch(service)) if watch else None
        yield
        if watching:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
        service.close()

    app = FastAPI(
        title="Tongsa",
        version=__version__,
        summary="Translators behind LibreTranslate's and DeepL's interfaces, and their own",
        openapi_url="/spec",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,  # a redirect would be made of the client's own Host header
    )
    for routes in (libretranslate.routes, deepl.routes, own.routes):
        app.include_router(routes(service))
    _pages(app)
    _refusals(app)
    if cors:
        app.add_middleware(CORSMiddleware, allow_origins=list(cors), allow_methods=["*"], allow_headers=["*"])
    return Edge(app, service.limits, service.metrics, service.queue)


async def _watch(service: Service) -> None:
    """Translators that were trained anew are taken up without being told; what keys have used is written down."""
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        service.files.sweep()
        await asyncio.to_thread(service.keep_usage)
        await service.reload()


def _pages(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(PAGE / "index.html", headers={"cache-control": "no-cache"})

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(reference(app.openapi()), media_type="text/html")

    app.mount("/static/kit", StaticFiles(directory=STATIC), name="kit")
    app.mount("/static", StaticFiles(directory=PAGE), name="static")


def _refusals(app: FastAPI) -> None:
    """Whatever goes wrong is answered in the words of the client's API."""

    @app.exception_handler(Refusal)
    async def refuse(request: Request, refusal: Refusal) -> Json:
        return refused(request.scope["path"], refusal)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> Json:
        answer = refused(request.scope["path"], Refusal(error.status_code, str(error.detail)))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Json:
        return refused(request.scope["path"], Refusal(500, "Something went wrong here"))  # the edge has it in its log

    @app.exception_handler(TongsaError)
    async def cannot(request: Request, error: TongsaError) -> Json:
        return refused(request.scope["path"], Refusal(400, f"Invalid request: {error.what}"))
