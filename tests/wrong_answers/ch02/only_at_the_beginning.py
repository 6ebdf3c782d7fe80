"""`re.match` looks at the beginning of the command only, so `ls && rm -rf x` passes. Use `re.search`."""

FAILS = "test_what_a_person_has_to_approve"


def is_dangerous(command):
    flat = " ".join(command.split())
    return any(re.match(pattern, flat, re.IGNORECASE) for pattern in DANGEROUS_COMMANDS)
