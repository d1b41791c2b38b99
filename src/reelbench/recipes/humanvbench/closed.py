"""Drafts of tasks whose answer a rule knows, or people will: questions by template (L.1, L.2)."""

from collections.abc import Callable, Mapping
from typing import Any

from reelbench.data.items import LETTERS
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.marks import letter_of
from reelbench.recipes.humanvbench.rows import Candidate
from reelbench.recipes.humanvbench.tasks import TASKS

GUESSED_PEOPLE = "guessed_people"  # the tag that the quotas of counting go by
NO_ACTION = "(no action has been marked yet)"  # what stands for one until people mark it
_WHICH_ACTION = (
    "Which short action does the {subject} in the red box begin in the video, and when? Write it "
    'as it follows "begin to", and mark its time.'
)
_FEW, _SOME = 5, 8  # people: the upper ends of the paper's first two groups

Fields = dict[str, Any]  # of an item


def question_of(row: Candidate, description: str = "") -> str:
    """Return the question of a task, its slots filled."""
    return TASKS[row.task].question.format(subject=row.subject, description=description)


def _lettered(row: Candidate, description: str = "") -> Fields:
    return {
        "question": question_of(row, description),
        "kind": "single",
        "options": [*LETTERS[: len(row.people)], *TASKS[row.task].options],
        "answer": [letter_of(row, row.key)],
    }


def _described(row: Candidate) -> Fields:
    return _lettered(row, _caption(row))


def _timed(row: Candidate, description: str = "") -> Fields:
    """Return the fields of an item whose options the stage ``times`` has drawn."""
    options: list[str] = row.facts["options"]
    return {
        "question": question_of(row, description),
        "kind": "single",
        "options": options,
        "answer": [LETTERS[options.index(row.facts["answer"])]],
    }


def _appearing(row: Candidate) -> Fields:
    return _timed(row, _caption(row))


def _counted(row: Candidate) -> Fields:
    guess = row.facts["guess"]
    group = "3-5" if guess <= _FEW else "6-8" if guess <= _SOME else "9+"
    return {
        "question": question_of(row),
        "reference": str(guess),  # for people to compare with
        "tags": {GUESSED_PEOPLE: group},
    }


def _acting(row: Candidate) -> Fields:
    return {"question": _WHICH_ACTION.format(subject=row.subject), "reference": NO_ACTION}


def _spoken(row: Candidate) -> Fields:
    return {"question": question_of(row), "reference": row.facts["transcript"]}


def _caption(row: Candidate) -> str:
    if not row.texts.get("caption"):
        raise Rejected("needs models", "Add --model captioner=NAME.")
    return str(row.texts["caption"])


CLOSED: Mapping[str, Callable[[Candidate], Fields]] = {
    "T2H": _described,
    "HC": _counted,
    "ATD": _appearing,
    "TSA": _acting,
    "AVSM": _lettered,
    "ASD": _lettered,
    "AVAD": _timed,
    "SCM": _spoken,
}
