"""Failure tags of verdicts: a dimension, or a dimension with a type that someone named under it.

Dimensions are few and declared, such as ``ambiguous stem``. Types are open: people or models name
them in their own words, and a tag is then ``ambiguous stem: abstract register``. Tags that differ
only in case or space name the same type.
"""

import unicodedata

MARK = ": "  # between a dimension and a type
LONGEST_TYPE = 80  # characters


def split_tag(tag: str) -> tuple[str, str]:
    """Return the dimension of a tag and the type under it; an empty one where none is named."""
    dimension, _, kind = tag.partition(MARK)
    return dimension, kind


def typed_tag(dimension: str, kind: str = "") -> str:
    """Return the tag of a dimension and a type, spaces and signs in one spelling."""
    kind = tidy_type(kind)
    return f"{dimension}{MARK}{kind}" if kind else dimension


def tidy_type(kind: str) -> str:
    """Return the name of a type with single spaces, and accents written in one way."""
    return " ".join(unicodedata.normalize("NFC", kind).split())


def type_key(tag: str) -> str:
    """Return what is the same for all tags that name one type."""
    return tidy_type(unicodedata.normalize("NFKC", tag)).casefold()


def type_fault(kind: str) -> str:
    """Return what is wrong with the name of a type, as the end of a sentence; empty: nothing."""
    if len(kind) > LONGEST_TYPE:
        return f"has {len(kind)} characters, and {LONGEST_TYPE} are the most"
    if not kind.isprintable():
        return "has signs that cannot be seen"
    if not any(sign.isalnum() for sign in kind):
        return "has no letter"
    return ""
