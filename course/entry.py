"""The beginning of `course`: a learner's commands load nothing of the provider, so a check is quick."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    from course.learning import COMMANDS, make_app

    if len(sys.argv) > 1 and sys.argv[1] in COMMANDS:
        make_app()(prog_name="course")
        return
    from course.cli import main as run_everything

    run_everything()
