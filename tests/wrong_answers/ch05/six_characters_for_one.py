"""`json.dumps` writes `\\u6587` for one Chinese character, six characters instead of one. Give it
`ensure_ascii=False`.
"""

FAILS = "test_chinese_in_a_schema_is_counted_as_it_is_sent"


def estimate_tokens(messages, tools=()):
    schemas = sum(len(json.dumps(tool)) for tool in tools)
    return sum(map(estimate_message_tokens, messages)) + schemas // CHARS_PER_TOKEN
