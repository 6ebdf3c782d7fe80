"""The error envelope of the wire: what a client is told when it is refused."""

from __future__ import annotations

from typing import Any

INVALID = "invalid_request_error"


class ApiError(Exception):
    """An answer that is not a completion: the status, the four fields of the envelope, and headers."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = INVALID,
        param: str | None = None,
        code: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error: dict[str, Any] = {"message": message, "type": kind, "param": param, "code": code}
        self.headers = headers or {}

    def body(self) -> dict[str, Any]:
        """The envelope `{"error": {"message", "type", "param", "code"}}`."""
        return {"error": self.error}


def missing_key() -> ApiError:
    """401: no key came with the request."""
    text = "You didn't provide an API key. Send it in the Authorization header: 'Authorization: Bearer YOUR_KEY'."
    return ApiError(401, text, code="invalid_api_key")


def wrong_key() -> ApiError:
    """401: another key than the provider's. The key is not repeated: it may be a real one, sent here by mistake."""
    text = "Incorrect API key provided. This provider is offline and takes only its own key (`provider.key`)."
    return ApiError(401, text, code="invalid_api_key")


def unknown_route(method: str, path: str) -> ApiError:
    """404: nothing is served at `path`."""
    return ApiError(404, f"Unknown request URL: {method} {path}. Check the URL for typos.", code="unknown_url")


def wrong_method(method: str, path: str) -> ApiError:
    """405: `path` exists, but not for `method`."""
    text = f"Not allowed to {method} on {path}. (HINT: Perhaps you meant to use a different HTTP method?)"
    return ApiError(405, text, code="method_not_supported")


def unknown_model(name: object, known: list[str]) -> ApiError:
    """404: no model of that name."""
    found = f"The model '{name}' does not exist" if name else "You must provide a model parameter"
    return ApiError(404, f"{found}; this provider serves: {', '.join(known)}.", param="model", code="model_not_found")


def body_too_large(limit: int) -> ApiError:
    """413: the body has more than `limit` bytes."""
    return ApiError(413, f"The request body is larger than the limit of {limit:,} bytes.", code="request_too_large")


def context_overflow(window: int, total: int, in_tools: int) -> ApiError:
    """400: a prompt of `total` tokens, `in_tools` of them schemas, for a window of `window` tokens."""
    where = f" ({total - in_tools} in the messages, {in_tools} in the functions)" if in_tools else ""
    what = "messages or functions" if in_tools else "messages"
    text = (
        f"This model's maximum context length is {window} tokens. However, your messages resulted in "
        f"{total} tokens{where}. Please reduce the length of the {what}."
    )
    return ApiError(400, text, param="messages", code="context_length_exceeded")


def server_error(message: str = "The server had an error while processing your request. Sorry about that!") -> ApiError:
    """500: the provider's own failure."""
    return ApiError(500, message, kind="server_error", code="server_error")


def rate_limited(model: str, retry_after: float) -> ApiError:
    """429: come back in `retry_after` seconds."""
    text = f"Rate limit reached for {model}. Please try again in {retry_after:g}s."
    headers = {"retry-after": f"{retry_after:g}"}
    return ApiError(429, text, kind="requests", code="rate_limit_exceeded", headers=headers)
