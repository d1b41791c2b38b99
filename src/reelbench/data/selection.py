"""Which items of a benchmark are meant: those of a split, with some tags, or a number of them."""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.base.seeds import seed_for
from reelbench.base.spelling import closest_name, name_meant
from reelbench.data.items import NOTHING, FrozenDict, Item, Json, shown

EVERY_ITEM = sys.maxsize  # a limit that lifts an earlier one
PROPERTIES = ("kind", "id", "video")  # what can be chosen like a tag, where no tag has that name
_LONGEST = 60  # characters of a name
_MOST_NAMED = 20  # tags or values in one sentence


@dataclass(frozen=True, slots=True)
class Selection:
    """A choice of items; an empty one is all of them.

    Of each tag in ``where`` an item must have one of the values. ``limit`` is how many of the items
    to draw: which ones depends on the seed and their ids alone, so that a larger limit adds items
    and drops none. Without a seed it is that of the run, or 0.
    """

    split: str = ""
    where: Mapping[str, Json] = NOTHING  # tag to value, or to several of which any will do
    limit: int | None = None
    seed: int | None = None  # of the draw
    within: "Selection | None" = None  # the selection that this one is a part of

    def __post_init__(self) -> None:
        """Bring ``where`` into one form, so that equal choices are equal; refuse an empty limit."""
        if self.limit is not None and self.limit < 1:
            raise ReelbenchError(f"A limit of {self.limit} items asks nothing: write 1 or more.")
        tidy = {tag: tuple(sorted(set(listed(self.where[tag])))) for tag in sorted(self.where)}
        object.__setattr__(self, "where", FrozenDict(tidy))

    def __bool__(self) -> bool:
        """Whether it leaves anything out, or may."""
        return bool(self.split or self.where or self.is_limited or self.within)

    @property
    def is_limited(self) -> bool:
        """Whether items are drawn."""
        return self.limit is not None and self.limit != EVERY_ITEM

    def seeded(self, seed: int) -> "Selection":
        """Return it as it is recorded: with the seed of its draw, where it has one."""
        if not self.is_limited:
            return replace(self, limit=None, seed=None)
        return replace(self, seed=seed if self.seed is None else self.seed)

    def choose(self, items: Sequence[Item], name: str) -> tuple[Item, ...]:
        """Return the items that it chooses, in their order; ``name`` is the benchmark's.

        A tag or value that no item has is an error that lists those there are.
        """
        split = {"split": (self.split,)} if self.split else {}
        for tag, values in {**split, **self.where}.items():
            _check(items, tag, values, name)
        chosen = items_with(items_with(items, split), self.where)
        if not chosen:
            raise ReelbenchError(f"No item of {name} has all of this: {self.in_words()}.")
        return tuple(self._drawn(chosen))

    def _drawn(self, items: Sequence[Item]) -> Sequence[Item]:
        if self.limit is None or self.limit >= len(items):
            return items
        seed = self.seed or 0
        places = {item.id: (seed_for(seed, "selection", item.id), item.id) for item in items}
        drawn = set(sorted(places, key=places.__getitem__)[: self.limit])
        return [item for item in items if item.id in drawn]

    def to_record(self) -> dict[str, Any]:
        """Return it as plain data."""
        fields = {
            "split": self.split,
            "where": {tag: list(values) for tag, values in self.where.items()},
            "limit": self.limit if self.is_limited else None,
            "seed": (self.seed or 0) if self.is_limited else None,
            "within": self.within.to_record() if self.within else None,
        }
        return {name: value for name, value in fields.items() if value not in ("", None, {})}

    def in_words(self) -> str:
        """Return it as people read it: "split dev, where category=motion, limit 10, seed 0"."""
        where = [
            f"{_plain(tag)}={' or '.join(map(_plain, values))}"
            for tag, values in self.where.items()
        ]
        words = [
            f"split {_plain(self.split)}" if self.split else "",
            f"where {' and '.join(where)}" if where else "",
            f"limit {self.limit}, seed {self.seed or 0}" if self.is_limited else "",
            f"within: {self.within.in_words()}" if self.within else "",
        ]
        return ", ".join(filter(None, words)) or "all items"


ALL_ITEMS = Selection()


def selected_in_words(number: int, total: int, selection: Selection) -> str:
    """Return how many items of all are meant, and which: "10 of 216 items: limit 10, seed 0"."""
    if not selection:
        return counted(total, "item")
    return f"{number:,} of {counted(total, 'item')}: {selection.in_words()}"


def selection_from(record: Mapping[str, Any]) -> Selection:
    """Return the selection in what a file says of its benchmark; all items where it has none."""
    found = record.get("selection")
    if found is None:  # files of earlier versions had a split alone
        return Selection(split=str(record.get("split", "")))
    try:
        return _read(found)
    except (TypeError, ValueError, AttributeError):
        raise ReelbenchError(f"The selection {found!r} cannot be read.") from None


def _read(found: Any) -> Selection:
    numbers = {name: found[name] for name in ("limit", "seed") if found.get(name) is not None}
    if any(type(number) is not int for number in numbers.values()):
        raise TypeError(numbers)
    inner = found.get("within")
    where = {str(tag): tuple(map(str, values)) for tag, values in found.get("where", {}).items()}
    return Selection(
        str(found.get("split", "")), where, **numbers, within=_read(inner) if inner else None
    )


def parse_where(conditions: Sequence[str], items: Sequence[Item]) -> dict[str, tuple[str, ...]]:
    """Return ``tag=value`` texts as values by tag; a tag or value may contain = itself.

    A tag may be written in another case, where that is the only one it can be.
    """
    known = {tag for item in items for tag in item.tags} | set(PROPERTIES)
    found: dict[str, tuple[str, ...]] = {}
    for text in conditions:
        places = [place for place, sign in enumerate(text) if sign == "="]
        if not places or not text[: places[0]].strip():
            raise ReelbenchError(
                f"--where {text!r} chooses nothing: write tag=value, such as kind=open."
            )
        parts = [(name_meant(text[:place].strip(), known), text[place + 1 :]) for place in places]
        tag, value = next((part for part in parts if part[0] in known), parts[0])
        found[tag] = (*found.get(tag, ()), value)
    return found


def items_with(items: Sequence[Item], choice: Mapping[str, Any]) -> list[Item]:
    """Return the items that have, of each tag, one of the values that are asked for."""
    wanted = {tag: set(listed(values)) for tag, values in choice.items()}
    return [
        item
        for item in items
        if all(not values.isdisjoint(values_of(item, tag)) for tag, values in wanted.items())
    ]


def listed(values: Any) -> tuple[str, ...]:
    """Return the values that a choice allows: one alone, or each of several."""
    return (values,) if isinstance(values, str) else tuple(values)


def values_of(item: Item, tag: str) -> tuple[str, ...]:
    """Return the values of a tag; some properties need no tag that names them."""
    if tag in item.tags or tag not in PROPERTIES:
        return item.tag(tag)
    return {
        "kind": (item.kind,),
        "id": (item.id,),
        "video": tuple(media.path for media in item.media),
    }[tag]


def _check(items: Sequence[Item], tag: str, values: Sequence[str], name: str) -> None:
    """Refuse a tag or a value that no item has."""
    there = Counter(value for item in items for value in set(values_of(item, tag)))
    if not there:
        tags = sorted({tag for item in items for tag in item.tags})
        near = _perhaps(tag, [*tags, *PROPERTIES])
        also = ", ".join(each for each in PROPERTIES if each not in tags)
        raise ReelbenchError(
            f"No item of {name} has the tag {shown(tag)}{near}; its tags: "
            f"{_listing([*map(_plain, tags)])}; {also} can be chosen too."
        )
    for value in values:
        if value not in there:
            counts = [f"{_plain(each)} ({there[each]:,})" for each in sorted(there)]
            raise ReelbenchError(
                f"No item of {name} has {_plain(tag)} {shown(value)}{_perhaps(value, there)}; "
                f"what there is: {_listing(counts)}."
            )


def _plain(text: str) -> str:
    """Return a name as it is, or in quotes where it is long or a terminal would obey it."""
    return text if text.isprintable() and len(text) <= _LONGEST else shown(text)


def _perhaps(name: str, known: Iterable[str]) -> str:
    near = closest_name(name, known)
    return f": perhaps {shown(near)} is meant" if near else ""


def _listing(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    shown = ", ".join(names[:_MOST_NAMED]) or "none"
    return f"{shown}, and {more:,} more" if more > 0 else shown
