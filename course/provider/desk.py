"""The desk: one chat request in, one outcome out, everything in between in the order in which a provider looks at it.

key → JSON → model → faults → parameters → rules → tokens, window → cache → the model's answer → its limit → log
"""

from __future__ import annotations

import hmac
import threading
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from course.provider import envelope, request, rules
from course.provider.cache import PrefixCache
from course.provider.completion import Completion, clipped, problem_with
from course.provider.envelope import ApiError
from course.provider.faults import Fault, FaultPlan, parse_header
from course.provider.models import Model
from course.provider.tokens import Tokenizer


@dataclass
class Exchange:
    """One logged request: what came, what went back, what it cost in tokens.

    `status` is None when the connection was dropped; `error` has code, message, type and param, and `detail` where a
    model raised; `fault` names the faults that were asked for.
    """

    number: int
    created: int
    status: int | None = None
    model: str | None = None
    body: dict[str, Any] | None = None
    reply: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    finish_reason: str | None = None
    fault: str | None = None


@dataclass
class Outcome:
    """What the server does with a request: answer or refuse, after `delay` seconds; or drop the connection."""

    completion: Completion | None = None
    refusal: ApiError | None = None
    delay: float = 0.0
    drop: bool = False
    stream: bool = False
    include_usage: bool = False


@dataclass
class Desk:
    """The state of a provider: its models, caches, faults, clock and log."""

    models: dict[str, Model]
    key: str
    faults: FaultPlan
    clock: Callable[[], float]
    strict_alternation: bool = True
    caches: dict[str, PrefixCache] = field(default_factory=dict)
    log: list[Exchange] = field(default_factory=list)
    tokenizer: Tokenizer = field(default_factory=Tokenizer)
    _count: int = 0
    # Held for everything but the model's own time, so that counts and caches see one request after the other.
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def authorize(self, authorization: str | None) -> None:
        """Raises ApiError 401 unless the header carries the key."""
        scheme, _, key = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise envelope.missing_key()
        if not hmac.compare_digest(key.strip().encode("utf-8", "replace"), self.key.encode()):
            raise envelope.wrong_key()

    def model(self, name: Any) -> Model:
        """The model of that name, or ApiError 404."""
        if not isinstance(name, str) or name not in self.models:
            raise envelope.unknown_model(name, list(self.models))
        return self.models[name]

    def handle(self, raw: bytes | ApiError, authorization: str | None, fault_header: str | None = None) -> Outcome:
        """The outcome of one request, in the log when this returns. `raw` is the body, or why there is none."""
        with self._lock:
            self._count += 1
            now = self.clock()
            exchange = Exchange(self._count, int(now))
        outcome = Outcome()
        try:
            self.authorize(authorization)
            if isinstance(raw, ApiError):
                raise raw
            self._answer(exchange, outcome, request.parse(raw), fault_header, now)
        except ApiError as refusal:
            exchange.error = dict(refusal.error)
            exchange.status, outcome.refusal = refusal.status, refusal
        except BaseException:  # a model that calls sys.exit() is a 500 too, and must not end the server
            self._fail(exchange, outcome)
        with self._lock:
            self.log.append(exchange)
        return outcome

    def _answer(
        self, exchange: Exchange, outcome: Outcome, body: dict[str, Any], fault_header: str | None, now: float
    ) -> None:
        exchange.body = body
        model = self.model(body.get("model"))
        exchange.model = model.name
        faults = self._faults(model, fault_header)
        exchange.fault = ", ".join(fault.kind for fault in faults) or None
        kinds = {fault.kind for fault in faults}
        if self._strike(faults, model, outcome):
            return
        self._check(body)
        self._count_prompt(exchange, model, body, now)
        reply = {"role": "assistant", "content": ""} if "empty" in kinds else self._ask(model, body)
        self._complete(exchange, outcome, model, reply, "length" in kinds)
        outcome.stream = bool(body.get("stream"))
        outcome.include_usage = bool((body.get("stream_options") or {}).get("include_usage"))

    def _faults(self, model: Model, header: str | None) -> list[Fault]:
        with self._lock:
            struck = self.faults.next(model.name)
        if header is None:
            return struck
        try:
            return [*struck, parse_header(header)]
        except ValueError as error:
            raise ApiError(400, f"Invalid header 'x-course-fault': {error}", code="invalid_value") from None

    def _strike(self, faults: Iterable[Fault], model: Model, outcome: Outcome) -> bool:
        """Whether a fault takes the place of an answer; raises ApiError for those that are a status."""
        for fault in faults:
            if fault.kind == "slow":
                outcome.delay += fault.seconds
            elif fault.kind == "rate_limit":
                raise envelope.rate_limited(model.name, fault.retry_after)
            elif fault.kind == "server_error":
                raise envelope.server_error()
            elif fault.kind == "drop":
                outcome.drop = True
                return True
        return False

    def _check(self, body: dict[str, Any]) -> None:
        request.check(body)
        if broken := rules.violations(body.get("messages"), strict_alternation=self.strict_alternation):
            first = broken[0]
            raise ApiError(400, first.message, param=first.param, code=first.rule)

    def _count_prompt(self, exchange: Exchange, model: Model, body: dict[str, Any], now: float) -> None:
        with self._lock:
            prompt = self.tokenizer.prompt(body["messages"], body.get("tools") or ())
            exchange.prompt_tokens = len(prompt.ids)
            if len(prompt.ids) > model.context_length:
                raise envelope.context_overflow(model.context_length, len(prompt.ids), prompt.tool_tokens)
            exchange.cached_tokens = self.caches[model.name].lookup(prompt.ids, now)

    def _ask(self, model: Model, body: dict[str, Any]) -> dict[str, Any]:
        reply = model.answer(body)
        if problem := problem_with(reply):
            raise TypeError(f"the model {model.name} gave no usable reply: {problem}")
        return reply

    def _complete(self, exchange: Exchange, outcome: Outcome, model: Model, reply: dict[str, Any], halve: bool) -> None:
        room = model.context_length - exchange.prompt_tokens
        limit = min(room, request.output_limit(exchange.body or {}) or room)
        with self._lock:
            message, used, cut = clipped(reply, limit, self.tokenizer)
            if halve:
                message, used, _ = clipped(message, used // 2, self.tokenizer)
        reason = "length" if cut or halve else "tool_calls" if message.get("tool_calls") else "stop"
        exchange.status, exchange.reply, exchange.completion_tokens = 200, message, used
        exchange.finish_reason = reason
        outcome.completion = Completion(
            f"chatcmpl-{exchange.number:06}",
            exchange.created,
            model.name,
            message,
            reason,
            exchange.prompt_tokens,
            exchange.cached_tokens,
            used,
        )

    def _fail(self, exchange: Exchange, outcome: Outcome) -> None:
        """A 500 without details for the client; the traceback stays in the log."""
        refusal = envelope.server_error()
        exchange.status, outcome.refusal = refusal.status, refusal
        exchange.error = refusal.error | {"detail": traceback.format_exc()}
