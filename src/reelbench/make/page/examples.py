"""Example items of each category, with their media: what was made, to be looked at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from reelbench.base.progress import counted
from reelbench.data.items import LETTERS, Item, Media
from reelbench.make.pipeline.funnel import category_of
from reelbench.make.pipeline.run import StageResult
from reelbench.make.pipeline.stage import WAITING, Undecided
from reelbench.pages import shortened

_OF_EACH = 3  # items of a category
_MOST_CATEGORIES = 40
_PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
_SOUNDS = (".wav", ".mp3", ".flac", ".ogg", ".opus", ".m4a", ".aac")


@dataclass(frozen=True, slots=True)
class ItemExample:
    """An item as the page shows it."""

    id: str
    facts: tuple[str, ...]  # its kind, how many options it has, and its tags beside the category
    question: str
    options: tuple[tuple[str, str, bool], ...]  # letter, text, whether it is a key
    reference: str  # of an open item
    media: tuple[tuple[str, str], ...]  # the element that shows it, and its address
    waits: str  # the stage at which it waits for people; empty for what is finished


@dataclass(frozen=True, slots=True)
class CategoryExamples:
    """Some items of a category, finished ones first."""

    category: str
    finished: int
    waiting: int
    shown: tuple[ItemExample, ...]


def examples(out: Path, passed: Sequence[StageResult]) -> list[CategoryExamples]:
    """Return some items of each category: of those that are left, and of those that wait.

    Only items whose media are in the folder of the page are shown.
    """
    found: dict[str, list[tuple[Item, str]]] = {}
    for item, waits in _items(passed):
        if any((out / medium.path).is_file() for medium in item.media):
            found.setdefault(category_of(item), []).append((item, waits))
    return [
        CategoryExamples(
            category,
            sum(not waits for _, waits in items),
            sum(bool(waits) for _, waits in items),
            tuple(_example(out, item, waits) for item, waits in _some(items)),
        )
        for category, items in sorted(found.items())[:_MOST_CATEGORIES]
    ]


def _items(passed: Sequence[StageResult]) -> Iterator[tuple[Item, str]]:
    """Yield what is left at the end, and then what waits for people, with the stage it waits at."""
    yield from ((row, "") for row in (passed[-1].out if passed else ()) if isinstance(row, Item))
    for each in passed:
        for row, result in zip(each.rows, each.results, strict=True):
            is_waiting = isinstance(result, Undecided) and result.status == WAITING
            if is_waiting and isinstance(row, Item):
                yield row, each.stage.name


def _some(items: Sequence[tuple[Item, str]]) -> list[tuple[Item, str]]:
    """Return the first few, finished ones before others, and one of each medium while there are."""
    ordered = sorted(items, key=lambda pair: (bool(pair[1]), pair[0].id))
    seen: set[tuple[Media, ...]] = set()
    fresh: list[tuple[Item, str]] = []
    again: list[tuple[Item, str]] = []
    for item, waits in ordered:
        (again if item.media in seen else fresh).append((item, waits))
        seen.add(item.media)
    return (fresh + again)[:_OF_EACH]


def _example(out: Path, item: Item, waits: str) -> ItemExample:
    pairs = zip(LETTERS, item.options, strict=False)
    return ItemExample(
        shortened(item.id, 120),
        tuple(_facts(item)),
        shortened(item.question, 800),
        tuple((letter, shortened(text, 300), letter in item.answer) for letter, text in pairs),
        shortened(item.reference or "", 300),
        tuple(
            (_element(medium.path), _address(medium))
            for medium in item.media
            if (out / medium.path).is_file()
        ),
        waits,
    )


def _facts(item: Item) -> Iterator[str]:
    yield _KINDS[item.kind]
    if item.options:
        yield counted(len(item.options), "option")
    category = category_of(item)
    values = [value for tag in item.tags for value in item.tag(tag) if value != category]
    yield from (shortened(value, 60) for value in values[:_MOST_TAGS])


_KINDS = {"single": "single-select", "multi": "multi-select", "yesno": "yes or no", "open": "open"}
_MOST_TAGS = 4


def _element(path: str) -> str:
    ending = Path(path).suffix.lower()
    return "img" if ending in _PICTURES else "audio" if ending in _SOUNDS else "video"


def _address(medium: Media) -> str:
    """Return the address of a medium beside the page; a video begins at a frame, not at nothing."""
    if _element(medium.path) == "img":
        return quote(medium.path)
    end = "" if medium.end is None else f",{medium.end:g}"
    return f"{quote(medium.path)}#t={medium.start or 0.001:g}{end}"
