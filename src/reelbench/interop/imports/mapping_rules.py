"""What a mapping may hold: the rules of its fields, and all that is wrong with one."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.data.fields import Fault, Rule, field_faults, found_as, is_path, is_text
from reelbench.data.items import KINDS, shown
from reelbench.data.manifest import Protocol, check_changes
from reelbench.data.table_rules import are_texts, is_mapping, table_faults
from reelbench.interop.imports.answers import ANSWER_FORMS

TIME_FORMS = ("h:mm", "mm:ss")  # of times that a spreadsheet keeps as hours and minutes


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
    "times_as": (False, lambda value: value in TIME_FORMS, "one of " + ", ".join(TIME_FORMS)),
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


def mapping_faults(record: Any) -> Iterator[Fault]:
    """Yield all that is wrong with a mapping: code, field, what was found, what was expected."""
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
