"""The end mark is missing. It tells the model where the summary ends, and tells a summary from a text that merely
quotes its beginning.
"""

FAILS = "test_the_summary_message_is_marked_and_never_nested"


def summary_message(text):
    body = clean_text(text.replace(SUMMARY_PREFIX, "").replace(SUMMARY_END, "")).strip()
    return {"role": "assistant", "content": f"{SUMMARY_PREFIX}\n\n{body}", GENERATED: "summary"}
