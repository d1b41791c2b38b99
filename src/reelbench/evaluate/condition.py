"""A condition is one way of asking: the benchmark's protocol, or what a grid changes in it."""

import itertools
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from reelbench.base.errors import ReelbenchError
from reelbench.base.seeds import rng_for
from reelbench.base.yaml_files import YamlError, load_yaml, read_yaml
from reelbench.data.items import NOTHING, Item, freeze
from reelbench.data.manifest import (
    Manifest,
    Protocol,
    changed_protocol,
    check_changes,
    choices,
)
from reelbench.media.decode.images import check_size, media_type_of
from reelbench.media.decode.sample import Sampling, parse_sampling
from reelbench.media.edit.audio_export import check_sound_encoding

PROTOCOL = "protocol"  # the condition that a benchmark asks for
_CHECKED: Mapping[str, Callable[[str], object]] = {
    "sampling": parse_sampling,
    "frame_size": check_size,
    "frame_encoding": media_type_of,
    "sound_encoding": check_sound_encoding,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A protocol with a name, and the fields that differ from the benchmark's own."""

    name: str
    protocol: Protocol
    changes: Mapping[str, Any] = NOTHING

    @classmethod
    def of(cls, protocol: Protocol, name: str, changes: Mapping[str, Any]) -> "Condition":
        """Return the condition that changes a protocol; refuse values that cannot be used."""
        changed = changed_protocol(protocol, name, changes)
        for field, check in _CHECKED.items():
            try:
                check(getattr(changed, field))
            except ReelbenchError as error:
                which = f"The condition {name!r}" if changes else "The benchmark's own protocol"
                message = f"{which} cannot be used: protocol.{field}: {error}"
                raise ReelbenchError(message) from error
        return cls(name, changed, freeze(dict(changes)))

    @property
    def sampling(self) -> Sampling:
        """Which frames are sampled."""
        return parse_sampling(self.protocol.sampling)

    def to_record(self) -> dict[str, Any]:
        """Return the condition as plain data."""
        names = [field.name for field in fields(Protocol) if field.name not in ("metrics", "extra")]
        values = {name: getattr(self.protocol, name) for name in names}
        return {"name": self.name, "changes": self.changes, **values}


def conditions_for(
    manifest: Manifest, file: Path | None, wanted: Sequence[str], earlier: Sequence[Any] = ()
) -> list[Condition]:
    """Return the conditions of an earlier run, of a file and of the command line, each once.

    ``earlier`` are records of conditions. A condition that is given again replaces the earlier one.
    """
    grids: dict[str, Mapping[str, Any]] = {
        record["name"]: record.get("changes", NOTHING) for record in earlier
    }
    for name, changes in [*_of_file(file), *(_of_words(words, manifest) for words in wanted)]:
        check_changes(name, changes)
        grids |= dict(_spanned(name, changes))
    if not grids:
        grids = {PROTOCOL: NOTHING}
    if grids.get(PROTOCOL):
        raise ReelbenchError(
            f"{PROTOCOL} is the name of the benchmark's own condition: choose another name."
        )
    return [Condition.of(manifest.protocol, name, changes) for name, changes in grids.items()]


def _of_file(file: Path | None) -> list[tuple[str, Mapping[str, Any]]]:
    if file is None:
        return []
    try:
        content, _ = read_yaml(file)
    except YamlError as error:
        raise ReelbenchError(f"{file} cannot be read: {error}.") from None
    if not isinstance(content, dict) or not content:
        content = {None: None}
    for name, changes in content.items():
        if not isinstance(name, str) or not isinstance(changes, dict | None):
            raise ReelbenchError(
                f"{file} holds no conditions: write one per line, its name and what it changes, "
                "such as `blind: {modalities: T}`."
            )
    return [(name, changes or {}) for name, changes in content.items()]


def _of_words(words: str, manifest: Manifest) -> tuple[str, Mapping[str, Any]]:
    """Return name and changes in ``NAME field=value ...``; a repeated field has all its values."""
    try:
        name, *pairs = shlex.split(words) or [""]
        if not name or "=" in name:
            raise ValueError("it has no name")
        changed: dict[str, list[Any]] = {}
        for pair in pairs:
            field, equals, value = pair.partition("=")
            if not equals:
                raise ValueError(f"{pair!r} has no =")
            changed.setdefault(field, []).append(load_yaml(value)[0])
    except (ValueError, yaml.YAMLError) as error:
        raise ReelbenchError(
            f"The condition {words!r} cannot be read ({error}): write a name and what it changes, "
            'such as "few sampling=uniform:8".'
        ) from error
    if not changed and name != PROTOCOL:
        if name not in manifest.conditions:
            known = ", ".join([PROTOCOL, *manifest.conditions])
            raise ReelbenchError(
                f"{manifest.name} has no condition {name!r}; it has {known}. To make one, write "
                'what it changes: "few sampling=uniform:8".'
            )
        return name, manifest.conditions[name]
    return name, {
        field: values if len(values) > 1 else values[0] for field, values in changed.items()
    }


def _spanned(name: str, changes: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the cells of a grid: each value of each field that has several, with each other."""
    values = {field: choices(field, value) for field, value in changes.items()}
    several = [field for field, each in values.items() if len(each) > 1]
    for cell in itertools.product(*values.values()):
        chosen = dict(zip(values, cell, strict=True))
        message = ",".join(f"{field}={_spelled(chosen[field])}" for field in several)
        yield (f"{name}/{message}" if message else name), chosen


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def option_orders(item: Item, protocol: Protocol, seed: int) -> list[tuple[int, ...]]:
    """Return the orders in which an item's options are asked, the first as they are written.

    An option such as "None of the above" (``fixed_last``) stays last.
    """
    count = len(item.options)
    if not count:
        return [()]
    free = _movable(item, protocol)
    last = tuple(range(free, count))
    if protocol.orders == "circular":
        turns = [tuple((place + turn) % free for place in range(free)) for turn in range(free)]
        return [(*places, *last) for places in turns]
    orders = [tuple(range(count))]
    for number in range(1, int(protocol.orders)):
        places = list(range(free))
        rng_for(seed, "option order", item.id, number).shuffle(places)
        orders.append((*places, *last))
    return orders


def order_count(item: Item, protocol: Protocol) -> int:
    """Return the number of ``option_orders``, without drawing them."""
    if not item.options:
        return 1
    return _movable(item, protocol) if protocol.orders == "circular" else int(protocol.orders)


def _movable(item: Item, protocol: Protocol) -> int:
    """Return how many options, from the first on, have no fixed place."""
    fixed = {_bare(text) for text in protocol.fixed_last}
    count = len(item.options)
    return count - 1 if _bare(item.options[-1]) in fixed else count


def _bare(text: str) -> str:
    return text.strip().rstrip(".").casefold()
