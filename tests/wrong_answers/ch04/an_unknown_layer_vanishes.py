"""A layer without a limit vanishes without a word, and whoever misspelled its name looks for it for long. Raise
ValueError with the names that there are.
"""

FAILS = "test_an_unknown_layer_has_no_place"


def build_system_prompt(layers, live="", limits=LAYER_LIMITS):
    parts = [clip(clean_text(layers.get(name, "")).strip(), limit) for name, limit in limits.items()]
    return "\n\n".join(part for part in [*parts, live.strip()] if part)
