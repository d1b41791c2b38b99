"""Seeded randomness that depends only on what is drawn, never on order, process or machine."""

import hashlib
import random


def seed_for(*parts: object) -> int:
    """Return a 64-bit seed for one named draw, such as ``seed_for(seed, "options", item_id)``."""
    # The length in front of each part keeps ("ab", "c") apart from ("a", "bc").
    named = "".join(f"{len(str(part))}:{part}" for part in parts)
    return int.from_bytes(hashlib.sha256(named.encode()).digest()[:8], "big")


def rng_for(*parts: object) -> random.Random:
    """Return a generator of its own for one named draw."""
    return random.Random(seed_for(*parts))
