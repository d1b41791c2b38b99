"""The taxonomy of a benchmark that is made like a published one."""

from collections.abc import Mapping, Sequence

from reelbench.data.items import Item


def used_values(items: Sequence[Item], known: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the values that items have of each tag: known ones in their order, then others."""
    found = {}
    for tag, values in known.items():
        there = {value for item in items for value in item.tag(tag)}
        found[tag] = [*(v for v in values if v in there), *sorted(there - set(values))]
    return {tag: values for tag, values in found.items() if values}
