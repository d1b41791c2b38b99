"""A mapping: which columns of anyone's file become which fields of items.

It is YAML, a user's own or one of ours in ``forms/``; all that is wrong with one is listed at once.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import yaml

from reelbench.base.errors import ReelbenchError
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.data.benchmark import grouped
from reelbench.data.fields import Fault, Rule, field_faults, found_as, is_path, is_text, line_of
from reelbench.data.items import KINDS, NOTHING, Json, Problem, freeze, shown
from reelbench.data.manifest import Protocol, check_changes
from reelbench.data.table_rules import are_texts, is_mapping, table_faults
from reelbench.interop.imports.answers import ANSWER_FORMS

Source = str | tuple[str, ...]  # a column, a template with {column}, or several of them
OTHERS = "*"  # among values of a column: all that are not named


@dataclass(frozen=True, slots=True)
class Join:
    """The files beside one of rows that have more columns of these, and by which column."""

    files: tuple[str, ...]  # patterns of names
    by: str
    column: str = ""  # what a value is called where the other file is an object of values
    others: str = "keep"  # or "skip": rows that the other file does not have

    def to_record(self) -> dict[str, Any]:
        """Return it as plain data."""
        record = {"files": list(self.files), "by": self.by, "column": self.column}
        return {n: v for n, v in record.items() if v} | {"others": self.others}


@dataclass(frozen=True, slots=True)
class Derived:
    """A column that follows from another one, by a table of values."""

    column: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ImportMapping:
    """The content of a mapping; what is left out is found in the file."""

    fields: Mapping[str, Source] = NOTHING
    title: str = ""
    paper: str = ""
    licence: str = ""
    columns: tuple[str, ...] = ()  # all of which a file of this form has
    files: tuple[str, ...] = ()  # patterns of its files' names
    rows: tuple[str, ...] = ()  # paths into nested JSON
    answer_as: str = ""  # one of ANSWER_FORMS
    kind: str = ""  # of all items
    kind_column: str = ""  # whose values say the kind
    kind_values: Mapping[str, str] = NOTHING
    option_order: str = ""  # "shuffled" where the file has the right option in a column of its own
    separator: str = ""  # between the options of one text
    tags: Mapping[str, str] = NOTHING
    constants: Mapping[str, str] = NOTHING
    media_folder: str = ""
    protocol: Mapping[str, Json] = NOTHING
    tables: Mapping[str, Json] = NOTHING
    blank: tuple[str, ...] = ()  # texts that stand for no option
    join: Join | None = None  # other files with more columns of the rows
    derived: Mapping[str, Derived] = NOTHING  # columns that follow from others
    reader: str = ""  # a reader of one paper's files, instead of fields
    name: str = ""  # of the form

    def to_record(self) -> dict[str, Any]:
        """Return the mapping as plain data, in the order of the file format."""
        kind: Any = self.kind
        if self.kind_column:
            kind = {"column": self.kind_column, "values": dict(self.kind_values)}
        recognise = {"columns": list(self.columns), "files": list(self.files)}
        record = {
            "title": self.title,
            "paper": self.paper,
            "licence": self.licence,
            "recognise": {name: value for name, value in recognise.items() if value},
            "rows": self.rows[0] if len(self.rows) == 1 else list(self.rows),
            "reader": self.reader,
            "join": self.join.to_record() if self.join else {},
            "derived": {
                name: {"column": each.column, "values": dict(each.values)}
                for name, each in self.derived.items()
            },
            "fields": {n: list(v) if isinstance(v, tuple) else v for n, v in self.fields.items()},
            "answer_as": self.answer_as,
            "kind": kind,
            "option_order": self.option_order,
            "separator": self.separator,
            "blank": list(self.blank),
            "tags": dict(self.tags),
            "constants": dict(self.constants),
            "media": {"folder": self.media_folder} if self.media_folder else {},
            "protocol": dict(self.protocol),
            "tables": _plain(self.tables),
        }
        return {name: value for name, value in record.items() if value}

    def to_yaml(self) -> str:
        """Return the text of a file with this mapping."""
        return yaml.safe_dump(_plain(self.to_record()), sort_keys=False, allow_unicode=True)

    def named_columns(self) -> tuple[str, ...]:
        """Return all columns that the mapping names, each once, in its order."""
        sources = [part for source in self.fields.values() for part in several(source)]
        sources += [*self.tags.values(), *([self.kind_column] if self.kind_column else [])]
        return tuple(dict.fromkeys(name for source in sources for name in columns_in(source)))

    def without_missing(self, columns: Sequence[str]) -> "ImportMapping":
        """Return the mapping without fields and tags of which a file has no column."""
        given = (*columns, *self.derived)
        kept: dict[str, Source] = {}
        for name, source in self.fields.items():
            there = tuple(part for part in several(source) if not missing_columns(part, given))
            if there:
                kept[name] = there if isinstance(source, tuple) else source
        tags = {n: source for n, source in self.tags.items() if not missing_columns(source, given)}
        return replace(self, fields=freeze(kept), tags=freeze(tags))


def _plain(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value


def several(source: Source) -> tuple[str, ...]:
    """Return the columns and templates of a field, also where it has one."""
    return source if isinstance(source, tuple) else (source,)


_SLOT = re.compile(r"\{([^{}]+)\}")


def columns_in(source: str) -> tuple[str, ...]:
    """Return the columns that a template names; a text without slots is a column itself."""
    parts = alternatives(source)
    return tuple(name for part in parts for name in _SLOT.findall(part) or (part,))


def alternatives(source: str) -> tuple[str, ...]:
    """Return the columns or templates of ``a|b``, of which the first that is there counts."""
    return tuple(part.strip() for part in source.split("|") if part.strip()) or (source,)


def is_template(source: str) -> bool:
    """Whether a text is a template with slots, rather than the name of a column."""
    return _SLOT.search(source) is not None


def filled_template(source: str, texts: Mapping[str, str]) -> str:
    """Return a template with a text in each slot; braces in a text are no slots."""
    return _SLOT.sub(lambda slot: texts[slot[1]], source)


def read_mapping(path: Path | str, name: str = "") -> ImportMapping:
    """Return the mapping in a file, or in a text; raise an error that lists all its faults."""
    place = str(path) if isinstance(path, Path) else name or "the mapping"
    try:
        record, lines = read_yaml(path)
    except YamlError as error:
        where = f"{place}:{error.line}" if error.line else place
        raise ReelbenchError(f"{where}: found {error.found}, expected {error.expected}") from None
    return read_record(record, name, place, lines)


def read_record(
    record: Any, name: str, place: str, lines: Mapping[str, int] = NOTHING
) -> ImportMapping:
    """Return the mapping in plain data; raise an error that lists all its faults."""
    problems = [
        Problem(code, field, found, expected, place, line_of(field, lines))
        for code, field, found, expected in _faults(record)
    ]
    if problems:
        raise ReelbenchError("\n".join(grouped(problems)))
    return _mapping(record, name)


def _mapping(record: Mapping[str, Any], name: str) -> ImportMapping:
    recognise, kind = record.get("recognise") or {}, record.get("kind", "")
    by_column = kind if isinstance(kind, dict) else {}
    return ImportMapping(
        fields=freeze(record.get("fields") or {}),
        **{n: record.get(n) or "" for n in ("title", "paper", "licence", "answer_as")},
        columns=tuple(recognise.get("columns") or ()),
        files=tuple(_listed(recognise.get("files"))),
        rows=tuple(_listed(record.get("rows"))),
        kind=kind if isinstance(kind, str) else "",
        kind_column=by_column.get("column", ""),
        kind_values=freeze({str(k): v for k, v in by_column.get("values", {}).items()}),
        option_order=record.get("option_order") or "",
        separator=record.get("separator") or "",
        tags=freeze(record.get("tags") or {}),
        constants=freeze({n: str(v) for n, v in (record.get("constants") or {}).items()}),
        media_folder=(record.get("media") or {}).get("folder", ""),
        protocol=freeze(record.get("protocol") or {}),
        tables=freeze(record.get("tables") or {}),
        blank=tuple(_listed(record.get("blank"))),
        join=_join(record.get("join")),
        derived={
            name: Derived(each["column"], freeze({str(k): v for k, v in each["values"].items()}))
            for name, each in (record.get("derived") or {}).items()
        },
        reader=record.get("reader") or "",
        name=name,
    )


def _join(record: Mapping[str, Any] | None) -> Join | None:
    if not record:
        return None
    named = {n: record[n] for n in ("by", "column", "others") if record.get(n)}
    return Join(tuple(_listed(record["files"])), **named)


def _listed(value: Any) -> list[str]:
    if not value:
        return []
    return list(value) if isinstance(value, list) else [value]


def _is_source(value: Any) -> bool:
    return is_text(value) or (are_texts(value) and bool(value))


_COLUMN = "a column, a template with {column}, or a list of them"
_SOURCE: Rule = (False, _is_source, _COLUMN)
_ONE: Rule = (False, is_text, "a column, or a template with {column}")
READERS = ("humanvbench", "mmou", "q-bench-video")  # of published_files.py
FIELDS = ("id", "video", "start", "end", "span", "question", "options", "answer", "reference",
          "subtitles", "subtitles_start", "evidence")  # fmt: skip
_SINGLE = ("id", "question", "answer", "reference", "subtitles_start")
_FIELD_RULES = {name: _ONE if name in _SINGLE else _SOURCE for name in FIELDS}
_TEXT: Rule = (False, lambda value: isinstance(value, str), "text (put a number in quotes)")
_RULES: dict[str, Rule] = {
    "title": _TEXT,
    "paper": _TEXT,
    "licence": _TEXT,
    "recognise": (False, is_mapping, "a mapping with columns"),
    "rows": (False, lambda v: isinstance(v, str) or are_texts(v), "a path, or a list of them"),
    "fields": (False, is_mapping, "a mapping of fields to columns"),
    "answer_as": (
        False,
        lambda value: value in ANSWER_FORMS,
        "one of " + ", ".join(ANSWER_FORMS),
    ),
    "kind": (
        False,
        lambda value: value in KINDS or isinstance(value, dict),
        f"one of {', '.join(KINDS)}, or a mapping with column and values",
    ),
    "option_order": (False, lambda value: value in ("as-is", "shuffled"), "as-is or shuffled"),
    "separator": (False, lambda v: isinstance(v, str) and bool(v), "text between two options"),
    "tags": (
        False,
        lambda v: is_mapping(v) and all(map(is_text, v.values())),
        "a mapping of tags to columns or templates",
    ),
    "constants": (False, is_mapping, "a mapping such as {tags.split: test}"),
    "media": (False, is_mapping, "a mapping with folder"),
    "protocol": (False, is_mapping, "a mapping of fields of the protocol"),
    "tables": (False, is_mapping, "a mapping of tables"),
    "blank": (False, lambda v: is_text(v) or are_texts(v), "a text, or a list of them"),
    "join": (False, is_mapping, "a mapping with files and by"),
    "derived": (False, is_mapping, "a mapping of columns to column and values"),
    "reader": (False, lambda value: value in READERS, "one of " + ", ".join(READERS)),
}
_VALUES: dict[str, Rule] = {
    "column": (True, is_text, "a column"),
    "values": (
        True,
        lambda v: isinstance(v, dict) and bool(v) and all(map(is_text, v.values())),
        "a mapping of values to texts",
    ),
}
_NESTED: dict[str, dict[str, Rule]] = {
    "fields": _FIELD_RULES,
    "recognise": {
        "columns": (True, lambda v: are_texts(v) and bool(v), "a list of columns"),
        "files": (False, lambda v: is_text(v) or are_texts(v), "a list of patterns of names"),
    },
    "media": {"folder": (True, is_path, "a folder below the source")},
    "join": {
        "files": (True, lambda v: is_text(v) or (are_texts(v) and bool(v)), "patterns of names"),
        "by": (True, is_text, "a column that both files have"),
        "column": (False, is_text, "a name for the values of the other file"),
        "others": (False, lambda value: value in ("keep", "skip"), "keep or skip"),
    },
}


def _faults(record: Any) -> Iterator[Fault]:
    if not is_mapping(record):
        yield "BAD_FIELD", "file", found_as(record), "a mapping with fields"
        return
    present = {name: value for name, value in record.items() if value not in (None, "", [], {})}
    yield from field_faults(present, _RULES, closed=True)
    for name, rules in _NESTED.items():
        if is_mapping(present.get(name, 0)):
            yield from field_faults(present[name], rules, f"{name}.", strict=True, closed=True)
    if isinstance(present.get("kind"), dict):
        yield from _kind_faults(present["kind"])
    derived = present.get("derived", {})
    for name, each in derived.items() if is_mapping(derived) else ():
        if is_mapping(each):
            yield from field_faults(each, _VALUES, f"derived.{name}.", strict=True, closed=True)
        else:
            yield "BAD_FIELD", f"derived.{name}", found_as(each), "a mapping with column and values"
    yield from _manifest_faults(present)
    constants = present.get("constants", {})
    for name, value in constants.items() if is_mapping(constants) else ():
        if name != "question" and not re.fullmatch(r"tags\.\S(.*\S)?", name):
            yield "BAD_FIELD", f"constants.{name}", shown(name), "question, or tags.NAME"
        if not isinstance(value, str | int | float):
            yield "BAD_FIELD", f"constants.{name}", found_as(value), "text"


def _kind_faults(kind: Mapping[str, Any]) -> Iterator[Fault]:
    yield from field_faults(kind, _VALUES, "kind.", strict=True, closed=True)
    values = kind.get("values")
    for value, name in values.items() if isinstance(values, dict) else ():
        if name not in KINDS:
            yield "BAD_FIELD", f"kind.values.{value}", found_as(name), f"one of {', '.join(KINDS)}"


def _manifest_faults(record: Mapping[str, Any]) -> Iterator[Fault]:
    protocol = record.get("protocol", {})
    if is_mapping(protocol):
        known = {field.name for field in fields(Protocol)} - {"extra", "metrics"}
        try:
            check_changes("protocol", {n: v for n, v in protocol.items() if n in known})
        except ReelbenchError as error:
            yield "BAD_FIELD", "protocol", str(error), "fields of the protocol of benchmark.yaml"
        expected = "one of " + ", ".join(sorted(known))
        for name in sorted(set(protocol) - known):
            yield "BAD_FIELD", f"protocol.{name}", "an unknown field", expected
    tables = record.get("tables", {})
    for name, table in tables.items() if is_mapping(tables) else ():
        yield from table_faults(f"tables.{name}", name, table)


def check_columns(mapping: ImportMapping, columns: Sequence[str], place: str) -> None:
    """Raise an error that lists all columns of a mapping that a file does not have."""
    given = (*columns, *mapping.derived)
    sources = [part for source in mapping.fields.values() for part in several(source)]
    sources += [*mapping.tags.values(), *filter(None, [mapping.kind_column])]
    missing = dict.fromkeys(n for source in sources for n in missing_columns(source, given))
    if missing:
        raise ReelbenchError(
            f"{place} has no column {', '.join(map(shown, missing))}, which the mapping names; its "
            f"columns: {', '.join(columns) or 'none'}."
        )


FILE_COLUMNS = ("file.name", "file.stem", "file.folder")  # that every row has


def missing_columns(source: str, columns: Sequence[str]) -> list[str]:
    """Return the columns of a template that a file has not; none where it has an alternative."""
    if source in columns:
        return []
    found = [
        [name for name in columns_in(part) if not has_column(name, columns)]
        for part in alternatives(source)
    ]
    return [] if not all(found) else found[0]


def has_column(name: str, columns: Sequence[str]) -> bool:
    """Whether a file has a column, or one that holds objects with this path in them."""
    first = name.partition(".")[0]
    return name in columns or name in FILE_COLUMNS or ("." in name and first in columns)
