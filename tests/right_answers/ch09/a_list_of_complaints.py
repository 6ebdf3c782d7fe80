def _checked(choice, max_tokens):
    content = choice.message.content
    text = clean_text(content).strip() if content else ""
    complaints = [
        (choice.finish_reason == "length", "it was cut off"),
        (text == "", "it is empty"),
        (len(text) > max_tokens * 2 * CHARS_PER_TOKEN, "it is too long"),
        (OPENING in text or any(line == "<turns>" for line in text.split("\n")), "it repeats the request"),
    ]
    for is_so, complaint in complaints:
        if is_so:
            raise SummaryError(complaint)
    return text
