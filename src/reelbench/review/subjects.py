"""What a queue is about: the benchmark's items, candidates for it, or videos to write about."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reelbench.base.files import digest_of
from reelbench.base.seeds import seed_for
from reelbench.data.benchmark import ITEMS_FILE, read_items
from reelbench.data.items import Item, Media
from reelbench.data.paths import VIDEO_ENDINGS, link_outside
from reelbench.make.pipeline.make import waiting_file
from reelbench.review.protocol import ReviewProtocol, Sample

Stamp = tuple[tuple[str, int, int], ...]  # files with their times and sizes


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing that people work on: an item, or the video or pair that questions are about."""

    id: str
    digest: str
    media: tuple[Media, ...]
    item: Item | None = None
    author: str = ""  # who must not review it

    def tag(self, name: str) -> tuple[str, ...]:
        """The values of one tag of the item."""
        return self.item.tag(name) if self.item else ()


def subject_of(item: Item, author: str = "") -> Subject:
    """Return what is worked on where that is an item."""
    return Subject(item.id, item.digest, item.media, item, author or _author(item))


def _author(item: Item) -> str:
    author = item.provenance.get("author", "")
    return author if isinstance(author, str) else ""


class SubjectFiles:
    """The items and videos of a benchmark's folder, read again when a file has changed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._kept: dict[str, tuple[Stamp, list[Subject]]] = {}

    def benchmark(self) -> list[Subject]:
        """Return the items of the benchmark."""
        return self._items("benchmark", [self.root / ITEMS_FILE])

    def waiting(self) -> list[Subject]:
        """Return the rows of a recipe that wait for people."""
        pattern = waiting_file(Path(), "*")
        return self._items("waiting", sorted(self.root.glob(str(pattern))))

    def media(self, pairs: bool) -> list[Subject]:
        """Return the videos in ``media/``, or each two that follow each other by name."""
        folder = self.root / "media"
        paths = sorted(
            path
            for path in folder.rglob("*")
            if path.suffix.lower() in VIDEO_ENDINGS and not link_outside(self.root, path)
        )
        names = [path.relative_to(self.root).as_posix() for path in paths]
        size = 2 if pairs else 1
        groups = [names[at : at + size] for at in range(0, len(names) - size + 1, size)]
        return [
            Subject(" + ".join(group), digest_of(group), tuple(map(Media, group)))
            for group in groups
        ]

    def _items(self, key: str, paths: Sequence[Path]) -> list[Subject]:
        stamp = tuple(_stamps(paths))
        if key not in self._kept or self._kept[key][0] != stamp:
            items = [item for path in paths if path.exists() for item in read_items(path).items]
            self._kept[key] = stamp, [subject_of(item) for item in items]
        return self._kept[key][1]


def _stamps(paths: Iterable[Path]) -> Iterator[tuple[str, int, int]]:
    for path in paths:
        if path.exists():
            state = path.stat()
            yield str(path), state.st_mtime_ns, state.st_size


def sampled(
    subjects: Sequence[Subject], sample: Sample, protocol: ReviewProtocol, what: str
) -> list[Subject]:
    """Return the part of the subjects that a sample takes, in their order.

    The draw goes by ids: an item that is added later changes no other's chance.
    """
    if not sample.count and sample.share >= 1:
        return list(subjects)
    groups: Mapping[str, list[Subject]] = defaultdict(list)
    for subject in subjects:
        groups[",".join(subject.tag(sample.per)) if sample.per else ""].append(subject)
    taken = set()
    for group in groups.values():
        count = sample.count or round(sample.share * len(group))
        drawn = sorted(group, key=lambda each: seed_for(protocol.name, what, each.id))
        taken |= {each.id for each in drawn[:count]}
    return [each for each in subjects if each.id in taken]
