"""Runs a service: socket, signals, graceful shutdown.

SIGTERM, Ctrl+C   accept no new connections, answer the accepted requests, then exit
SIGHUP            reload every translator, while the old ones continue to serve
"""

from __future__ import annotations

import asyncio
import signal
import socket
from dataclasses import dataclass
from types import FrameType

import uvicorn

from tongsa.base.errors import UsageError
from tongsa.server.app import application
from tongsa.server.http.connections import protocol
from tongsa.server.http.logs import log_event, set_up
from tongsa.server.work.service import Service

BACKLOG = 2_048
A_YEAR = 365 * 24 * 3_600


@dataclass(frozen=True, kw_only=True)
class Address:
    """The address that a service listens at, and who may access it."""

    host: str = "127.0.0.1"
    port: int = 5000
    cors: tuple[str, ...] = ()
    """Origins whose pages may call the service; `*` for all."""
    behind_proxy: bool = False
    """Take clients' addresses from the headers of a proxy on this machine."""
    log_level: str = "info"


def run(service: Service, address: Address) -> None:
    """Serve until a signal stops it."""
    set_up(address.log_level)
    listener = bind(address.host, address.port)
    config = configured(service, address)
    directions = [f"{source}-{target}" for source, target in service.translators.directions]
    log_event("listening", {"url": url_of(listener), "directions": directions})
    Server(config, service).run(sockets=[listener])


def configured(service: Service, address: Address) -> uvicorn.Config:
    """The settings of uvicorn for a service."""
    return uvicorn.Config(
        application(service, cors=address.cors),
        http=protocol(service.limits),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=address.behind_proxy,
        backlog=BACKLOG,
        timeout_keep_alive=service.limits.idle_seconds or A_YEAR,
        timeout_graceful_shutdown=service.limits.document_seconds or None,
    )


class Server(uvicorn.Server):
    """uvicorn's server, with SIGHUP and graceful shutdown."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service
        self._reloading: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if hasattr(signal, "SIGHUP"):
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._reload)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for _ in range(3):  # let the loop accept connections that are already established
            await asyncio.sleep(0)
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; a second Ctrl+C stops at once. The signal is not raised again at the end: stopping is not a failure."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    def _reload(self) -> None:
        task = asyncio.create_task(self._service.reload(all_of_them=True))
        self._reloading.add(task)
        task.add_done_callback(self._reloading.discard)


def bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)  # clients that connect before the service is ready wait
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(
            f"the service cannot listen at {host}, port {port}: {getattr(error, 'strerror', None) or error}",
            "Choose another:  --port 5001",
        ) from error
    listener.set_inheritable(True)
    return listener


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
