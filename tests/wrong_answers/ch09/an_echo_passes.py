"""A reply that only repeats what it was asked passes for a summary. Look for OPENING in the text, and for <turns> on a
line of its own.
"""

FAILS = "test_a_reply_that_is_no_summary_is_an_error"


def _checked(choice, max_tokens):
    text = clean_text(choice.message.content or "").strip()
    if choice.finish_reason == "length":
        raise SummaryError("the summary was cut off")
    if not text:
        raise SummaryError("the summary is empty")
    if len(text) > 2 * CHARS_PER_TOKEN * max_tokens:
        raise SummaryError("the summary is too long")
    return text
