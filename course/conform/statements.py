"""What a report says must hold, as checks: the sentence of the case -> a function of its run.

Sentences that mean the same point to the same check. What is left out here is no claim about our functions.
"""

from __future__ import annotations

from course.conform.adapter import is_stuck, tail_budget, trigger_of
from course.conform.claims import (
    LITERAL,
    Check,
    arguments_survive,
    asks_in_text,
    below_or_stuck,
    boundaries_in_order,
    calls_nobody_twice_alike,
    cleaned,
    clear_stays,
    compresses,
    contents,
    every_request_fits,
    groups_are_whole,
    head_is_given_up,
    is_shortened,
    is_valid,
    keeps_last_group,
    keeps_last_user,
    late_is_behind,
    names_what_fills,
    no_error_text,
    nothing_dropped,
    nothing_is_lost,
    progress_or_end,
    prompts_have,
    results_in_call_order,
    roles_alternate_without_tools,
    stands_after_summary,
    state_is_sent,
    stubs_say_not_run,
    summary_is_in_place,
)
from course.conform.generators import store_and_load
from course.conform.ruler import all_text, tokens
from reference.ch02_tools import INTERRUPTED
from reference.ch05_budget import PICTURE_TOKENS, estimate_message_tokens, estimate_tokens
from reference.ch08_alignment import sanitize_tool_pairs
from reference.ch09_summary import UPDATE
from reference.pairing import STUB_RESULT

STATEMENTS: dict[str, Check] = {
    # pairing and order
    "a strict server accepts the result: every call answered right after it, every result preceded by its call": is_valid,
    "the kept part never starts with role tool": is_valid,
    "the summary stands where the dropped part was": summary_is_in_place,
    "the ten results are kept together with their call or all summarised together": lambda run: (
        len(contents(run)) in (0, 10)
    ),
    "moving the cut back must not leave an endless loop when nothing is left to summarise: raise or prune instead": is_valid,
    "repair looks at the complete list, not just the first message": is_valid,
    "an unanswered call gets a stub result saying it was not run, or the call is dropped": groups_are_whole,
    "stub text must not look like success": stubs_say_not_run,
    "no assistant message with calls stays without its results": groups_are_whole,
    "call and result are matched by id as well as by place": groups_are_whole,
    "the user's note is kept": lambda run: prompts_have(run, "(note from the user while the tool ran)"),
    "what is sent to the summariser is text (no roles) or itself a valid list": asks_in_text,
    "a retry after a refused summary request changes the request": calls_nobody_twice_alike,
    "missing results get a stub each, in the order of the calls": lambda run: (
        [message["tool_call_id"] for message in run.result if message["role"] == "tool"] == ["t1", "t2", "t3"]
    ),
    "the real result stays word for word": lambda run: contents(run)[0] == "one",
    "compaction does not start while calls are open, or the open group is kept untouched": lambda run: any(
        message == run.source[-1] for message in run.result
    ),
    "after the late result is appended the list is still valid": is_valid,
    "below the threshold the list comes back unchanged": lambda run: run.result == run.source,
    "0 <= head_end <= tail_start <= len": boundaries_in_order,
    "nothing between head and tail -> unchanged or CompressionStuckError, never IndexError": lambda run: (
        run.result == run.source
    ),
    "pruning replaces the content of results and never removes just one side": groups_are_whole,
    "the second call gets its own stub": lambda run: contents(run) == ["passed", STUB_RESULT],
    "no assistant message with neither text nor calls": is_valid,
    "repair works on a copy; the stored history is not changed": lambda run: run.source == run.case.messages,
    "both polls stay": lambda run: contents(run) == ["busy", "ready"],
    "the key tool_calls is absent rather than an empty list": is_valid,
    "accepted as it is, or renamed consistently; no result lost": lambda run: (
        contents(run) == [f"step {i}" for i in range(6)]
    ),
    "result is moved directly behind its call, user message behind the group": is_valid,
    "nothing is lost": nothing_is_lost,
    "results of a group are contiguous; the caption follows the group": is_valid,
    "promoted user messages come after the complete group": is_valid,
    "the last group and the last user message are in the result word for word": lambda run: (
        keeps_last_group(run) and keeps_last_user(run)
    ),
    "kept part is kept": keeps_last_group,
    "ids are opaque: never parsed, never shortened on one side only": lambda run: run.result == run.source,
    # tools
    "a, b, c keep their real results after the interrupt": lambda run: contents(run)[:3] == ["ok in 1 ms"] * 3,
    "d gets an 'interrupted' result": lambda run: contents(run)[3:] == [INTERRUPTED],
    "order of results = order of calls": results_in_call_order,
    "three results in call order: two real, one error text": lambda run: (
        results_in_call_order(run) and contents(run)[:2] == ["ok", "ok"] and "ValueError" in contents(run)[2]
    ),
    "the loop goes on": is_valid,
    "the first call may be the one that is cancelled, timed out or never started; the second result survives": lambda run: (
        contents(run)[0].startswith(("error:", INTERRUPTED)) and contents(run)[1:] == ["ok"]
    ),
    "result first, hooks afterwards": lambda run: contents(run) == ["1"],
    "a failing hook does not leave an open call": groups_are_whole,
    # the user's words
    "the last user message is always in the result, word for word": keeps_last_user,
    "the newest user message stays alone and word for word": keeps_last_user,
    "the last real user message is in the result word for word, whatever the budget": keeps_last_user,
    "last REAL user message survives the second compaction": keeps_last_user,
    "it stands after the summary": stands_after_summary,
    "at least one user message remains": lambda run: bool(contents(run, "user")),
    "exactly one system message": lambda run: len(contents(run, "system")) == 1,
    "alternation holds after removing tool results and assistant messages with calls": roles_alternate_without_tools,
    "late messages are behind the summary afterwards": late_is_behind,
    "a clear() during the call stays cleared": clear_stays,
    "goal and todo come from TaskState even if the summary forgot them": state_is_sent,
    "TaskState is not changed by compaction": state_is_sent,
    # when, and how far
    "after each pass tokens are below the threshold, or CompressionStuckError is raised": below_or_stuck,
    "below the threshold afterwards or stuck error": below_or_stuck,
    "no more than two passes in a row without progress": progress_or_end,
    "the tail holds at least the last group, shortened if need be": keeps_last_group,
    "a pass that gains less than min_gain is not repeated on the same list": lambda run: run.summary_calls <= 2,
    "missing window -> a careful default, never 'off'": lambda run: trigger_of({}, 8_192) < 8_192,
    "an inflated summary is refused": lambda run: "long summary long summary" not in all_text(run.result),
    "over the hard limit there is always a next step: prune, shorten the summary, drop, then CompressionStuckError": below_or_stuck,
    "never larger than before": lambda run: tokens(run.result) <= tokens(run.source),
    "a retry with an identical request is never sent": calls_nobody_twice_alike,
    "error text tells what fills the window": names_what_fills,
    "tail measured in tokens": lambda run: tail_budget(run.case.settings, run.source, 3_000) <= 1_500,
    "the huge result is shortened": is_shortened,
    "terminates: no progress -> stop and raise": lambda run: run.error is None or is_stuck(run),
    "pruning alone counts as success when tokens are below the threshold": below_or_stuck,
    "number of messages may stay the same": lambda run: len(run.result) <= len(run.source) + 1,
    "the result is cut (head and tail kept, middle marked) or CompressionStuckError": is_shortened,
    "task text stays": keeps_last_user,
    "every result is considered, biggest gain first or oldest first, before messages are dropped": is_shortened,
    "after compaction reported usage is void until the next real reply; an estimate of the NEW list is used": lambda run: (
        run.summary_calls <= 1
    ),
    "overhead is added once": lambda run: run.result == run.source,
    "a fresh provider number beats an estimate": lambda run: run.result == run.source,
    "not triggered at 7,000 of 10,000": lambda run: all(look.report is None for look in run.passes),
    "tokens decide, not the number of messages": compresses,
    "result smaller or CompressionStuckError": lambda run: is_stuck(run) or compresses(run),
    "threshold is always below the window": lambda run: run.plan is not None and run.plan.trigger < run.plan.window,
    "each picture counts a fixed amount (hundreds to a few thousand tokens)": lambda run: (
        PICTURE_TOKENS <= estimate_message_tokens(run.source[1]) <= 2 * PICTURE_TOKENS
    ),
    "triggers": compresses,
    "runs of 512+ base64 characters are weighted about 1 per token (40,000 here) or cut out at the door": lambda run: (
        38_000 <= estimate_message_tokens(run.source[3]) <= 42_000
    ),
    "threshold <= window - output reserve": lambda run: (
        run.plan is not None and run.plan.trigger <= run.plan.window - 2_048
    ),
    "the list (about 13,100 tokens) triggers": compresses,
    "the window of the model in use decides; explicit setting beats catalogue (goose#11049: the reverse happened)": compresses,
    "works in passes until it fits the small window": lambda run: (
        is_stuck(run) or (below_or_stuck(run) and every_request_fits(run))
    ),
    "or raises a clear error and leaves the list alone": lambda run: run.error is None or is_stuck(run),
    "pruned text is really shorter; gain is measured": lambda run: all(
        look.report.after == estimate_tokens(look.after) < look.report.before for look in run.passes if look.report
    ),
    "system prompt does not count as one of the protected": lambda run: (
        run.plan is not None and run.plan.keywords["protect_first"] == run.case.settings["protect_head"] + 1
    ),
    "protect_head 0 works": is_valid,
    "head that is larger than its share of the budget is shortened or given up": head_is_given_up,
    # the summary call
    "summary input is cut or done in pieces so that each request fits the SUMMARISER's window": every_request_fits,
    "every kind of content is capped, not just tool results": every_request_fits,
    "no error text inside the messages": no_error_text,
    "empty or blank reply = failure = nothing is dropped": nothing_dropped,
    "no summary call without material": lambda run: run.summary_calls == 0,
    "a reply that asks for the conversation is a failure": lambda run: (
        "provide me with the conversation" not in all_text(run.result)
    ),
    "request: transcript as quoted text, no tools, instruction at the END": asks_in_text,
    "a reply that lacks the asked headings is refused once and asked again": lambda run: (
        "<tool_call>" not in all_text(run.result) and calls_nobody_twice_alike(run)
    ),
    "summary prompt asks for Done (with outcome) and Next separately": lambda run: all(
        "### Done" in prompt and "## Next Steps" in prompt and "result" in prompt for prompt in run.client.prompts
    ),
    "facts at the end of the span reach the prompt": lambda run: prompts_have(run, "Audit finished: 2 problems."),
    "decisions reach the summary prompt in full": lambda run: prompts_have(run, "Postgres, and no telemetry"),
    "tools on the never-prune list keep their text": lambda run: prompts_have(run, "Postgres, and no telemetry"),
    "the prompt asks to drop finished work; newest goal first": lambda run: "drop what is no longer true" in UPDATE,
    # odd content
    "no exception for None anywhere (call, result, plain)": lambda run: run.error is None,
    "arguments are JSON objects before and after": arguments_survive,
    "short values such as path stay": arguments_survive,
    "non-ASCII text is not blown up by escapes": arguments_survive,
    "arguments that do not parse become {} (or a wrapper object) in what is SENT; the result explains": is_valid,
    "pair stays": groups_are_whole,
    "text is cleaned when it comes in (U+FFFD)": cleaned,
    "summary input, hash, log and store survive it": lambda run: (
        cleaned(run) and store_and_load(run.result) == run.result
    ),
    "NUL is removed or escaped once, at the door": cleaned,
    "load(save(x)) == cleaned x": lambda run: run.result == sanitize_tool_pairs(run.source)[0],
    "a literal backslash-u0000 in text stays": lambda run: store_and_load(LITERAL) == LITERAL,
}
