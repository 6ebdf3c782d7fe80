"""The prefix cache: how much of a prompt the provider has already read.

A prompt is cut into blocks of 128 tokens. Each block's key is a hash of the block *and* of the key before it, so a key
stands for everything up to there: one changed token in the middle gives other keys from its block to the end.

    prompt 1   [a][b][c][d][e][f][g][h][i]        nothing known, nine blocks stored
    prompt 2   [a][b][c][d][e][f][g][h][X][j]     eight known: 1,024 tokens were cached
    prompt 3   [a][Y][c][d][e][f][g][h][i]        one known: under the minimum, so 0
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterator
from hashlib import blake2b

BLOCK = 128
MINIMUM = 1_024


class PrefixCache:
    """The longest-prefix cache of one model: `capacity` blocks, each kept `ttl` seconds after its last use."""

    def __init__(self, capacity: int = 8_192, ttl: float = 300.0) -> None:
        self.capacity = capacity
        self.ttl = ttl
        self._used: OrderedDict[bytes, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._used)

    def lookup(self, tokens: array[int], now: float) -> int:
        """The number of leading tokens found in the cache: 0, or 1,024 and more in steps of 128. Then it is stored."""
        keys = list(block_keys(tokens))
        known = next((i for i, key in enumerate(keys) if not self._alive(key, now)), len(keys)) * BLOCK
        if len(tokens) >= MINIMUM:
            self._store(keys, now)
        return known if known >= MINIMUM else 0

    def _alive(self, key: bytes, now: float) -> bool:
        used = self._used.get(key)
        return used is not None and now - used <= self.ttl

    def _store(self, keys: list[bytes], now: float) -> None:
        # From the last block to the first: a prefix is worth more than what follows it, so it must be evicted last.
        for key in reversed(keys):
            self._used[key] = now
            self._used.move_to_end(key)
        while len(self._used) > self.capacity:
            self._used.popitem(last=False)


def block_keys(tokens: array[int]) -> Iterator[bytes]:
    """The chained key of each whole block of `tokens`."""
    key = b""
    for start in range(0, len(tokens) - BLOCK + 1, BLOCK):
        key = blake2b(key + tokens[start : start + BLOCK].tobytes(), digest_size=16).digest()
        yield key
