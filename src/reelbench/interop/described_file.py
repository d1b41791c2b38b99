"""YAML files that describe sources, read with the lines of their fields and list entries.

Nothing is raised: what is wrong is returned as a ``Problem``, so that all can be listed at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from reelbench.base.limits import bounded_text
from reelbench.base.yaml_errors import yaml_fault
from reelbench.base.yaml_files import UNREAD, YamlError, read_yaml
from reelbench.data.items import Problem
from reelbench.interop.csv_tables import Place


@dataclass(frozen=True, slots=True)
class Described:
    """The content of a file, and the lines of its fields and of the entries of its list."""

    record: Any
    lines: Mapping[str, int]  # of the fields of the file
    entries: Mapping[tuple[int, str], int]  # of the fields of an entry; "" for the entry itself


def read_described_file(path: Path, listing: str, expected: str) -> Described | Problem:
    """Return the content of a YAML file with a list under the field ``listing``, or a problem."""
    try:
        record, lines = read_yaml(path)
        return Described(record, lines, _entry_lines(bounded_text(path), listing))
    except YamlError as error:
        found, line = error.found, error.line
        expected = expected if error.expected == UNREAD else error.expected
    except yaml.YAMLError as error:
        found, expected, line = yaml_fault(error, bounded_text(path))
    return Place(str(path), line).problem("UNREADABLE", "file", found, expected)


def _entry_lines(text: str, listing: str) -> dict[tuple[int, str], int]:
    """Return the line of each entry and of its fields; a field twice in one entry is an error, as
    a forgotten dash makes one entry of two.
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
