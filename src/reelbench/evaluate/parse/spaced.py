"""Patterns for the words of languages where they stand among tokens, single spaces between them."""

import re

from reelbench.evaluate.parse.lookup import UNSPACED, words


def spaced(*fields: str) -> str:
    """Return a pattern for the words of fields; unspaced scripts are taken sign by sign."""
    unspaced = re.compile(f"[{UNSPACED}]")
    apart = [" " + " ".join(w.replace(" ", "")) for w in words(*fields) if unspaced.match(w)]
    whole = [f" {re.escape(w)} " for w in words(*fields) if not unspaced.match(w)]
    return "(?:" + "|".join([*whole, *apart]) + ")"
