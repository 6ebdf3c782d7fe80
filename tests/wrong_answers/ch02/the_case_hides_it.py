"""`RM -RF /` passes, since the patterns are in small letters. Search with `re.IGNORECASE`."""

FAILS = "test_what_a_person_has_to_approve"


def is_dangerous(command):
    flat = " ".join(command.split())
    return any(re.search(pattern, flat) for pattern in DANGEROUS_COMMANDS)
