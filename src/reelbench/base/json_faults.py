"""What is wrong with JSON, in words that say what to write instead, the same in every Python."""

import json
import re

_ENDINGS = {"{": "}", "[": "]"}
_OPENED = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null"}
# Python's message, the text at the place, and what is wrong: the first row that fits counts.
_FAULTS = (
    ("Unterminated string", "", "a text whose quote is not closed"),
    ("Invalid control", "", "a line break or tab within a text instead of \\n or \\t"),
    ("Invalid \\", "", "a single backslash instead of two"),
    ("Extra data", ":", "a name outside of an object: a missing { before it"),
    ("Extra data", "", "more behind it"),
    ("", "'", "single quotes instead of double ones"),
    ("Expecting value", "", "a missing value, or a text without double quotes"),
    ("Expecting property name", "", "a name without double quotes"),
    ("Expecting ':'", "", "a missing colon behind a name"),
    ("Expecting ','", "", "a missing comma"),
)


class JsonError(json.JSONDecodeError):
    """JSON that cannot be decoded; as text, it says what is wrong and where."""

    def __str__(self) -> str:
        fault, line, column = json_fault(self)
        return f"{fault}, in line {line} at column {column}"


def json_fault(error: json.JSONDecodeError) -> tuple[str, int, int]:
    """Return what is wrong with JSON, and its line and column."""
    doc, place = error.doc, error.pos
    before, rest = doc[:place].rstrip(), doc[place:].lstrip()
    word = re.match(r"\w*", rest)[0]  # type: ignore[index]
    if rest[:1] in ("}", "]") and before.endswith(","):
        fault, place = f"a comma with nothing behind it, before {rest[0]}", len(before) - 1
    elif error.msg.startswith("Illegal trailing comma"):  # as Python tells it from 3.13 on
        fault = f"a comma with nothing behind it, before {doc[place + 1 :].lstrip()[:1]}"
    elif not rest:
        fault = _ending(before)
    elif rest[0] in "}]" and not before.endswith(":"):
        fault = f"{rest[0]} that closes nothing"
    elif error.msg == "Expecting value" and word in _WORDS:
        fault = f"{word} instead of {_WORDS[word]}"
    else:
        fits = (each for each in _FAULTS if error.msg.startswith(each[0]))
        fault = next((words for _, at, words in fits if rest.startswith(at)), error.msg)
    where = json.JSONDecodeError("", doc, place)
    return fault, where.lineno, where.colno


def _ending(text: str) -> str:
    """Return what is missing at the end of JSON that was cut off."""
    opened: list[str] = []
    for sign in _OPENED.findall(text):
        if sign in _ENDINGS:
            opened.append(_ENDINGS[sign])
        elif opened and sign == opened[-1]:
            opened.pop()
    if not opened:
        return "nothing"
    value = "a value and " if text.endswith((":", ",")) else ""
    return f"an end without {value}{''.join(reversed(opened))}"
