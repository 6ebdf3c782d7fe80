"""`course conform`: every field case holds, every transcript can grow, and bad input is a sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from typer.testing import CliRunner

from course.conform import commands, statements, traces
from course.conform.adapter import plan_of, run_case
from course.conform.app import conform
from course.conform.cases import read_cases, read_line
from course.conform.promises import Compression, broken_promises
from course.conform.ruler import CHECKS, problems
from course.conform.traces import Tally, compressed, grow, read_transcript
from course.conform.verdict import judge
from reference.ch03_sessions import SessionStore
from reference.ch05_budget import estimate_tokens
from tests.conftest import SHARED
from tests.histories import histories, sound_histories

FOLDER = Path(__file__).resolve().parents[1] / "fieldcases"
FILES = sorted(FOLDER.glob("ch*.jsonl"))
CASES = [line.case for file in FILES for line in read_cases(file)]
GOOD = {
    "id": "X1",
    "category": "pairing",
    "messages": [{"role": "user", "content": "hi"}],
    "settings": {"mode": "repair only"},
    "checks": ["valid"],
}


def run(tmp_path, *rows):
    """(exit code, what was printed) for a case file with these rows; a text is a line as it is."""
    file = tmp_path / "cases.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    said: list[str] = []
    return conform([file], out=said.append), "\n".join(said)


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_the_field_case_holds(case):
    verdict = judge(case)
    assert verdict.failures == []
    assert verdict.unchecked == [], "every statement of these cases is checked"
    assert verdict.checked


def test_all_cases_are_there():
    assert len(CASES) == len({case.id for case in CASES}) == 83


def test_the_same_files_by_the_command(tmp_path):
    said: list[str] = []
    assert conform(FILES, out=said.append) == 0
    assert said[-1] == "83 cases hold, 0 fail, 0 not run, 0 lines with a problem; 0 statements have no check."


BAD = [
    ("a broken line", '{"id": "X2", ', "cases.jsonl:1: this line is no case: "),
    ("no object", "[1, 2]", "expected an object, found list"),
    ("an unknown setting", GOOD | {"settings": {"mode": "repair only", "mood": 3}}, "cases.jsonl:1: X1: the setting 'mood' is not known"),
    ("an unknown setting of the summary", GOOD | {"settings": {"summary": {"tone": "x"}}}, "'summary.tone' is not known"),
    ("an unknown category", GOOD | {"category": "weather"}, "the category 'weather' is not known"),
    ("messages that are no list", GOOD | {"messages": "hello"}, "messages must be a list of objects"),
    ("settings that are no object", GOOD | {"settings": 3}, "settings must be a dict, found int"),
    ("an unknown check", GOOD | {"checks": ["sparkles"]}, "the check 'sparkles' is not known"),
    ("a check that fails", GOOD | {"checks": [{"keep_text": "bye"}]}, "cases.jsonl:1: X1 fails: keep_text 'bye'"),
    ("a setting of the wrong type", GOOD | {"settings": {"threshold_tokens": "many"}}, "X1 fails: "),
    ("a message without a role", GOOD | {"messages": [{"content": "x"}], "checks": ["keep_last_user"]}, "X1 fails: could not be run: KeyError"),
    ("a short-hand that explodes", GOOD | {"messages": [{"role": "user", "content": {"repeat": ["x", 10**12]}}]}, "a short-hand would make"),
]  # fmt: skip


@pytest.mark.parametrize(("why", "row", "sentence"), BAD, ids=[row[0] for row in BAD])
def test_bad_input_is_a_sentence_and_the_rest_runs(tmp_path, why, row, sentence):
    code, said = run(tmp_path, row, GOOD | {"id": "X9"})
    assert code == 1
    assert sentence in said
    assert " hold, " in said
    assert not said.startswith("0 cases hold"), "the other line was not run"


def test_a_file_that_is_not_there_is_a_sentence(tmp_path):
    said: list[str] = []
    assert conform([tmp_path / "none.jsonl"], out=said.append) == 1
    assert "none.jsonl: cannot be read" in said[0]
    assert conform([], out=said.append) == 2


def test_short_hands_are_written_out():
    row = {
        "id": "X",
        "messages": [
            {
                "each": {
                    "times": 2,
                    "from": 3,
                    "messages": [{"role": "user", "content": {"concat": ["{i}", {"repeat": ["ab", 2]}]}}],
                }
            }
        ],
    }
    case = read_line(json.dumps(row).encode(), "here:1").case
    assert [message["content"] for message in case.messages] == ["3abab", "4abab"]


def test_a_lone_surrogate_in_a_case_survives_reading():
    case = read_line(b'{"id": "X", "messages": [{"role": "user", "content": "\\ud83d"}]}', "here:1").case
    assert case.messages[0]["content"] == "\ud83d"


SETTINGS = [
    ({"threshold_tokens": 100}, "trigger", 100),
    ({"context_window": 8_000}, "trigger", 4_000),  # half of the window, where nothing else is said
    ({"context_window": 8_000, "threshold_ratio": 0.7}, "trigger", 5_600),
    ({"context_window": 8_000, "threshold_tokens": 9_000}, "trigger", 7_999),  # always below the window
    ({"context_window": 8_000, "threshold_tokens": 7_900, "max_output_tokens": 500}, "trigger", 7_499),
    ({"context_window": 64_000, "min_threshold_tokens": 64_000}, "trigger", 32_000),  # a minimum that is the window
    ({}, "trigger", 4_096),  # a missing window does not mean never
    ({"overhead_tokens": 60}, "overhead", 60),
    ({"protect_head": 0}, "protect_first", 1),  # the system prompt counts for us
    ({"protect_head": 3}, "protect_first", 4),
    ({"tail_tokens": 70}, "tail_token_budget", 70),
    ({"protect_tail": 0}, "tail_token_budget", 0),
    ({"protect_tail": 1}, "tail_token_budget", 5),
    ({"never_prune": ["ask"]}, "never_prune", ("ask",)),
    ({"prune_over_chars": 9}, "min_chars", 9),
]


@pytest.mark.parametrize(("given_settings", "name", "expected"), SETTINGS)
def test_settings_become_ours(given_settings, name, expected):
    plan = plan_of(given_settings, [{"role": "system", "content": "s"}, {"role": "user", "content": "hello"}])
    assert (plan.keywords | vars(plan))[name] == expected


def case_of(messages, **given_settings):
    return read_line(
        json.dumps({"id": "X", "category": "goal", "messages": messages, "settings": given_settings}).encode(), "x:1"
    ).case


def long_session(conversation, results=8):
    return [*conversation(results=["data " * 300] * results), {"role": "user", "content": "and now?"}]


def test_a_secret_is_taken_out_of_requests_and_replies(conversation):
    messages = long_session(conversation)
    messages[3]["content"] += "password=hunter2"
    case = case_of(
        messages,
        threshold_tokens=600,
        protect_tail=1,
        redact=["hunter2"],
        summary={"echo_prompt": False, "reply": "## Goal\nlog in with hunter2"},
    )
    done = run_case(case)
    assert done.summary_calls == 1
    assert "hunter2" not in done.client.prompts[0]
    assert "hunter2" not in str(done.result)
    assert "[redacted]" in str(done.result)


def test_the_task_state_is_sent_and_not_stored(conversation):
    done = run_case(
        case_of(
            long_session(conversation),
            threshold_tokens=100_000,
            task_state={"goal": "G", "todo": ["a", "b"], "done": ["a"]},
        )
    )
    assert "## Goal\nG" in done.result[0]["content"]
    assert "[x] (t1) a" in done.result[0]["content"]
    assert "[ ] (t2) b" in done.result[0]["content"]


def test_results_that_are_pending_wait(conversation):
    messages = long_session(conversation)[:-1]
    call = {"id": "run", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
    late = {"role": "tool", "tool_call_id": "run", "content": "exit 0"}
    done = run_case(case_of(messages, threshold_tokens=600, protect_tail=1, pending_results=[late]))
    assert done.result[-1] == late
    assert problems(done.result) == []


def test_a_statement_can_fail(conversation):
    """The checks are no rubber stamps: a run whose result was spoiled breaks them."""
    messages = long_session(conversation)
    done = run_case(case_of(messages, threshold_tokens=600, protect_tail=1))
    sound = [text for text, check in statements.STATEMENTS.items() if _holds(check, done)]
    done.result = [{"role": "tool", "tool_call_id": "x", "content": "spoiled \x00"}]
    broken = [text for text in sound if not _holds(statements.STATEMENTS[text], done)]
    assert len(broken) > 25


def _holds(check, done):
    try:
        return check(done)
    except Exception:
        return False


def test_every_machine_check_can_fail():
    case = case_of([{"role": "system", "content": "S"}, {"role": "user", "content": "U"}])
    spoiled = [
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"arguments": "{"}}]},
        {"role": "tool", "content": "x" * 900},
        {"role": "tool", "content": "y"},
    ]
    arguments = {"keep_text": "U", "no_text": "y", "text_count": ["y", 2], "order": ["y", "x"], "max_tokens": 1, "max_messages": 1, "result_count": 7, "no_consecutive": "tool"}  # fmt: skip
    assert [name for name, check in CHECKS.items() if check(case, spoiled, arguments.get(name, True))] == []


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(sound_histories(min_turns=2))
def test_the_promises_hold_for_sound_histories(history):
    limit = max(60, estimate_tokens(history) // 2)
    done = compressed(history, limit)
    assert broken_promises(done) == []


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(histories())
def test_the_promises_hold_for_broken_histories(history):
    assert broken_promises(compressed(history, 100)) == []


SPOILED = [
    ("1", lambda messages: [*messages, messages[-1], {"role": "tool", "tool_call_id": "zz", "content": "x"}]),
    ("2", lambda messages: [messages[0] | {"content": "another"}, *messages[1:]]),
    ("2", lambda messages: [message for message in messages if message.get("content") != "and now?"]),
    ("3", lambda messages: [message for message in messages if message.get("_generated") != "summary"]),
    ("4", lambda messages: [*messages[:-1], messages[-1] | {"mood": "x"}]),
    ("6", lambda messages: messages[:-1]),
]


@pytest.mark.parametrize(("promise", "spoil"), SPOILED)
def test_a_broken_promise_is_named(conversation, promise, spoil):
    done = compressed(long_session(conversation), 600)
    assert broken_promises(done) == []
    spoiled = Compression(done.before, spoil(list(done.after)), done.report, done.limit)
    assert promise in {problem[0] for problem in broken_promises(spoiled)}


def test_a_transcript_grows_and_the_store_has_it_all(conversation, tmp_path):
    tally = Tally()
    transcript = long_session(conversation, results=30)
    with SessionStore(tmp_path / "s.sqlite") as store:
        assert list(grow(transcript, 1_500, tally, store)) == []
    assert tally.fits["compressed"] > 3
    assert tally.gave_up == 0


def test_traces_that_are_none_are_sentences_and_the_rest_runs(conversation, tmp_path):
    (tmp_path / "a.json").write_text('{"messages": "no list"}')
    (tmp_path / "b.json").write_text("[1]")
    (tmp_path / "c.json").write_text("{\n,")
    (tmp_path / "d.json").write_text(json.dumps(long_session(conversation, results=40)))
    said: list[str] = []
    assert conform(traces=tmp_path, out=said.append) == 1
    assert "a.json:1: expected a list of messages, found str." in said[0]
    assert "b.json:1: message 0 is no object but int." in said[1]
    assert "c.json:2: this is no JSON" in said[2]
    assert said[3].startswith("1 transcripts")
    assert said[-1].endswith("0 problems.")


def test_an_empty_folder_is_a_sentence(tmp_path):
    said: list[str] = []
    assert conform(traces=tmp_path, out=said.append) == 1
    assert "there is no transcript" in said[0]


def test_giving_up_too_often_is_an_error():
    assert Tally(fits=Counter({"compressed": 19, "stuck": 1})).gave_up == pytest.approx(0.05)
    assert traces.GAVE_UP_AT_MOST == 0.05


@pytest.mark.skipif(not (SHARED / "traces").is_dir(), reason="the recorded transcripts are not beside the project")
def test_recorded_transcripts_in_one_window(tmp_path):
    tally = Tally()
    with SessionStore(tmp_path / "s.sqlite") as store:
        for path in sorted((SHARED / "traces").glob("*.json")):
            assert list(grow(read_transcript(path), 4_096, tally, store)) == [], path.name
    assert tally.fits["compressed"] > 200
    assert tally.gave_up <= traces.GAVE_UP_AT_MOST


def test_the_module_runs_as_a_program(tmp_path):
    (tmp_path / "cases.jsonl").write_text(json.dumps(GOOD))
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "course.conform", str(tmp_path / "cases.jsonl")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1 cases hold")


def command_line():
    app = typer.Typer()
    app.command()(commands.conform)
    app.command()(commands.bench)
    return app


COMMANDS = [
    (["conform"], 2, "Give a file of cases"),
    (["conform", str(FILES[0])], 0, "0 fail"),
    (["conform", "nowhere.jsonl"], 1, "nowhere.jsonl: cannot be read"),
    (["conform", "--traces", "nowhere"], 1, "there is no transcript"),
    (["bench", "prune"], 2, "There is nothing to measure under 'prune'"),
    (["bench", "compress", "--sizes", "ten"], 2, "Sizes are whole numbers"),
    (["bench", "compress", "--sizes", "2"], 2, "at least 4"),
]


@pytest.mark.parametrize(("arguments", "code", "sentence"), COMMANDS, ids=[" ".join(row[0])[:40] for row in COMMANDS])
def test_the_command_line(arguments, code, sentence):
    done = CliRunner().invoke(command_line(), arguments)
    assert done.exit_code == code, done.output
    assert sentence in done.output
