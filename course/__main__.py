"""`python -m course` is the same as `course`."""

from course.entry import main

main()
