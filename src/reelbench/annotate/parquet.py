"""Labels as Parquet tables with typed columns, for pandas, DuckDB and the like.

``parquet/labels.parquet`` has a row for each clip and label: whether there is a value, and why not.
The values are in tables named after their label and the lists inside it: ``count.parquet`` has the
fields of the label ``count``, a row a clip; ``tracks_people_tracks_boxes.parquet`` a row for each
box of each track of each person.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reelbench.annotate.operator import Value
from reelbench.annotate.outcomes import Annotated
from reelbench.base.files import canonical_json, write_atomically
from reelbench.weights import import_extra

FOLDER = "parquet"
# What the numbers of a list are called, by the name of the list (or of the list of such lists).
_COLUMNS = {
    "box": ("left", "top", "right", "bottom"),
    "at": ("time", "value", "score"),
    "spans": ("start", "end"),
    "shots": ("start", "end"),
    "points": ("x", "y"),
}
_STATUS_COLUMNS = ("clip", "sha256", "label", "status", "reason")
_SINGULAR = {"people": "person", "classes": "class"}

Row = dict[str, Any]
Tables = dict[str, list[Row]]


def write_parquet(found: Annotated) -> Path:
    """Write the tables of all labels and return their folder; earlier tables are removed."""
    tables: Tables = {"labels": []}
    for clip, labels in found.outcomes.items():
        for label, outcome in labels.items():
            status, content = next(iter(outcome.items()))
            reason = None if status == "value" else content
            row = (clip, found.clips[clip].digest, label, status, reason)
            tables["labels"].append(dict(zip(_STATUS_COLUMNS, row, strict=True)))
            if status == "value":
                add_rows(tables, label, {"clip": clip}, content)
    folder = found.out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.parquet"):
        if path.stem not in tables:
            path.unlink()
    for name, rows in tables.items():
        _write_table(folder / f"{name}.parquet", rows)
    return folder


def add_rows(tables: Tables, table: str, identity: Row, value: Value) -> None:
    """Add a value to its table: a row of its plain fields, and rows of other tables for its lists.

    Rows of a list begin with what identifies the rows around them: the clip, the ``id``, ``time``
    or else the number of each element.
    """
    row = dict(identity)
    lists: dict[str, list[Any]] = {}
    for name, field in _fields(value):
        if _is_table(field):
            lists[name] = field
        else:
            row |= _columns(name, field)
    tables.setdefault(table, []).append(row)
    for name, elements in lists.items():
        path = f"{table}_{name}"
        for number, element in enumerate(elements):
            fields = element if isinstance(element, dict) else _named(name, element)
            around = {**identity, **_identity(name, number, fields)}
            add_rows(tables, path, around, {k: v for k, v in fields.items() if k != "id"})


def _fields(value: Value, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields of an object, those of objects inside it under joined names."""
    for name, field in value.items():
        if isinstance(field, dict):
            yield from _fields(field, f"{prefix}{name}_")
        else:
            yield f"{prefix}{name}", field


def _is_table(field: Any) -> bool:
    """Whether a field is a list of objects or of lists, such as times with values."""
    return (
        isinstance(field, list)
        and bool(field)
        and (
            all(isinstance(each, dict) for each in field)
            or all(isinstance(each, list) and not _is_nested(each) for each in field)
        )
    )


def _is_nested(field: list[Any]) -> bool:
    return any(isinstance(each, dict | list) for each in field)


def _named(name: str, numbers: list[Any]) -> Row:
    names = _COLUMNS.get(name.rpartition("_")[2], ())
    if len(numbers) > len(names):
        return {f"value_{place}": number for place, number in enumerate(numbers)}
    return dict(zip(names, numbers, strict=False))


def _identity(name: str, number: int, element: Mapping[str, Any]) -> Row:
    last = name.rpartition("_")[2]
    singular = _SINGULAR.get(last, last.removesuffix("s"))
    if "id" in element:
        return {singular: element["id"]}
    return {"time": element["time"]} if "time" in element else {singular: number}


def _columns(name: str, field: Any) -> Row:
    names = _COLUMNS.get(name.rpartition("_")[2], ())
    if isinstance(field, list) and names and len(field) == len(names) and not _is_nested(field):
        prefix = name.removesuffix(name.rpartition("_")[2])
        return {f"{prefix}{each}": number for each, number in zip(names, field, strict=True)}
    return {name: field}


def _write_table(path: Path, rows: list[Row]) -> None:
    arrow = import_extra("pyarrow", "annotate")
    parquet = import_extra("pyarrow.parquet", "annotate")
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: _typed(arrow, [row.get(name) for row in rows]) for name in names}
    if path.stem == "labels":  # the same columns, also without any row or reason
        text = arrow.string()
        columns = {x: columns.get(x, arrow.array([], text)).cast(text) for x in _STATUS_COLUMNS}
    buffer = arrow.BufferOutputStream()
    parquet.write_table(arrow.table(columns), buffer)
    write_atomically(path, buffer.getvalue().to_pybytes())


def _typed(arrow: Any, column: list[Any]) -> Any:
    """A column of one type: numbers, texts, lists of those; or JSON where it has several."""
    kinds = {type(value) for value in column if value is not None}
    if kinds == {int, float}:
        column = [None if value is None else float(value) for value in column]
    elif len(kinds) > 1:
        column = [None if value is None else canonical_json(value) for value in column]
    try:
        return arrow.array(column)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError):  # lists of different things
        return arrow.array([None if value is None else canonical_json(value) for value in column])
