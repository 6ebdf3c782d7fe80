"""A long layer is cut off at its end, and the model takes what is left for the whole. `clip` keeps beginning and
end, and says what is left out.
"""

FAILS = "test_every_layer_has_a_limit_and_says_when_it_was_cut"


def build_system_prompt(layers, live="", limits=LAYER_LIMITS):
    if unknown := layers.keys() - limits.keys():
        raise ValueError(f"there is no layer {', '.join(sorted(unknown))}; the layers are {', '.join(limits)}")
    parts = [clean_text(layers.get(name, "")).strip()[:limit] for name, limit in limits.items()]
    return "\n\n".join(part for part in [*parts, live.strip()] if part)
