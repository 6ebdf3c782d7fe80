"""One message: the form that a provider takes, and how to mend what has another.

Messages are plain dicts in OpenAI's chat-completions form. `content` is a string, a list of parts, or None beside tool
calls; `tool_calls[i]["function"]["arguments"]` is JSON text. Real histories hold worse: broken arguments, NUL, half of
a surrogate pair, content that is missing. Each function here returns the same object where nothing needed mending.
"""

from __future__ import annotations

import json
import re
from typing import Any

Message = dict[str, Any]

SYSTEM_ROLES = ("system", "developer")

# The key of a message that the agent wrote itself, with what it is: "summary", "bridge", "stub", ... Never sent.
GENERATED = "_generated"
UNKNOWN_ROLE = "unknown role"  # another program's words: no request of the user's, and yet not ours

EMPTY_REPLY = "[The model gave an empty reply.]"
UNPARSED = "unparsed"

_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")
# The fields of each kind of content part that is no text; a text or a refusal is a string under its own name.
_PART_FIELDS = {"image_url": ("url",), "input_audio": ("data", "format"), "file": ()}


def clean_text(text: str) -> str:
    """`text` with NUL and lone surrogates, which no provider takes, replaced by U+FFFD; its length stays."""
    return _UNSENDABLE.sub("\ufffd", text) if _UNSENDABLE.search(text) else text


def clip(text: str, max_characters: int) -> str:
    """`text` with its middle replaced by a mark, at most `max_characters` long, the mark included."""
    if len(text) <= max_characters:
        return text
    mark = f"\n[... {len(text):,} characters in all, the middle left out ...]\n"
    room = max(0, max_characters - len(mark))
    head = room - room // 3
    return (text[:head] + mark + text[len(text) - room // 3 :])[:max_characters]


def clean_value(value: Any) -> Any:
    """`value`, of any JSON form, with every string in it cleaned; the same object where all were clean."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        items = [clean_value(item) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, dict):
        fields = {clean_value(key): clean_value(item) for key, item in value.items()}
        return value if all(fields.get(key) is item for key, item in value.items()) else fields
    return value


def as_text(value: Any) -> str:
    """`value` as text: itself, or its JSON, so that nothing a broken history holds is lost."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)


def parse_arguments(raw: Any) -> dict[str, Any] | None:
    """The JSON object in `raw`, a tool call's arguments as the model wrote them, or None when it holds none."""
    try:
        value = json.loads(raw, parse_constant=_no_constant) if isinstance(raw, str) else raw
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _no_constant(name: str) -> Any:
    """Raise for NaN and Infinity, which Python reads and no JSON has."""
    raise ValueError(f"{name} is no JSON")


def clean_arguments(raw: Any) -> str:
    """`raw` as the text of a JSON object: itself when it is one, else `{}` or `{"unparsed": raw}`.

    A provider refuses a history in which arguments do not parse, and would refuse it for ever: what the model wrote
    wrongly is mended before it is stored, and its result says what was wrong.
    """
    text = as_text(raw)
    if parse_arguments(text) is None:
        text = as_text({UNPARSED: text} if raw else {})
    return clean_text(text)


def text_length(content: Any) -> int:
    """Characters of text in a message's content: a string, a list of parts, or None."""
    if isinstance(content, str):
        return len(content)
    return sum(map(len, _texts(content)))


def text_of(content: Any) -> str:
    """The text in a message's content, the texts of its parts on lines of their own."""
    return content if isinstance(content, str) else "\n".join(_texts(content))


def has_text(message: Message) -> bool:
    """Whether a message says anything in words: text, or a refusal, that is not blank."""
    return bool(text_of(message.get("content")).strip() or as_text(message.get("refusal") or "").strip())


def picture_count(content: Any) -> int:
    """Parts of a message's content that are no text: pictures, sound, files."""
    return sum(map(_is_picture, content)) if isinstance(content, list) else 0


def _is_picture(part: Any) -> bool:
    """Whether a part is, in this form or another, one that a provider knows and that is no text."""
    part = _picture_part(part)
    return is_known_part(part) and part["type"] in _PART_FIELDS


def _picture_part(part: Any) -> Any:
    """A part with a picture in the form of another API, in ours; any other part as it is.

    The other forms: the address itself under `image_url`, the type `input_image`, and `image` with a `source`.
    """
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in ("image_url", "input_image", "image"):
        return part
    address, source = part.get("image_url"), part.get("source")
    if isinstance(source, dict):
        address = source.get("url") or f"data:{source.get('media_type')};base64,{source.get('data')}"
    if isinstance(address, dict):
        return part if kind == "image_url" else {"type": "image_url", "image_url": address}
    return {"type": "image_url", "image_url": {"url": address}} if _is_filled(address) else part


def _texts(content: Any) -> list[str]:
    """The texts of content that is no string, as they would be sent: what no provider knows counts as JSON."""
    if not isinstance(content, list):
        return [] if content is None else [as_text(content)]
    return [text_of_part(part) for part in content if not _is_picture(part)]


def text_of_part(part: Any) -> str:
    """The text of a part that is no picture: its text or refusal, or itself as JSON where no provider knows it."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in ("text", "refusal") and isinstance(part.get(kind), str):
        return part[kind]
    return part["text"] if isinstance(part, dict) and isinstance(part.get("text"), str) else as_text(part)


def is_known_part(part: Any) -> bool:
    """Whether a provider knows this content part: its type, and the field that goes with it."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in ("text", "refusal"):
        return isinstance(part.get(kind), str)
    fields = _PART_FIELDS.get(kind) if isinstance(kind, str) else None
    value = part.get(kind) if fields is not None else None
    return isinstance(value, dict) and bool(value) and all(_is_filled(value.get(field)) for field in fields or ())


def _is_filled(value: Any) -> bool:
    """Whether a value is a text that is not empty."""
    return isinstance(value, str) and value != ""


def clean_content(content: Any, *, none_allowed: bool = False) -> Any:
    """Content as a string, a list of known parts, or None where that is allowed."""
    if isinstance(content, str):
        return clean_text(content)
    if content is None or content == []:
        return None if none_allowed else ""
    if not isinstance(content, list):
        return clean_text(as_text(content))
    shaped = map(_picture_part, content)
    parts = [clean_value(part) if is_known_part(part) else _as_text_part(part) for part in shaped]
    return parts if any(new is not old for new, old in zip(parts, content, strict=True)) else content


def _as_text_part(part: Any) -> Message:
    """A part that no provider knows, as a text part."""
    return {"type": "text", "text": clean_text(text_of_part(part))}


def as_call(call: Any) -> Message:
    """An entry of `tool_calls` as a dict: itself, or one that keeps what stands in its place as arguments."""
    return call if isinstance(call, dict) else {"function": {"arguments": call}}


def clean_call(call: Any) -> Message:
    """A tool call with its type, a sendable id and name, and arguments that are a JSON object."""
    call = as_call(call)
    function = call["function"] if isinstance(call.get("function"), dict) else {}
    name = clean_text(as_text(function.get("name") or "unknown"))
    fresh = {"name": name, "arguments": clean_arguments(function.get("arguments"))}
    whole = clean_value(call)
    if whole is call and call.get("type") == "function" and all(function.get(key) is fresh[key] for key in fresh):
        return call
    return whole | {"type": "function", "function": clean_value(function) | fresh}


def clean_message(message: Message) -> Message:
    """The message with content and calls that can be sent; an assistant that says nothing gets a marked text.

    One that only refuses says so in its content: not every provider reads `refusal`. Other keys stay, with their text
    cleaned. Calls must have ids of their own, as chapter 8 sees to.
    """
    assistant = message.get("role") == "assistant"
    calls = message.get("tool_calls") if assistant else None
    changes = {key: clean_value(value) for key, value in message.items() if key not in ("content", "tool_calls")}
    strings = [key for key in ("name", "tool_call_id", "refusal") if message.get(key) is not None]
    changes |= {key: clean_text(as_text(message[key])) for key in strings}
    if calls:
        changes["tool_calls"] = [clean_call(call) for call in calls]
    changes["content"] = clean_content(message.get("content"), none_allowed=bool(calls))
    if assistant and not calls and not _says(changes["content"]):
        changes |= _with_words(changes)
    if all(key in message and _same(value, message[key]) for key, value in changes.items()):
        return message
    return message | changes


def _says(content: Any) -> bool:
    """Whether content holds a text that is not blank; a part that is a refusal is no text."""
    if isinstance(content, list):
        return any(part.get("type") == "text" and part["text"].strip() for part in content)
    return bool(content and content.strip())


def _with_words(message: Message) -> Message:
    """The changes that give an assistant message words: those of its refusal, or the marked text; behind pictures."""
    refusal = text_of(message["content"]).strip() or message.get("refusal") or ""
    words, marked = (refusal, {}) if refusal.strip() else (EMPTY_REPLY, {GENERATED: "empty reply"})
    pictures = list(filter(_is_picture, message["content"])) if isinstance(message["content"], list) else []
    return {"content": [*pictures, {"type": "text", "text": words}] if pictures else words, **marked}


def _same(new: Any, old: Any) -> bool:
    """Whether nothing was mended: the same object, or a list of the same objects."""
    if isinstance(new, list) and isinstance(old, list):
        return len(new) == len(old) and all(map(lambda a, b: a is b, new, old))
    return new is old
