"""The simulated summariser: a rule-based extractor for one kind of prompt (see `digest`). It is no language model.

It puts together lines that stand in the prompt, nothing else: no memory, clock or chance. Each section is a rule:

    heading                      what it takes                                                      which stay
    ## Goal                      the newest user request in the turns, else the previous goal,      cut to its share
                                 else a goal that was set with a tool
    ## Constraints & Preferences user sentences with must, never, always, don't, prefer, please use  the newest
    ## Progress
    ### Done                     previous items, then one for each finished call; one for each path the newest; the rest
                                                                                                    is counted
    ### In Progress              files read last and not noted yet                                  the newest
    ### Blocked                  calls whose result was an error                                    the newest
    ## Key Decisions             assistant sentences with decided, chose, will use, because         the newest
    ## Relevant Files            paths in calls, and what was done last with each                   the newest
    ## Next Steps                the assistant's last intent, else what is in progress, else the    the newest
                                 last request
    ## Critical Context          lines of results and users: facts not noted, errors, KEY=VALUE;    the newest
                                 then identifiers with digits

The tokens that the prompt allows are never exceeded (see `fitting`): Done gets at least half of the room, so a long
list of finished work really is cut, to its newest items and a number: "(and 23 earlier items)". It is added on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any

from course.noting import FACT
from course.provider.asking import SUMMARY_MARK, is_go_on
from course.provider.digest import Digest, Turn, digest
from course.provider.fitting import fit
from course.provider.reading import NEVER_RAN, Body, text_of
from course.provider.record import earlier_count

ASK_FOR_TURNS = "There is no conversation to summarise here. Please send the turns between <turns> and </turns>."
NO_GOAL = "(no request in these turns)"
NOTE_NEXT = "note {path}, then go on with the file behind it"

_WRITING = re.compile(r"(?:write|edit|create|save|patch|update)_?file|apply_patch|str_replace")
_PATHS = ("path", "file", "file_path", "filename")
_LINE_IN_RAW = re.compile(r'"(?:line|text|content|entry)"\s*:\s*"((?:[^"\\]|\\.)*)')
_SENTENCE = re.compile(r"(?<=\w[.!?])\s+")
_CONSTRAINT = re.compile(r"\b(?:must|never|always|don['’]t|do not|please use|prefer\w*)\b", re.I)
_DECISION = re.compile(r"\b(?:decided|decision|chose|will use|because)\b", re.I)
_INTENT = re.compile(r"\b(?:I will|I['’]ll|let me|going to|next)\b", re.I)
_ERROR_LINE = re.compile(r"^\s*(?:\w*error\b|traceback|fatal\b|failed\b)", re.I)
_SETTING = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\s?=\s?\S+")
_IDENTIFIER = re.compile(r"\b[A-Za-z][A-Za-z_-]*\d[\w-]*\b")
MAX_LINE = 160
MAX_ARGUMENTS = 60


def reply(body: Body) -> Body:
    """The assistant message that answers a summary prompt: the summary, or a sentence that asks for a conversation."""
    messages = [message for message in body.get("messages") or () if isinstance(message, dict)]
    prompts = [text_of(message) for message in messages if message.get("role") == "user"]
    prompt = digest(prompts[-1]) if prompts else digest("")
    content = summary_of(prompt) if prompt.turns else ASK_FOR_TURNS
    return {"role": "assistant", "content": content}


def summary_of(prompt: Digest) -> str:
    """The summary of a prompt's turns, by the table above."""
    done = _done(prompt)
    open_reads = [key for key, item in done.items() if item.startswith("reading ")][-3:]
    finished = [item for key, item in done.items() if not item.startswith("reading ")]
    sections = {
        "Goal": [_goal(prompt)],
        "Constraints & Preferences": _kept(prompt, "Constraints & Preferences", "user", _CONSTRAINT),
        "Done": finished,
        "In Progress": [f"read {path}, not noted yet" for path in open_reads],
        "Blocked": _blocked(prompt),
        "Key Decisions": _kept(prompt, "Key Decisions", "assistant", _DECISION),
        "Relevant Files": _files(prompt),
        "Next Steps": _next_steps(prompt, open_reads, done),
        "Critical Context": _critical(prompt, finished),
    }
    return fit(sections, prompt.earlier, prompt.budget)


def _goal(prompt: Digest) -> str:
    """The newest request, or what stands for one."""
    requests = _requests(prompt.turns)
    set_by_tool = [arguments.get("goal") for name, arguments, _ in _calls(prompt.turns) if name == "task_set_goal"]
    previous = [" ".join(prompt.previous.get("Goal", ()))]
    candidates = [*requests[-1:], *(text for text in previous if text != NO_GOAL), *reversed(set_by_tool)]
    return next((text for text in candidates if isinstance(text, str) and text.strip()), NO_GOAL)


def _requests(turns: Iterable[Turn]) -> list[str]:
    """What the user asked for, in order; of a summary in the user's place, the goal in it."""
    texts = []
    for turn in turns:
        text = turn.text
        if turn.role == "user" and text.startswith(SUMMARY_MARK):
            text = re.split(r"\s##\s", text.partition("## Goal ")[2])[0]
        if turn.role == "user" and not is_go_on(text):
            texts.append(text)
    return texts


def _done(prompt: Digest) -> dict[str, str]:
    """The items of finished work by path or, without one, by their words; the newest last, and each only once.

    The file that was read last and is not noted has an item "reading <path>".
    """
    done: dict[str, str] = {}
    for item in prompt.previous.get("Done", ()):
        if not earlier_count(item):
            verb, _, rest = item.partition(" ")
            key = rest.partition(": ")[0] if verb in ("noted", "read_file", "wrote") else item
            _put(done, key, item)
    for item in prompt.previous.get("In Progress", ()):
        if (match := re.fullmatch(r"read (.*), not noted yet", item)) and match[1] not in done:
            done[match[1]] = f"reading {match[1]}"
    for name, arguments, raw in _calls(prompt.turns):
        for key, item in _work(name, arguments, raw):
            _put(done, key, item)
    reads = [key for key, item in done.items() if item == f"reading {key}"]
    return {key: f"read_file {key}" if key in reads[:-1] else item for key, item in done.items()}


def _put(done: dict[str, str], key: str, item: str) -> None:
    """Make `item` the newest for its key; a file that is noted stays noted when it is read again."""
    old = done.get(key, "")
    if not (old.startswith(("noted ", "wrote ")) and item.startswith(("reading ", "read_file "))):
        done.pop(key, None)
        done[key] = item


def _work(name: str, arguments: dict[str, Any], raw: str) -> Iterator[tuple[str, str]]:
    """(key, item) of a call's finished work; none for bookkeeping."""
    path = _path(arguments)
    if name.startswith(("todo_", "task_")):
        return
    if name == "append_report":
        found = _LINE_IN_RAW.search(raw)
        line = next((value for value in arguments.values() if isinstance(value, str)), found[1] if found else "")
        line = " ".join(line.split()).removeprefix("- ")
        yield line.partition(": ")[0], f"noted {line}"
    elif name == "read_file" and path:
        yield path, f"reading {path}"
    elif _WRITING.fullmatch(name) and path:
        yield path, f"wrote {path}"
    else:
        item = f"{name}({_short(arguments, raw)})"
        yield item, item


def _blocked(prompt: Digest) -> list[str]:
    """The errors that tools gave back."""
    results = (turn for turn in prompt.turns if turn.role == "tool" and turn.lines and _ERROR_LINE.match(turn.lines[0]))
    return _unique(f"{turn.tool}: {turn.text}"[:MAX_LINE] for turn in results)


def _kept(prompt: Digest, heading: str, role: str, pattern: re.Pattern[str]) -> list[str]:
    """The previous items of a section and the sentences of a role that match."""
    lines = (line for turn in prompt.turns if turn.role == role for line in turn.lines)
    sentences = (part.strip() for line in lines for part in _SENTENCE.split(line))
    return _unique([*prompt.previous.get(heading, ()), *(part for part in sentences if pattern.search(part))])


def _files(prompt: Digest) -> list[str]:
    """The paths that calls named, each with what was done last."""
    files = {item.rpartition(" (")[0]: item for item in prompt.previous.get("Relevant Files", ())}
    for name, arguments, _ in _calls(prompt.turns):
        path = _path(arguments)
        if path and name != "list_files":
            files.pop(path, None)
            files[path] = f"{path} ({'read' if name == 'read_file' else name})"
    return list(files.values())


def _next_steps(prompt: Digest, open_reads: list[str], done: dict[str, str]) -> list[str]:
    """The last intent of the assistant, else what is in progress, else the request that nobody answered.

    Else the step of the previous summary, when it is not one that has been done.
    """
    spoken = [turn for turn in prompt.turns if turn.role == "assistant"]
    sentences = (part for turn in spoken for line in turn.lines for part in _SENTENCE.split(line.strip()))
    intents = [part for part in sentences if _INTENT.search(part)]
    if intents:
        return intents[-1:]
    if open_reads:
        return [NOTE_NEXT.format(path=open_reads[-1])]
    answered = max((place for place, turn in enumerate(prompt.turns) if turn in spoken and turn.text), default=-1)
    over = {NOTE_NEXT.format(path=path) for path in done}
    previous = [step for step in prompt.previous.get("Next Steps", ()) if step not in over]
    return _requests(prompt.turns[answered + 1 :])[-1:] or previous


def _critical(prompt: Digest, finished: list[str]) -> list[str]:
    """Values worth keeping, the least needed first: identifiers, what was kept before, facts, errors and settings."""
    known = "\n".join(finished)
    strong, weak = [], []
    for line in _lines(prompt.turns):
        is_fact = line.startswith(FACT)
        if (
            (is_fact and line.removeprefix(FACT).strip() not in known)
            or _ERROR_LINE.match(line)
            or _SETTING.search(line)
        ):
            strong.append(line)
        elif not is_fact and " " in line and len(line) <= MAX_LINE and _IDENTIFIER.search(line):
            weak.append(line)
    previous = [
        line
        for line in prompt.previous.get("Critical Context", ())
        if not (line.startswith(FACT) and line.removeprefix(FACT).strip() in known)
    ]
    return _unique(line[:MAX_LINE] for line in [*weak, *previous, *strong])


def _lines(turns: Iterable[Turn]) -> Iterator[str]:
    """The lines of results and users."""
    for turn in turns:
        if turn.role in ("tool", "user"):
            yield from filter(None, map(str.strip, turn.lines))


def _calls(turns: list[Turn]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Every call of the turns in order, but those that never ran: a stub stands where their result would."""
    for place, turn in enumerate(turns):
        results = list(takewhile(lambda later: later.role == "tool", turns[place + 1 :]))
        for index, call in enumerate(turn.calls):
            if index >= len(results) or not results[index].text.startswith(NEVER_RAN):
                yield call


def _path(arguments: dict[str, Any]) -> str:
    """The path among a call's arguments, or an empty text."""
    return next((arguments[name] for name in _PATHS if isinstance(arguments.get(name), str)), "")


def _short(arguments: dict[str, Any], raw: str) -> str:
    """A call's arguments in at most 60 characters."""
    text = ", ".join(f"{name}={value}" for name, value in arguments.items()) or (raw if raw != "{}" else "")
    text = " ".join(text.split())
    return text if len(text) <= MAX_ARGUMENTS else text[: MAX_ARGUMENTS - 1] + "…"


def _unique(items: Iterable[str]) -> list[str]:
    """The items without empty and repeated ones; of equal ones the newest stays."""
    return list(dict.fromkeys(filter(None, reversed(list(items)))))[::-1]
