"""What can be said of a run, as functions of it: each is True when it holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise

from course.conform.adapter import Run, is_stuck
from course.conform.ruler import all_text, is_object, problems, text, tokens
from reference.ch01_agent_loop import to_wire
from reference.ch05_budget import estimate_tokens
from reference.ch06_prune import PLACEHOLDER_START
from reference.ch07_boundaries import find_boundaries, is_summary
from reference.ch08_alignment import tool_groups, validate_messages
from reference.ch10_compress import compress
from reference.messages import GENERATED, Message
from reference.pairing import STUB_RESULT

Check = Callable[[Run], bool]
LITERAL: list[Message] = [{"role": "user", "content": "a literal \\u0000 in text"}]


def contents(run: Run, role: str = "tool") -> list[str]:
    """The texts of the result's messages of a role."""
    return [text(message) for message in run.result if message["role"] == role]


def last_user(run: Run) -> str:
    """The text of the last user message of the case."""
    return [text(message) for message in run.source if message["role"] == "user"][-1]


def is_valid(run: Run) -> bool:
    """Whether a strict server takes the result: by the ruler, and by the rules of chapter 8 with alternation."""
    return not problems(run.result) and not validate_messages(to_wire(run.result))


def groups_are_whole(run: Run) -> bool:
    """Whether every call has its result and every result its call, by number."""
    spans = tool_groups(run.result)
    asked = sum(len(run.result[start]["tool_calls"]) for start, _ in spans)
    return asked == sum(stop - start - 1 for start, stop in spans) == len(contents(run))


def results_in_call_order(run: Run) -> bool:
    """Whether the results of each group stand in the order of its calls."""
    groups = [run.result[start:stop] for start, stop in tool_groups(run.result)]
    return all(
        [call["id"] for call in group[0]["tool_calls"]] == [m["tool_call_id"] for m in group[1:]] for group in groups
    )


def nothing_is_lost(run: Run) -> bool:
    """Whether every text of the source is in the result."""
    return all(text(message) in all_text(run.result) for message in run.source)


def keeps_last_user(run: Run) -> bool:
    """Whether the last user message stands in the result as a message of its own, word for word."""
    return last_user(run) in contents(run, "user")


def keeps_last_group(run: Run) -> bool:
    """Whether the group that the model has not seen is in the result: all its results, one perhaps shortened."""
    start, stop = tool_groups(run.source)[-1]
    ids = [message.get("tool_call_id") for message in run.source[start + 1 : stop]]
    found = [message for message in run.result if message.get("tool_call_id") in ids and GENERATED not in message]
    return len(found) == len(ids) and not any(text(message).startswith(PLACEHOLDER_START) for message in found)


def summary_is_in_place(run: Run) -> bool:
    """Whether a summary, where there is one, stands behind the head and before the last user message or the tail."""
    places = [index for index, message in enumerate(run.result) if is_summary(message)]
    return not places or (len(places) == 1 and places[0] < len(run.result) - 1)


def stands_after_summary(run: Run) -> bool:
    """Whether the last user message comes behind the summary."""
    places = [index for index, message in enumerate(run.result) if is_summary(message)]
    users = [index for index, message in enumerate(run.result) if text(message) == last_user(run)]
    return bool(users) and (not places or places[0] < users[-1])


def below_or_stuck(run: Run) -> bool:
    """Whether every pass got below the trigger, or the session ended as stuck."""
    return is_stuck(run) or all(
        look.report is None or estimate_tokens(look.after) <= limit_of(run) for look in run.passes
    )


def limit_of(run: Run) -> int:
    """Tokens that the list may have."""
    return run.plan.trigger - run.plan.overhead if run.plan else 0


def is_shortened(run: Run) -> bool:
    """Whether the longest result became shorter, or the session is stuck."""
    longest = max(map(tokens, ([message] for message in run.source if message["role"] == "tool")))
    return is_stuck(run) or all(tokens([message]) < longest for message in run.result if message["role"] == "tool")


def calls_nobody_twice_alike(run: Run) -> bool:
    """Whether no request was sent to the summariser twice."""
    return len(set(run.client.prompts)) == len(run.client.prompts)


def asks_in_text(run: Run) -> bool:
    """Whether the summariser gets one quoted text with the instruction at the end, and no tools."""
    wanted = [
        len(one["messages"]) == 1 and "tools" not in one and isinstance(one["messages"][0]["content"], str)
        for one in run.client.requests
    ]
    return all(wanted) and all(prompt.rindex("## Goal") > prompt.rindex("</turns>") for prompt in run.client.prompts)


def every_request_fits(run: Run) -> bool:
    """Whether the summariser refused nothing as too long."""
    return run.client.refused == 0


def no_error_text(run: Run) -> bool:
    """Whether what the summariser raised is nowhere in the messages."""
    error = (run.case.settings.get("summary") or {}).get("error", "\0")
    return error not in json.dumps(run.result, ensure_ascii=False)


def nothing_dropped(run: Run) -> bool:
    """Whether no message was lost: all are there, pruned perhaps."""
    return len([message for message in run.result if message.get(GENERATED) != "bridge"]) >= len(run.source)


def roles_alternate_without_tools(run: Run) -> bool:
    """Whether users and assistants alternate when results and calls are left out, as some templates look at it."""
    roles = [m["role"] for m in run.result if m["role"] in ("user", "assistant") and not m.get("tool_calls")]
    return all(before != role for before, role in pairwise(roles))


def prompts_have(run: Run, *parts: str) -> bool:
    """Whether each part is in a request to the summariser or, kept word for word, in the result."""
    everything = "\n".join([*run.client.prompts, all_text(run.result)])
    return all(part in everything for part in parts)


def arguments_survive(run: Run) -> bool:
    """Whether all arguments are objects, short values are as they were, and no letter was escaped."""
    kept = [call for message in run.result for call in message.get("tool_calls") or ()]
    before = {call["function"]["arguments"] for message in run.source for call in message.get("tool_calls") or ()}
    return all(is_object(call) for call in kept) and all("\\u00" not in a or a in before for a in map(_raw, kept))


def _raw(call: Message) -> str:
    return call["function"]["arguments"]


def state_is_sent(run: Run) -> bool:
    """Whether goal and items stand in the system prompt, and the state is what it was."""
    system = text(run.result[0])
    subjects = [todo["subject"] for todo in run.state.todos]
    return run.state == run.state_before and all(part in system for part in [run.state.goal, *subjects])


def progress_or_end(run: Run) -> bool:
    """Whether no more than two passes in a row tried and saved nothing."""
    tried = [look for look in run.passes if look.report is not None]
    idle = [look.report is not None and look.report.after >= look.report.before for look in tried]
    return is_stuck(run) or not any(a and b and c for a, b, c in zip(idle, idle[1:], idle[2:], strict=False))


def head_is_given_up(run: Run) -> bool:
    """Whether what stays before the summary, without the system prompt, fits in the tail's budget."""
    place = next((index for index, message in enumerate(run.result) if is_summary(message)), 0)
    budget = run.plan.keywords["tail_token_budget"] if run.plan else 0
    return estimate_tokens(run.result[1:place]) <= max(budget, 20)


def late_is_behind(run: Run) -> bool:
    """Whether what arrived during the summary stands at the end, behind it."""
    late = [text(message) for message in run.case.settings.get("append_during_summary") or ()]
    return [text(message) for message in run.result if text(message) in late] == late and text(run.result[-1]) == late[
        -1
    ]


def clear_stays(run: Run) -> bool:
    """Whether a list that is emptied while the summary is made comes back empty."""
    live = list(run.source)

    def clear(turns: list[Message], previous_summary: str | None) -> str:
        live.clear()
        return "## Goal\nnone"

    return compress(live, clear, tail_token_budget=100)[0] == []


def cleaned(run: Run) -> bool:
    """Whether no NUL and no lone surrogate is left, in the result or in a request to the summariser."""
    everything = all_text(run.result) + "".join(run.client.prompts)
    return "\0" not in everything and everything.encode("utf-8", "ignore").decode() == everything


def compresses(run: Run) -> bool:
    """Whether the list was over the trigger and came out smaller."""
    return any(look.report is not None for look in run.passes) and tokens(run.result) < tokens(run.source)


def boundaries_in_order(run: Run) -> bool:
    """Whether the cuts are in order and inside the list for every size of head."""
    cuts = [find_boundaries(run.source, head, 100) for head in range(len(run.source) + 3)]
    return all(0 <= head <= tail <= len(run.source) for head, tail in cuts)


def names_what_fills(run: Run) -> bool:
    """Whether a stuck error says which message is the largest."""
    return not is_stuck(run) or "largest" in str(run.error)


def stubs_say_not_run(run: Run) -> bool:
    """Whether the generated results say that there is none."""
    return all(text(m) == STUB_RESULT for m in run.result if m.get(GENERATED) == "stub")
