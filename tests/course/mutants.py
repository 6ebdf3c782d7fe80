"""The guards of chapters 5 to 12, and for each a small edit that takes it away: (file, old, new, the guard, tests)."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """An edit of one file in `reference/`: `old`, which stands there once, becomes `new`; one of `tests` must fail."""

    file: str
    old: str
    new: str
    guard: str
    tests: str


CH05, CH06, CH07 = "tests/test_ch05_budget.py", "tests/test_ch06_prune.py", "tests/test_ch07_boundaries.py"
CH08, CH09, CH10 = "tests/test_ch08_alignment.py", "tests/test_ch09_summary.py", "tests/test_ch10_compress.py"
CH11, CH12 = "tests/test_ch11_stuck.py", "tests/test_ch12_task_state.py"
KEPT, RECOVERY = "tests/test_guards.py", "tests/test_recovery.py"

# fmt: off
MUTANTS = [
    # chapter 5: what is counted
    Mutant("ch05_budget", "PICTURE_TOKENS * picture_count", "0 * picture_count", "a picture is counted", CH05),
    Mutant("ch05_budget", "characters += calls_length(calls)", "characters += 0", "the arguments of calls are counted", CH05),
    Mutant("ch05_budget", 'message.get("tool_calls"), MESSAGE_TOKENS, 0', 'message.get("tool_calls"), 0, 0', "role and separators are counted", CH05),
    Mutant("ch05_budget", " + schemas // CHARS_PER_TOKEN", "", "tool schemas are counted", CH05),
    Mutant("ch05_budget", "math.ceil(round(threshold * context_length, 6))", "int(threshold * context_length)", "the threshold is rounded up", CH05),
    Mutant("ch05_budget", "round(threshold * context_length, 6)", "threshold * context_length", "binary fractions do not move the threshold", CH05),
    Mutant("ch05_budget", "prompt_tokens >= threshold_tokens", "prompt_tokens > threshold_tokens", "reaching the threshold is enough", CH05),
    Mutant("ch05_budget", "if prompt_tokens > 0 and estimate > 0", "if estimate > 0", "a report of nothing says nothing", CH05),
    Mutant("ch05_budget", "characters += unbroken_surcharge(text_of(content))", "pass", "base64 in a text is weighed", KEPT),
    Mutant("ch05_budget", "characters += unbroken_surcharge(arguments)", "pass", "base64 in arguments is weighed", KEPT),
    Mutant("ch05_budget", " and len(set(block)) > 6", "", "one letter over and over is no base64", KEPT),
    # chapter 6: what is cleared
    Mutant("ch06_prune", "results[: max(0, len(results) - keep_recent)]", "results[:-keep_recent]", "keep_recent=0 keeps none", CH06),
    Mutant("ch06_prune", " and length > len(placeholder)", "", "a placeholder never makes a result longer", KEPT),
    Mutant("ch06_prune", " and tool not in never_prune", "", "tools on the never-prune list keep their text", KEPT),
    Mutant("ch06_prune", "if pictures or (", "if (", "a result with a picture is cleared", CH06),
    Mutant("ch06_prune", "length > min_chars and ", "", "short results stay", CH06),
    Mutant("ch06_prune", "names.update(tool_names(message))", "names = {**tool_names(message), **names}", "the latest use of an id gives the name", CH06),
    Mutant("ch06_prune", " and len(content) < MAX_PLACEHOLDER", "", "a long result that quotes a placeholder is cleared", CH06),
    # chapter 7: what is kept
    Mutant("ch07_boundaries", '        message.get("role") == "assistant"\n        and isinstance(content, str)', "        isinstance(content, str)", "a user who quotes a summary makes none", CH07),
    Mutant("ch07_boundaries", "        and content.rstrip().endswith(SUMMARY_END)\n", "", "a summary ends with its mark", CH07),
    Mutant("ch07_boundaries", 'message.get("role") == "user" and not is_generated(message)', 'message.get("role") == "user"', "a bridge is no request", CH07),
    Mutant("ch07_boundaries", "        and has_text(message)\n        and not is_generated(message)", "        and has_text(message)", "a summary is no visible reply", CH07),
    Mutant("ch07_boundaries", "if tokens > tail_token_budget and tail_start < len(messages):", "if tokens > tail_token_budget:", "the last message stays, however big", CH07),
    Mutant("ch07_boundaries", "min(max(0, protect_first), len(messages))", "protect_first", "the head is inside the list", CH07),
    Mutant("ch07_boundaries", "for index in (request, reply)", "for index in (reply,)", "the last request is an anchor", CH07),
    Mutant("ch07_boundaries", "for index in (request, reply)", "for index in (request,)", "the last visible reply is an anchor", CH07),
    Mutant("ch07_boundaries", "return role == \"user\" and content == BRIDGE_USER", "return content == BRIDGE_USER", "a result that quotes a bridge is a result", KEPT),
    # chapter 8: what is repaired
    Mutant("ch08_alignment", 'while index < len(messages) and messages[index].get("role") == "tool":', "while False:", "the head's cut moves past results", CH08),
    Mutant("ch08_alignment", 'while 0 < index < len(messages) and messages[index].get("role") == "tool":', "while False:", "the tail's cut moves back to the assistant", CH08),
    Mutant("ch08_alignment", "missing = [] if group is in_flight else group.stubs()", "missing = []", "a call without a result gets a stub", CH08),
    Mutant("ch08_alignment", "[] if group is in_flight else group.stubs()", "group.stubs()", "an open last group waits for its results", CH08),
    Mutant("ch08_alignment", "    if not queue:\n        return 1\n", "    if not queue:\n        slots.append(message)\n        return 1\n", "a result without a call is dropped", CH08),
    Mutant("ch08_alignment", "_fold(system, message) if system else message", "system or message", "later system messages are folded in", CH08),
    Mutant("ch08_alignment", "waiting.update({key: deque() for key in keys})", "[waiting.setdefault(key, deque()) for key in keys]", "a later call with the same id closes the earlier one", KEPT),
    Mutant("ch08_alignment", 'waiting.pop(call["id"], None)', "pass", "a whole group closes earlier calls with its ids", KEPT),
    Mutant("ch08_alignment", "if not isinstance(call_id, str) or not call_id or call_id in seen:", "if not isinstance(call_id, str) or not call_id:", "ids are unique in a message", CH08),
    Mutant("ch08_alignment", "return 0 < len(ids) == len(calls) and ", "return ", "a group with one id twice is no whole group", CH08),
    Mutant("ch08_alignment", 'if call_id != result["tool_call_id"] or ', "if ", "a result stands with its own call", KEPT),
    Mutant("ch08_alignment", "cleaned = [clean_message(message) for message in paired]", "cleaned = paired", "texts and arguments are mended", CH08),
    Mutant("ch08_alignment", '{key: message[key] for key in message if key != "tool_calls"} if broken else message', "message", "an empty list of calls is taken away", KEPT),
    Mutant("ch08_alignment", 'if role == previous and role in ("user", "assistant"):', "if False:", "two neighbours of one role are refused", CH08),
    # chapter 9: what a summary is
    Mutant("ch09_summary", "return min(max(int(content_tokens * SUMMARY_RATIO), MIN_SUMMARY_TOKENS), ceiling)", "return max(min(int(content_tokens * SUMMARY_RATIO), ceiling), MIN_SUMMARY_TOKENS)", "the ceiling wins over the floor", CH09),
    Mutant("ch09_summary", 'if choice.finish_reason == "length":', "if False:", "a reply that was cut off is refused", CH09),
    Mutant("ch09_summary", 'raise SummaryError("the summary is empty")', 'return "## Goal"', "an empty reply is refused", CH09),
    Mutant("ch09_summary", 'if OPENING in text or text.startswith("<turns>") or "\\n<turns>\\n" in text:', "if False:", "an echo of the prompt is refused", CH09),
    Mutant("ch09_summary", "if HEADINGS[0] in text:", "if True:", "a reply without the headings is refused", CH09),
    Mutant("ch09_summary", "for attempt in (prompt, prompt + AGAIN):", "for attempt in (prompt, prompt):", "the second request differs from the first", CH09),
    Mutant("ch09_summary", "if piece and size + length > max_bytes:", "if False:", "turns that do not fit go in pieces", CH09),
    Mutant("ch09_summary", "if len(text) > 2 * CHARS_PER_TOKEN * max_tokens:", "if False:", "an over-long reply is refused", KEPT),
    Mutant("ch09_summary", 'text.replace(SUMMARY_PREFIX, "").replace(SUMMARY_END, "")).strip()\n    return', "text).strip()\n    return", "summaries never nest", CH09),
    Mutant("ch09_summary", 'return {"role": "assistant", "content": f"{SUMMARY_PREFIX}', 'return {"role": "user", "content": f"{SUMMARY_PREFIX}', "a summary is the assistant's", CH09),
    Mutant("ch09_summary", '["  " + line for line in', '["" + line for line in', "quoted text cannot pose as a turn", CH09),
    Mutant("ch09_summary", "    if previous_summary:\n        blocks.append", "    if False:\n        blocks.append", "the previous summary is handed in", CH09),
    Mutant("ch09_summary", 'clean_call(call)["function"]', 'call["function"]', "a broken call can be rendered", KEPT),
    Mutant("ch09_summary", "prompt = redact(build", "prompt = str(build", "secrets are taken out of requests", KEPT),
    # chapter 10: what compress promises
    Mutant("ch10_compress", "min(_align_boundary_backward(messages, tail_start), _unseen_group(messages))", "_align_boundary_backward(messages, tail_start)", "the group that the model has not seen stays", KEPT),
    Mutant("ch10_compress", "min(head_end, len(messages))), *anchors])", "min(head_end, len(messages)))])", "no anchor is in the head", KEPT),
    Mutant("ch10_compress", "head_end = system if summaries else max(system, protect_first)", "head_end = max(system, protect_first)", "head protection ends after the first compression", KEPT),
    Mutant("ch10_compress", "if estimate_tokens(messages[system:head_end]) > tail_token_budget:", "if False:", "a head that is too big is given up", KEPT),
    Mutant("ch10_compress", ", *(index + 1 for index in summaries)])", "])", "the tail does not reach across an old summary", KEPT),
    Mutant("ch10_compress", "{*cut.generated, *cut.anchors, cut.tail_start}", "{*cut.generated, cut.tail_start}", "anchors are not summarised", CH10),
    Mutant("ch10_compress", "*(near[i] for i in cut.anchors), ", "", "anchors stand behind the summary", CH10),
    Mutant("ch10_compress", '"\\n\\n".join(old) or None', "None", "the old summary is handed over to be updated", CH10),
    Mutant("ch10_compress", "except Exception as error:  # whatever", "except SummaryError as error:  # whatever", "whatever the summariser raises is a reason", RECOVERY),
    Mutant("ch10_compress", "if (size := estimate_message_tokens(summary)) >= replaced:", "if (size := 0):", "a summary is smaller than what it replaces", KEPT),
    Mutant("ch10_compress", "if not isinstance(text, str) or not text.strip():", "if text is None:", "a blank summary is none", RECOVERY),
    Mutant("ch10_compress", "late = source[known:]", "late = source[:0]", "what arrives during the summary is kept", RECOVERY),
    Mutant("ch10_compress", "if len(source) < known:", "if False:", "a list that was emptied stays empty", RECOVERY),
    Mutant("ch10_compress", '[message for message in kept if message.get(GENERATED) != "stub"]', "list(kept)", "a late result takes the place of its stub", RECOVERY),
    Mutant("ch10_compress", "max(keep_recent, stop - start)", "keep_recent", "results that were not read are not pruned", CH10),
    Mutant("ch10_compress", "if report.after < enough:", "if False:", "no model is called when pruning is enough", CH10),
    Mutant("ch10_compress", "enough = limit if prune_limit is None else prune_limit", "enough = limit", "pruning has to get below its own limit", CH10),
    Mutant("ch10_compress", "        if is_bridge(message):\n            continue\n", "", "old bridges are dropped", CH10),
    Mutant("ch10_compress", 'elif role == "user" and previous == "user":', "elif False:", "two users in a row are bridged", CH10),
    Mutant("ch10_compress", 'if role == "assistant" and previous in (None, "assistant", *SYSTEM_ROLES):', 'if role == "assistant" and previous == "assistant":', "an assistant does not come first", CH10),
    Mutant("ch10_compress", "repaired, repairs = sanitize_tool_pairs([*kept, *late], in_flight=in_flight)", "repaired, repairs = [*kept, *late], 0", "what is kept is mended", KEPT),
    Mutant("ch10_compress", "repaired = list(map(clean_message, paired))", "repaired = paired", "an uncompressed list is mended", KEPT),
    Mutant("ch10_compress", "start = stop + 1", "start = stop + 2", "the turn behind an anchor is handed over", KEPT),
    Mutant("ch10_compress", "while stop and messages[stop - 1].get(\"role\") != \"tool\":", "while False:", "unread results count also behind the user's words", KEPT),
    Mutant("ch10_compress", "int(bool(messages) and messages[0].get(\"role\") in SYSTEM_ROLES)", "int(bool(messages))", "only a system prompt is kept for ever", KEPT),
    # chapter 11: when to stop
    Mutant("ch11_stuck", "if over and report.after >=", "if report.after >=", "little saved is fine below the limit", CH11),
    Mutant("ch11_stuck", "if over and report.after >= int(report.before * COMPRESSION_MIN_SHRINK):", "if over:", "much saved is fine above the limit", CH11),
    Mutant("ch11_stuck", "if limit is not None and report.after > limit:\n", "if False:\n", "there is a last resort before giving up", CH11),
    Mutant("ch11_stuck", "return max(share, MIN_CLIPPED_TOKENS)", "return share", "a clipped result keeps forty tokens", CH11),
    Mutant("ch11_stuck", "        budget -= size\n", "", "what short results leave goes to the long ones", CH11),
    Mutant("ch11_stuck", "min(token_budget, max(0, limit - rest - 1))", "token_budget", "the last resort gets the list below the limit", KEPT),
    Mutant("ch11_stuck", "max(1, min(CHARS_PER_TOKEN, len(text) // max(1, tokens)))", "CHARS_PER_TOKEN", "base64 is clipped by what it costs", KEPT),
    Mutant("ch11_stuck", 'found = largest(messages) if messages else ""', 'found = ""', "the error says what fills the window", KEPT),
    Mutant("ch11_stuck", "if self.due_in_a_row == FREQUENT:", "if False:", "compression before every request is told", CH11),
    Mutant("ch11_stuck", "self.due_in_a_row + 1 if due else 0", "self.due_in_a_row + due", "compressions far apart are not told", CH11),
    # chapter 12: what is never compressed
    Mutant("ch12_task_state", '        if not self.goal and not self.todos:\n            return ""\n', "", "nothing recorded costs nothing", CH12),
    Mutant("ch12_task_state", "if len(taken) < sum(", "if False and len(taken) < sum(", "an id stands once in the list", CH12),
    Mutant("ch12_task_state", 'if (name := f"t{n}") not in taken)', 'if (name := f"t{n}"))', "made ids are not taken ones", CH12),
    Mutant("ch12_task_state", "if not subject or status not in STATUSES:", "if not subject:", "an unknown status is refused", CH12),
    Mutant("ch12_task_state", " or len(items) > MAX_TODOS", "", "the list has an end", CH12),
    Mutant("ch12_task_state", '" ".join(clean_text(text).split())[:MAX_SUBJECT]', "clean_text(text)", "a goal is one line", CH12),
]
# fmt: on
