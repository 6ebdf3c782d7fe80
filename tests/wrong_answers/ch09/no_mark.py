"""The key GENERATED is missing. By it the summary is known as the agent's own words, not as a reply that the user
saw.
"""

FAILS = "test_the_summary_message_is_marked_and_never_nested"


def summary_message(text):
    body = clean_text(text.replace(SUMMARY_PREFIX, "").replace(SUMMARY_END, "")).strip()
    return {"role": "assistant", "content": f"{SUMMARY_PREFIX}\n\n{body}\n\n{SUMMARY_END}"}
