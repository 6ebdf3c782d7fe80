from fractions import Fraction


def should_compress(prompt_tokens, context_length, threshold=0.50):
    share = Fraction(str(threshold))
    if prompt_tokens < share * context_length:
        return False
    return True
