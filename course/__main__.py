"""`python -m course` is the same as `course`."""

from course.cli import main

main()
