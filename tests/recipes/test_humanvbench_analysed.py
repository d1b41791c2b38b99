"""Density and who speaks: noted from labels, tagged by bins, and by people's count where there is one."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from support import make_item

from reelbench.data.items import freeze
from reelbench.interop.humanvbench import taxonomy
from reelbench.recipes.humanvbench import tasks
from reelbench.recipes.humanvbench.analysed import analysed, note_people
from reelbench.recipes.humanvbench.drafts import TASK
from reelbench.recipes.humanvbench.recipe import RECIPE
from reelbench.recipes.humanvbench.rows import Candidate


def looked(labels: dict[str, Any], **fields: Any) -> dict[str, Any]:
    row = Candidate("ER-1", "ER", "clips/1.mp4", "0" * 64, "a.mp4", 8.0, target="p1", **fields)
    ctx: Any = SimpleNamespace(labels=lambda _row: labels)
    (found,) = asyncio.run(note_people(row, ctx))
    return found.facts


def test_what_labels_leave_open_is_left_out() -> None:
    speaker = {"people": [{"id": "p1", "speaks": True}, {"id": "p2", "speaks": False}]}
    assert looked({"count": {"people": 4}, "speaker": speaker}) == {"people": 4, "speaking": True}
    assert looked({"count": {"people": None, "guess": 4}, "speaker": {"people": []}}) == {}
    assert looked({"count": {"people": 4}}, subject="dog", facts={"span": [1, 2]}) == {"span": [1, 2]}  # fmt: skip


@pytest.mark.parametrize(
    ("task", "people", "options", "density"),
    [
        ("ER", 4, ("a", "b"), "Medium"), ("ER", 5, ("a", "b"), "High"), ("ER", None, ("a", "b"), None),
        ("HC", 9, ("7", "2"), "Low"),  # the key of people, not the label
    ],
)  # fmt: skip
def test_items_are_tagged_by_bins(
    task: str, people: int | None, options: tuple[str, ...], density: str | None
) -> None:
    facts = {} if people is None else {"people": people, "speaking": False}
    tags, provenance = freeze({TASK: task}), freeze({"select": facts})
    item = make_item(1, options=options, answer=("B",), tags=tags, provenance=provenance)
    ctx: Any = SimpleNamespace()
    (found,) = asyncio.run(analysed(item, ctx, medium=3, high=5))
    assert found.tags.get("density") == density
    assert found.tags.get("speaking") == ("no" if people else None)


def test_the_recipe_and_the_published_rows_have_the_same_tasks_and_tags() -> None:
    assert TASK == taxonomy.TASK
    assert {name: (spec.title, spec.dimension) for name, spec in tasks.TASKS.items()} == {
        name: (task.name, task.dimension) for name, task in taxonomy.TASKS.items()
    }
    assert set(tasks.DESCRIPTIVE) == set(taxonomy.DESCRIBED)


def test_what_is_made_declares_the_tables_of_the_paper() -> None:
    manifest = RECIPE.manifest((), SimpleNamespace(name="clips"))  # type: ignore[arg-type]
    assert {"table-4", "table-2a", "table-7", "figure-7"} <= set(manifest.tables)
    assert manifest.extra["made_from"] == "clips"
