"""The way from the judged process to the grader: lines in order, each with a seal over all lines so far.

The key is drawn for each process and handed over before any submitted code is loaded. A line that is printed, written
by hand, repeated or left out does not fit its seal, and nothing behind it counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

Event = dict[str, Any]

_SIZE = 16  # bytes of a seal
_DIGITS = 2 * _SIZE


def make_sealer(key: bytes) -> Callable[[Event], bytes]:
    """A function that turns an event into its sealed line; the key is kept nowhere but in the state of the hash."""
    state, encode = hashlib.blake2b(key=key, digest_size=_SIZE), json.JSONEncoder().encode

    def seal(event: Event) -> bytes:
        body = encode(event).encode()
        state.update(body)
        return state.hexdigest().encode() + body + b"\n"

    return seal


def make_opener(key: bytes) -> Callable[[bytes], Event | None]:
    """A function that turns a sealed line back into its event; None for a line that does not fit."""
    state = hashlib.blake2b(key=key, digest_size=_SIZE)

    def unseal(line: bytes) -> Event | None:
        seal, body = line[:_DIGITS], line[_DIGITS:]
        state.update(body)
        if seal != state.hexdigest().encode():
            return None
        event = json.loads(body)
        return event if isinstance(event, dict) else None

    return unseal
