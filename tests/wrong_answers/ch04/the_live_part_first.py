"""The live part stands in front, and as it changes with every request all that is behind it is paid for in full
again. It stands last.
"""

FAILS = "test_the_layers"


def build_system_prompt(layers, live="", limits=LAYER_LIMITS):
    if unknown := layers.keys() - limits.keys():
        raise ValueError(f"there is no layer {', '.join(sorted(unknown))}; the layers are {', '.join(limits)}")
    parts = [clip(clean_text(layers.get(name, "")).strip(), limit) for name, limit in limits.items()]
    return "\n\n".join(part for part in [live.strip(), *parts] if part)
