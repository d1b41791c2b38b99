"""The words of MMOU: 13 skills, 10 domains with 35 sub-categories, and bins of duration and place.

All are in ``taxonomy.yaml``, with other spellings that are in use.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from reelbench.base.text import plain
from reelbench.base.yaml_files import load_yaml

_TAXONOMY: Mapping[str, Any] = load_yaml(
    (files(__package__) / "taxonomy.yaml").read_text(encoding="utf-8")
)[0]
SKILLS: Mapping[str, str] = {each["name"]: each["about"] for each in _TAXONOMY["skills"]}
DOMAINS: Mapping[str, tuple[str, ...]] = {
    name: tuple(values) for name, values in _TAXONOMY["domains"].items()
}
DURATIONS: tuple[str, ...] = tuple(each["name"] for each in _TAXONOMY["durations"])
POSITIONS: tuple[str, ...] = tuple(_TAXONOMY["positions"])
# What a protocol of the review may name instead of writing it out.
LISTS: Mapping[str, list[Any]] = {
    "mmou:skills": list(SKILLS),
    "mmou:domains": list(DOMAINS),
    "mmou:questions": _TAXONOMY["questions"],
}


def skill_named(text: str) -> str | None:
    """Return the skill that a text names, in any known spelling; None where it names none."""
    return _spellings().get(_even(text))


def is_every_item(text: str) -> bool:
    """Whether a text is what every item is tagged with, and so no skill of its own."""
    return _even(text) in {_even(each) for each in _TAXONOMY["every_item"]}


def domain_named(text: str) -> str | None:
    """Return the domain that a text names, whatever its case and marks; None where it does not."""
    return {_even(name): name for name in DOMAINS}.get(_even(text))


def subcategory_named(domain: str, text: str) -> str | None:
    """Return the sub-category of a domain that a text names; None where it names none."""
    return {_even(name): name for name in DOMAINS[domain]}.get(_even(text))


def fewest_questions(seconds: float) -> int:
    """Return how many questions a video of this length should have at least."""
    return int(_row_for("questions", seconds)["least"])


def duration_bin(seconds: float) -> str:
    """Return the name of the duration bin of a video; a bound belongs to the longer one."""
    return str(_row_for("durations", seconds)["name"])


def position_bin(start: float, end: float, seconds: float) -> str:
    """Return where evidence lies: the mean of its first and last time, over the duration."""
    share = min((start + end) / 2 / seconds, 1.0)
    return POSITIONS[min(int(share * len(POSITIONS)), len(POSITIONS) - 1)]


def _row_for(part: str, seconds: float) -> Mapping[str, Any]:
    rows: list[Mapping[str, Any]] = _TAXONOMY[part]
    return next(row for row in rows if "up_to" not in row or seconds < row["up_to"])


@lru_cache(maxsize=1)
def _spellings() -> dict[str, str]:
    return {
        _even(spelling): each["name"]
        for each in _TAXONOMY["skills"]
        for spelling in (each["name"], *each.get("aliases", ()))
    }


def _even(text: str) -> str:
    return " ".join(re.findall(r"\w+", plain(text)))
