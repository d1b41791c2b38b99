"""What a forecast goes on with where a clip has no labels yet: one made-up person, or four."""

from typing import Any

from msgspec import structs

from reelbench.make.pipeline.context import StageContext
from reelbench.recipes.humanvbench.rows import Candidate
from reelbench.recipes.humanvbench.tasks import TASKS

_EVERYONE = ("p1", "p2", "p3", "p4")
_KEYED = ("T2H", "AVSM", "ASD")  # tasks whose answer is a person
_ABOUT_ONE = ("T2H", "ATD")  # beside those whose videos have a box


def expected_candidate(row: Candidate, _ctx: StageContext) -> list[Candidate]:
    """Return a candidate as the rule of its task might select it."""
    marks = TASKS[row.task].marks
    about_one = marks == "face" or row.task in _ABOUT_ONE
    return [
        structs.replace(
            row,
            target=_EVERYONE[0] if about_one else "",
            people=_EVERYONE if marks == "letters" else (),
            key=_EVERYONE[0] if row.task in _KEYED else "",
            facts=_facts(row),
        )
    ]


def _facts(row: Candidate) -> dict[str, Any]:
    """Return what the rule of a task finds beside people."""
    found: dict[str, dict[str, Any]] = {
        "HC": {"guess": len(_EVERYONE)},
        "ATD": {"span": [0, int(row.seconds / 2)]},
        "SCM": {"transcript": "It rained all night long, and then it stopped."},
    }
    return found.get(row.task, {})
