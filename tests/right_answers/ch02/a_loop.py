def is_dangerous(command):
    text = re.sub(r"\s+", " ", command).strip().lower()
    for pattern in DANGEROUS_COMMANDS:
        if re.compile(pattern, re.I).search(text) is not None:
            return True
    return False
