def build_system_prompt(layers, live="", limits=LAYER_LIMITS):
    unknown = [name for name in layers if name not in limits]
    if unknown:
        raise ValueError("there is no layer " + ", ".join(sorted(unknown)) + "; the layers are " + ", ".join(limits))
    prompt = ""
    for name in limits:
        if name in layers:
            text = clip(clean_text(layers[name]).strip(), limits[name])
            if text:
                prompt += ("\n\n" if prompt else "") + text
    if live.strip():
        prompt += ("\n\n" if prompt else "") + live.strip()
    return prompt
