"""Only the exact text `rm -rf` is found. `rm -r -f`, `find -delete` or `git reset --hard` do the same harm: try
every pattern of DANGEROUS_COMMANDS.
"""

FAILS = "test_what_a_person_has_to_approve"


def is_dangerous(command):
    return "rm -rf" in command.lower()
