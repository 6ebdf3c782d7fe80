"""As a user's message the summary is read as a request, and the agent does finished work again. Its role is
assistant.
"""

FAILS = "test_the_summary_message_is_marked_and_never_nested"


def summary_message(text):
    body = clean_text(text.replace(SUMMARY_PREFIX, "").replace(SUMMARY_END, "")).strip()
    return {"role": "user", "content": f"{SUMMARY_PREFIX}\n\n{body}\n\n{SUMMARY_END}", GENERATED: "summary"}
