"""Groups of items: by each tag, and by properties that need no tag, such as length."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence

from reelbench.base.progress import track
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.media.decode.durations import duration_of

Groups = dict[str, dict[str, list[Item]]]
TOGETHER = ", two together"  # behind the name of a tag: the items that have both of two values
_FEWEST = 5  # items that two values must share to be looked at together
_MINUTES = ((1, "under 1 min"), (5, "1 to 5 min"), (10, "5 to 10 min"), (20, "10 to 20 min"),
            (30, "20 to 30 min"))  # fmt: skip
_LONGER = "over 30 min"
_QUARTERS = ("1st quarter", "2nd quarter", "3rd quarter", "4th quarter")


def grouped(benchmark: Benchmark, items: Sequence[Item]) -> Groups:
    """Group items by each tag, and by kind, number of videos, length and place of the evidence.

    An item with several values of a tag is in several groups. A tag replaces a property
    of its name.
    """
    groups: dict[str, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        for tag in item.tags:
            for value in dict.fromkeys(item.tag(tag)):
                groups[tag][value].append(item)
    for tag in list(groups):
        groups |= _together(tag, items)
    kinds: dict[str, str] = {item.id: item.kind for item in items}
    derived = {"kind": kinds, **_of_media(benchmark, items)}
    for name, values in derived.items():
        if name not in groups and (name == "kind" or len(set(values.values())) > 1):
            for item in items:
                if item.id in values:
                    groups[name][values[item.id]].append(item)
    return {tag: dict(sorted(values.items(), key=_place)) for tag, values in sorted(groups.items())}


def _together(tag: str, items: Sequence[Item]) -> Groups:
    """Items by each two values of a tag that they have both, such as two skills."""
    pairs: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        for one, other in itertools.combinations(sorted(set(item.tag(tag))), 2):
            pairs[f"{one} + {other}"].append(item)
    found = {pair: both for pair, both in pairs.items() if len(both) >= _FEWEST}
    return {f"{tag}{TOGETHER}": found} if found else {}


def _of_media(benchmark: Benchmark, items: Sequence[Item]) -> dict[str, dict[str, str]]:
    videos = {item.id: "pair" if len(item.media) > 1 else "one video" for item in items}
    lengths = _lengths(benchmark, items)
    return {
        "videos": videos,
        "length": {name: _bin(end - start) for name, (start, end) in lengths.items()},
        "evidence": _evidence(items, lengths),
    }


def _lengths(benchmark: Benchmark, items: Sequence[Item]) -> dict[str, tuple[float, float]]:
    """From when to when each item's clip goes, for those with one that can be opened."""
    open_ended = {item.media[0].path for item in items if item.media[0].end is None}
    paths = sorted(open_ended)
    known = {
        path: duration_of(benchmark.root / path)
        for path in track(paths, "Measuring videos", len(paths), "videos")
    }
    found: dict[str, tuple[float, float]] = {}
    for item in items:
        start, end = item.media[0].start or 0.0, item.media[0].end
        end = known.get(item.media[0].path) if end is None else end
        if len(item.media) == 1 and end is not None and end > start:
            found[item.id] = start, end
    return found


def _bin(seconds: float) -> str:
    return next((name for minutes, name in _MINUTES if seconds < 60 * minutes), _LONGER)


def _evidence(items: Sequence[Item], lengths: dict[str, tuple[float, float]]) -> dict[str, str]:
    """The quarter of its clip that the middle of an item's evidence lies in."""
    found: dict[str, str] = {}
    for item in items:
        if item.evidence and item.id in lengths:
            start, end = lengths[item.id]
            middle = (min(a for a, _ in item.evidence) + max(b for _, b in item.evidence)) / 2
            place = (middle - start) / (end - start)
            found[item.id] = _QUARTERS[min(3, max(0, int(4 * place)))]
    return found


_ORDER = Counter({name: place for place, (_, name) in enumerate(_MINUTES, 1)})
_ORDER[_LONGER] = len(_MINUTES) + 1


def _place(group: tuple[str, list[Item]]) -> tuple[int, str]:
    """Lengths from short to long, all else by the alphabet."""
    return _ORDER[group[0]], group[0]
