"""The bench of the course: provider, scenarios, demo, checker and command line. Learners do not edit it.

In a notebook: `from course import check, hint, mine`.
"""

from __future__ import annotations

from typing import Any

_FOR_NOTEBOOKS = ("check", "hint", "mine")


def __getattr__(name: str) -> Any:
    """One of the notebook's functions, imported when it is first asked for: `import course` stays light."""
    if name in _FOR_NOTEBOOKS:
        from course.checker import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
