"""The routes of the provider, as a Starlette application."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from course.provider import envelope
from course.provider.clock import EPOCH
from course.provider.completion import Completion
from course.provider.desk import Desk
from course.provider.envelope import ApiError
from course.provider.faults import HEADER

T = TypeVar("T")
Drop = Callable[[Request], None]


def create_app(desk: Desk, *, max_body_bytes: int, drop: Drop) -> Starlette:
    """The application for `desk`; `drop` closes a request's connection without an answer."""

    async def chat(request: Request) -> Response:
        raw = await _body(request, max_body_bytes)
        headers = request.headers
        outcome = await _in_thread(lambda: desk.handle(raw, headers.get("authorization"), headers.get(HEADER)))
        await asyncio.sleep(outcome.delay)
        if outcome.drop:
            drop(request)
            return Response()
        if outcome.refusal or not outcome.completion:
            return _refused(outcome.refusal or envelope.server_error())
        if outcome.stream:
            return _streamed(outcome.completion, outcome.include_usage)
        return _json(outcome.completion.plain())

    async def models(request: Request) -> Response:
        desk.authorize(request.headers.get("authorization"))
        return _json({"object": "list", "data": [_model_object(name) for name in desk.models]})

    async def model(request: Request) -> Response:
        desk.authorize(request.headers.get("authorization"))
        return _json(_model_object(desk.model(request.path_params["name"]).name))

    async def health(request: Request) -> Response:
        return _json({"status": "ok"})

    routes = [
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/models", models, methods=["GET"]),
        Route("/v1/models/{name}", model, methods=["GET"]),
        Route("/health", health, methods=["GET"]),
    ]
    handlers: dict[Any, Any] = {ApiError: _on_api_error, HTTPException: _on_http_error, Exception: _on_failure}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return app


async def _body(request: Request, limit: int) -> bytes | ApiError:
    """The request's body, or the refusal when it is over `limit` bytes.

    An over-long body is read to its end and thrown away: a client that is still sending would see a broken connection
    in place of the 413.
    """
    received, size = bytearray(), 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size <= limit:
                received += chunk
    except ClientDisconnect:
        return ApiError(400, "The client closed the connection before the body was complete.")
    return bytes(received) if size <= limit else envelope.body_too_large(limit)


async def _in_thread(call: Callable[[], T]) -> T:
    """What `call` returns in a thread of its own, where a model that takes its time holds up nobody. It must not raise.

    A daemon thread and no pool: when the provider is stopped, a model that never returns must not keep Python alive.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T) -> None:
        if not done.cancelled():
            done.set_result(result)

    def run() -> None:
        result = call()
        with contextlib.suppress(RuntimeError):  # the loop is closed: the provider was stopped in the meantime
            loop.call_soon_threadsafe(settle, result)

    threading.Thread(target=run, name="provider-request", daemon=True).start()
    return await done


def _json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    # ASCII only: an error text may quote what UTF-8 cannot hold.
    return Response(json.dumps(value), status, headers, media_type="application/json")


def _refused(error: ApiError) -> Response:
    return _json(error.body(), error.status, error.headers)


def _streamed(completion: Completion, include_usage: bool) -> Response:
    async def events() -> AsyncIterator[str]:
        for chunk in completion.chunks(include_usage):
            yield f"data: {json.dumps(chunk)}\n\n"
        yield "data: [DONE]\n\n"

    return StreamingResponse(events(), media_type="text/event-stream", headers={"cache-control": "no-cache"})


def _model_object(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": int(EPOCH), "owned_by": "course"}


async def _on_api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return _refused(error)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    refusal = envelope.wrong_method if error.status_code == 405 else envelope.unknown_route
    response = _refused(refusal(request.method, request.url.path))
    response.headers.update(error.headers or {})
    return response


async def _on_failure(request: Request, error: Exception) -> Response:
    return _refused(envelope.server_error())
