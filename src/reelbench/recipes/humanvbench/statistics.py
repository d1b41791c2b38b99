"""The statistics of a make: how far each task came, and how often each option is the key."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.data.items import Item
from reelbench.make.pipeline.funnel import category_of
from reelbench.recipes.humanvbench.tasks import TASKS

Table = dict[str, Any]  # title, columns, and rows of as many cells
_STEPS = {  # of a task's candidates: what a column is called, and the stage whose rows it counts
    "clips": "candidates",
    "selected": "select",
    "drafted": "draft",
    "annotated": "annotated",
    "with options": "closed",
    "verified": "cross-verification",
}
# Tasks with options that are the same in every item: keys need not be even (a person decides).
_FIXED = ("AR", "ASD", "TSA")


def human_statistics(rows: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the counts of tasks from clips to items, and the shares of keys."""
    items: Sequence[Item] = [row for row in list(rows.values())[-1] if isinstance(row, Item)]
    if not items:
        return {"tables": [_by_task(rows, items)]} if _STEPS["clips"] in rows else {}
    seconds = {item.media[0].path: item.provenance["select"]["seconds"] for item in items}
    return {
        "numbers": {
            "videos": len({item.provenance["select"]["source"] for item in items}),
            "marked videos": len(seconds),
            "tasks with items": len({category_of(item) for item in items}),
            "questions": len(items),
        },
        "distributions": {"Duration of videos (s)": list(seconds.values())},
        "tables": [_by_task(rows, items), *_key_shares(items)],
    }


def _by_task(rows: Mapping[str, Sequence[Any]], items: Sequence[Item]) -> Table:
    steps = {name: stage for name, stage in _STEPS.items() if stage in rows}
    counts = {
        name: Counter(category_of(row) for row in rows[stage]) for name, stage in steps.items()
    }
    counts["items"] = Counter(map(category_of, items))
    return {
        "title": "From clips to items, by task",
        "columns": ["Task", *(name.capitalize() for name in counts)],
        "rows": [
            [f"{name} ({task.title})", *(counted[name] for counted in counts.values())]
            for name, task in TASKS.items()
        ],
    }


def _key_shares(items: Sequence[Item]) -> list[Table]:
    """Return how often each fixed option is the key, for the tasks that have such."""
    tables = []
    for task in _FIXED:
        keys = Counter(
            _kind(text) for item in items if category_of(item) == task for text in item.correct
        )
        if keys:
            total = sum(keys.values())
            rows = [[text, count, round(count / total, 3)] for text, count in keys.most_common()]
            columns = ["Key", "Items", "Share"]
            tables.append({"title": f"Keys of {task}", "columns": columns, "rows": rows})
    return tables


def _kind(text: str) -> str:
    """Return what a key is counted as: letters and times are one kind each."""
    if len(text) == 1:
        return "a person"
    return "a time" if text.endswith(" s") else text
