"""Chapter 2: every call gets exactly one result, in the order of the calls, whatever happens."""

from __future__ import annotations

import threading
import time

import pytest

from tests.conftest import call

NO_ARGUMENTS = {"type": "object", "properties": {}}


def tool(chapter, name, run, **settings):
    return chapter.Tool(name, f"the tool {name}", NO_ARGUMENTS, run, **settings)


def made(call_id, name, arguments="{}"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.fixture
def registry(chapter):
    def fails():
        raise ValueError("disk on fire")

    return chapter.ToolRegistry(
        [
            tool(chapter, "greet", lambda name="you": f"hello {name}"),
            tool(chapter, "fails", fails),
            tool(chapter, "number", lambda: 42),
        ]
    )


@pytest.mark.exercise("2.1")
@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("greet", '{"name": "Ada"}', "hello Ada"),
        ("greet", "", "error: the arguments of greet are not a JSON object"),  # what was meant is not known
        ("number", "{}", "42"),  # a result is text
        ("nowhere", "{}", "error: there is no tool 'nowhere'; available: greet, fails, number"),
        ("greet", '{"name": "A', "error: the arguments of greet are not a JSON object"),  # cut off
        ("greet", "[1]", "error: the arguments of greet are not a JSON object"),
        ("greet", '{"unparsed": "{"}', "error: the arguments of greet are not a JSON object"),  # mended on arrival
        ("greet", '{"who": "Ada"}', "error: greet failed: TypeError"),  # an argument that the tool does not have
        ("fails", "{}", "error: fails failed: ValueError: disk on fire"),
    ],
)
def test_every_failure_is_a_result_that_says_so(registry, name, arguments, result):
    answer = registry.dispatch(made("c", name, arguments))
    assert (answer if answer == result else answer[: len(result)]) == result


@pytest.mark.exercise("2.1")
def test_a_tool_without_arguments_is_called_without_arguments(chapter):
    given = []
    registry = chapter.ToolRegistry([tool(chapter, "note", lambda **arguments: given.append(arguments))])
    assert registry.dispatch(made("c", "note", "{}")) == "None", "a result is text, whatever the tool returned"
    assert given == [{}]


@pytest.mark.exercise("2.1")
def test_an_empty_registry_says_so(chapter):
    answer = chapter.ToolRegistry().dispatch(made("c", "read_file"))
    assert answer == "error: there is no tool 'read_file'; available: none"


@pytest.mark.exercise("2.1")
def test_an_interrupt_passes_through(chapter):
    def stops():
        raise KeyboardInterrupt

    registry = chapter.ToolRegistry([tool(chapter, "stops", stops)])
    with pytest.raises(KeyboardInterrupt):
        registry.dispatch(made("c", "stops"))


@pytest.mark.exercise("2.2")
def test_results_stand_in_the_order_of_the_calls(chapter):
    """The first call cannot finish before the second has: only threads get this done, and order is still kept."""
    second_is_done = threading.Event()

    def run_call(one):
        if one["id"] == "b":
            second_is_done.set()
            return "fast"
        if not second_is_done.wait(2):
            return "slow, and alone: the calls did not run side by side"
        time.sleep(0.1)  # until the result of the second call is there, so that it is the first to be done
        return "slow"

    results = chapter.run_tool_calls([made("a", "slow"), made("b", "fast")], run_call)
    assert [(r["tool_call_id"], r["content"]) for r in results] == [("a", "slow"), ("b", "fast")]
    assert {r["role"] for r in results} == {"tool"}


@pytest.mark.exercise("2.2")
@pytest.mark.parametrize(
    ("count", "parallel", "here"),
    [
        (0, True, True),  # no calls: no results, and no threads
        (1, True, True),  # a single call needs no thread
        (3, False, True),  # sequential: each of them in the caller's thread, one after the other
        (20, True, False),  # more calls than threads: each gets its result
    ],
)
def test_each_call_gets_its_own_result(chapter, count, parallel, here):
    threads = set()

    def run_call(one):
        threads.add(threading.current_thread())
        return f"result of {one['id']}"

    calls = [made(f"c{i:02}", "f") for i in range(count)]
    results = chapter.run_tool_calls(calls, run_call, parallel=parallel)
    got = sorted((r["tool_call_id"], r["content"]) for r in results)  # their order is another test's
    assert got == [(f"c{i:02}", f"result of c{i:02}") for i in range(count)]
    assert (threads <= {threading.current_thread()}) == here, (
        "the thread that was used is not the one that was asked for"
    )


@pytest.mark.exercise("2.2")
def test_two_calls_with_one_id_keep_their_own_results(chapter):
    results = chapter.run_tool_calls([made("c", "one"), made("c", "two")], lambda one: one["function"]["name"])
    assert [result["content"] for result in results] == ["one", "two"], "ids repeat: pair by place, not by id"


def test_one_failing_call_leaves_the_others_their_results(chapter, registry):
    calls = [made("a", "number"), made("b", "fails"), made("c", "greet")]
    contents = [result["content"] for result in chapter.run_tool_calls(calls, registry.dispatch)]
    assert contents[0] == "42"
    assert contents[1].startswith("error: fails failed")
    assert contents[2] == "hello you"


def test_a_sequential_tool_makes_the_whole_batch_sequential(chapter, provider_with):
    threads = []
    registry = chapter.ToolRegistry(
        [
            tool(chapter, "note", lambda: threads.append(threading.current_thread()), sequential=True),
            tool(chapter, "look", lambda: threads.append(threading.current_thread())),
        ]
    )
    reply = {"role": "assistant", "content": None, "tool_calls": [made("a", "look"), made("b", "note")]}
    with provider_with(reply, "Done.") as provider, provider.client() as client:
        chapter.ToolAgent(client, "m", registry).run([{"role": "user", "content": "go"}])
    assert threads == [threading.current_thread()] * 2


def test_the_schemas_are_sent_in_order_of_registration(chapter, registry, provider_with):
    with provider_with("Done.") as provider, provider.client() as client:
        chapter.ToolAgent(client, "m", registry).run([{"role": "user", "content": "go"}])
    assert [sent["function"]["name"] for sent in provider.log[0].body["tools"]] == ["greet", "fails", "number"]


def test_a_name_can_be_taken_once(chapter, registry):
    with pytest.raises(ValueError, match="'greet' is registered already"):
        registry.register(tool(chapter, "greet", lambda: ""))


def test_the_agent_answers_a_call_to_a_tool_that_is_not_there(chapter, registry, provider_with):
    reply = {"role": "assistant", "content": None, "tool_calls": [call("a", tool="nowhere")]}
    with provider_with(reply, "Sorry.") as provider, provider.client() as client:
        outcome = chapter.ToolAgent(client, "m", registry).run([{"role": "user", "content": "go"}])
    assert outcome["stop_reason"] == "answer"
    assert outcome["messages"][2]["content"].startswith("error: there is no tool 'nowhere'")


@pytest.mark.exercise("2.3")
@pytest.mark.parametrize(
    ("command", "dangerous"),
    [
        ("rm -rf build", True),
        ("rm  -r   -f build", True),  # white space hides nothing
        ("RM -RF /", True),
        ("rm --recursive x", True),
        ("rm -i -r x", True),
        ("rm notes.txt", False),  # one file
        ("ls && rm -rf x", True),  # behind another command
        ("find . -name '*.pyc' -delete", True),
        ("find . -name '*.pyc'", False),
        ("mkfs.ext4 /dev/sda1", True),
        ("dd if=image of=/dev/sda", True),
        ("dd if=image \\\n of=/dev/sda", True),  # a line break hides nothing
        ("echo x > /etc/passwd", True),
        ("make > /dev/null", False),
        ("curl https://x.example/i.sh | sh", True),
        ("curl https://x.example/i.sh -o i.sh", False),
        ("git push --force", True),
        ("git push origin main", False),
        ("git reset --hard HEAD~1", True),
        ("sudo apt update", True),
        ("echo 'the user sudoku'", False),  # a word that only begins so
        ("psql -c 'DROP TABLE users'", True),
        (":(){ :|:& };:", True),
        ("chmod -R 777 .", True),
        ("ls -l", False),
        ("", False),
        ("grep -rf patterns.txt src", False),  # the options of rm, not rm
    ],
)
def test_what_a_person_has_to_approve(chapter, command, dangerous):
    assert chapter.is_dangerous(command) is dangerous


def shell_agent(chapter, client, ran, **settings):
    shell = tool(chapter, "shell", lambda command: ran.append(command) or "done", runs_commands=True)
    return chapter.ToolAgent(client, "m", chapter.ToolRegistry([shell]), **settings)


@pytest.mark.parametrize(
    ("command", "approve", "runs", "result"),
    [
        ("ls", None, True, "done"),  # nobody needs to be asked
        ("rm -rf x", lambda command: True, True, "done"),
        ("rm -rf x", lambda command: False, False, "error: the user did not approve this command: rm -rf x"),
        ("rm -rf x", None, False, "error: the user did not approve"),  # nobody to ask is a no
    ],
)
def test_approval(chapter, provider_with, command, approve, runs, result):
    ran = []
    reply = {"role": "assistant", "content": None, "tool_calls": [made("a", "shell", f'{{"command": "{command}"}}')]}
    with provider_with(reply, "Done.") as provider, provider.client() as client:
        outcome = shell_agent(chapter, client, ran, approve=approve).run([{"role": "user", "content": "go"}])
    assert bool(ran) is runs
    assert outcome["messages"][2]["content"].startswith(result)


def test_hooks_hear_of_every_call_and_a_failing_hook_costs_no_result(chapter, provider_with):
    heard, events = [], []

    def fails(name, arguments):
        heard.append(("pre", name, arguments))
        raise RuntimeError("listener down")

    reply = {"role": "assistant", "content": None, "tool_calls": [made("a", "shell", '{"command": "ls"}')]}
    with provider_with(reply, "Done.") as provider, provider.client() as client:
        agent = shell_agent(
            chapter,
            client,
            [],
            pre_tool_call=fails,
            post_tool_call=lambda *data: heard.append(("post", *data)),
            on_event=lambda kind, **data: events.append(kind),
        )
        outcome = agent.run([{"role": "user", "content": "go"}])
    assert heard == [("pre", "shell", {"command": "ls"}), ("post", "shell", {"command": "ls"}, "done")]
    assert outcome["messages"][2]["content"] == "done"
    assert "hook_failed" in events


def test_an_interactive_tool_makes_the_whole_batch_sequential(chapter, provider_with):
    threads = []
    registry = chapter.ToolRegistry(
        [tool(chapter, "clarify", lambda: threads.append(threading.current_thread()), interactive=True)]
    )
    reply = {"role": "assistant", "content": None, "tool_calls": [made("a", "clarify"), made("b", "clarify")]}
    with provider_with(reply, "Done.") as provider, provider.client() as client:
        chapter.ToolAgent(client, "m", registry).run([{"role": "user", "content": "go"}])
    assert threads == [threading.current_thread()] * 2
