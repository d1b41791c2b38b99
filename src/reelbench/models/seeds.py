"""The seed that a server is sent with a request: which one, and where it stands in the key.

A key with a seed is the key without, a hyphen and the seed. So the seed is part of the key, and a
reply that an earlier version asked for without one is found by what is in front of the hyphen.
"""

import re

from reelbench.base.seeds import seed_for

_LARGEST = 2**31 - 1  # what all servers take: Google's seeds are 32-bit integers with a sign
_SEEDED = re.compile(r"([0-9a-f]{64})-(\d{1,10})")


def with_seed(key: str, seed: int) -> str:
    """Return a key with the seed of its request, drawn by the seed of a run or make."""
    return f"{key}-{seed_for(seed, 'reply', key) & _LARGEST}"


def seed_in(key: str) -> int | None:
    """Return the seed in a key; None where it has none."""
    match = _SEEDED.fullmatch(key)
    return int(match[2]) if match else None


def without_seed(key: str) -> str:
    """Return a key as it was before seeds were sent."""
    match = _SEEDED.fullmatch(key)
    return match[1] if match else key
