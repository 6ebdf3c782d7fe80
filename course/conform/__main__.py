"""`python -m course.conform CASES.jsonl` or `python -m course.conform --traces DIR`: what `course conform` does."""

import sys
from pathlib import Path

from course.conform.app import conform

if __name__ == "__main__":
    given = sys.argv[1:]
    folder = given[given.index("--traces") + 1] if "--traces" in given[:-1] else None
    files = [Path(name) for name in given if not name.startswith("-") and name != folder]
    raise SystemExit(conform(files, Path(folder) if folder else None))
