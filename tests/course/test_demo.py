"""`course demo` and `course serve`, run as a user runs them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from course.corpus import make_corpus
from course.demo import DemoError, DemoSettings, run_demo
from course.endpoint import offline_endpoint
from course.views import Lines, make_console

NO_KEY = {key: value for key, value in os.environ.items() if not key.startswith("OPENAI")}


def course(*arguments, folder, environment=NO_KEY):
    """The finished process of one command, run in `folder`."""
    command = [sys.executable, "-m", "course", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def number(row, output):
    """The first number in a row of the final table."""
    return int(re.search(rf"│ {row} +│ +([\d,]+)", output)[1].replace(",", ""))


def test_the_demo_finishes_with_every_line_right_and_says_the_same_twice(tmp_path):
    runs = [course("demo", "--plain", folder=tmp_path) for _ in range(2)]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr
    assert runs[0].stdout == runs[1].stdout
    output = runs[0].stdout
    assert "40 right, 0 wrong, 0 missing, 0 doubled" in output
    assert number("files read", output) == 40
    assert number("files read twice or more", output) == 0
    assert number("compressions with a summary", output) >= 3
    assert number("refused requests", output) == 0
    assert len((tmp_path / "course-demo" / "report.md").read_text().splitlines()) == 40


def test_without_task_state_files_are_read_again_and_it_never_ends(tmp_path):
    run = course("demo", "--plain", "--without", "task-state", folder=tmp_path)
    assert run.returncode == 1
    assert number("files read twice or more", run.stdout) > 5
    assert number("refused requests", run.stdout) == 0
    assert "its limit, without an end" in run.stderr


def test_in_a_larger_window_summaries_are_enough(tmp_path):
    run = course("demo", "--plain", "--without", "task-state", "--window", 32_768, folder=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "40 right, 0 wrong, 0 missing, 0 doubled" in run.stdout


@pytest.fixture
def tree(tmp_path):
    """A folder of a user's own: hundreds of files, one bigger than the window, other scripts, and what is no text."""
    root = tmp_path / "tree"
    for i in range(220):
        file = root / f"package_{i % 7}" / f"module_{i}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'"""Module {i} does thing {i * 7}."""\n\nVALUE_{i} = {i}\n', encoding="utf-8")
    (root / "big.json").write_text('{"rows": [' + ", ".join(f'{{"id": {i}}}' for i in range(40_000)) + "]}")
    (root / "chinese.txt").write_text("上下文窗口是一次请求可以容纳的标记数。" * 900, encoding="utf-8")
    (root / "digits.txt").write_text("3.14159265358979 " * 2_000)
    (root / "emoji.md").write_text("🧠🪟🗜️" * 3_000, encoding="utf-8")
    (root / "empty.txt").write_text("")
    (root / "picture.png").write_bytes(b"\x89PNG\0\0" * 100)
    return root


def test_a_folder_of_ones_own_is_surveyed_to_the_end(tmp_path, tree):
    run = course("demo", "--plain", "--path", tree, folder=tmp_path)
    assert run.returncode == 0, run.stdout[-3_000:] + run.stderr
    assert "225 right, 0 wrong, 0 missing, 0 doubled" in run.stdout
    assert number("files read twice or more", run.stdout) == 0
    assert number("refused requests", run.stdout) == 0
    assert "left out: picture.png (not text)" in run.stdout
    assert not (tree / "report.md").exists(), "nothing is written into the folder"


@pytest.mark.parametrize("threshold", [0.3, 0.7])
def test_other_thresholds(tmp_path, threshold):
    run = course("demo", "--plain", "--threshold", threshold, "--window", 16_384, folder=tmp_path)
    assert run.returncode == 0, run.stderr
    assert number("refused requests", run.stdout) == 0


BAD = [
    ("a missing folder", ["--path", "nowhere"], "There is no folder nowhere."),
    ("a file instead of a folder", ["--path", "a.txt"], "a.txt is not a folder."),
    ("an empty folder", ["--path", "empty"], "There is no text file under empty."),
    ("nothing but binary files", ["--path", "binary"], "1 files were left out, since they are no readable text"),
    ("a window smaller than the system prompt", ["--window", "500"], "too small: the system prompt, the tools"),
    ("an unknown guard", ["--without", "luck"], "There is no guard luck. There is: prune, align,"),
    ("a threshold that is no share", ["--threshold", "50"], "share between 0 and 1"),
    ("no key for a real endpoint", ["--live"], "--live needs OPENAI_API_KEY"),
    ("a report that would destroy a file", ["--report", "a.txt"], "a.txt exists and is no survey report"),
    ("a report in a place that cannot be written", ["--report", "a.txt/r.md"], "a.txt cannot be made"),
]


@pytest.mark.parametrize(("why", "arguments", "sentence"), BAD, ids=[row[0] for row in BAD])
def test_bad_input_gets_one_clear_sentence(tmp_path, why, arguments, sentence):
    (tmp_path / "a.txt").write_text("text\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "binary").mkdir()
    (tmp_path / "binary" / "x.bin").write_bytes(b"\0\1\2")
    run = course("demo", "--plain", *arguments, folder=tmp_path)
    assert run.returncode != 0
    assert sentence in run.stderr
    assert "Traceback" not in run.stderr + run.stdout
    assert (tmp_path / "a.txt").read_text() == "text\n"


def start(*arguments, folder):
    command = [sys.executable, "-m", "course", *map(str, arguments)]
    settings = {"cwd": folder, "env": NO_KEY | {"PYTHONUNBUFFERED": "1"}, "text": True}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **settings)


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT as a terminal does")
def test_ctrl_c_keeps_the_report_written_so_far(tmp_path):
    make_corpus(tmp_path / "many", files=400)
    process = start("demo", "--plain", "--path", "many", folder=tmp_path)
    for line in process.stdout:
        if "append_report" in line and line.startswith("call   1"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode != 0
    assert "Interrupted. The report written so far is kept in" in err
    assert "Traceback" not in out + err
    assert (tmp_path / "course-demo" / "report.md").read_text().startswith("- ")


def test_serve_answers_any_client_and_says_when_a_port_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = course("serve", "--port", port, folder=tmp_path)
        assert run.returncode != 0
        assert f"Port {port} on 127.0.0.1 is already in use" in run.stderr
        assert "Traceback" not in run.stderr
    process = start("serve", "--port", port, folder=tmp_path)
    try:
        assert process.stdout.readline() == f"OPENAI_BASE_URL=http://127.0.0.1:{port}/v1\n"
        key = process.stdout.readline().strip().removeprefix("OPENAI_API_KEY=")
        body = {"model": "sim-8k", "messages": [{"role": "user", "content": "Hello"}]}
        reply = httpx.post(
            f"http://127.0.0.1:{port}/v1/chat/completions", json=body, headers={"Authorization": f"Bearer {key}"}
        )
        assert reply.status_code == 200
        assert "rule-based worker" in reply.json()["choices"][0]["message"]["content"]
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert "Traceback" not in err
    assert out.endswith("stopped\n")


def test_a_provider_that_dies_in_mid_run_is_said_in_one_sentence(tmp_path):
    """The same code as the command, with a provider that is stopped from outside after some calls."""
    console = make_console(plain=True)
    settings = DemoSettings(report=tmp_path / "report.md", sessions=tmp_path / "sessions.db")

    class Killer(Lines):
        def __call__(self, timeline, event):
            super().__call__(timeline, event)
            if event.kind == "response" and event.data["call"] == 5:
                provider.stop()

    with offline_endpoint(None) as (client, models, provider):
        endpoint = contextlib.nullcontext((client, models, provider))
        with pytest.raises(DemoError, match=r"The provider does not answer any more: the connection was lost\."):
            run_demo(settings, console, Killer(console), endpoint)
    assert settings.report.read_text().startswith("- ")


def test_live_is_the_same_code_against_any_endpoint(tmp_path):
    """Here the endpoint is `course serve`'s provider: nothing but the environment names it."""
    with offline_endpoint(None) as (_, models, provider):
        live = {
            "OPENAI_API_KEY": provider.key,
            "OPENAI_BASE_URL": provider.base_url,
            "MODEL": models.agent,
            "SUMMARY_MODEL": models.summarizer,
        }
        run = course("demo", "--plain", "--live", folder=tmp_path, environment=NO_KEY | live)
    assert run.returncode == 0, run.stderr
    assert "every prompt token below is billed to your key" in run.stdout
    assert "40 right, 0 wrong, 0 missing, 0 doubled" in run.stdout
    assert len(provider.log) > 43
    assert {exchange.status for exchange in provider.log} == {200}
