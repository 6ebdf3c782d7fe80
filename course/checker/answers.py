"""Answers beside the reference: the named wrong ones, and right ones in another style, put into a chapter's file."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from course.checker.project import Chapter, Project
from course.stubs import read_text


@dataclass(frozen=True)
class Answer:
    """A file of `tests/wrong_answers` or `tests/right_answers`: the function as somebody wrote it.

    The docstring of a wrong answer is the sentence that the learner reads; FAILS names the test that it fails.
    """

    name: str
    exercise: str
    sentence: str
    fails: str
    text: str


def read_answers(project: Project, chapter: Chapter, kind: str) -> list[Answer]:
    """The answers of a chapter; `kind` is "wrong" or "right"."""
    folder = project.root / "tests" / f"{kind}_answers" / f"ch{chapter.number:02}"
    return [read_answer(path, chapter) for path in sorted(folder.glob("*.py"))]


def read_answer(path: Path, chapter: Chapter) -> Answer:
    """The answer in a file; ValueError when it defines no exercise of its chapter, or more than one."""
    text = read_text(path)
    tree = ast.parse(text)
    numbers = [hole.number for hole in chapter.holes if hole.owner in definitions(tree)]
    if len(numbers) != 1:
        raise ValueError(f"{path.name}: defines the function of {numbers or 'no exercise'}; it has to be exactly one")
    sentence = " ".join((ast.get_docstring(tree) or "").split())
    return Answer(path.stem, numbers[0], sentence, _constant(tree, "FAILS"), text)


def _constant(tree: ast.Module, name: str) -> str:
    """The text that a module gives to a name, or ""."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return str(ast.literal_eval(node.value))
    return ""


def definitions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """{"to_wire" or "Agent.run": the node} of the functions and methods of a module."""
    found: dict[str, ast.FunctionDef] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{each.name}": each for each in node.body if isinstance(each, ast.FunctionDef)}
    return found


def put_into(reference: str, answer: str) -> str:
    """The reference's text in which the holes of the functions of the same name hold what `answer` has as their body.

    A function without marks gets the whole body. What else the answer has, imports and helpers, stands at the top.
    """
    there, new = definitions(ast.parse(reference)), definitions(ast.parse(answer))
    lines, answer_lines = reference.split("\n"), answer.split("\n")
    shared = sorted((name for name in new if name in there), key=lambda name: -there[name].lineno)
    for name in shared:
        first, last = _hole(lines, there[name])
        lines[first:last] = answer_lines[new[name].body[0].lineno - 1 : new[name].end_lineno]
    others = [node for node in ast.parse(answer).body if _is_extra(node, shared)]
    extra = [line for node in others for line in _source(answer_lines, node)]
    future = "from __future__ import annotations"
    place = lines.index(future) + 1 if future in lines else 0
    return "\n".join([*lines[:place], *extra, *lines[place:]])


def _hole(lines: list[str], node: ast.FunctionDef) -> tuple[int, int]:
    """[first, last) of the lines of a function between its marks, the marks included; of its body where it has none."""
    marks = [i for i in range(node.lineno - 1, node.end_lineno or 0) if "# BEGIN EXERCISE " in lines[i]]
    # the END mark is a comment behind the last statement, so it may lie beyond the node
    end = next((i for i in range(marks[0], len(lines)) if "# END EXERCISE " in lines[i]), 0) if marks else 0
    return (marks[0], end + 1) if marks else (node.body[0].lineno - 1, node.end_lineno or 0)


def _is_extra(node: ast.stmt, shared: list[str]) -> bool:
    """Whether a statement of an answer is an import or a helper."""
    if isinstance(node, ast.Import):
        return True
    if isinstance(node, ast.ImportFrom):
        return node.module != "__future__"
    if isinstance(node, ast.FunctionDef):
        return node.name not in shared
    return isinstance(node, ast.Assign) and "FAILS" not in ast.unparse(node.targets[0])


def _first_line(node: ast.stmt) -> int:
    """The first line of a definition, its decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _source(lines: list[str], node: ast.stmt) -> list[str]:
    """The lines of a statement."""
    return lines[_first_line(node) - 1 : node.end_lineno]
