"""YAML files that describe sources: read with the lines of their fields, checked field by field.

Nothing is raised: what is wrong becomes ``Problem``s, so that all of it can be told at once.
"""

import difflib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from reelbench.base.limits import bounded_text
from reelbench.base.yaml_errors import yaml_fault
from reelbench.base.yaml_files import load_yaml
from reelbench.data.item_rules import path_escapes
from reelbench.data.items import Problem, shown
from reelbench.interop.csv_tables import Place

# Whether it must be there, what it must be, and how that is said.
Rule = tuple[bool, Callable[[Any], bool], str]
Fault = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Described:
    """What a file holds, and in which lines its fields and the entries of its list are."""

    record: Any
    lines: Mapping[str, int]  # of the fields of the file
    entries: Mapping[tuple[int, str], int]  # of the fields of an entry; "" for the entry itself


def read_described_file(path: Path, listing: str, expected: str) -> Described | Problem:
    """Read a YAML file that has a list of entries under the field ``listing``."""
    line = 0
    try:
        if not os.path.isfile(path):  # a pipe would never end
            raise OSError("no plain file" if os.path.lexists(path) else "no such file")
        text = bounded_text(path)
        record, lines = load_yaml(text)
        return Described(record, lines, _entry_lines(text, listing))
    except OSError as error:
        found = str(error)
    except UnicodeDecodeError as error:
        found, expected = f"byte 0x{error.object[error.start]:02X}", "UTF-8"
        line = error.object.count(b"\n", 0, error.start) + 1
    except yaml.YAMLError as error:
        found, expected, line = yaml_fault(error, text)
    except (ValueError, RecursionError) as error:  # a date that is none; too deep a nesting
        found, expected = str(error), "plain YAML"
    return Place(str(path), line).problem("UNREADABLE", "file", found, expected)


def _entry_lines(text: str, listing: str) -> dict[tuple[int, str], int]:
    """Return the line of each entry and of its fields; a field said twice in one is an error, as a
    dash forgotten makes one entry of two.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    lines: dict[tuple[int, str], int] = {}
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        if key.value != listing or not isinstance(value, yaml.SequenceNode):
            continue
        for number, entry in enumerate(value.value):
            lines[number, ""] = entry.start_mark.line + 1
            for name, _ in entry.value if isinstance(entry, yaml.MappingNode) else ():
                if (number, str(name.value)) in lines:
                    message = f"{listing}[{number}].{name.value} twice (is a dash missing?)"
                    raise yaml.MarkedYAMLError(problem=message, problem_mark=name.start_mark)
                lines[number, str(name.value)] = name.start_mark.line + 1
    return lines


def is_text(value: Any) -> bool:
    """Whether it is text that says something and can be written to a file."""
    halves = isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value)
    return isinstance(value, str) and bool(value.strip()) and not halves


def is_path(value: Any) -> bool:
    """Whether it is a plain path that leads down from where it is said."""
    return is_text(value) and path_escapes(value) is None


def faults_of(
    record: Mapping[Any, Any],
    rules: Mapping[str, Rule],
    paths: frozenset[str] = frozenset(),
) -> Iterator[Fault]:
    """Yield what is wrong with the fields of a record; of ``paths`` it is said why."""
    for name, (needed, right, expected) in rules.items():
        value = record.get(name)
        if value is None and needed:
            yield "MISSING_FIELD", name, "nothing", expected
        elif value is not None and not right(value):
            reason = path_escapes(value) if name in paths and isinstance(value, str) else None
            found = found_as(value) + (f" ({reason})" if reason else "")
            yield "BAD_FIELD", name, found, expected
    for name in record:
        if name not in rules and isinstance(name, str):
            close = difflib.get_close_matches(name, rules, n=1, cutoff=0.7)
            if close:
                label = name if name.isidentifier() else shown(name)
                yield "UNKNOWN_FIELD", label, "an unknown field", f"perhaps {close[0]}"


def found_as(value: Any) -> str:
    """Show a value that may be anything, without going into it: it may be endless."""
    if value is None:
        return "nothing"
    if isinstance(value, list | dict):
        kind = "list" if isinstance(value, list) else "mapping"
        return f"a {kind}" if value else f"an empty {kind}"
    if isinstance(value, int) and value.bit_length() > 64:
        return "a very large number"
    return str(value) if isinstance(value, int | float) else shown(str(value))
