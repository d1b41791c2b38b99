"""What HumanVBench's page says of tasks, numbers, people and prompts is what the recipe does."""

import re
from collections.abc import Callable

import pytest
import yaml
from recipe_pages import CODE, rows_under
from support import REPOSITORY

from reelbench.recipes import load_recipe
from reelbench.recipes.humanvbench.annotated import ANNOTATED
from reelbench.recipes.humanvbench.tasks import DESCRIPTIVE, LABELS, TASKS

PAGE = (REPOSITORY / "docs" / "recipes" / "humanvbench.md").read_text()
RECIPE = load_recipe("humanvbench")
FROM_PEOPLE = {*ANNOTATED, "AST"}  # of the same annotation as TSA
BY_MODELS = {*DESCRIPTIVE, "AR"}


def faults(page: str) -> list[str]:
    """Say all that the tables of a page have otherwise than the recipe."""
    return [*_tasks(page), *_labels(page), *_numbers(page), *_parameters(page), *_people(page)]


def _tasks(page: str) -> list[str]:
    told = {row[0].partition(",")[0]: tuple(row[1:]) for row in rows_under(page, "The tasks")}
    real = {
        name: (
            ", ".join(map(str, task.reads)),
            task.marks,
            ", ".join(task.models) or "none",
            "people" if name in FROM_PEOPLE else "models" if name in BY_MODELS else "rule",
            "verify" if task.verified else "cross",
        )
        for name, task in TASKS.items()
    }
    said = {name: (*row[:3], row[3].partition(":")[0], row[4]) for name, row in told.items()}
    return [
        f"{name}: {said.get(name)}, not {real.get(name)}"
        for name in {**said, **real}
        if said.get(name) != real.get(name)
    ]


def _labels(page: str) -> list[str]:
    text = page.split("## The tasks\n", 1)[1].split("\n|", 1)[0]
    flat = " ".join(text.split())
    return [
        f"label {number} is {' and '.join(names)}"
        for number, names in LABELS.items()
        if f"{number} {' and '.join(f'`{name}`' for name in names)}" not in flat
    ]


def _numbers(page: str) -> list[str]:
    rows = [row for row in rows_under(page, "Numbers") if row[0] in TASKS]
    told = {row[0]: {code for code in CODE.findall(row[1]) if "=" in code} for row in rows}
    real = {
        name: {f"{name}_{number}={value}" for number, value in task.numbers.items()}
        for name, task in TASKS.items()
    }
    return [
        f"{name} has {', '.join(sorted(real[name])) or 'none'}"
        for name in real
        if told.get(name) != real[name]
    ]


def _parameters(page: str) -> list[str]:
    """Parameters of other stages: all that are named have their defaults, and none is left out."""
    defaults = {
        f"{stage.name}.{name}": value
        for stage in RECIPE.stages
        for name, value in stage.parameters.items()
    }
    cells = [row[0] for row in rows_under(page, "Numbers") if row[0].startswith("`--set ")]
    told = {
        name: yaml.safe_load(value.strip("'"))
        for cell in cells
        for name, value in re.findall(r"`--set ([\w.-]+)=([^`]+)`", cell)
    }
    wrong = [f"{name} is {defaults.get(name)}" for name in told if told[name] != defaults.get(name)]
    numbers = {
        name
        for name, value in defaults.items()
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and not name.startswith("select.")
        and not name.endswith(".needed")  # verdicts: the protocol says how many people decide
    }
    return [*wrong, *(f"{name} is not told" for name in sorted(numbers - told.keys()))]


def _people(page: str) -> list[str]:
    told = {row[0].strip("`"): row[1].strip("`") for row in rows_under(page, "People")}
    folder = REPOSITORY / "src" / "reelbench" / "review" / "protocols"
    real = {
        path.stem: yaml.safe_load(path.read_text()).get("stage", "none")
        for path in folder.glob("humanvbench-*.yaml")
    }
    return [
        f"{name}: stage {real.get(name)!r}, not {told.get(name)!r}"
        for name in {**told, **real}
        if told.get(name) != real.get(name)
    ]


def test_tasks_numbers_and_people_are_as_the_page_says() -> None:
    assert faults(PAGE) == []


def instead(right: str, wrong: str) -> Callable[[str], str]:
    return lambda text: text.replace(right, wrong, 1)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (instead("| ER, emotion | 1, 4, 5 |", "| ER, emotion | 1, 5 |"), "ER: "),
        (instead("| letters | answerer |", "| face | answerer |"), "EIC: "),
        (instead("| distractor | rule", "| none | rule"), "SCM: "),
        (instead("| people: they count |", "| rule: label 2 |"), "HC: "),
        (instead("| rule: the one who speaks | verify |", "| rule: the one who speaks | cross |"), "ASD: "),
        (instead("6 `sound`", "6 `speech`"), "label 6 is sound"),
        (instead("`AVSM_coverage=0.67`", "`AVSM_coverage=0.66`"), "AVSM has"),
        (instead(", `ATD_edge=1.0`", ""), "ATD has"),
        (instead("--set times.most_overlap=4.0", "--set times.most_overlap=5.0"), "times.most_overlap is 4.0"),
        (instead('"9+": 54', '"9+": 60'), "counting-quota.most is"),
        (instead("`--set distract.length=1.5`", "`distract`"), "distract.length is not told"),
        (instead("| `humanvbench-cross` | `cross-verification` |", "| `humanvbench-cross` | `verification` |"), "humanvbench-cross: stage"),
    ],
)  # fmt: skip
def test_what_is_otherwise_is_found(change: Callable[[str], str], told: str) -> None:
    assert change(PAGE) != PAGE
    assert any(fault.startswith(told) for fault in faults(change(PAGE)))
