"""What a queue is about: the benchmark's items, candidates for it, or videos to write about."""

import glob
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from reelbench.base.files import digest_of
from reelbench.base.limits import bounded_lines
from reelbench.base.seeds import seed_for
from reelbench.data.benchmark import ITEMS_FILE, BenchmarkError, read_items
from reelbench.data.items import Item, Media, Problem, shown
from reelbench.data.paths import VIDEO_ENDINGS, inner_path, link_outside
from reelbench.data.written import WRITTEN_FILE
from reelbench.interop.csv_tables import read_table
from reelbench.make.parts.drafts import MediaRef
from reelbench.make.parts.prompt_changes import CHANGES_FILE, read_changes
from reelbench.make.pipeline.make import waiting_file
from reelbench.media.decode.durations import duration_of
from reelbench.review.protocol import Sample

CATEGORY = "category"  # the tag by whose values rounds are counted and ratings are split
PAIRED = " + "  # between the paths of a pair, in its id
PAIRS_FILE, PAIR_COLUMNS = "review/pairs.csv", ("first", "second")


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing that people work on: an item, or the video or pair that questions are about."""

    id: str
    digest: str
    media: tuple[Media, ...]
    item: Item | None = None
    author: str = ""  # who must not review it
    task: str = ""  # of a recipe, for which questions are written about the media

    def tag(self, name: str) -> tuple[str, ...]:
        """The values of one tag of the item."""
        return self.item.tag(name) if self.item else ()


def subject_of(item: Item) -> Subject:
    """Return what is worked on where that is an item."""
    author = item.provenance.get("author", "")
    author = author if isinstance(author, str) else ""
    return Subject(item.id, item.content_digest, item.media, item, author)


def round_of(item: Item) -> int:
    """Return the round of a recipe that made an item; the first where it names none."""
    number = item.provenance.get("round", 1)
    return number if type(number) is int else 1


class SubjectFiles:
    """The items and videos of a benchmark's folder, read again when a file has changed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._kept: dict[str, tuple[object, list[Subject]]] = {}  # with what they were made of

    def benchmark(self) -> list[Subject]:
        """Return the items of the benchmark."""
        return self._items("benchmark", [self.root / ITEMS_FILE])

    def waiting(self, stage: str = "") -> list[Subject]:
        """Return the rows of a recipe that wait for people, at one of its stages or at any."""
        pattern = waiting_file(Path(), glob.escape(stage) or "*")
        return self._items(f"waiting {stage}", sorted(self.root.glob(str(pattern))))

    def prompts(self) -> list[Subject]:
        """Return the proposed changes of prompts, as the items that stand for them."""
        path = self.root / CHANGES_FILE

        def read() -> Iterator[Subject]:
            return (subject_of(c.item) for c in read_changes(self.root) if c.state == "open")

        return self._unless_kept("prompts", list(_stamps([path])), read)

    def media(self, pairs: bool) -> list[Subject]:
        """Return what questions are written about: videos, or pairs of them.

        Where a recipe's tasks wait for people, or did, they are those of the tasks; else those in
        ``media/``. Pairs are those of ``review/pairs.csv``, with its columns ``first`` and
        ``second``; without that file, each two that follow each other by name.
        """
        tasks = self._tasks(2 if pairs else 1)
        if tasks or (self.root / WRITTEN_FILE).exists():
            return tasks
        folder = self.root / "media"
        paths = sorted(
            path
            for path in folder.rglob("*")
            if path.suffix.lower() in VIDEO_ENDINGS and not link_outside(self.root, path)
        )
        names = [path.relative_to(self.root).as_posix() for path in paths]
        size = 2 if pairs else 1
        groups = [names[at : at + size] for at in range(0, len(names) - size + 1, size)]
        if pairs and (self.root / PAIRS_FILE).exists():
            groups = _listed_pairs(self.root / PAIRS_FILE, set(names))
        return self._unless_kept("pairs" if pairs else "media", groups, lambda: map(_media, groups))

    def _tasks(self, size: int) -> list[Subject]:
        """Return the tasks of a recipe that wait for questions about so many videos."""
        paths = sorted(self.root.glob(str(waiting_file(Path(), "*"))))

        def read() -> Iterator[Subject]:
            for task in (task for path in paths for task in _tasks_in(path)):
                if len(task.media) == size:
                    media = tuple(each.media for each in task.media)
                    names = [each.path for each in task.media]
                    yield Subject(PAIRED.join(names), digest_of(names), media, task=task.id)

        return self._unless_kept(f"tasks {size}", list(_stamps(paths)), read)

    def seconds(self, subject: Subject) -> float | None:
        """Return how long the longest video of a subject is; None where one cannot be opened."""
        lengths = [duration_of(inner_path(self.root, each.path)) for each in subject.media]
        known = [each for each in lengths if each is not None]
        return max(known) if known and len(known) == len(lengths) else None

    def _items(self, key: str, paths: Sequence[Path]) -> list[Subject]:
        def read() -> Iterator[Subject]:
            for path in paths:
                yield from map(subject_of, read_items(path).items if path.exists() else ())

        return self._unless_kept(key, list(_stamps(paths)), read)

    def _unless_kept(
        self, key: str, source: object, make: Callable[[], Iterable[Subject]]
    ) -> list[Subject]:
        """Return the same list as the last time, unless what it is made of has changed."""
        kept = self._kept.get(key)
        if kept is None or kept[0] != source:
            kept = self._kept[key] = source, list(make())
        return kept[1]


class _Task(msgspec.Struct, frozen=True, forbid_unknown_fields=False):
    """What a writing task says of its media; an item has a question already."""

    id: str
    media: tuple[MediaRef, ...]
    forms: tuple[Any, ...]


def _tasks_in(path: Path) -> Iterator[_Task]:
    """Yield the rows of a file that are tasks to write questions, and no items."""
    with path.open("rb") as file:
        for line in bounded_lines(file):
            with suppress(msgspec.DecodeError):
                yield msgspec.json.decode(line, type=_Task)


def _media(paths: Sequence[str]) -> Subject:
    return Subject(PAIRED.join(paths), digest_of(paths), tuple(map(Media, paths)))


def _listed_pairs(path: Path, names: set[str]) -> list[list[str]]:
    """Return the pairs of a file; what is no pair of videos in the folder is listed."""
    table, problems = read_table(path, PAIR_COLUMNS)
    for line, row in table.rows:
        for column in PAIR_COLUMNS:
            if row[column] not in names:
                expected = "a video of the folder, as media/a.mp4"
                problems.append(
                    Problem("BAD_FIELD", column, shown(row[column]), expected, str(path), line)
                )
    if problems:
        raise BenchmarkError(problems)
    return [[row[column] for column in PAIR_COLUMNS] for _, row in table.rows]


def _stamps(paths: Iterable[Path]) -> Iterator[tuple[str, int, int]]:
    """Yield files with their times and sizes."""
    for path in paths:
        if path.exists():
            state = path.stat()
            yield str(path), state.st_mtime_ns, state.st_size


def sampled(subjects: Sequence[Subject], sample: Sample, queue: str, what: str) -> list[str]:
    """Return the ids of the subjects that a sample takes, in their order; ids alone decide it."""
    if not sample.count and sample.share >= 1:
        return [each.id for each in subjects]
    groups: Mapping[str, list[Subject]] = defaultdict(list)
    for subject in subjects:
        groups[",".join(subject.tag(sample.per)) if sample.per else ""].append(subject)
    taken = set()
    for group in groups.values():
        count = sample.count or round(sample.share * len(group))
        drawn = sorted(group, key=lambda each: seed_for(queue, what, each.id))
        taken |= {each.id for each in drawn[:count]}
    return [each.id for each in subjects if each.id in taken]
