"""Candidates from elsewhere: items that a model made, checked and put into the queues."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from reelbench.base.files import partial_file
from reelbench.data.benchmark import ItemsFile, grouped, read_items
from reelbench.data.items import Item, Problem, shown
from reelbench.review.errors import ActionError
from reelbench.review.people import Person
from reelbench.review.review import Review

_AT_ONCE = 200  # items of one event


def import_candidates(review: Review, person: Person, content: bytes, name: str) -> int:
    """Keep the items of a file as candidates; return how many are new.

    A file with anything wrong in it is refused as a whole, and every bad line is named.
    """
    file = _read(review.root, content)
    with review.changing() as state:
        problems = [
            *(problem for problem in file.problems if not problem.is_warning),
            *_unfit(review, file),
        ]
        if problems:
            problems.sort(key=lambda problem: problem.line)
            named = [replace(problem, file=name) for problem in problems]
            raise ActionError(
                "\n".join(grouped(named)),
                [{"line": str(p.line), "field": p.field, "found": p.found, "expected": p.expected}
                 for p in problems],
            )  # fmt: skip
        new = [item for item in file.items if item.id not in state.imported]
        for first in range(0, len(new), _AT_ONCE):
            records = [item.to_record() for item in new[first : first + _AT_ONCE]]
            review.record(person, "imported", {"file": name, "items": records})
    return len(new)


def _read(root: Path, content: bytes) -> ItemsFile:
    """Read items as if their file lay in the benchmark's folder."""
    with partial_file(root, ".jsonl") as (_, path):
        Path(path).write_bytes(content)
        return read_items(path)


def _unfit(review: Review, file: ItemsFile) -> Iterator[Problem]:
    """Find items whose videos are not here, or whose ids another item has."""
    known: dict[str, Item | None] = {
        each.id: each.item
        for each in (*review.files.benchmark(), *review.files.waiting())
    }  # fmt: skip
    known |= {name: each.item for name, each in review.state.written.items()}
    for number, item in zip(file.lines, file.items, strict=True):
        earlier = review.state.imported.get(item.id)
        if item.id in known or (earlier and earlier.digest != item.digest):
            yield Problem("DUPLICATE_ID", "id", shown(item.id), "an id of its own", line=number)
        for place, medium in enumerate(item.media):
            if not (review.root / medium.path).is_file():
                found, expected = shown(medium.path), f"a file inside {review.root}"
                yield Problem("MISSING_MEDIA", f"media[{place}].path", found, expected, line=number)
