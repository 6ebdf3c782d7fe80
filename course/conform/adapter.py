"""From the settings of a case to our functions, and back: the one place where both vocabularies meet.

    case                                         ours
    threshold_tokens, threshold_ratio, ...       the trigger, in tokens of the whole request; `limit` is what it leaves
    protect_head (without the system prompt)     protect_first (with it)
    protect_tail (messages), tail_tokens         tail_token_budget; messages count as many tokens as they have, at most
                                                 half of the limit
    prune_over_chars, never_prune                min_chars, never_prune; without prune_over_chars pruning alone is never
                                                 enough (prune_limit 0), since such a case is about its summary
    usage, reported_prompt_tokens                TokenMeter.report, before the first pass only
    summary                                      a fake client under `summarize_middle`
    mode "repair only"                           sanitize_tool_pairs, then bridge_roles
    task_state                                   a TaskState, rendered behind the system prompt as the agent does
    pending_results, then_append                 in_flight while compressing, then appended
    append_during_summary                        appended to the live list while the summary is made
    each_pass_then_append                        messages, or a group of so many per cent of the window, after each pass
    tools, calls, interrupt, hook                one turn of the agent of chapter 2

A session that is stuck ends with the list that `CompressionStuckError` carries: checks of a list look at it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from course.conform.cases import Case
from course.conform.fake import FakeSummarizer
from course.conform.generators import group, run_tools, store_and_load
from reference.ch05_budget import TokenMeter, estimate_tokens, should_compress, threshold_tokens
from reference.ch08_alignment import sanitize_tool_pairs
from reference.ch09_summary import summarize_middle, summary_budget
from reference.ch10_compress import CompressionReport, bridge_roles
from reference.ch11_stuck import CompressionStuckError, compress_or_raise
from reference.ch12_task_state import TaskState, task_set_goal, todo_write
from reference.messages import SYSTEM_ROLES, Message, text_of

DEFAULT_WINDOW = 8_192  # careful: a missing window must not mean that nothing is ever compressed
SUMMARIZER_WINDOW = 200_000  # where a case names no limit: one request is enough
ROOM_SHARE = 8  # a summary may take an eighth of the window of the model that writes it
SECRETS = re.compile(
    r"(sk|ghp|xox[bp]|AKIA)[-_A-Za-z0-9]{8,}|eyJ[-_.A-Za-z0-9]{20,}|(?i:bearer\s+)\S{8,}"
    r"|(?i:(password|token|secret|api_?key)\s*[=:]\s*)\S+"
)


@dataclass
class Pass:
    """One look at the list: before, after, the report (None where it was not due), and what the look cost."""

    before: list[Message]
    after: list[Message]
    report: CompressionReport | None
    summary_calls: int


@dataclass
class Run:
    """What became of a case; `error` is what was raised, `result` the list that was left."""

    case: Case
    source: list[Message]
    result: list[Message] = field(default_factory=list)
    error: Exception | None = None
    passes: list[Pass] = field(default_factory=list)
    client: FakeSummarizer = field(default_factory=lambda: FakeSummarizer({}, lambda: None))
    plan: Plan | None = None
    state: TaskState = field(default_factory=TaskState)
    state_before: TaskState = field(default_factory=TaskState)

    @property
    def summary_calls(self) -> int:
        """Requests that the auxiliary model got."""
        return len(self.client.requests)


@dataclass(frozen=True)
class Plan:
    """A case's settings as ours: window and trigger in tokens of the whole request, and keywords of `compress`."""

    window: int
    trigger: int
    overhead: int
    keywords: dict[str, Any]


def plan_of(settings: dict[str, Any], messages: list[Message], in_flight: bool = False) -> Plan:
    """The plan of a case for a list of messages."""
    window = settings.get("context_window") or max(DEFAULT_WINDOW, 2 * settings.get("threshold_tokens", 0))
    trigger, overhead = trigger_of(settings, window), settings.get("overhead_tokens", 0)
    system = sum(message.get("role") in SYSTEM_ROLES for message in messages[:1])
    keywords = {
        "protect_first": settings.get("protect_head", 2) + system,
        "tail_token_budget": tail_budget(settings, messages, max(0, trigger - overhead)),
        "keep_recent": settings.get("keep_recent", 3),
        "min_chars": settings.get("prune_over_chars", 200),
        "prune_limit": None if "prune_over_chars" in settings else 0,
        "never_prune": _as_tuple(settings.get("never_prune", ())),
        "in_flight": in_flight,
    }
    return Plan(window, trigger, overhead, keywords)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    """A setting that may be one value or several."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def trigger_of(settings: dict[str, Any], window: int) -> int:
    """The tokens at which to act: as set, but below the window and the room for the reply."""
    by_share = threshold_tokens(window, settings.get("threshold_ratio", 0.5))
    trigger = settings.get("threshold_tokens", by_share)
    if settings.get("min_threshold_tokens", 0) < window:
        trigger = max(trigger, settings.get("min_threshold_tokens", 0))
    return max(1, min(trigger, window - settings.get("max_output_tokens", 0) - 1))


def tail_budget(settings: dict[str, Any], messages: list[Message], limit: int) -> int:
    """The tokens of the tail: as set, or those of the last `protect_tail` messages, at most half of the limit."""
    if "tail_tokens" in settings:
        return settings["tail_tokens"]
    if "protect_tail" not in settings:
        return limit // 5
    count = settings["protect_tail"]
    return min(estimate_tokens(messages[-count:]) if count else 0, limit // 2)


def redactor(setting: Any) -> Callable[[str], str]:
    """The function for `summarize_middle` that takes out what the setting names: true, or texts or patterns."""
    if not setting:
        return str
    pattern = re.compile("|".join(map(_either, _named(setting)))) if setting is not True else SECRETS
    return lambda text: pattern.sub("[redacted]", text)


def _named(setting: Any) -> list[str]:
    """The texts and patterns in a setting: one, several, or those in an object."""
    if isinstance(setting, dict | list):
        values = setting.values() if isinstance(setting, dict) else setting
        return [text for value in values for text in _named(value)]
    return [str(setting)]


def _either(text: str) -> str:
    """A pattern for a text as it stands, and as the regular expression that it may be."""
    try:
        re.compile(text)
    except re.error:
        return re.escape(text)
    return f"{re.escape(text)}|(?:{text})"


def run_case(case: Case) -> Run:
    """What our functions make of the messages of a case."""
    settings, source = case.settings, copy.deepcopy(case.messages or [])
    run = Run(case, source)
    if str(settings.get("mode", "")).startswith("repair"):
        run.result = mended(source)
        return run
    if "store" in str(settings.get("mode", "")):
        run.result = store_and_load(source)
        return run
    if settings.get("tools"):
        run.result = run_tools(case)
        return run
    _set_state(run, settings.get("task_state") or {})
    live = list(source)
    arriving = list(settings.get("append_during_summary") or ())

    def during() -> None:
        live.extend(arriving)
        arriving.clear()

    run.client = FakeSummarizer(settings.get("summary") or {}, during)
    try:
        _passes(run, live)
    except Exception as error:  # whatever comes out is the outcome of the case, and is judged as such
        run.error = error
        run.result = getattr(error, "messages", None) or live
    run.result = _sent(run.result, run.state)
    return run


def mended(messages: list[Message]) -> list[Message]:
    """The messages as an agent takes a history over: repaired and bridged."""
    return bridge_roles(sanitize_tool_pairs(messages)[0])


def _set_state(run: Run, given: dict[str, Any]) -> None:
    """Record the case's goal and items with the tools that a model has for it."""
    for state in (run.state, run.state_before):
        if given.get("goal"):
            task_set_goal(state, given["goal"])
        done = [_subject(item) for item in given.get("done") or ()]
        items = dict.fromkeys([*map(_subject, given.get("todo") or ()), *done])
        todo_write(state, [{"subject": item, "status": "completed" if item in done else "pending"} for item in items])


def _subject(item: Any) -> str:
    """The subject of an item, which may be an object."""
    return str(item.get("subject") or item.get("content") or item) if isinstance(item, dict) else str(item)


def _passes(run: Run, live: list[Message]) -> None:
    """Look at the list as often as the case says, each time as before a request; then what comes late is appended."""
    settings = run.case.settings
    pending = settings.get("pending_results") or ()
    late = [*(pending if isinstance(pending, list) else ()), *(settings.get("then_append") or ())]
    meter, reported = TokenMeter(), settings.get("reported_prompt_tokens", _reported(settings))
    in_flight = bool(late or pending)
    for _ in range(settings.get("passes", 1)):
        run.plan = plan_of(settings, live, in_flight)
        if reported:
            meter.report(reported, estimate_tokens(live) + run.plan.overhead)
            reported = 0  # void once the list has changed
        before, calls = list(live), run.summary_calls
        live, report = make_room(live, run, meter)
        run.passes.append(Pass(before, live, report, run.summary_calls - calls))
        live = [*live, *appended(settings.get("each_pass_then_append"), len(run.passes), run.plan.window)]
    arrived = [message for message in late if isinstance(message, dict)]
    run.result = mended([*live, *arrived]) if arrived or settings.get("each_pass_then_append") else live


def appended(setting: Any, number: int, window: int) -> list[Message]:
    """What comes behind the list after a pass: the setting's messages, or a group of so many per cent of the window."""
    share = re.search(r"(\d+)\s*%", setting) if isinstance(setting, str) else None
    if share:
        return group(number, "data" * (window * int(share[1]) // 100))
    return list(setting) if isinstance(setting, list) else []


def _reported(settings: dict[str, Any]) -> int:
    """The prompt tokens in the provider's usage, of one form or the other, or 0."""
    usage = settings.get("usage") or {}
    if not isinstance(usage, dict):
        return int(usage)
    parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return int(usage.get("prompt_tokens") or sum(usage.get(part) or 0 for part in parts))


def make_room(messages: list[Message], run: Run, meter: TokenMeter) -> tuple[list[Message], CompressionReport | None]:
    """(the list for the next request, the report): compressed where the trigger is reached, else only mended."""
    plan = run.plan or plan_of(run.case.settings, messages)
    tokens = meter.tokens(estimate_tokens(messages) + plan.overhead)
    if not should_compress(tokens, plan.trigger, 1.0):
        repaired = sanitize_tool_pairs(messages, in_flight=plan.keywords["in_flight"])[0]
        return bridge_roles(repaired) if run.case.settings.get("strict_alternation") else repaired, None
    limit = max(0, meter.estimate(plan.trigger) - plan.overhead)
    return compress_or_raise(messages, summarizer(run, plan), limit=limit, **plan.keywords)


def summarizer(run: Run, plan: Plan) -> Callable[[list[Message], str | None], str]:
    """`summarize_middle` with the case's fake client and its window."""
    settings = run.case.settings
    own_window = (settings.get("summary") or {}).get("max_input_tokens") or max(plan.window, SUMMARIZER_WINDOW)
    redact = redactor(settings.get("redact"))

    def summarize(turns: list[Message], previous_summary: str | None) -> str:
        window = settings.get("context_window") or SUMMARIZER_WINDOW
        budget = min(summary_budget(estimate_tokens(turns), window), own_window // ROOM_SHARE)
        return summarize_middle(
            turns, run.client, "fake", previous_summary, max(1, budget), context_length=own_window, redact=redact
        )

    return summarize


def _sent(messages: list[Message], state: TaskState) -> list[Message]:
    """The list as it is sent: with the task state behind the system prompt, where there is one."""
    live = state.render()
    if not live:
        return messages
    if not messages or messages[0].get("role") not in SYSTEM_ROLES:
        return [{"role": "system", "content": live}, *messages]
    return [messages[0] | {"content": f"{text_of(messages[0].get('content'))}\n\n{live}"}, *messages[1:]]


def is_stuck(run: Run) -> bool:
    """Whether the case ended with the clean refusal."""
    return isinstance(run.error, CompressionStuckError)
