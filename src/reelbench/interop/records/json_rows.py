"""Rows in nested JSON: by a path that the user names, or found.

A path has parts separated by ``/``: ``name`` goes into that member, ``{column}`` into every member
of an object and keeps its name as that column, ``[]`` into every element of a list. Scalars of the
objects on the way are inherited by the row, whose own values win.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.data.items import shown
from reelbench.interop.records.record import UnreadableError

Row = dict[str, Any]
_TABLE = "a table by columns"  # in the place of a path
VALUE = "value"  # the column of a row that is no object
_LISTS = ("data", "questions", "items", "annotations", "results", "predictions", "samples",
          "logs", "examples", "rows", "records", "instances", "entries", "qa")  # fmt: skip
_QUESTION_LISTS = ("questions", "qa", "qas", "qa_pairs", "qa_list", "question_list", "QA")
_COLUMNS = {"id", "qid", "question_id", "question", "answer", "prediction", "pred", "response",
            "video", "video_id", "videoid", "options", "choices", "candidates", "index", "output",
            "model", "label", "uid", "q_uid", "vid", "doc_id", "a0", "a1"}  # fmt: skip


def json_rows(value: Any, path: str = "") -> tuple[list[Any], str]:
    """Return the rows of a value by a path, and the path that was used; "" finds one."""
    if by_columns := not path and _by_columns(value):
        return by_columns, _TABLE
    path = path or _path_to_rows(value)
    whole = path.endswith("}")  # a list of a member is its value, such as several letters
    found = _walk(value, _parts(path), {}, "")
    return [row for each, kept in found for row in _rows_at(each, kept, whole)], path


def path_in_words(path: str) -> str:
    """Return where the rows along a path are: "each member of the file, with its name as id"."""
    if path == _TABLE:
        return "the columns that the file lists one by one"
    place, columns = "", []
    for part in _parts(path):
        if part == "[]":
            place = f"each entry of {place or 'the file'}"
        elif part.startswith("{"):
            place = f"each member of {place or 'the file'}"
            columns.append(part[1:-1])
        else:
            place = f"{part!r} in {place}" if place else repr(part)
    named = f", whose name is its {' and '.join(map(repr, columns))}" if columns else ""
    return f"{place}{named} (--rows {path!r} in an import)"


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part and part != "."]


def _walk(value: Any, parts: Sequence[str], inherited: Row, at: str) -> Iterator[tuple[Any, Row]]:
    """Yield what lies at the end of a path, with what it inherits."""
    if not parts:
        yield value, inherited
        return
    part, rest = parts[0], parts[1:]
    if isinstance(value, Mapping):
        inherited = {**inherited, **_scalars(value, part)}
    for name, member, more in _members(value, part, at):
        yield from _walk(member, rest, {**inherited, **more}, f"{at}/{name}")


def _rows_at(value: Any, inherited: Row, whole: bool) -> list[Any]:
    if isinstance(value, list) and (not whole or _is_rows(value)):
        return [_row(each, inherited) for each in value]
    return [_row(value, inherited)]


def _row(value: Any, inherited: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        return {**inherited, **value}
    return {**inherited, VALUE: value} if inherited else value


def _members(value: Any, part: str, at: str) -> list[tuple[str, Any, Row]]:
    """The members that a part of a path names, with what each adds to its rows."""
    column = part[1:-1] if part.startswith("{") and part.endswith("}") else ""
    if part == "[]" and isinstance(value, list):
        return [(str(place), each, {}) for place, each in enumerate(value)]
    if column and isinstance(value, Mapping):
        return [(name, each, {column: name}) for name, each in value.items()]
    if isinstance(value, Mapping) and part in value:
        return [(part, value[part], {})]
    if isinstance(value, list) and part != "[]":  # a list on the way is gone through
        return [found for each in value for found in _members_below(each, part, at)]
    here = f"at {at}" if at else "at the top"
    there = "a list" if isinstance(value, list) else _named_members(value)
    raise UnreadableError(f"{there} {here}", f"something for the part {part!r} of the rows' path")


def _members_below(value: Any, part: str, at: str) -> list[tuple[str, Any, Row]]:
    kept = _scalars(value, part) if isinstance(value, Mapping) else {}
    return [(name, each, {**kept, **more}) for name, each, more in _members(value, part, at)]


def _named_members(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"an object with {shown(', '.join(map(str, value)), 80)}"
    return shown(value)


def _scalars(value: Mapping[str, Any], part: str) -> Row:
    if part.startswith("{"):  # the members are rows, or on the way to them
        return {}
    return {k: v for k, v in value.items() if not isinstance(v, dict | list)}


def _path_to_rows(value: Any) -> str:
    """The path to the rows of a value that nobody has described."""
    if isinstance(value, list):
        return _within_rows(value)
    if not isinstance(value, Mapping) or not value:
        return ""
    lists = [name for name, member in value.items() if _is_rows(member)]
    known = [name for name in _LISTS if name in lists]
    if len(lists) == 1 or known:
        name = (known or lists)[0]
        return "/".join(filter(None, (name, _within_rows(value[name]))))
    if lists and len(lists) == sum(isinstance(each, dict | list) for each in value.values()):
        return "{key}/[]"
    if lists:
        names = ", ".join(lists)
        raise UnreadableError(f"several lists of rows: {shown(names, 120)}", "--rows with one name")
    return _path_through_objects(value)


def _path_through_objects(value: Mapping[str, Any]) -> str:
    """The path where rows are objects by id, or lie in such, or in one object of a known name."""
    members = list(value.values())
    if all(isinstance(member, Mapping) for member in members):
        nested = {_path_to_rows(member) for member in members[:20]}
        inner = nested.pop() if len(nested) == 1 else ""
        lists = (*_LISTS, *_QUESTION_LISTS)
        return "{id}/" + inner if inner in lists or inner.endswith("[]") else "{id}"
    below = [(n, m) for n, m in value.items() if n in _LISTS and isinstance(m, Mapping) and m]
    if len(below) == 1:
        return f"{below[0][0]}/{_path_to_rows(below[0][1])}"
    return "" if _COLUMNS & {str(name).lower() for name in value} else "{id}"


def _within_rows(value: list[Any]) -> str:
    """The list of questions within each entry of a list, such as one of videos; "" without."""
    if not _is_rows(value):
        return ""
    for name in _QUESTION_LISTS:
        if all(_is_rows(entry.get(name)) for entry in value):
            return name
    return ""


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _by_columns(value: Any) -> list[Row]:
    """The rows of an object of equally long columns, as lists or by number; [] if it is none."""
    if not isinstance(value, Mapping) or not _COLUMNS & {str(name).lower() for name in value}:
        return []
    columns = {name: _cells(member) for name, member in value.items()}
    first = next(iter(columns.values()))
    if len(columns) < 2 or not first or any(each is None for each in columns.values()):
        return []
    if any(list(each or {}) != list(first) for each in columns.values()):
        return []
    return [{name: (columns[name] or {})[key] for name in columns} for key in first]


def _cells(member: Any) -> dict[str, Any] | None:
    if isinstance(member, list):
        return {str(place): each for place, each in enumerate(member)}
    if isinstance(member, Mapping) and all(str(key).isdigit() for key in member):
        return dict(member)
    return None
