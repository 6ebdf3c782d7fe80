def summary_message(text):
    for mark in (SUMMARY_PREFIX, SUMMARY_END):
        text = "".join(text.split(mark))
    message = {"role": "assistant", GENERATED: "summary"}
    message["content"] = "\n\n".join((SUMMARY_PREFIX, clean_text(text).strip(), SUMMARY_END))
    return message
