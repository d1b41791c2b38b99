"""JSON of any program: one value, a value a line, or one after the other.

NaN and infinities become None, as programs write them for what is missing.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from reelbench.base.json_faults import json_fault
from reelbench.base.limits import LimitError, check_depth
from reelbench.data.items import Problem, shown
from reelbench.interop.records.record import UnreadableError

_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # half of a surrogate pair, perhaps without the other
_SPACE = re.compile(r"\s*")
Value = tuple[int, Any]  # its line, and what it is


class JsonText:
    """Decodes JSON and keeps the names that came twice in one object."""

    def __init__(self) -> None:
        self.twice: dict[str, None] = {}
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_constant=_nothing, parse_float=_finite
        )

    def whole(self, text: str) -> Any:
        """Decode text that is one value; ``ValueError`` where it is not."""
        check_depth(text)
        return self._mended(text, self._decoder.decode(text))

    def one_after_the_other(self, text: str) -> Iterator[Value]:
        """Yield values that follow each other without commas, each with the line it begins in."""
        check_depth(text)
        place, line = _SPACE.match(text).end(), 1  # type: ignore[union-attr]
        line += text.count("\n", 0, place)
        while place < len(text):
            value, end = self._decoder.raw_decode(text, place)
            yield line, self._mended(text[place:end], value)
            start, place = place, _SPACE.match(text, end).end()  # type: ignore[union-attr]
            line += text.count("\n", start, place)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            self.twice |= dict.fromkeys(name for name, count in counts.items() if count > 1)
        return found

    def _mended(self, text: str, value: Any) -> Any:
        return _whole_characters(value) if _HALF.search(text) else value


def _nothing(_: str) -> None:
    return None


def _finite(number: str) -> float | None:
    value = float(number)
    return value if math.isfinite(value) else None


def _whole_characters(value: Any) -> Any:
    """Replace halves of surrogate pairs, which no file can hold, by question marks."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole_characters(each) for each in value]
    if isinstance(value, dict):
        return {_whole_characters(k): _whole_characters(v) for k, v in value.items()}
    return value


def json_values(text: str, file: str) -> tuple[list[Value], bool, list[Problem], list[str]]:
    """Return the values in a text, whether they are lines, and problems and notes.

    ``UnreadableError`` says where the text ceases to be JSON.
    """
    reader = JsonText()
    try:
        if _is_lines(text, reader):
            values, problems = _lines(text, file, reader)
            return values, True, [*problems, *_repeated(reader, file)], []
        value = reader.whole(text)
        return [(1, value)], False, list(_repeated(reader, file)), []
    except json.JSONDecodeError as error:
        return _not_one(text, file, error)
    except (LimitError, ValueError, RecursionError) as error:
        raise UnreadableError(str(error), "plain JSON") from None


def _is_lines(text: str, reader: JsonText) -> bool:
    """Whether the first line is a whole value and something follows it."""
    line, _, rest = text.lstrip().partition("\n")
    if not rest.strip():
        return False
    try:
        reader.whole(line)
    except ValueError:
        return False
    return True


def _lines(text: str, file: str, reader: JsonText) -> tuple[list[Value], list[Problem]]:
    values: list[Value] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values.append((number, reader.whole(line)))
        except ValueError as error:
            reason = str(error)
            if isinstance(error, json.JSONDecodeError):
                fault, _, column = json_fault(error)
                reason = f"{fault} at column {column}"
            found = f"{shown(line.strip(), 40)} ({reason})"
            problems.append(Problem("NOT_JSON", "line", found, "a JSON value", file, number))
    return values, problems


def _not_one(
    text: str, file: str, error: json.JSONDecodeError
) -> tuple[list[Value], bool, list[Problem], list[str]]:
    """Several values, lines of which some are broken, or no JSON at all."""
    reader = JsonText()
    if error.msg == "Extra data":
        try:
            values = list(reader.one_after_the_other(text))
        except ValueError:
            pass
        else:
            note = f"It holds {len(values):,} JSON values one after the other."
            return values, True, list(_repeated(reader, file)), [note]
    values, problems = _lines(text, file, JsonText())
    whole = [value for _, value in values if isinstance(value, dict)]
    if len(whole) > len(problems):
        return values, True, problems, []
    fault, line, column = json_fault(error)
    raise UnreadableError(f"{fault} at column {column}", "JSON", line)


def _repeated(reader: JsonText, file: str) -> Iterator[Problem]:
    for name in reader.twice:
        found = f"{shown(name)} more than once in one object"
        yield Problem("DUPLICATE", shown(name), found, "each name once: the last one counts", file)
