"""`tongsa serve`"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from tongsa.base.errors import MissingExtraError, TongsaError, UsageError
from tongsa.cli.options import Beam, EngineOptions, grouped
from tongsa.cli.translators import shipped_translators
from tongsa.runs.names import find_translator

if TYPE_CHECKING:
    from tongsa.tasks.parser import Parser

PACKAGES = ("fastapi", "uvicorn", "httptools", "orjson", "prometheus_client", "python_multipart")


@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    panel: ClassVar[str] = "Network and access"

    host: Annotated[str, typer.Option("--host", help="Address to listen at; 0.0.0.0 lets other machines in.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, typer.Option("--port", help="Port to listen at; 0 takes any free one.")] = 5000
    api_keys: Annotated[
        Path | None, typer.Option("--api-keys", help="TOML: [NAME], key = ..., requests = ..., characters = ...")
    ] = None
    cors: Annotated[
        str, typer.Option("--cors", help="Origins whose pages may call, with commas; * for all (none by default).")
    ] = ""
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="Take clients' addresses from a proxy on this machine.")
    ] = False


@grouped
def serve(
    directories: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DIR]...",
            help="Translators and a parser: directories, or names (default: those shipped with Tongsa).",
            parser=find_translator,
        ),
    ] = None,
    limits: Annotated[
        str, typer.Option("--limits", help="characters=20000,queue=512,...; docs/serving.md has them all.")
    ] = "",
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder that keeps glossaries, suggestions and what keys have used.")
    ] = None,
    log_level: Annotated[str, typer.Option("--log-level", help="info, warning or error.")] = "info",
    beam: Beam = None,
    *,
    network: NetworkOptions,
    engine: EngineOptions,
) -> None:
    """Serve translators: a page, LibreTranslate's and DeepL's interfaces, and Tongsa's own.

    Example:  tongsa serve runs/en-de runs/de-en --port 5000
    """
    for package in PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(package.replace("_", "-"), "serve")
    from tongsa.base.devices import usable_cores
    from tongsa.server.http.keys import Keys
    from tongsa.server.http.limits import parse
    from tongsa.server.run import Address, run
    from tongsa.server.work.service import Service
    from tongsa.server.work.translators import Translators
    from tongsa.translation.translator import Translator

    def load(directory: Path) -> Translator:
        translator = engine.load(directory)
        if beam is not None:
            translator.search = replace(translator.search, beam=beam)
        return translator

    parsers = [directory for directory in directories or () if _is_parser(directory)]
    if len(parsers) > 1:
        raise UsageError("a service has one parser", f"Remove all but one of {', '.join(map(str, parsers))}.")
    translators = [directory for directory in directories or shipped_translators() if directory not in parsers]
    service = Service(
        translators=Translators(translators, load),
        parser=_load_parser(parsers[0], beam, engine) if parsers else None,
        limits=parse(limits),
        workers=engine.threads or usable_cores(),
        keys=Keys.read(network.api_keys) if network.api_keys else None,
        data=data,
    )
    origins = tuple(origin.strip() for origin in network.cors.split(",") if origin.strip())
    run(
        service,
        Address(
            host=network.host,
            port=network.port,
            cors=origins,
            behind_proxy=network.behind_proxy,
            log_level=log_level,
        ),
    )


def _is_parser(directory: Path) -> bool:
    from tongsa.runs.directory import Run

    try:
        return Run(directory).read_card().task == "parsing"
    except TongsaError:  # told when it is loaded
        return False


def _load_parser(directory: Path, beam: int | None, engine: EngineOptions) -> Parser:
    from tongsa.tasks.parser import Parser

    parser = Parser.load(directory, device=engine.device)
    if beam is not None:
        decoding = replace(parser.card.recipe.decoding, beam=beam)
        parser.card = replace(parser.card, recipe=replace(parser.card.recipe, decoding=decoding))
    return parser
