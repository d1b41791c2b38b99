"""Checks the fields of a record that a person wrote against rules, and lists all faults."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from reelbench.base.spelling import closest_name
from reelbench.data.items import shown
from reelbench.data.paths import path_escapes

# Whether the field is required, the check of its value, and the description of a valid value.
Rule = tuple[bool, Callable[[Any], bool], str]
Fault = tuple[str, str, str, str]  # a code, the field, what was found and what was expected


def field_faults(
    record: Mapping[Any, Any],
    rules: Mapping[str, Rule],
    prefix: str = "",
    *,
    strict: bool = False,
    closed: bool = False,
    paths: frozenset[str] = frozenset(),
) -> Iterator[Fault]:
    """Yield a fault for each wrong field of a record; for those in ``paths``, with the reason.

    Where it is strict, a field that is there must hold something, and a name that is nearly a known
    one is an error, where else it is a warning. Where it is ``closed``, any other name is one too.
    """
    for name, (needed, right, expected) in rules.items():
        value = record.get(name)
        if name not in record or (value is None and not strict):
            if needed:
                yield "MISSING_FIELD", f"{prefix}{name}", "nothing", expected
        elif not right(value):
            reason = path_escapes(value) if name in paths and isinstance(value, str) else None
            found = found_as(value) + (f" ({reason})" if reason else "")
            yield "BAD_FIELD", f"{prefix}{name}", found, expected
    for name in record:
        close = closest_name(name, rules) if isinstance(name, str) else None
        if name not in rules and (close or closed):
            label = str(name) if str(name).isidentifier() else shown(str(name))
            code = "BAD_FIELD" if strict or closed else "UNKNOWN_FIELD"
            expected = f"one of {', '.join(rules)}"
            if close:
                expected = f"a known field: perhaps {close!r} is meant"
            yield code, f"{prefix}{label}", "an unknown field", expected


def line_of(name: str, lines: Mapping[str, int]) -> int:
    """Return the line of a field, or of the field that it is in; 0 where neither is known."""
    while name not in lines and "." in name:
        name = name.rpartition(".")[0]
    return lines.get(name, 0)


def one_of(names: Collection[str]) -> Rule:
    """Return the rule of a field that may be left out and has one of some values."""
    return False, lambda value: value in names, f"one of {', '.join(names)}"


def is_text(value: Any) -> bool:
    """Whether a value is text that is not blank and can be encoded as UTF-8."""
    halves = isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value)
    return isinstance(value, str) and bool(value.strip()) and not halves


def is_path(value: Any) -> bool:
    """Whether a value is a plain relative path that stays inside its folder."""
    return is_text(value) and path_escapes(value) is None


def found_as(value: Any) -> str:
    """Return a short description of any value, without descending into it: it may be endless."""
    if value is None:
        return "nothing"
    if isinstance(value, list | dict):
        kind = "list" if isinstance(value, list) else "mapping"
        return f"a {kind}" if value else f"an empty {kind}"
    if isinstance(value, int) and value.bit_length() > 64:
        return "a very large number"
    return str(value) if isinstance(value, int | float) else shown(str(value))
