"""A parser of the user's own, from a Python file: a function of a reply and the options."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.extensions import load_from_file
from reelbench.data.items import LETTERS, shown
from reelbench.evaluate.published_parsers.reading import (
    Choices,
    ParserReading,
    PublishedParser,
    chosen,
)

OwnParser = Callable[[str, list[str]], Any]


def load_parser(path: Path, attribute: str) -> PublishedParser:
    """Return the parser that is a function of a file, by its name or the only one there is.

    It is given a reply and the options as they were shown, and returns a letter, the place of an
    option from 0 on, or nothing: None or empty text.
    """
    function: OwnParser = load_from_file(
        path, attribute, inspect.isfunction, "a function of a reply and its options"
    )
    name = f"{path.name}:{function.__name__}"

    def read(reply: str, choices: Choices) -> ParserReading:
        try:
            found = function(reply, list(choices))
        except Exception as error:
            raise ReelbenchError(
                f"{path}: {function.__name__} fails on the reply {shown(reply)}: "
                f"{type(error).__name__}: {error}."
            ) from error
        return _reading(found, choices, f"{path}: {function.__name__}")

    return PublishedParser(name, read, f"a file of yours, {path}")


def _reading(found: object, choices: Choices, where: str) -> ParserReading:
    if found is None or found == "":
        return ParserReading(None, "nothing")
    if type(found) is int and 0 <= found < len(choices):
        return ParserReading(found, "a place")
    if isinstance(found, str) and found.strip("() .").upper() in tuple(LETTERS):
        return chosen(found.strip("() .").upper(), choices, "a letter")
    raise ReelbenchError(
        f"{where} returns {shown(found)}: return a letter such as 'B', the place of an option from "
        f"0 to {len(choices) - 1}, or None."
    )
