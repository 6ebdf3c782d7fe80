"""The content can be None, where the model refused or only thought, and None has no `strip`: an error that nobody
catches ends the agent. Write `choice.message.content or ""`.
"""

FAILS = "test_a_reply_that_is_no_summary_is_an_error"


def _checked(choice, max_tokens):
    text = clean_text(choice.message.content).strip()
    if choice.finish_reason == "length":
        raise SummaryError("the summary was cut off")
    if not text:
        raise SummaryError("the summary is empty")
    if len(text) > 2 * CHARS_PER_TOKEN * max_tokens:
        raise SummaryError("the summary is too long")
    if OPENING in text or "<turns>" in text.splitlines():
        raise SummaryError("the reply repeats the request")
    return text
