"""The import direction: what a learner can rely on, and what keeps a chapter small."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What several chapters build on: the form of one message, the pairing of calls and results, and one SQLite file.
SHARED = ("reference.messages", "reference.pairing", "reference.database")
REFERENCE = sorted((ROOT / "reference").glob("*.py"))


def imports(file, *, inside_functions):
    """(names of imported modules, line) of a file: those at module level, or those inside functions."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nested = {id(node) for scope in ast.walk(tree) if isinstance(scope, ast.FunctionDef) for node in ast.walk(scope)}
    for node in ast.walk(tree):
        if (id(node) in nested) is inside_functions:
            if isinstance(node, ast.Import):
                yield from ((alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node.module, node.lineno


@pytest.mark.parametrize("file", REFERENCE, ids=lambda file: file.stem)
def test_a_chapter_imports_the_standard_library_and_earlier_chapters(file):
    mine = re.match(r"ch(\d\d)_", file.stem)
    for name, line in imports(file, inside_functions=False):
        place = f"{file.name}:{line} imports {name}"
        if name in SHARED:
            on_messages = file.stem == "pairing" and name == "reference.messages"
            assert mine or on_messages, f"{place}: a shared module stands alone, or on that of one message"
        elif chapter := re.match(r"reference\.ch(\d\d)_", name):
            assert mine, place
            assert int(chapter[1]) < int(mine[1]), f"{place}: a chapter imports earlier ones only"
        else:
            assert name.split(".")[0] in sys.stdlib_module_names | {"__future__"}, place


def test_nobody_imports_tests_and_reference_never_imports_course():
    for folder in ("reference", "chapters", "course"):
        for file in (ROOT / folder).rglob("*.py"):
            for inside in (False, True):
                for name, line in imports(file, inside_functions=inside):
                    assert not name.startswith("tests"), f"{file}:{line}"
                    assert folder == "course" or not name.startswith("course"), f"{file}:{line}"


def test_nothing_is_defined_twice_in_reference():
    seen = {}
    for file in REFERENCE:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                assert node.name not in seen, f"{node.name} stands in {seen.get(node.name)} and {file.name}"
                seen[node.name] = file.name


def test_importing_a_chapter_makes_no_client_and_reads_no_key():
    code = "import sys, reference.ch12_task_state; print(*{n.split('.')[0] for n in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"openai", "httpx", "starlette", "course"} & set(run.stdout.split())


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("ch01_agent_loop", "Agent run_conversation assistant_message to_wire MAX_ITERATIONS"),
        ("ch02_tools", "ToolAgent Tool ToolRegistry run_tool_calls is_dangerous"),
        ("ch03_sessions", "SessionAgent SessionStore"),
        ("ch04_prompts", "PromptAgent PromptBuilder build_system_prompt"),
        ("ch05_budget", "estimate_tokens estimate_message_tokens should_compress"),
        ("ch06_prune", "prune_old_tool_results PLACEHOLDER"),
        ("ch07_boundaries", "find_boundaries"),
        (
            "ch08_alignment",
            "tool_groups _align_to_assistant_boundary _align_boundary_backward sanitize_tool_pairs validate_messages",
        ),
        ("ch09_summary", "summarize_middle summary_budget SUMMARY_TEMPLATE SummaryError"),
        ("ch10_compress", "compress bridge_roles CompressingAgent CompressionReport"),
        (
            "ch11_stuck",
            "CompressionStuckError COMPRESSION_MIN_SHRINK clip_newest_results compress_or_raise StuckAwareAgent",
        ),
        ("ch12_task_state", "TaskAgent TaskState task_set_goal todo_write todo_update TASK_TOOLS_GUIDANCE"),
    ],
)
def test_the_names_that_must_exist(module, names):
    __import__(f"reference.{module}")
    assert not [name for name in names.split() if not hasattr(sys.modules[f"reference.{module}"], name)]
