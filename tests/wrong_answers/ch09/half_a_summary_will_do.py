"""A reply that was cut off at its limit passes for a summary, and what stood in its second half is lost without a word.
Look at `choice.finish_reason`.
"""

FAILS = "test_a_reply_that_is_no_summary_is_an_error"


def _checked(choice, max_tokens):
    text = clean_text(choice.message.content or "").strip()
    if not text:
        raise SummaryError("the summary is empty")
    if len(text) > 2 * CHARS_PER_TOKEN * max_tokens:
        raise SummaryError("the summary is too long")
    if OPENING in text or "<turns>" in text.splitlines():
        raise SummaryError("the reply repeats the request")
    return text
