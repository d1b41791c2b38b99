"""Questions that people wrote on the review pages for tasks of a recipe, one item per line.

A review writes the file while people write; the recipe that set the tasks reads it. An item says in
its provenance which task it is for (``task``) and who wrote it (``author``).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from reelbench.data.benchmark import BenchmarkError, read_items
from reelbench.data.items import Item

WRITTEN_FILE = "written.jsonl"  # of a folder that a recipe makes
TASK, AUTHOR = "task", "author"  # in the provenance of an item


def task_of(item: Item) -> str:
    """Return the task that an item was written for; empty where there is none."""
    task = item.provenance.get(TASK, "")
    return task if isinstance(task, str) else ""


def read_written(path: Path) -> Mapping[str, Sequence[Item]]:
    """Return the items of a file by their task, in the order of their ids; none without a file."""
    try:
        state = path.stat()
    except FileNotFoundError:
        return {}
    # Without a line, all that was written has been taken back.
    return _read(path, state.st_mtime_ns, state.st_size) if state.st_size else {}


@lru_cache(maxsize=4)
def _read(path: Path, _changed: int, _size: int) -> Mapping[str, Sequence[Item]]:
    file = read_items(path)
    if faults := [problem for problem in file.problems if not problem.is_warning]:
        raise BenchmarkError(faults)
    found: dict[str, list[Item]] = defaultdict(list)
    for item in sorted(file.items, key=lambda item: item.id):
        found[task_of(item)].append(item)
    return found
