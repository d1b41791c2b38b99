"""Reads YAML files within limits, with the line numbers of their fields."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from reelbench.base.errors import ReelbenchError
from reelbench.base.limits import MOST_DEPTH, MOST_TEXT, LimitError, bounded_text
from reelbench.base.yaml_errors import yaml_fault

_MOST_NODES = 1_000_000  # values, with what aliases repeat counted each time
_MOST_BITS = 1024  # of a whole number


UNREAD = "a readable file"


class YamlError(ReelbenchError):
    """A file that cannot be read as YAML: what was found, what is expected, and on which line."""

    def __init__(self, code: str, found: str, expected: str, line: int = 0) -> None:
        self.code, self.found, self.expected, self.line = code, found, expected, line
        place = f"line {line}: " if line else ""
        super().__init__(f"{place}found {found}, expected {expected}")


def read_yaml(source: Path | str, unknown_tags: bool = False) -> tuple[Any, dict[str, int]]:
    """Return the content of a YAML file, or of a text, and the line number of each field.

    With ``unknown_tags``, a value such as ``!function utils.f`` is None; else it is an error.
    Raises ``YamlError`` with the code UNREADABLE or NOT_YAML.
    """
    text = ""
    try:
        if isinstance(source, Path) and source.exists() and not source.is_file():
            raise OSError("not a regular file")  # a pipe would never end
        text = bounded_text(source) if isinstance(source, Path) else source
        return load_yaml(text, unknown_tags)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{error.object[error.start]:02X}"
        raise YamlError("UNREADABLE", found, "UTF-8", line) from None
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        found = "no such file" if missing else error.strerror or str(error)
        raise YamlError("UNREADABLE", found, UNREAD) from None
    except yaml.YAMLError as error:
        raise YamlError("NOT_YAML", *yaml_fault(error, text)) from None
    except (ValueError, RecursionError) as error:  # a date that is none; an alias to itself
        raise YamlError("NOT_YAML", str(error), "plain YAML") from None


def load_yaml(text: str, unknown_tags: bool = False) -> tuple[Any, dict[str, int]]:
    """Parse YAML and return it with the line of each field of the first two levels.

    A field that is given twice is an error (YAML itself would silently keep the last); in tables,
    down to the tags of their columns.
    """
    if len(text) > MOST_TEXT:
        raise LimitError(f"it is larger than {MOST_TEXT >> 20} MiB")
    loader = _TagIgnoringLoader(text) if unknown_tags else _Loader(text)
    try:
        node = loader.get_single_node()
        _check_size(node)
        lines = dict(_field_lines(node, depth=2))
        return (loader.construct_document(node) if node else None), lines
    finally:
        loader.dispose()


class _Loader(yaml.SafeLoader):
    """Refuses YAML that is nested too deeply, and numbers of absurd size."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            deep = f"nesting deeper than {MOST_DEPTH} levels"
            raise yaml.MarkedYAMLError(problem=deep, problem_mark=self.get_mark())
        node: yaml.Node | None = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        number: int = super().construct_yaml_int(node)
        if number.bit_length() > _MOST_BITS:
            raise yaml.MarkedYAMLError(
                problem=f"a number of more than {_MOST_BITS} bits", problem_mark=node.start_mark
            )
        return number


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


class _TagIgnoringLoader(_Loader):
    """Reads a value with a tag that nobody here knows as None: nothing is called or imported."""


_TagIgnoringLoader.add_constructor(None, lambda _loader, _node: None)


def _check_size(node: yaml.Node | None) -> None:
    """Raise ``LimitError`` for aliases to aliases that expand to more than memory can hold."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        if id(node) not in sizes:
            sizes[id(node)] = 1  # of what refers to itself, which is reported elsewhere
            parts = node.value if isinstance(node, yaml.CollectionNode) else ()
            pairs = isinstance(node, yaml.MappingNode)
            each = (part for pair in parts for part in pair) if pairs else parts
            sizes[id(node)] += sum(map(size, each))
        return sizes[id(node)]

    if node is not None and size(node) > _MOST_NODES:
        raise LimitError(
            f"its aliases expand to more than {_MOST_NODES:,} values: write the values out"
        )


def _field_lines(node: yaml.Node | None, depth: int, prefix: str = "") -> Iterator[tuple[str, int]]:
    if not isinstance(node, yaml.MappingNode) or not depth:
        return
    seen: set[str] = set()
    for key, value in node.value:
        name = f"{prefix}{key.value}"
        if name in seen:
            raise yaml.MarkedYAMLError(problem=f"{name!r} twice", problem_mark=key.start_mark)
        seen.add(name)
        yield name, key.start_mark.line + 1
        yield from _field_lines(value, 4 if name == "tables" else depth - 1, f"{name}.")
