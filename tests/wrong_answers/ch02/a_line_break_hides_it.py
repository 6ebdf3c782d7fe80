"""A line break inside the command hides the rest of it, since `.` does not match it. Make every run of white space
one space first.
"""

FAILS = "test_what_a_person_has_to_approve"


def is_dangerous(command):
    return any(re.search(pattern, command, re.IGNORECASE) for pattern in DANGEROUS_COMMANDS)
