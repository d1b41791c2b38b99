"""Models that helped to make the items: what they answer is not what others would."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from reelbench.data.benchmark import Benchmark

MADE = "make/make.json"  # in the folder of a benchmark that was made here


def models_that_helped(benchmark: Benchmark) -> dict[str, list[str]]:
    """Return the roles of each model that helped to make the items, by its name.

    They are in the record of the make and in the provenance of items: under ``models``, names by
    role, or under ``model`` in the note of a stage, which then stands for the role.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for role, name in _recorded(benchmark):
        found[name].add(role)
    for item in benchmark.whole.items:
        for stage, note in item.provenance.items():
            for role, name in _noted(stage, note):
                found[name].add(role)
    return {name: sorted(roles) for name, roles in sorted(found.items())}


def _recorded(benchmark: Benchmark) -> Iterator[tuple[str, str]]:
    try:
        record = json.loads((benchmark.root / MADE).read_text(encoding="utf-8"))
        for role, models in record["models"].items():
            for model in models:
                yield role, str(model["name"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return  # it was not made here, or by an earlier version


def _noted(stage: str, note: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(note, Mapping):
        return
    if isinstance(note.get("model"), str):
        yield stage, note["model"]
    named = note.get("models")
    for role, names in named.items() if isinstance(named, Mapping) else ():
        for name in (names,) if isinstance(names, str) else names if _is_list(names) else ():
            if isinstance(name, str):
                yield role, name


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)
