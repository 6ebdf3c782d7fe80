"""`course bench compress`: the histories, the judge, the table; what it measures is no assertion here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from course.bench import peers, subject_ours, worker
from course.bench.app import Row, bench, growth, table
from course.bench.histories import characters, generate, plain, read_transcripts, stitched, tokens
from course.bench.judge import judged, share
from course.provider.rules import violations

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("several_turns", [True, False])
@pytest.mark.parametrize("size", [4, 5, 6, 7, 20, 99, 100, 1_000])
def test_a_history_has_its_size_and_is_sound(size, several_turns):
    messages = generate(size, several_turns=several_turns)
    assert len(messages) == size
    assert violations(messages) == []
    assert messages[-1]["role"] == "tool", "one compresses when results have come"
    assert messages == generate(size, several_turns=several_turns), "the seed decides"
    assert (sum(m["role"] == "user" for m in messages) == 1) or several_turns


def test_several_turns_have_several_requests():
    assert sum(message["role"] == "user" for message in generate(500)) > 10


def test_recorded_histories_are_cut_where_a_message_may_end(tmp_path, conversation):
    (tmp_path / "a.json").write_text(json.dumps({"messages": conversation(results=["r"] * 12, reply="done")}))
    (tmp_path / "b.json").write_text(json.dumps({"messages": conversation(results=["r"])}))
    pool = read_transcripts(tmp_path)
    assert len(pool) == 1, "a short transcript is left out"
    for size in (30, 31, 60):
        messages = stitched(pool, size)
        assert size - 2 <= len(messages) <= size
        assert messages[-1]["role"] != "assistant"
        assert sum(message["role"] == "system" for message in messages) == 1


def test_the_floor_reads_every_length():
    messages = [
        {"role": "user", "content": "x" * 10},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"arguments": "y" * 6}}]},
    ]
    assert characters(messages) == 16
    assert tokens(messages) == 4


@pytest.mark.parametrize(
    ("content", "text"),
    [("a", "a"), (None, ""), ([{"type": "text", "text": "a"}, {"type": "image_url"}, "b"], "a\n\nb")],
)
def test_content_for_libraries_without_our_parts(content, text):
    assert plain(content) == text


USER, SYSTEM = {"role": "user", "content": "u"}, {"role": "system", "content": "s"}
JUDGED = [
    ("a sound result", {"unchanged": False, "result": [SYSTEM, USER]}, "good"),
    ("an internal mark is not sent", {"unchanged": False, "result": [USER | {"_generated": "bridge"}]}, "good"),
    ("the list as it was", {"unchanged": True, "result": None}, "unchanged"),
    ("nothing", {"unchanged": False, "result": []}, "empty"),
    ("nothing but the system prompt", {"unchanged": False, "result": [SYSTEM]}, "empty"),
    ("two users in a row", {"unchanged": False, "result": [USER, USER]}, "invalid"),
    ("a result without a call", {"unchanged": False, "result": [USER, {"role": "tool", "tool_call_id": "a", "content": "r"}]}, "invalid"),
    ("no result at all", {"error": "TypeError"}, "error"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "found", "verdict"), JUDGED, ids=[row[0] for row in JUDGED])
def test_the_judge(what, found, verdict):
    assert judged(found) == verdict


def test_shares_are_of_all_results():
    results = [row[1] for row in JUDGED]
    assert share(results, "invalid") == 2 / 8
    assert share([], "invalid") == 0


def test_growth_is_the_slope():
    assert growth([(1_000, 0.01), (10_000, 0.1), (100_000, 1.0)]) == pytest.approx(1)
    assert growth([(1_000, 0.01), (10_000, 1.0)]) == pytest.approx(2)
    assert growth([(1_000, 0.01)]) is None
    row = Row("ours", "turns", {100: {"seconds": 9.0}, 1_000: {"seconds": 1.0}, 10_000: {"seconds": 10.0}})
    assert row.exponent == pytest.approx(1), "small sizes are all overhead"


@pytest.mark.parametrize("several_turns", [True, False])
def test_ours_is_always_smaller_and_valid(several_turns):
    for seed in range(30):
        messages = generate(20 + seed * 7 % 140, 5_000 + seed, several_turns)
        found = worker.verdict(messages, subject_ours.run(messages, worker.keep_of(messages)))
        assert judged(found) == "good"
        assert found["after"] < found["before"]


def test_a_small_bench_from_end_to_end(tmp_path, conversation, monkeypatch):
    monkeypatch.chdir(tmp_path)  # paths are given as a user gives them: from where the command is typed
    Path("traces").mkdir()
    Path("traces", "broken.json").write_text('{"messages": [')
    Path("traces", "other.json").write_text('{"messages": "hello"}')
    transcript = {"messages": conversation(results=["data " * 50] * 30)}
    Path("traces", "a.json").write_text(json.dumps(transcript))
    said: list[str] = []
    plot, save = Path("bench.svg"), Path("bench.json")
    code = bench(sizes=[50], traces=Path("traces"), plot=plot, save=save, many=5, out=said.append)
    text = "\n".join(said)
    assert code == 0, text
    assert "LangChain SummarizationMiddleware is left out: without --peers" in text
    for shape in ("turns", "one turn", "recorded"):
        assert f"Shape: {shape}" in text
    assert text.count("0% invalid, 0% empty, 0% unchanged, 0% error") == 3
    assert text.count(" good") == 3
    assert plot.read_text().count("<svg") == 1
    assert {row["subject"] for row in json.loads(save.read_text())} == {"floor", "ours"}


def test_a_folder_without_transcripts_is_a_sentence(tmp_path):
    said: list[str] = []
    bench(sizes=[10], traces=tmp_path, out=said.append, run=lambda subject, **job: {"error": "not measured"})
    assert f"The recorded shape is left out: no transcript of 20 messages or more in {tmp_path}." in said


def test_a_peer_is_found_by_a_relative_path(tmp_path, monkeypatch):
    module = tmp_path / "lib" / "agent"
    module.mkdir(parents=True)
    (module / "context_compressor.py").touch()
    python = tmp_path / "peers" / "hermes" / "bin" / "python"
    python.parent.mkdir(parents=True)
    # It is run as: python -I -c CODE agent agent/context_compressor
    path = f"import sys; sys.path.append('{module.parent}')"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{path}\n$3" "$4" "$5"\n')
    python.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    used = []
    bench(
        Path("peers"),
        [10],
        out=lambda line: None,
        run=lambda subject, **job: used.append(subject.python) or {"error": "not measured"},
    )
    assert used[-1] == str(python)


def test_a_bad_result_of_ours_is_an_exit_code():
    found = {
        "seconds": 1.0,
        "peak_mb": 1.0,
        "before": 9,
        "after": 5,
        "messages": 1,
        "unchanged": False,
        "result": [USER, USER],
    }
    said: list[str] = []
    assert bench(sizes=[10], out=said.append, run=lambda subject, **job: dict(found)) == 1
    assert "100% invalid" in "\n".join(said)


def test_sizes_that_are_none_are_a_sentence():
    said: list[str] = []
    assert bench(sizes=[], out=said.append) == 2
    assert bench(sizes=[3], out=said.append) == 2
    assert said == ["A size is a number of messages, at least 4."] * 2


def test_what_would_take_too_long_is_left_out():
    cell = {
        "seconds": 7.0,
        "peak_mb": 1.0,
        "before": 9,
        "after": 5,
        "messages": 1,
        "unchanged": False,
        "result": [USER],
    }
    said: list[str] = []
    bench(sizes=[10, 100], out=said.append, run=lambda subject, **job: [] if "many" in job else dict(cell))
    assert "left out: it would take more than 60 s" in "\n".join(said)


def test_an_environment_without_the_library_is_named(tmp_path):
    (tmp_path / "v" / "bin").mkdir(parents=True)
    (tmp_path / "v" / "bin" / "python").symlink_to(sys.executable)
    subjects, missing = peers.find_subjects(tmp_path)
    assert [subject.name for subject in subjects] == ["floor", "ours"]
    assert len(missing) == 3
    assert all(str(tmp_path) in sentence for sentence in missing)


def test_a_library_that_is_there_is_found():
    assert peers.has_module(Path(sys.executable), "json.decoder")
    assert not peers.has_module(Path(sys.executable), "json.nothing")
    assert not peers.has_module(Path(sys.executable), "nothing.at.all")


def test_a_subject_that_fails_is_a_sentence_not_a_traceback():
    found = peers.run_job(peers.Subject("nobody", sys.executable), shape="turns", size=10)
    assert "course.bench.subject_nobody" in found["error"]
    row = Row("ours", "turns", {10: found})
    assert any("subject_nobody" in line for line in table([row]))


def test_the_subjects_of_other_libraries_import_nothing_of_ours_but_the_histories():
    for name in peers.MODULES:
        text = (ROOT / "course" / "bench" / f"subject_{name}.py").read_text(encoding="utf-8")
        ours = [
            line for line in text.splitlines() if line.startswith(("from course", "import course", "from reference"))
        ]
        assert all("course.bench.histories" in line for line in ours)
        assert all(f"\ndef {function}(" in text for function in ("prepare", "run", "restore"))


def test_the_worker_needs_the_standard_library_only():
    code = "import sys, course.bench.worker; print(*{n.split('.')[0] for n in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"reference", "openai", "starlette", "matplotlib", "rich", "typer"} & set(done.stdout.split())
