"""The words of HumanVBench: 16 tasks in four dimensions, and bins of how many people are seen.

All are in ``taxonomy.yaml``, with other spellings that are in use.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from reelbench.base.text import plain
from reelbench.base.yaml_files import load_yaml

_TAXONOMY: Mapping[str, Any] = load_yaml(
    (files(__package__) / "taxonomy.yaml").read_text(encoding="utf-8")
)[0]


TASK = "category"  # the tag of an item's task, by which recipes count rows


@dataclass(frozen=True, slots=True)
class HumanTask:
    """One of the sixteen tasks."""

    short: str  # such as ER, which is its tag
    name: str
    about: str
    dimension: str
    timed: bool = False  # whether its options or its question are about times
    aliases: Sequence[str] = ()
    speaking: Sequence[str] = ()  # names of files with the items alone whose person speaks


TASKS: Mapping[str, HumanTask] = {
    task["short"]: HumanTask(dimension=dimension["name"], **task)
    for dimension in _TAXONOMY["dimensions"]
    for task in dimension["tasks"]
}
DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    each["name"]: tuple(task["short"] for task in each["tasks"]) for each in _TAXONOMY["dimensions"]
}
# The short name of each dimension, for the columns of tables.
HEADINGS: Mapping[str, str] = {each["name"]: each["short"] for each in _TAXONOMY["dimensions"]}
VISION: tuple[str, ...] = tuple(
    task["short"]
    for each in _TAXONOMY["dimensions"]
    for task in each["tasks"]
    if not each.get("heard")
)
TIMED: tuple[str, ...] = tuple(task.short for task in TASKS.values() if task.timed)
DESCRIBED: tuple[str, ...] = tuple(_TAXONOMY["described"])
SURPRISE: tuple[str, ...] = tuple(_TAXONOMY["surprise"])
DENSITIES: tuple[str, ...] = tuple(each["name"] for each in _TAXONOMY["density"])
# From how many people on a clip is in the second and in the third bin.
MEDIUM, HIGH = (int(each["from"]) for each in _TAXONOMY["density"][1:])


def task_named(text: str) -> tuple[HumanTask, bool] | None:
    """Return the task that a text names, in any known spelling; None where it names none.

    The second part is whether the name is that of the subset whose person speaks.
    """
    return _spellings().get(_even(text))


def density_of(people: int, medium: int = MEDIUM, high: int = HIGH) -> str:
    """Return the bin of a number of people, of which ``medium`` and ``high`` are the bounds."""
    return DENSITIES[(people >= medium) + (people >= high)]


def human_tags(
    task: str,
    *,
    people: int | None = None,
    speaking: bool | None = None,
    medium: int = MEDIUM,
    high: int = HIGH,
) -> dict[str, str]:
    """Return the tags by which the tables choose items; what is not known is left out.

    ``people`` is how many are in the clip, and ``speaking`` whether the person asked about speaks.
    """
    tags = {TASK: task, "dimension": TASKS[task].dimension}
    if people is not None:
        tags["density"] = density_of(people, medium, high)
    if speaking is not None:
        tags["speaking"] = "yes" if speaking else "no"
    return tags


@lru_cache(maxsize=1)
def _spellings() -> dict[str, tuple[HumanTask, bool]]:
    found = {}
    for task in TASKS.values():
        for spelling in (task.short, task.name, *task.aliases):
            found[_even(spelling)] = task, False
        for spelling in task.speaking:
            found[_even(spelling)] = task, True
    return found


def _even(text: str) -> str:
    """Spell a name without marks, case and spaces: files have _ where the paper has - or none."""
    return "".join(re.findall(r"[^\W_]+", plain(text)))
