"""The previous summary never reaches the model, so with the second compression all that was before it is lost.
Hand it in, in front of the turns.
"""

FAILS = "test_the_blocks_of_the_prompt_in_their_order"


def build_summary_prompt(turns, previous_summary, max_tokens):
    blocks = [OPENING, "<turns>\n" + "\n".join(turns) + "\n</turns>"]
    blocks.append(INSTRUCTION.format(task=WRITE, template=SUMMARY_TEMPLATE, max_tokens=max_tokens))
    return "\n\n".join(blocks)
