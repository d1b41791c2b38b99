"""What a person says on the command line about a mapping: ``--set FIELD=VALUE``."""

from collections.abc import Mapping
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.spelling import perhaps
from reelbench.interop.imports.mapping import ImportMapping, read_record
from reelbench.interop.imports.mapping_rules import FIELDS

_TOP = (
    "answer_as",
    "times_as",
    "kind",
    "option_order",
    "separator",
    "title",
    "licence",
    "paper",
    "rows",
)


def with_settings(mapping: ImportMapping, settings: Mapping[str, Any]) -> ImportMapping:
    """Return a mapping with some fields set; an empty value leaves a field out."""
    if not settings:
        return mapping
    record = mapping.to_record()
    for name, value in settings.items():
        group, key = _place(name)
        holder = record.setdefault(group, {}) if group else record
        if value in (None, ""):
            holder.pop(key, None)
        else:
            holder[key] = str(value) if isinstance(value, int | float) else value
    return read_record(record, mapping.name, "--set")


def _place(name: str) -> tuple[str, str]:
    """The group of a mapping that a setting is in, and its name there."""
    if name in FIELDS:
        return "fields", name
    group, _, key = name.partition(".")
    if key and group in ("tags", "protocol", "fields"):
        return group, key
    if name.startswith("constants.tags.") or name == "constants.question":
        return "constants", name.removeprefix("constants.")
    if name in _TOP:
        return "", name
    known = (*FIELDS, *_TOP, "tags.NAME", "constants.tags.NAME", "protocol.NAME")
    raise ReelbenchError(
        f"--set {name}=... sets nothing{perhaps(name, known)}: the names are {', '.join(known)}."
    )
