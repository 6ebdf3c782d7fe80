"""The simulated agent: a small rule-based worker for surveys. It is no language model, and it knows only the request.

No memory, clock, chance or disk: the same request gives the same reply. What it knows is what `reading` finds in the
request, so what a compression loses is lost for it. Its rules, of which the first that fires decides:

    condition                                                   it
    1  the request is no survey (see `asking`)                  says what it can do
    2  a tool that a survey needs is not offered                says which
    3  the line just sent to the report was refused             stops and says why
    4  the folder or its next page could not be listed          stops and says why
    5  the system prompt shows a TODO list of this survey       notes what it has just read, completes those items, then
                                                                reads the first file that is not completed; behind the
                                                                last file of the page it lists the next page
    6  task tools are offered and a listing is to be seen       sets the goal, writes one page as TODO list, reads its
                                                                first file
    7  otherwise                                                notes what it sees and has no record of, then reads the
                                                                first file of the newest visible listing that is not in
                                                                its record; lists again when no listing is to be seen
    8  nothing is left to do (5 and 7)                          says how many files are noted, by what it can see

A file is in its record when a visible call noted it, or a summary in the assistant's words (or in the system prompt)
has it under Done as noted. A result that was cleared is not to be seen. In rule 5 an item marked [x] is never done
again, one that the record holds is only marked, and one marked [~] whose text is gone is read again.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from course.marks import Listing
from course.provider.asking import survey_goal, survey_in
from course.provider.reading import Body, Request, read_request
from course.provider.todo import Todo, file_subject, list_subject, pages_subject
from course.provider.work import Step, Work

Answer = str | list[Step]

NEEDED = ("list_files", "read_file", "append_report")
CAN_DO = (
    "I am a small rule-based worker, and one thing is all I can do: read every text file under a folder and write one "
    "line for each into a report. Ask me for that and name the folder."
)


def reply(body: Body) -> Body:
    """The assistant message that answers a chat-completions request: tool calls, or a text when there is nothing to do.

    The ids of calls are made from the number of messages: they are unique in one message and may repeat in later ones.
    """
    request = read_request(body)
    answer = _decide(request)
    if isinstance(answer, str):
        return {"role": "assistant", "content": answer}
    calls = [
        {
            "id": f"call_{request.messages}_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
        }
        for number, (name, arguments) in enumerate(answer)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _decide(request: Request) -> Answer:
    """The answer of the first rule that fires; one that fires and finds nothing left to do is rule 8."""
    survey = survey_in(request.asked)
    if survey is None:
        return CAN_DO
    work = Work(request, survey.folder)
    answers = (rule(work) for rule in RULES)
    return next(answer for answer in answers if answer is not None) or work.final_text()


def tools_missing(work: Work) -> Answer | None:
    """Rule 2."""
    missing = [name for name in NEEDED if name not in work.request.tools]
    return f"For a survey I need tools that I was not given: {', '.join(missing)}." if missing else None


def report_refused(work: Work) -> Answer | None:
    """Rule 3."""
    notes = (call for call in work.request.calls if call.fresh and call.name == "append_report")
    reason = next((call.error for call in notes if call.error), None)
    return f"I stop here, since the report takes no more lines: {reason}" if reason else None


def listing_failed(work: Work) -> Answer | None:
    """Rule 4."""
    reason = next((call.error for call in work.list_calls if call.fresh and call.error), None)
    return f"I stop here, since {work.folder} could not be listed: {reason}" if reason else None


def follow_todos(work: Work) -> Answer | None:
    """Rule 5."""
    if not (work.todos and work.uses_todos):
        return None
    steps: list[Step] = []
    left = [todo for todo in work.todos if todo.is_file and todo.status != "completed"]
    for todo in list(left):
        path = todo.path
        if work.request.record.holds(path) or path in work.readings:
            steps += [] if work.request.record.holds(path) else work.note_steps([path])
            steps.append(_update(todo, "completed"))
            left.remove(todo)
    if left:
        todo = min(left, key=lambda todo: todo.status != "in_progress")
        return [*steps, *_start(todo), work.read_step(todo.path)]
    # One message's calls may run side by side: a list is replaced only when nothing in it is being updated.
    return steps + _next_page(work, ready=not steps)


def write_todos(work: Work) -> Answer | None:
    """Rule 6."""
    if work.todos or work.was_written or not work.uses_todos or not work.listings:
        return None
    offset = next(reversed(work.listings))
    steps = _page_steps(work, work.listings[offset], offset)
    goal = {"goal": survey_goal(work.folder)}
    return [("task_set_goal", goal), *steps] if steps and "task_set_goal" in work.request.tools else steps


def follow_messages(work: Work) -> Answer | None:
    """Rule 7."""
    record = work.request.record
    unnoted = [path for path in work.readings if not record.holds(path)]
    steps = work.note_steps(unnoted)
    if not work.listings:
        return [*steps, work.list_step(0)]
    page = next(reversed(work.listings.values()))
    unread = (path for path in page.files if path not in unnoted and not record.holds(path))
    path = next(unread, None)
    if path is not None:
        steps.append(work.read_step(path))
    elif page.next_offset is not None:
        steps.append(work.list_step(page.next_offset))
    return steps


RULES: tuple[Callable[[Work], Answer | None], ...] = (
    tools_missing,
    report_refused,
    listing_failed,
    follow_todos,
    write_todos,
    follow_messages,
)


def _next_page(work: Work, ready: bool) -> list[Step]:
    """The calls that go on behind the last file of a page: list the next one, or make it the TODO list when `ready`."""
    for todo in work.todos:
        if todo.offset is not None and todo.status != "completed":
            listing = work.listings.get(todo.offset)
            if listing is None:
                return [*_start(todo), work.list_step(todo.offset)]
            return (_page_steps(work, listing, todo.offset) or [_update(todo, "completed")]) if ready else []
    return []


def _page_steps(work: Work, page: Listing, offset: int) -> list[Step]:
    """The calls that make a page the TODO list and read its first file; none when the page leaves nothing to do."""
    statuses = ["completed" if work.request.record.holds(path) else "pending" for path in page.files]
    items = [_item(file_subject(path), status) for path, status in zip(page.files, statuses, strict=True)]
    if offset:
        items.insert(0, _item(pages_subject(offset, page.total), "completed"))
    if page.next_offset is not None:
        items.append(_item(list_subject(page.next_offset), "pending"))
    first = next((item for item in items if item["status"] == "pending"), None)
    if first is None:
        return []
    first["status"] = "in_progress"
    if "pending" in statuses:
        step = work.read_step(page.files[statuses.index("pending")])
    else:
        step = work.list_step(page.next_offset or 0)
    return [("todo_write", {"items": items}), step]


def _item(subject: str, status: str) -> dict[str, str]:
    """One item for todo_write."""
    return {"subject": subject, "status": status}


def _update(todo: Todo, status: str) -> Step:
    """The call that gives an item a status."""
    return "todo_update", {"id": todo.id, "status": status}


def _start(todo: Todo) -> list[Step]:
    """The call that marks an item as in progress, none when it is marked so."""
    return [] if todo.status == "in_progress" else [_update(todo, "in_progress")]
