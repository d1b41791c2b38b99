"""JSON schemas for replies, and options in random order for items."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor
from typing import Any

from msgspec import structs

from reelbench.base.seeds import rng_for
from reelbench.base.text import bare, plain, words
from reelbench.client.structured import Structured
from reelbench.data.items import LETTERS, Item, Kind
from reelbench.make.pipeline.stage import Rejected

TEXT = {"type": "string", "pattern": r"\S"}  # not blank
_FEW = 4  # words: a key of fewer is as long as the thing that it names
_NEAR = 0.1  # the share by which a text may miss the length that was drawn for it
CONFIDENCE = {"type": "number", "minimum": 0, "maximum": 1}


def closed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with these fields, all of them and no others."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def listed(one: Mapping[str, Any], least: int, most: int | None = None) -> dict[str, Any]:
    """Return the JSON schema of a list of ``least`` to ``most`` entries."""
    bounds = {"minItems": least} | ({"maxItems": most} if most is not None else {})
    return {"type": "array", "items": dict(one), **bounds}


def data_of(reply: Structured) -> Any:
    """Return the data of a reply; raise ``Rejected`` where it is not JSON as asked for."""
    if reply.data is None:
        raise Rejected("no JSON as asked for", reply.failure, [reply.words])
    return reply.data


def same(texts: Iterable[str]) -> bool:
    """Whether two of some options say the same, but for case, labels and marks."""
    listed = list(texts)
    return len({bare(text) or plain(text) for text in listed}) < len(listed)


def shuffled(
    seed: int, name: str, keys: Sequence[str], wrong: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return options in an order drawn by an item's name, and the letters of the right ones."""
    options = [*keys, *wrong]
    places = list(range(len(options)))
    rng_for(seed, "options", name).shuffle(places)
    answer = sorted(places.index(number) for number in range(len(keys)))
    return tuple(options[place] for place in places), tuple(LETTERS[at] for at in answer)


def drawn_lengths(
    seed: int, name: str, key: str, count: int, longest: float
) -> list[tuple[int, int]]:
    """Return how many characters, from and to, each of an item's wrong options should have.

    Writers make the key the longest, and rankers prefer that. So all lengths, the key's too, are
    like draws of one kind, none more than ``longest`` times another. Nothing is returned for a key
    of few words, which leaves no choice.
    """
    if len(words(key)) < _FEW:
        return []
    rng = rng_for(seed, "lengths", name)
    own, *others = (rng.random() for _ in range(count + 1))
    unit = len(key) / longest**own / rng.uniform(1 - _NEAR, 1 + _NEAR)  # as if it were written, too
    lengths = sorted(unit * longest**other for other in others)
    return [(ceil(length * (1 - _NEAR)), floor(length * (1 + _NEAR))) for length in lengths]


def with_options(item: Item, seed: int, keys: Sequence[str], wrong: Sequence[str]) -> Item:
    """Return an item that asks to choose between its keys, one or several, and distractors."""
    options, answer = shuffled(seed, item.id, keys, wrong)
    kind: Kind = "multi" if item.kind == "multi" else "single"
    return structs.replace(item, kind=kind, options=options, answer=answer, reference=None)
