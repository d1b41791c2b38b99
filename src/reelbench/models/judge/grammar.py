"""The replies that a JSON schema allows, as a row of parts: what is fixed, chosen and free.

Numbers and words with an ``enum`` are chosen among their tokens, free texts are of tokens that a
JSON string can hold as they are, and all else is written for the model. A reply in training is cut
into the same parts, so that both have the same tokens.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.errors import ReelbenchError

_MOST_CHOICES = 100
# What would end a string, or read as a mark of something else around it.
_SIGNS = str.maketrans({'"': "'", "\\": "/", "<": "‹", ">": "›", "[": "(", "]": ")",
                        "◁": "‹", "▷": "›"})  # fmt: skip
UNSAFE = frozenset('"\\<>[]◁▷')


@dataclass(frozen=True, slots=True)
class Fixed:
    """What stands in every reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few values."""

    path: tuple[str, ...]
    values: tuple[Any, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as JSON has them."""
        return tuple(json.dumps(value, ensure_ascii=False) for value in self.values)


@dataclass(frozen=True, slots=True)
class FreeText:
    """A text of the model's own, within the quotes that stand around it."""

    path: tuple[str, ...]


ReplyPart = Fixed | Choice | FreeText


def reply_parts(schema: Mapping[str, Any]) -> list[ReplyPart]:
    """Return the parts of a reply, in order; optional fields are left out.

    The first and the last part are fixed, and no two parts beside each other are.
    """
    parts: list[ReplyPart] = []
    for part in _parts(schema, ()):
        if isinstance(part, Fixed) and parts and isinstance(last := parts[-1], Fixed):
            parts[-1] = Fixed(last.text + part.text)
        else:
            parts.append(part)
    return parts


def safe_text(text: str) -> str:
    """Return a free text as judges learn and write it: one line, with no sign that JSON escapes."""
    plain = "".join(sign if sign.isprintable() else " " for sign in text.translate(_SIGNS))
    return " ".join(plain.split())


def fill_parts(parts: Sequence[ReplyPart], values: Mapping[tuple[str, ...], Any]) -> str:
    """Return the reply with these values in its parts; free texts are made safe first."""
    return "".join(part_text(part, values) for part in parts)


def part_text(part: ReplyPart, values: Mapping[tuple[str, ...], Any]) -> str:
    """Return what stands in one part of a reply."""
    if isinstance(part, Fixed):
        return part.text
    if isinstance(part, FreeText):
        return safe_text(str(values[part.path]))
    return json.dumps(values[part.path], ensure_ascii=False)


def values_in(parts: Sequence[ReplyPart], reply: Any) -> dict[tuple[str, ...], Any]:
    """Return the values of a reply that fits its schema, by where they stand."""
    found = {}
    for part in parts:
        if not isinstance(part, Fixed):
            value = reply
            for name in part.path:
                value = value[name]
            if isinstance(part, Choice):  # 4.0 is a 4 to a schema, and must have its tokens
                value = next((each for each in part.values if each == value), value)
            found[part.path] = value
    return found


def _parts(schema: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[ReplyPart]:
    values = _values(schema)
    if values:
        yield Choice(path, values)
    elif schema.get("type") == "string":
        yield from (Fixed('"'), FreeText(path), Fixed('"'))
    elif schema.get("type") == "object" and schema.get("properties"):
        needed = schema.get("required", ())
        names = [name for name in schema["properties"] if name in needed]
        for number, name in enumerate(names):
            yield Fixed(f"{', ' if number else '{'}{json.dumps(name, ensure_ascii=False)}: ")
            yield from _parts(schema["properties"][name], (*path, name))
        yield Fixed("}" if names else "{}")
    else:
        where = ".".join(path) or "the whole reply"
        raise ReelbenchError(
            f"A trained judge cannot write {where} as its schema has it: it writes objects, texts, "
            f"and values that an enum or bounds name (at most {_MOST_CHOICES}). Name another judge "
            "for this, or change the schema of the rubric."
        )


def _values(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    if "const" in schema:
        return (schema["const"],)
    if schema.get("enum"):
        return tuple(schema["enum"])
    if schema.get("type") == "boolean":
        return (True, False)
    if schema.get("type") == "integer" and {"minimum", "maximum"} <= set(schema):
        whole = range(schema["minimum"], schema["maximum"] + 1)
        return tuple(whole) if len(whole) <= _MOST_CHOICES else ()
    return ()
