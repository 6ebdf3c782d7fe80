"""The previous summary is handed in, but the model is asked to write a new one, and leaves the old out. With a
previous summary the task is UPDATE.
"""

FAILS = "test_the_blocks_of_the_prompt_in_their_order"


def build_summary_prompt(turns, previous_summary, max_tokens):
    blocks = [OPENING]
    if previous_summary:
        blocks.append(f"<previous_summary>\n{previous_summary.strip()}\n</previous_summary>")
    blocks.append("<turns>\n" + "\n".join(turns) + "\n</turns>")
    blocks.append(INSTRUCTION.format(task=WRITE, template=SUMMARY_TEMPLATE, max_tokens=max_tokens))
    return "\n\n".join(blocks)
