"""Marks inside the text stay, so after a few compressions there are summaries in summaries. Take them out first."""

FAILS = "test_the_summary_message_is_marked_and_never_nested"


def summary_message(text):
    body = clean_text(text).strip()
    return {"role": "assistant", "content": f"{SUMMARY_PREFIX}\n\n{body}\n\n{SUMMARY_END}", GENERATED: "summary"}
