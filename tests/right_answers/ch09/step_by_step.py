def summary_budget(content_tokens, context_length):
    budget = int(content_tokens * SUMMARY_RATIO)
    if budget < MIN_SUMMARY_TOKENS:
        budget = MIN_SUMMARY_TOKENS
    for limit in (MAX_SUMMARY_TOKENS, int(context_length * WINDOW_SHARE)):
        if budget > limit:
            budget = limit
    return budget
