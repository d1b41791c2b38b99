"""The sixteen tasks as data (``tasks.yaml``), and the labels that each may read."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml

from reelbench.annotate.operator import Value
from reelbench.base.errors import ReelbenchError
from reelbench.data.items import NOTHING
from reelbench.recipes.humanvbench.rows import PERSON, Candidate

HOME = files(__package__)
_DATA = yaml.safe_load((HOME / "tasks.yaml").read_text("utf-8"))
LABELS: Mapping[int, tuple[str, ...]] = {
    number: tuple(names) for number, names in _DATA["labels"].items()
}


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One of the sixteen tasks."""

    name: str
    title: str
    dimension: str
    reads: tuple[int, ...]  # numbers of labels, as in Table 9
    marks: str  # what is drawn into its videos
    verified: bool
    models: tuple[str, ...] = ()
    numbers: Mapping[str, Any] = NOTHING
    errors: Mapping[str, str] = NOTHING  # of rewritten options: the name of each, and its meaning
    question: str = ""  # with slots, where a template asks it
    options: tuple[str, ...] = ()  # that are offered beside the others
    first_answer: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels that it may read; the file's own properties are no label."""
        return ("format", *(label for number in self.reads for label in LABELS[number]))


TASKS: Mapping[str, TaskSpec] = {
    name: TaskSpec(
        name,
        spec["title"],
        spec["dimension"],
        tuple(spec["reads"]),
        spec["marks"],
        spec["verified"],
        tuple(spec.get("models", ())),
        spec.get("numbers", NOTHING),
        spec.get("errors", NOTHING),
        spec.get("question", ""),
        tuple(spec.get("options", ())),
        spec.get("first_answer", ""),
    )
    for name, spec in _DATA["tasks"].items()
}
UNLETTERED = tuple(task.name for task in TASKS.values() if task.marks != "letters")
FIXED = ("AR",)  # their options always stand in the same order
# Their descriptions must fit one alone of those who are there.
TOLD_APART = ("T2H", "H2T", "ATD")
VERIFIED = tuple(task.name for task in TASKS.values() if task.verified)
UNVERIFIED = tuple(task.name for task in TASKS.values() if not task.verified)
ERRORS = {task.name: dict(task.errors) for task in TASKS.values() if task.errors}
DESCRIPTIVE = tuple(ERRORS)  # the six tasks whose answers are sentences (L.1)
ALL_LABELS = tuple(dict.fromkeys(label for task in TASKS.values() for label in task.labels))


def reads_label(number: int) -> Callable[[Candidate], bool]:
    """Return whether a candidate's task reads one of the labels of people."""
    return lambda row: row.subject == PERSON and number in TASKS[row.task].reads


def numbers_of(task: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a task by name, out of parameters named ``TASK_NAME``."""
    start = f"{task}_"
    return {
        name.removeprefix(start): value
        for name, value in parameters.items()
        if name.startswith(start)
    }


def number_parameters() -> dict[str, Any]:
    """Return the numbers of all tasks as parameters of a stage, named ``TASK_NAME``."""
    return {f"{t.name}_{name}": value for t in TASKS.values() for name, value in t.numbers.items()}


class TaskLabels(Mapping[str, Value]):
    """The labels of a clip that a task may read; reading any other raises an error.

    About things other than people, ``objects`` takes the place of all that tells of people.
    """

    def __init__(self, task: TaskSpec, found: Mapping[str, Value], subject: str = PERSON) -> None:
        self._task, self._found = task, found
        self._names = task.labels if subject == PERSON else ("format", "objects")

    def __getitem__(self, name: str) -> Value:
        if name not in self._names:
            raise ReelbenchError(
                f"The task {self._task.name} reads the label {name}, which tasks.yaml does not "
                f"list for it: add its number to reads, or use {', '.join(self._names)}."
            )
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in self._names if name in self._found])

    def __len__(self) -> int:
        return len(list(iter(self)))
