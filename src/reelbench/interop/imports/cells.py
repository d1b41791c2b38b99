"""What a row has for a column, a path into nested values, or a template."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from reelbench.interop.imports.mapping import (
    FILE_COLUMNS,
    alternatives,
    columns_in,
    filled_template,
    is_template,
)
from reelbench.interop.imports.values import is_blank, text_of
from reelbench.interop.records import SourceRecord


def cell(source: str, record: SourceRecord) -> Any:
    """Return the value of a column, or the text of a template; None where one of its is blank.

    Of several, ``a|b``, it is the first that is not blank.
    """
    if source in record.values:
        return record.values[source]
    parts = alternatives(source)
    if len(parts) > 1:
        found = (value for part in parts if not is_blank(value := cell(part, record)))
        return next(found, None)
    if not is_template(source):
        return _value(source, record)
    values = {name: _value(name, record) for name in columns_in(source)}
    if any(map(is_blank, values.values())):
        return None
    return filled_template(source, {name: text_of(value) for name, value in values.items()})


def _value(name: str, record: SourceRecord) -> Any:
    if name in record.values:
        return record.values[name]
    if name in FILE_COLUMNS:
        path = PurePath(record.file.partition("#")[0])
        stem = path.name.removesuffix(".gz").rpartition(".")[0]
        return {"file.name": path.name, "file.stem": stem, "file.folder": path.parent.name}[name]
    value: Any = record.values
    rest = name
    while rest:
        first, _, rest = rest.partition(".")
        if isinstance(value, Mapping):
            value = value.get(first)
        elif isinstance(value, list | tuple) and first.isdecimal() and int(first) < len(value):
            value = value[int(first)]
        else:
            return None
    return value


def path_of(value: Any) -> str:
    """Return the file that a cell names; "" where it names none. Of a link, its whole text."""
    if isinstance(value, Mapping):
        names = ("path", "video_path", "file", "video", "url", "id")
        value = next((value[name] for name in names if not is_blank(value.get(name))), None)
    if isinstance(value, list | tuple):
        value = value[0] if value else None
    return "" if is_blank(value) else text_of(value).strip().removeprefix("file://")
