"""`max_tokens` is compared with characters, and a good summary of 500 tokens is refused at 500 letters. A token stands for
CHARS_PER_TOKEN characters, and twice that is allowed.
"""

FAILS = "test_a_reply_that_may_be_a_summary"


def _checked(choice, max_tokens):
    text = clean_text(choice.message.content or "").strip()
    if choice.finish_reason == "length":
        raise SummaryError("the summary was cut off")
    if not text:
        raise SummaryError("the summary is empty")
    if len(text) > max_tokens:
        raise SummaryError("the summary is too long")
    if OPENING in text or "<turns>" in text.splitlines():
        raise SummaryError("the reply repeats the request")
    return text
