"""Without a previous summary there is a block all the same, with "None" or nothing in it, and the model takes it
for one. Leave the block out.
"""

FAILS = "test_the_blocks_of_the_prompt_in_their_order"


def build_summary_prompt(turns, previous_summary, max_tokens):
    blocks = [OPENING, f"<previous_summary>\n{str(previous_summary).strip()}\n</previous_summary>"]
    blocks.append("<turns>\n" + "\n".join(turns) + "\n</turns>")
    task = UPDATE if previous_summary else WRITE
    blocks.append(INSTRUCTION.format(task=task, template=SUMMARY_TEMPLATE, max_tokens=max_tokens))
    return "\n\n".join(blocks)
