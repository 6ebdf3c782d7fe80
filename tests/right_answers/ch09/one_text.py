def build_summary_prompt(turns, previous_summary, max_tokens):
    text = OPENING + "\n\n"
    task = WRITE
    if previous_summary:
        text += "<previous_summary>\n" + previous_summary.strip() + "\n</previous_summary>\n\n"
        task = UPDATE
    text += "\n".join(["<turns>", *turns, "</turns>"]) + "\n\n"
    return text + INSTRUCTION.format(task=task, template=SUMMARY_TEMPLATE, max_tokens=max_tokens)
