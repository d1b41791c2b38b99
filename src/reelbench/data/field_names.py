"""Fields of items under misspelt names.

Unknown fields are kept, whatever their names. One whose name is close to that of a known field
that the item lacks is probably misspelt, and is reported.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from reelbench.base.spelling import closest_name, edit_distance
from reelbench.data.items import Item, Json, Media, Problem

_OF_ITEMS = tuple(name for name in Item.__struct_fields__ if name != "extra")
_OF_MEDIA = (*(name for name in Media.__struct_fields__ if name != "extra"), "subtitles")

# What other benchmarks call our fields.
_ELSEWHERE = {
    **dict.fromkeys(("video", "videos", "video_path", "video_id", "clip"), "media"),
    **dict.fromkeys(("choices", "candidates"), "options"),
    **dict.fromkeys(("stem", "query"), "question"),
    "file": "path",
}


def with_misspelt(item: Item, problems: list[Problem]) -> list[Problem]:
    """Return the problems of an item, with its misspelt fields named."""
    names = [*item.extra, *(name for media in item.media for name in media.extra)]
    if not any(map(_looks_misspelt, names)):
        return problems
    return list(beside_misspelt(item.to_record(), problems))


@lru_cache(maxsize=65536)
def _looks_misspelt(name: str) -> bool:
    near = closest_name(name, _OF_ITEMS) or closest_name(name, _OF_MEDIA)
    return near is not None or name in _ELSEWHERE


def beside_misspelt(record: Mapping[str, Json], problems: list[Problem]) -> Iterator[Problem]:
    """Yield problems with misspelt fields named: in the problem they cause, or as a warning."""
    for (where, field), name in _misspelt(record).items():
        led_to = [problem for problem in problems if problem.field == where + field]
        problems = [problem for problem in problems if problem.field != where + field]
        for problem in led_to:
            message = f"{problem.found}, but a field {name!r} (perhaps {field!r} is meant)"
            yield replace(problem, found=message)
        if not led_to:
            expected = f"a known field: perhaps {field!r} is meant"
            yield Problem("UNKNOWN_FIELD", where + name, "an unknown field", expected)
    yield from problems


def _misspelt(record: Mapping[str, Json]) -> dict[tuple[str, str], str]:
    """The fields that a record lacks, by where, and the names that it seems to have them under."""
    found = {("", field): name for field, name in _slips(record, _OF_ITEMS)}
    media = record.get("media")
    for place, medium in enumerate(media if isinstance(media, list) else ()):
        if isinstance(medium, Mapping):
            slips = _slips(medium, _OF_MEDIA)
            found |= {(f"media[{place}].", field): name for field, name in slips}
    return found


def _slips(record: Mapping[str, Json], known: Sequence[str]) -> Iterator[tuple[str, str]]:
    absent = [name for name in known if name not in record]
    for name in record:
        field = None if name in known else closest_name(name, absent) or _ELSEWHERE.get(name)
        if field in absent:
            absent.remove(field)
            yield field, name
        elif name not in known and (beside := _slip_of(name, known)):
            yield beside, name


@lru_cache(maxsize=65536)
def _slip_of(name: str, known: Sequence[str]) -> str:
    """The field that is one typing error away; none for "answers", which is a word of its own."""
    name = name.casefold()
    near = [each for each in known if len(each) > 3 and edit_distance(name, each) == 1]
    return "" if not near or name.startswith(near[0]) or near[0].startswith(name) else near[0]
