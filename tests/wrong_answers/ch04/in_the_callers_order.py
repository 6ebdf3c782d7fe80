"""The layers stand in the order in which they came in, so another order of the same layers is another text, and
the provider's cache is lost. The order is that of `limits`.
"""

FAILS = "test_the_layers"


def build_system_prompt(layers, live="", limits=LAYER_LIMITS):
    if unknown := layers.keys() - limits.keys():
        raise ValueError(f"there is no layer {', '.join(sorted(unknown))}; the layers are {', '.join(limits)}")
    parts = [clip(clean_text(text).strip(), limits[name]) for name, text in layers.items()]
    return "\n\n".join(part for part in [*parts, live.strip()] if part)
