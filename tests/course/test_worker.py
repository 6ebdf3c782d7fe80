"""The simulated agent: the same worker, the same task; only the messages differ, and with them what it does."""

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.corpus import make_corpus
from course.provider import worker
from course.provider.asking import is_go_on, survey_goal, survey_in
from course.provider.reading import read_request, task_state_in
from course.scoring import Score, score
from course.workspace import Workspace

Message = dict[str, Any]

ASK = "Read every text file under docs and write one line for each into report.md."
FILES = ["docs/a.md", "docs/b.md", "docs/c.md"]
LISTING = "3 text files under docs\n" + "\n".join(FILES)
CLEARED = "[Old tool output cleared to save context space: read_file, 1,841 characters]"


def tool(name: str, *parameters: str) -> Message:
    """A tool as a request offers it."""
    schema = {"type": "object", "properties": {parameter: {"type": "string"} for parameter in parameters}}
    return {"type": "function", "function": {"name": name, "description": "", "parameters": schema}}


TOOLS = [tool("list_files", "path", "offset"), tool("read_file", "path", "offset"), tool("append_report", "line")]
TASK_TOOLS = [tool("task_set_goal", "goal"), tool("todo_write", "items"), tool("todo_update", "id", "status")]


def user(text: str) -> Message:
    """A user message."""
    return {"role": "user", "content": text}


def did(*steps: tuple[str, dict[str, Any], str], ids: str = "call") -> list[Message]:
    """One group: an assistant message with calls, and their results."""
    calls = [
        {"id": f"{ids}_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments, _) in enumerate(steps)
    ]
    results = [
        {"role": "tool", "tool_call_id": f"{ids}_{n}", "content": result} for n, (_, _, result) in enumerate(steps)
    ]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def listed(result: str = LISTING) -> list[Message]:
    """The group that listed docs."""
    return did(("list_files", {"path": "docs"}, result))


def read(path: str, result: str | None = None) -> list[Message]:
    """The group that read a file."""
    return did(("read_file", {"path": path}, f"# {path}\nFact: about {path}.\n" if result is None else result))


def noted(path: str) -> list[Message]:
    """The group that noted a file."""
    return did(("append_report", {"line": f"- {path}: about {path}."}, "Line 1 written."))


def summary(role: str, *done: str, goal: str = ASK) -> Message:
    """A summary in the form of the course, from whichever role."""
    items = "\n".join(f"- {item}" for item in done)
    text = f"[CONTEXT COMPACTION: generated]\n## Goal\n{goal}\n## Progress\n### Done\n{items}\n### In Progress\n"
    return {"role": role, "content": text + "## Next Steps\n[END OF CONTEXT COMPACTION]"}


def state(*todos: str, goal: str = ASK) -> str:
    """A task state as the system prompt shows it; each item is "x docs/a.md", with its mark first."""
    lines = [f"[{todo[0]}] (t{n}) {todo[2:]}" for n, todo in enumerate(todos, 1)]
    return "\n".join(["# Task State (live, never compressed)", "## Goal", goal, "## TODO", *lines])


def steps(messages: list[Message], *, system: str = "", tools: list[Message] | None = None) -> list[tuple[str, Any]]:
    """What the worker calls next: (tool, its first argument); a text reply is ("says", text)."""
    body = {"messages": [{"role": "system", "content": "Be careful.\n" + system}, *messages], "tools": tools or TOOLS}
    answer = worker.reply(body)
    if "tool_calls" not in answer:
        return [("says", answer["content"])]
    calls = [call["function"] for call in answer["tool_calls"]]
    return [(call["name"], next(iter(json.loads(call["arguments"]).values()), None)) for call in calls]


# What is asked for


@pytest.mark.parametrize(
    ("request_text", "folder"),
    [
        (ASK, "docs"),
        ("Please go through all files in `docs` and add one line per file to the report.", "docs"),
        ('For each file below "my docs", note a line in report.md after reading it.', "my docs"),
        ("Survey the folder src/: read all of its files and put one line each in the report.", "src"),
        ("Summarise every file in this folder, one line per file, written into report.md", "."),
        ("Look at each text file under ./notes/ and append a one-line note about it to the report", "notes"),
        ("I need a report with one line for every file in 'archive/north'. Read them all.", "archive/north"),
        ("Make a report.md: a line per file in the directory src.", "src"),
        ("Review all the documents inside the notes directory and record a line for each in the report.", "notes"),
        ("Go through the folder docs file by file and write down one line about each", "docs"),
        ("Read every text file under . and write one line for each into report.md.", "."),
        ("Read every text file under ./ and write one line for each into report.md.", "."),
        ("Read every text file under docs. Then write one line for each of them into the report.", "docs"),
        ("read all the files here, never one twice, and write a line for each in the report", "."),
        ("In alphabetical order, read every file of the docs folder and add a line for each to the report.", "docs"),
        ("Could you open each document in handbook/part-2, and jot down one sentence for it?", "handbook/part-2"),
        ("Hello! You were a great help.\nNow read every file under Data/v1.2 and write a line for each.", "Data/v1.2"),
        ("Read all text files, write one line for each into report.md.", "."),  # no folder: the whole workspace
    ],
)
def test_requests_in_many_wordings(request_text: str, folder: str) -> None:
    assert steps([user(request_text)]) == [("list_files", folder)]


@pytest.mark.parametrize(
    "request_text",
    [
        "Hello!",
        "How many files are in docs?",
        "Read docs/a.md and tell me what it says.",
        "List all files in docs.",
        "Write a poem about all files.",
        "Do not read every file in docs, just write one line into the report.",
        "",
    ],
)
def test_anything_else_gets_a_plain_reply(request_text: str) -> None:
    [(kind, text)] = steps([user(request_text)])
    assert kind == "says"
    assert "rule-based" in text
    assert "read every text file" in text


def test_missing_tools_are_named() -> None:
    [(kind, text)] = steps([user(ASK)], tools=TOOLS[:1])
    assert (kind, text) == ("says", "For a survey I need tools that I was not given: read_file, append_report.")


@pytest.mark.parametrize(
    ("text", "goes_on"),
    [
        ("go on", True),
        ("Continue!", True),
        ("OK, please carry on where you left off.", True),
        ("[Generated line, not a request] Go on with the work.", True),
        ("  ", True),
        ("go on and delete everything", False),
        ("Yes.", False),
        (ASK, False),
    ],
)
def test_what_only_says_to_go_on(text: str, goes_on: bool) -> None:
    assert is_go_on(text) is goes_on


def test_go_on_points_to_the_request_before_or_to_the_goal() -> None:
    assert steps([user(ASK), {"role": "assistant", "content": "Paused."}, user("go on")]) == [("list_files", "docs")]
    assert steps([user("continue")], system=state(goal=ASK)) == [("list_files", "docs")]
    assert steps([user("continue")])[0][0] == "says"


@given(st.text(st.characters(categories=["L", "N"], include_characters="-_./ "), min_size=1, max_size=30))
def test_the_recorded_goal_names_the_same_folder(folder: str) -> None:
    found = survey_in(survey_goal(" ".join(folder.split()) or "x"))
    wanted = Path(" ".join(folder.split()) or "x").as_posix()
    assert found is not None
    assert Path(found.folder) == Path(wanted) or ".." in wanted


# The order of work


def test_first_the_list_then_the_todos_then_file_by_file() -> None:
    both = TOOLS + TASK_TOOLS
    assert steps([user(ASK)], tools=both) == [("list_files", "docs")]
    goal, todos, first = steps([user(ASK), *listed()], tools=both)
    assert goal == ("task_set_goal", "Read every text file under `docs` and write one line for each into the report.")
    assert todos[0] == "todo_write"
    assert [item["subject"] for item in todos[1]] == FILES
    assert [item["status"] for item in todos[1]] == ["in_progress", "pending", "pending"]
    assert first == ("read_file", "docs/a.md")
    system = state("~ docs/a.md", "  docs/b.md", "  docs/c.md")
    assert steps([user(ASK), *listed(), *read("docs/a.md")], system=system, tools=both) == [
        ("append_report", "- docs/a.md: about docs/a.md."),
        ("todo_update", "t1"),
        ("todo_update", "t2"),
        ("read_file", "docs/b.md"),
    ]


def test_without_task_tools_the_messages_are_all_it_has() -> None:
    messages = [user(ASK), *listed(), *read("docs/a.md")]
    assert steps(messages) == [("append_report", "- docs/a.md: about docs/a.md."), ("read_file", "docs/b.md")]
    assert steps([*messages, *noted("docs/a.md"), *read("docs/b.md"), *noted("docs/b.md")]) == [
        ("read_file", "docs/c.md")
    ]


def test_it_says_that_it_is_done_only_when_it_is() -> None:
    done = [message for path in FILES for message in (*read(path), *noted(path))]
    assert steps([user(ASK), *listed(), *done]) == [
        ("says", "The survey of docs is finished: 3 text files are noted in the report.")
    ]
    system = state("x docs/a.md", "x docs/b.md", "x docs/c.md")
    assert steps([user(ASK)], system=system, tools=TOOLS + TASK_TOOLS)[0][0] == "says"
    assert steps([user(ASK), *listed("0 text files under docs")]) == [
        ("says", "No text files were found under docs, so there is nothing to note.")
    ]


@pytest.mark.parametrize(
    ("todos", "next_read"),
    [
        (("x docs/a.md", "  docs/b.md", "  docs/c.md"), "docs/b.md"),  # the first that is open
        (("x docs/a.md", "  docs/b.md", "~ docs/c.md"), "docs/c.md"),  # begun, and its text is gone: read again
        (("x docs/a.md", "x docs/b.md", "~ docs/c.md"), "docs/c.md"),
        (("  docs/a.md", "x docs/b.md", "  docs/c.md"), "docs/a.md"),
    ],
)
def test_the_task_state_shows_the_right_item(todos: tuple[str, ...], next_read: str) -> None:
    """Nothing else is left of the conversation: no listing, no reading, no summary."""
    answer = steps([user(ASK)], system=state(*todos), tools=TOOLS + TASK_TOOLS)
    assert answer[-1] == ("read_file", next_read)
    assert not [name for name, _ in answer if name == "append_report"]


def test_pages_of_a_long_listing_become_one_todo_list_after_the_other() -> None:
    both = TOOLS + TASK_TOOLS
    first = LISTING.replace("3 text", "5 text") + "\n[3 of 5 files shown: list_files(path, offset=3) for more]"
    todos = steps([user(ASK), *listed(first)], tools=both)[1][1]
    assert [item["subject"] for item in todos] == [*FILES, "list files from offset 3"]

    done = state(*(f"x {path}" for path in FILES), "  list files from offset 3")
    assert steps([user(ASK)], system=done, tools=both) == [("todo_update", "t4"), ("list_files", "docs")]
    second = did(("list_files", {"path": "docs", "offset": 3}, "5 text files under docs\ndocs/d.md\ndocs/e.md"))
    begun = done.replace("[ ] (t4)", "[~] (t4)")
    todos, reading = steps([user(ASK), *second], system=begun, tools=both)
    assert [(item["subject"], item["status"]) for item in todos[1]] == [
        ("files 1 to 3 of 5: noted", "completed"),
        ("docs/d.md", "in_progress"),
        ("docs/e.md", "pending"),
    ]
    assert reading == ("read_file", "docs/d.md")
    last = state("x files 1 to 3 of 5: noted", "x docs/d.md", "x docs/e.md")
    assert steps([user(ASK)], system=last, tools=both)[0][1].startswith("The survey of docs is finished: 5 text files")


def test_a_todo_list_of_another_task_is_not_followed() -> None:
    other = state("  src/x.md", goal="Read every text file under src and write one line for each into the report.")
    assert steps([user(ASK)], system=other, tools=TOOLS + TASK_TOOLS) == [("list_files", "docs")]
    written = did(("todo_write", {"items": [{"subject": "src/x.md"}]}, "ok"))
    answer = steps([user(ASK), *written, *listed()], system=other, tools=TOOLS + TASK_TOOLS)
    assert [name for name, _ in answer] == ["task_set_goal", "todo_write", "read_file"]


def test_a_todo_list_that_is_never_shown_does_not_stop_the_work() -> None:
    """An agent that forgets to show the task state: the worker falls back on the messages."""
    written = did(("todo_write", {"items": []}, "ok"), ("read_file", {"path": "docs/a.md"}, "Fact: one.\n"))
    answer = steps([user(ASK), *listed(), *written], tools=TOOLS + TASK_TOOLS)
    assert answer == [("append_report", "- docs/a.md: one."), ("read_file", "docs/b.md")]


# What follows from what is to be seen


def test_a_user_role_summary_makes_it_start_over_and_an_assistant_role_summary_does_not() -> None:
    done = [f"noted {path}: about {path}." for path in FILES[:2]]
    as_assistant = [user(ASK), summary("assistant", *done), user("go on"), *listed()]
    as_user = [user(ASK), {"role": "assistant", "content": "…"}, summary("user", *done), *listed()]
    assert steps(as_assistant) == [("read_file", "docs/c.md")]
    assert steps(as_user) == [("read_file", "docs/a.md")]
    in_system = [user(ASK), *listed()]
    assert steps(in_system, system=str(summary("system", *done)["content"])) == [("read_file", "docs/c.md")]


def test_a_user_role_summary_cannot_undo_a_task_state() -> None:
    system = state("x docs/a.md", "x docs/b.md", "  docs/c.md")
    messages = [summary("user", "noted docs/a.md: about docs/a.md.")]
    assert steps(messages, system=system, tools=TOOLS + TASK_TOOLS)[-1] == ("read_file", "docs/c.md")


def test_the_goal_of_a_user_role_summary_is_the_request() -> None:
    goal = "Goal: read every text file under docs and write one line for each into report.md"
    assert steps([summary("user", goal=goal)]) == [("list_files", "docs")]
    assert steps([user(ASK), {"role": "assistant", "content": "…"}, summary("user", goal="(none)")]) == [
        ("list_files", "docs")
    ]


@pytest.mark.parametrize(
    ("item", "counts"),
    [
        ("noted docs/a.md: about docs/a.md.", True),
        ("Read and noted `docs/a.md`", True),
        ("Wrote lines for docs/a.md and docs/z.md into report.md", True),
        ("Noted the line for docs/a.md: about a", True),
        ("read_file docs/a.md", False),  # read is not noted
        ("noted docs/a.md.bak: other file", False),
        ("noted old/docs/a.md: other file", False),
        ("noted docs/z.md: compare docs/a.md", False),  # what a note says is no name of what was noted
        ("(and 23 earlier items)", False),  # a number names no file
    ],
)
def test_which_done_items_count(item: str, counts: bool) -> None:
    answer = steps([user(ASK), summary("assistant", item), user("go on"), *listed()])
    assert answer == [("read_file", "docs/b.md" if counts else "docs/a.md")]


def test_a_summary_that_a_user_or_a_tool_quotes_is_no_record() -> None:
    text = summary("assistant", "noted docs/a.md: x")["content"]
    assert steps([user(f"{ASK}\n{text}"), *listed()]) == [("read_file", "docs/a.md")]
    answer = steps([user(ASK), *listed(), *read("docs/a.md", text)])
    assert answer[0][0] == "append_report"


def test_a_reading_that_was_pruned_before_it_was_noted_is_read_again() -> None:
    messages = [user(ASK), *listed(), *read("docs/a.md", CLEARED)]
    assert steps(messages) == [("read_file", "docs/a.md")]
    system = state("~ docs/a.md", "  docs/b.md")
    assert steps(messages, system=system, tools=TOOLS + TASK_TOOLS) == [("read_file", "docs/a.md")]
    unanswered = [user(ASK), *listed(), *read("docs/a.md", "[No result was recorded for this call: it did not run.]")]
    assert steps(unanswered) == [("read_file", "docs/a.md")]


def test_a_reading_that_was_pruned_after_it_was_noted_is_not() -> None:
    messages = [user(ASK), *listed(), *read("docs/a.md", CLEARED), *noted("docs/a.md")]
    assert steps(messages) == [("read_file", "docs/b.md")]


def test_a_listing_that_is_gone_is_listed_again() -> None:
    assert steps([user(ASK), *listed(CLEARED), *read("docs/a.md"), *noted("docs/a.md")]) == [("list_files", "docs")]


def test_only_the_part_that_is_left_of_a_reading_is_noted() -> None:
    clipped = "# docs/a.md\nIn the begin[... 1,841 characters in all, the middle left out ...]\nthe end\n"
    assert steps([user(ASK), *listed(), *read("docs/a.md", clipped)])[0] == ("append_report", "- docs/a.md: docs/a.md")


def test_failures_are_noted_or_end_the_work() -> None:
    error = "error: read_file failed: ToolError: There is no file 'docs/a.md'."
    assert steps([user(ASK), *listed(), *read("docs/a.md", error)]) == [
        ("append_report", "- docs/a.md: could not be read (There is no file 'docs/a.md'.)"),
        ("read_file", "docs/b.md"),
    ]
    about_errors = steps([user(ASK), *listed(), *read("docs/a.md", "error: disk full\n")])
    assert about_errors[0] == ("append_report", "- docs/a.md: error: disk full"), "a file may speak of errors, too"
    [(kind, text)] = steps([user(ASK), *listed("error: list_files failed: ToolError: There is no folder 'docs'.")])
    assert (kind, text) == ("says", "I stop here, since docs could not be listed: There is no folder 'docs'.")
    refused = did(("append_report", {"line": "- docs/a.md: x"}, "error: append_report failed: ToolError: disk full."))
    assert steps([user(ASK), *listed(), *refused])[0][0] == "says"


def test_repeated_ids_are_paired_by_place() -> None:
    """Every group here uses the ids call_0 …; a dictionary of ids would give docs/a.md the text of docs/b.md."""
    messages = [user(ASK), *listed(), *read("docs/a.md"), *read("docs/b.md")]
    assert [argument for name, argument in steps(messages) if name == "append_report"] == [
        "- docs/a.md: about docs/a.md.",
        "- docs/b.md: about docs/b.md.",
    ]


def test_results_in_any_order() -> None:
    group = did(
        ("read_file", {"path": "docs/a.md"}, "Fact: one.\n"), ("read_file", {"path": "docs/b.md"}, "Fact: two.\n")
    )
    group[1:] = group[:0:-1]
    assert steps([user(ASK), *listed(), *group])[:2] == [
        ("append_report", "- docs/a.md: one."),
        ("append_report", "- docs/b.md: two."),
    ]


# What it does not depend on


def test_the_order_of_tools_and_their_parameter_names() -> None:
    for tools in (TOOLS[::-1], [*TASK_TOOLS[:1], *TOOLS]):
        assert steps([user(ASK), *listed()], tools=tools)[-1] == ("read_file", "docs/a.md")
    renamed = [tool("append_report", "text"), tool("read_file", "file_path"), tool("list_files", "skip", "directory")]
    body = {"messages": [user(ASK), *read("docs/a.md"), *listed()], "tools": renamed}
    calls = [json.loads(call["function"]["arguments"]) for call in worker.reply(body)["tool_calls"]]
    assert calls == [{"text": "- docs/a.md: about docs/a.md."}, {"file_path": "docs/b.md"}]


def test_a_reply_is_a_function_of_the_request_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"messages": [user(ASK), *listed(), *read("docs/a.md")], "tools": TOOLS + TASK_TOOLS}
    before = copy.deepcopy(body)
    first = worker.reply(body)
    worker.reply({"messages": [user(ASK.replace("docs", "src"))], "tools": TOOLS})
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("Fact: on disk.")
    monkeypatch.chdir(tmp_path)
    opened: list[str] = []
    armed = [True]
    sys.addaudithook(
        lambda event, args: opened.append(str(args)) if armed[0] and event in ("open", "os.listdir") else None
    )
    again = worker.reply(body)
    armed[0] = False
    assert first == again
    assert opened == [], "the worker knows only what is in the request"
    assert body == before


def test_ids_are_unique_in_a_message_and_content_is_valid() -> None:
    body = {"messages": [user(ASK), *listed(), *read("docs/a.md"), *read("docs/b.md")], "tools": TOOLS}
    answer = worker.reply(body)
    ids = [call["id"] for call in answer["tool_calls"]]
    assert len(set(ids)) == len(ids) == 3
    assert answer["role"] == "assistant"
    assert answer["content"] is None


def test_content_in_parts_is_read_like_text() -> None:
    parts = [{"type": "text", "text": ASK}, {"type": "image_url", "image_url": {"url": "x"}}]
    assert steps([{"role": "user", "content": parts}]) == [("list_files", "docs")]


ODD_TEXT = st.one_of(
    st.text(max_size=60), st.sampled_from([ASK, LISTING, CLEARED, "go on", "", "[CONTEXT COMPACTION", state("x a")])
)
ODD_CALL = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["1", "2"]),
        "type": st.just("function"),
        "function": st.fixed_dictionaries(
            {
                "name": st.sampled_from(["read_file", "list_files", "append_report", "todo_write", "x"]),
                "arguments": st.one_of(
                    st.sampled_from(
                        ["{", "[]", "null", "", '{"path": 3}', '{"path": ""}', '{"offset": 1e999}', '{"line": ""}']
                    ),
                    st.dictionaries(st.sampled_from(["path", "line", "offset"]), ODD_TEXT).map(json.dumps),
                ),
            }
        ),
    }
)
ODD_MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool"])},
    optional={
        "content": st.one_of(
            st.none(), ODD_TEXT, st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": ODD_TEXT}))
        ),
        "tool_calls": st.lists(ODD_CALL, max_size=3),
        "tool_call_id": st.sampled_from(["1", "2"]),
    },
)


@given(st.lists(ODD_MESSAGE, max_size=12), st.sampled_from([TOOLS, TOOLS + TASK_TOOLS, [], None]))
@settings(deadline=None, max_examples=300)
def test_odd_requests_get_a_valid_answer(messages: list[Message], tools: list[Message] | None) -> None:
    answer = worker.reply({"messages": messages, "tools": tools})
    assert answer["content"] or answer["tool_calls"]
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in answer.get("tool_calls", ()))


def test_the_last_task_state_of_a_prompt_counts() -> None:
    newest = state("~ (odd) name", "x b", goal="two\nlines")
    shown = task_state_in(f"Notes\n{state('x old')}\n{newest}")
    assert [(todo.id, todo.subject, todo.status) for todo in shown.todos] == [
        ("t1", "(odd) name", "in_progress"),
        ("t2", "b", "completed"),
    ]
    assert shown.goal == "two\nlines"
    assert read_request({"messages": []}).state.todos == ()


# Whole surveys


class Board:
    """A task state of the simplest kind."""

    def __init__(self) -> None:
        self.goal, self.todos = "", list[dict[str, str]]()

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """The result of a task tool."""
        if name == "task_set_goal":
            self.goal = arguments["goal"]
        elif name == "todo_write":
            self.todos = [{"id": f"t{n}", **item} for n, item in enumerate(arguments["items"], 1)]
        else:
            next(todo for todo in self.todos if todo["id"] == arguments["id"])["status"] = arguments["status"]
        return "ok"

    def show(self) -> str:
        """The state as a system prompt shows it."""
        marks = {"pending": " ", "in_progress": "~", "completed": "x"}
        return state(*(f"{marks[todo['status']]} {todo['subject']}" for todo in self.todos), goal=self.goal)


def survey(
    root: Path,
    report: Path,
    ask: str,
    task_tools: bool,
    compress: Callable[[list[Message]], list[Message]] | None = None,
) -> tuple[Workspace, Score, list[Message], int]:
    """A whole survey in the smallest loop there is: workspace, score, messages, model calls (at most 150)."""
    workspace, board, messages = Workspace(root, report), Board(), [user(ask)]
    calls = 0
    while calls < 150:
        calls += 1
        system = {"role": "system", "content": board.show() if task_tools else "Be careful."}
        tools = workspace.schemas() + (TASK_TOOLS if task_tools else [])
        answer = worker.reply({"messages": [system, *messages], "tools": tools})
        messages.append(answer)
        if "tool_calls" not in answer:
            break
        for call in answer["tool_calls"]:
            name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
            run = getattr(workspace, name, None)
            result = run(**arguments) if run else board.call(name, arguments)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        messages = compress(messages) if compress else messages
    return workspace, score(report, workspace), messages, calls


@pytest.mark.parametrize("task_tools", [True, False])
def test_forty_files_are_noted_and_none_is_read_twice(tmp_path: Path, task_tools: bool) -> None:
    make_corpus(tmp_path / "root")
    workspace, result, messages, calls = survey(
        tmp_path / "root", tmp_path / "report.md", ASK.replace("docs", "archive"), task_tools
    )
    assert (result.right, result.wrong, result.missing, result.doubled, result.unknown) == (40, 0, 0, 0, 0)
    assert set(workspace.reads.values()) == {1}
    assert calls == 43  # list, plan and read the first; 39 reads more; the last note; the end
    assert "40 text files are noted" in messages[-1]["content"]


@pytest.mark.parametrize("task_tools", [True, False])
def test_other_folders_other_names_and_more_than_one_page(tmp_path: Path, task_tools: bool) -> None:
    root = tmp_path / "root" / "Ünter lagen"
    for number in range(93):
        name = ["{} plan", "src/mod_{}.py", "list files from offset {}", "empty {}.txt", "LICENSE{}"][number % 5]
        (root / name.format(number)).parent.mkdir(parents=True, exist_ok=True)
        (root / name.format(number)).write_text("" if "empty" in name else f"// file {number}: the words\n")
    (root / "raw.bin").write_bytes(b"\0\1\2")
    ask = "Please go through all files in `Ünter lagen` and add one line per file to the report."
    workspace, result, _, calls = survey(root.parent, tmp_path / "report.md", ask, task_tools)
    assert (result.files, result.right, result.doubled, result.unknown) == (93, 93, 0, 0)
    assert set(workspace.reads.values()) == {1}
    assert calls <= 93 + 6


def forget_middle(role: str) -> Callable[[list[Message]], list[Message]]:
    """A crude compression: beyond 24 messages only the last group stays, with a summary of the last five notes."""

    def compress(messages: list[Message]) -> list[Message]:
        if len(messages) < 24:
            return messages
        arguments = [json.loads(c["function"]["arguments"]) for m in messages for c in m.get("tool_calls", ())]
        lines = [argument["line"].removeprefix("- ") for argument in arguments if "line" in argument]
        last = max(place for place, message in enumerate(messages) if message["role"] == "assistant")
        made = summary(role, *(f"noted {line}" for line in lines[-5:]), goal=str(messages[0]["content"]))
        kept = [messages[0], made] if role == "assistant" else [made]
        return [{**message} for message in kept] + messages[last:]

    return compress


def test_what_a_lossy_summary_does_with_and_without_a_task_state(tmp_path: Path) -> None:
    """Nothing but the messages differs; what comes of it is counted, not set."""
    make_corpus(tmp_path / "root", files=20)
    outcome = {}
    for name, role, task_tools in (
        ("state", "assistant", True),
        ("summary", "assistant", False),
        ("user", "user", False),
    ):
        report = tmp_path / f"{name}.md"
        workspace, result, _, calls = survey(
            tmp_path / "root", report, ASK.replace("docs", "archive"), task_tools, forget_middle(role)
        )
        outcome[name] = (result.right, sum(workspace.reads.values()) - len(workspace.reads), calls)
    assert outcome["state"] == (20, 0, 23), "the task state carries it through"
    right, again, calls = outcome["summary"]
    assert right < 20 <= again, "a summary that loses items sends it back to the first files, for ever"
    assert calls == 150
    assert outcome["user"][1] >= again, "told by the user, even the items that are listed are done again"


def test_a_note_that_a_stub_says_never_ran_is_no_record():
    """A crash came between the call and the tool: the line is not in the report, and has to be written again."""
    noted = {"name": "append_report", "arguments": json.dumps({"line": "- a.md: text"})}
    call = {"id": "n", "type": "function", "function": noted}
    for result, holds in (("Line 1 written.", True), ("[No result was recorded for this call: it …]", False)):
        messages = [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "n", "content": result},
        ]
        assert read_request({"messages": messages}).record.holds("a.md") is holds
