"""A provider as a real HTTP server on loopback, in a thread of this process or alone in the foreground."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import uvicorn
from starlette.requests import Request

from course.provider.app import create_app
from course.provider.cache import PrefixCache
from course.provider.clock import StepClock
from course.provider.desk import Desk, Exchange
from course.provider.faults import KINDS, Fault, FaultPlan
from course.provider.models import Model, default_models

if TYPE_CHECKING:
    import openai

HOST = "127.0.0.1"
KEY = "sk-offline"
MAX_BODY_BYTES = 10_000_000


class PortInUseError(OSError):
    """The port that was asked for belongs to another program."""


class Provider:
    """A strict provider on a port of its own; several can run at a time.

        with Provider() as provider:
            provider.client().chat.completions.create(model="sim-8k", messages=[...])
            provider.log[-1].prompt_tokens

    `faults`: see `course.provider.faults`. `clock` is read once a request; the default goes on by a second each time.
    `cache_ttl` is in seconds, `cache_blocks` in blocks of 128 tokens for each model. Port 0 lets the system choose.
    """

    def __init__(
        self,
        models: Iterable[Model] | None = None,
        faults: Iterable[Fault] = (),
        key: str = KEY,
        strict_alternation: bool = True,
        *,
        port: int = 0,
        clock: Callable[[], float] | None = None,
        cache_ttl: float = 300.0,
        cache_blocks: int = 8_192,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        by_name = {model.name: model for model in (default_models() if models is None else models)}
        caches = {name: PrefixCache(cache_blocks, cache_ttl) for name in by_name}
        self._desk = Desk(by_name, key, FaultPlan(faults), clock or StepClock(), strict_alternation, caches)
        self._wanted_port = port
        self._port: int | None = None
        self._max_body_bytes = max_body_bytes
        self._transports: list[Any] = []

    @property
    def key(self) -> str:
        """The only key that is taken."""
        return self._desk.key

    @property
    def log(self) -> list[Exchange]:
        """Every chat request in the order of its answer, refused ones too."""
        return self._desk.log

    @property
    def models(self) -> tuple[Model, ...]:
        """The models that are served."""
        return tuple(self._desk.models.values())

    @property
    def base_url(self) -> str:
        """`http://127.0.0.1:PORT/v1`; RuntimeError before the provider was started."""
        if self._port is None:
            raise RuntimeError("this provider has not been started: use `with Provider() as provider:`")
        return f"http://{HOST}:{self._port}/v1"

    def client(self, **options: Any) -> openai.OpenAI:
        """An `openai.OpenAI` that speaks to this provider, without retries unless `options` say so."""
        import openai

        if "http_client" not in options:
            # Loopback needs neither proxies from the environment nor certificates, whose loading takes 50 ms.
            http_client: Any = openai.DefaultHttpxClient(trust_env=False, verify=False)
            self._transports.append(http_client._transport)
            options["http_client"] = http_client
        settings: dict[str, Any] = {"base_url": self.base_url, "api_key": self.key, "max_retries": 0}
        return openai.OpenAI(**settings | options)

    def start(self) -> Self:
        """This provider, listening. PortInUseError when the port is taken."""
        listener = _bind(self._wanted_port)
        self._port = listener.getsockname()[1]
        self._server = _Server(self._desk, self._max_body_bytes)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name="provider", daemon=True)
        self._thread.start()
        self._server.ready.wait()
        return self

    def stop(self) -> None:
        """Ends at once: requests in mid-run lose their connection. A second time does nothing."""
        if self._port is not None and self._thread.is_alive():
            self._server.stop()
            self._thread.join()
        # Only the sockets are closed, not the clients: who calls one of them now must get a connection error.
        while self._transports:
            self._transports.pop().close()

    def wait(self) -> None:
        """Returns when the provider has ended. Ctrl-C gets through, on Windows too, since no wait is long."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class _Server(uvicorn.Server):
    """A uvicorn server that says when it is ready, stops on demand without polling, and can drop a connection."""

    def __init__(self, desk: Desk, max_body_bytes: int) -> None:
        app = create_app(desk, max_body_bytes=max_body_bytes, drop=self.drop)
        # `critical`: a dropped or interrupted request is no news here; failures are in the provider's log.
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            timeout_keep_alive=300,
            server_header=False,
        )
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._stopping.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in self._connections():
            connection.transport.abort()
        await asyncio.sleep(0)  # the connections learn that they are closed before their requests are cancelled
        tasks = list(self.server_state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            super().run(sockets)
        finally:
            self.ready.set()  # also when it could not start, so that nobody waits for ever

    def stop(self) -> None:
        """Asks the server's thread to end; to be called from another one."""
        self._loop.call_soon_threadsafe(self._stopping.set)

    def drop(self, request: Request) -> None:
        """Closes the connection of `request` without an answer."""
        for connection in self._connections():
            if connection.client == request.scope["client"]:
                connection.transport.abort()

    def _connections(self) -> list[Any]:
        return list(self.server_state.connections)


def _bind(port: int) -> socket.socket:
    # The protocol must be named: asyncio turns Nagle's algorithm off (40 ms an answer) only where it reads TCP.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # On POSIX this only spares the wait after a restart; on Windows it would let two programs share a port.
    if sys.platform != "win32":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        # Listening here and not in the server's thread: only now the system tells that another one listens already.
        listener.listen(128)
    except OSError as error:
        listener.close()
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        why = "is already in use by another program" if error.errno == errno.EADDRINUSE else "may not be opened by you"
        text = f"Port {port} on {HOST} {why}. Choose another one, or 0 to let the system choose."
        raise PortInUseError(text) from None
    return listener


def serve(
    port: int = 0,
    *,
    key: str = KEY,
    models: Iterable[Model] | None = None,
    faults: Iterable[Fault] = (),
    strict_alternation: bool = True,
) -> None:
    """Serves until Ctrl-C, for any client. PortInUseError says what to do when the port is taken.

    A client asks for a fault with the header `x-course-fault`: see `course.provider.faults`.
    """
    with Provider(models, faults, key, strict_alternation, port=port) as provider:
        names = ", ".join(f"{model.name} ({model.context_length:,} tokens)" for model in provider.models)
        print(f"OPENAI_BASE_URL={provider.base_url}", f"OPENAI_API_KEY={provider.key}", sep="\n")
        print(f"models: {names}", f"faults on demand, header x-course-fault: {', '.join(KINDS)}", sep="\n")
        print("Ctrl-C ends.", flush=True)
        try:
            provider.wait()
        except KeyboardInterrupt:
            print("stopped")
