"""Options and keys as HumanVBench's rows have them, and as others write them.

The published form is one text, ``Option A: {...}`` and so on with blank lines between; all others
that imports know are read as well. The key is the letter of an option, or its text.
"""

from typing import Any

from reelbench.base.text import plain
from reelbench.interop.imports.answers import letters_or_none, read_answer
from reelbench.interop.imports.values import OptionList, read_options


def read_choices(value: Any) -> tuple[str, ...]:
    """Return the texts of the options by letter; raise ``ValueError`` for what is not a choice."""
    texts = read_options(value).texts
    if len(set(map(plain, texts))) < len(texts):
        raise ValueError("two options have the same text")
    return texts


def read_key(value: Any, options: tuple[str, ...]) -> str:
    """Return the letter of the right option; raise ``ValueError`` where none is named.

    A single letter is that of an option, also where options are letters of people.
    """
    choices = OptionList(options)
    letters = letters_or_none(value, choices, "letter") or read_answer(value, choices, "text")
    if len(letters) > 1:
        raise ValueError("no answer, so no reply can be scored: it names several options")
    return letters[0]
