"""The instruction stands in front of the turns, and behind a long conversation the model goes on with it instead
of summarising. The instruction is the last thing that it reads.
"""

FAILS = "test_the_blocks_of_the_prompt_in_their_order"


def build_summary_prompt(turns, previous_summary, max_tokens):
    blocks = [OPENING]
    task = UPDATE if previous_summary else WRITE
    blocks.append(INSTRUCTION.format(task=task, template=SUMMARY_TEMPLATE, max_tokens=max_tokens))
    if previous_summary:
        blocks.append(f"<previous_summary>\n{previous_summary.strip()}\n</previous_summary>")
    blocks.append("<turns>\n" + "\n".join(turns) + "\n</turns>")
    return "\n\n".join(blocks)
