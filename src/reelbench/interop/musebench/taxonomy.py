"""The words of MuseBench: four categories of art, and eleven sub-domains of them."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from reelbench.base.yaml_files import load_yaml

_TAXONOMY: Mapping[str, Any] = load_yaml(
    (files(__package__) / "taxonomy.yaml").read_text(encoding="utf-8")
)[0]

CATEGORY, SUBDOMAIN = "category", "subdomain"  # tags of items
SUBDOMAINS: Mapping[str, Mapping[str, str]] = {  # by category: what each is about
    each["name"]: {part["name"]: part["about"] for part in each["subdomains"]}
    for each in _TAXONOMY["categories"]
}
CATEGORIES: Mapping[str, str] = {each["name"]: each["about"] for each in _TAXONOMY["categories"]}
SHORT: Mapping[str, str] = {each["name"]: each["short"] for each in _TAXONOMY["categories"]}


def category_named(text: str) -> str | None:
    """Return the category that a text names, in full, without "Arts" or in short; else None."""
    known = {_even(spelling): name for name in CATEGORIES for spelling in (name, SHORT[name])}
    return known.get(_even(text)) or known.get(_even(f"{text} Arts"))


def _even(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
