"""A reply that is no summary comes back as an empty one, and the turns would be replaced by nothing. Raise a
SummaryError: then they stay.
"""

FAILS = "test_a_reply_that_is_no_summary_is_an_error"


def _checked(choice, max_tokens):
    text = clean_text(choice.message.content or "").strip()
    if choice.finish_reason == "length":
        return ""
    if not text:
        return ""
    if len(text) > 2 * CHARS_PER_TOKEN * max_tokens:
        return ""
    if OPENING in text or "<turns>" in text.splitlines():
        return ""
    return text
