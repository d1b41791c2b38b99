"""Options and keys as HumanVBench's rows have them, and as others write them.

The published form is one text, ``Option A: {...}`` and so on with blank lines between. A list and
an object by letters are read as well. The key is the letter of an option, or its text.
"""

import re
from collections.abc import Mapping
from typing import Any

from reelbench.base.text import plain
from reelbench.data.items import LETTERS

# At the start of a line, or before a brace; plain letters only in a text without such marks.
_MARK = re.compile(r"(?:(?:^|\n)\s*Option\s+([A-Z])\s*[:：.)]|\bOption\s+([A-Z])\s*[:：]\s*(?=\{))")
_PLAIN_MARK = re.compile(r"(?:^|\n)\s*\(?([A-Z])(\b)\s*[:：.)]\s*(?=\S)")
_LABEL = re.compile(r"^\s*(?:Option\s+)?\(?([A-Z])\)?\s*[:：.)]\s*(?=\S)")
_LETTER = re.compile(r"^\W*(?:(?:the\s+)?(?:answer|option|choice)\s*(?:is)?\W*)*([A-Z])\W*$", re.I)


def read_choices(value: Any) -> tuple[str, ...]:
    """Return the texts of the options by letter; raise ``ValueError`` for what is not a choice."""
    if isinstance(value, str):
        found = _in_text(value)
    elif isinstance(value, Mapping):
        found = [(str(letter).strip().upper(), text) for letter, text in value.items()]
    elif isinstance(value, list | tuple):
        found = _listed(value)
    else:
        raise ValueError("choices are neither a text, nor a list, nor an object by letters")
    letters = sorted(letter for letter, _ in found)
    if len(found) < 2 or letters != list(LETTERS[: len(found)]):
        raise ValueError(f"choices have the letters {' '.join(letters) or 'none'}, not A, B and on")
    texts = tuple(_without_braces(str(text)) for _, text in sorted(found))
    if not all(texts):
        raise ValueError("an option has no text")
    if len(set(map(plain, texts))) < len(texts):
        raise ValueError("two options have the same text")
    return texts


def _in_text(value: str) -> list[tuple[str, Any]]:
    """The options of one text: each begins at its mark and ends at the next one."""
    marks = list(_MARK.finditer(value)) or list(_PLAIN_MARK.finditer(value))
    ends = [mark.start() for mark in marks[1:]] + [len(value)]
    return [
        (mark[1] or mark[2], value[mark.end() : end])
        for mark, end in zip(marks, ends, strict=False)
    ]


def _listed(value: list[Any] | tuple[Any, ...]) -> list[tuple[str, Any]]:
    """The options of a list, without labels where all have theirs in order."""
    labels = [_LABEL.match(str(text)) for text in value]
    if all(label and label[1] == LETTERS[n % 26] for n, label in enumerate(labels)):
        texts = [
            str(text)[label.end() :] for text, label in zip(value, labels, strict=True) if label
        ]
    else:
        texts = [str(text) for text in value]
    return list(zip(LETTERS, texts, strict=False))


def _without_braces(text: str) -> str:
    text = text.strip()
    return text[1:-1].strip() if text.startswith("{") and text.endswith("}") else text


def read_key(value: Any, options: tuple[str, ...]) -> str:
    """Return the letter of the right option; raise ``ValueError`` where none is named.

    A single letter is that of an option, also where options are letters of people.
    """
    texts = value if isinstance(value, list | tuple) else [value]
    if len(texts) != 1 or not isinstance(texts[0], str | int) or not str(texts[0]).strip():
        raise ValueError("no answer, so no reply can be scored")
    text = str(texts[0]).strip()
    letter = _LETTER.match(text)
    if letter and letter[1].upper() in LETTERS[: len(options)]:
        return letter[1].upper()
    wanted = _even(_without_braces(_LABEL.sub("", text, count=1)))
    same = [n for n, option in enumerate(options) if wanted == _even(option)]
    if len(same) != 1:
        raise ValueError(f"the answer {text[:60]!r} is no option")
    return LETTERS[same[0]]


def _even(text: str) -> str:
    return plain(text).strip(" .,;:!?'\"")
