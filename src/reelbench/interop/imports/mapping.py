"""A mapping: which columns of anyone's file become which fields of items.

It is YAML, a user's own or one of ours in ``forms/``; all that is wrong with one is listed at once.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from reelbench.base.errors import ReelbenchError
from reelbench.base.spelling import perhaps
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.data.benchmark import grouped
from reelbench.data.fields import line_of
from reelbench.data.items import NOTHING, Json, Problem, freeze, shown, thaw
from reelbench.interop.imports.mapping_rules import mapping_faults

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
    answer_as: str = ""  # a form of answers.py
    times_as: str = ""  # a form of mapping_rules.py, of times in a spreadsheet
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
            "times_as": self.times_as,
            "kind": kind,
            "option_order": self.option_order,
            "separator": self.separator,
            "blank": list(self.blank),
            "tags": dict(self.tags),
            "constants": dict(self.constants),
            "media": {"folder": self.media_folder} if self.media_folder else {},
            "protocol": dict(self.protocol),
            "tables": thaw(self.tables),
        }
        return {name: value for name, value in record.items() if value}

    def to_yaml(self) -> str:
        """Return the text of a file with this mapping."""
        return yaml.safe_dump(thaw(self.to_record()), sort_keys=False, allow_unicode=True)

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
        for code, field, found, expected in mapping_faults(record)
    ]
    if problems:
        raise ReelbenchError("\n".join(grouped(problems)))
    return _mapping(record, name)


def _mapping(record: Mapping[str, Any], name: str) -> ImportMapping:
    recognise, kind = record.get("recognise") or {}, record.get("kind", "")
    by_column = kind if isinstance(kind, dict) else {}
    return ImportMapping(
        fields=freeze(record.get("fields") or {}),
        **{n: record.get(n) or "" for n in ("title", "paper", "licence", "answer_as", "times_as")},
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


def check_columns(mapping: ImportMapping, columns: Sequence[str], place: str) -> None:
    """Raise an error that lists all columns of a mapping that a file does not have."""
    given = (*columns, *mapping.derived)
    sources = [part for source in mapping.fields.values() for part in several(source)]
    sources += [*mapping.tags.values(), *filter(None, [mapping.kind_column])]
    missing = dict.fromkeys(n for source in sources for n in missing_columns(source, given))
    if missing:
        named = ", ".join(f"{shown(name)}{perhaps(name, columns)}" for name in missing)
        raise ReelbenchError(
            f"{place} has no column {named}; its columns: {', '.join(columns) or 'none'}."
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
