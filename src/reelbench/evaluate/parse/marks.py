"""Answers between marks: JSON, boxes, brackets and tags."""

import re
from collections.abc import Iterator
from typing import Any

from reelbench.evaluate.parse.agreement import Located, agreed
from reelbench.evaluate.parse.letters import Reader
from reelbench.evaluate.parse.question import Places
from reelbench.limits import decode_json

_NAMES = (
    "answer", "answers", "final_answer", "finalanswer", "correct_answer", "choice", "option",
    "letter", "prediction", "selected_option", "correct_option", "selection",
)  # fmt: skip
_FLAT = re.compile(r"\{[^{}]*\}")
_FENCED = re.compile(r"```[a-z]*\n([^`]+)```")
_BRACES = re.compile(r"(\\boxed\s{0,3}\{|\\fbox\s{0,3}\{)|(\{)|(\})")
_BRACKETED = re.compile(r"\[\[([^\[\]\n]{1,300})\]\]")
_TAG = re.compile(
    r"<(/?)(answers?|ans|final[_ ]?answer|choice|option|conclusion|prediction)>",
    re.IGNORECASE,
)
_QUOTES = "\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb\u201e\u300c\u300d"


def json_answer(text: str, reader: Reader) -> Places:
    """``{"answer": "B"}``, bare, in a list, in a fence, or amid a text."""
    if "{" not in text and not text.startswith("["):
        return ()
    whole = [text, *_FENCED.findall(text)[-1:]]
    for candidate in [*whole, *reversed(_FLAT.findall(text))]:
        try:
            value = decode_json(candidate)
        except (ValueError, RecursionError):
            continue
        found = [Located(0, 0, reader.said(part)) for part in _values(value)]
        if not found:
            continue
        if reader.question.kind == "multi":
            return _union(found)
        if places := agreed(found, text, reader.question.kind):
            return places
    return ()


def _union(found: list[Located]) -> Places:
    every = [agreed([each], "", "single") for each in found]
    return tuple(sorted({place for places in every for place in places})) if all(every) else ()


def _values(value: Any) -> list[str]:
    """The strings that a piece of JSON gives as its answer."""
    if isinstance(value, dict):
        named = {str(name).casefold().replace(" ", "_"): part for name, part in value.items()}
        value = next((named[name] for name in _NAMES if name in named), None)
        if isinstance(value, dict):
            return _values(value)
    parts = value if isinstance(value, list) else [value]
    if parts and all(isinstance(part, dict) for part in parts):
        inner = [_values(part) for part in parts]
        return [text for texts in inner for text in texts] if all(inner) else []
    parts = [("no", "yes")[part] if isinstance(part, bool) else part for part in parts]
    return list(parts) if parts and all(isinstance(part, str) for part in parts) else []


def boxed(text: str, reader: Reader) -> Places:
    """``\\boxed{B}``."""
    return agreed(
        [_found(text, start, end, inner, reader) for start, end, inner in boxes(text)],
        text,
        reader.question.kind,
    )


def boxes(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the outermost boxes that are closed, with what they hold."""
    if "\\boxed" not in text and "\\fbox" not in text:
        return
    opened: list[tuple[int, int] | None] = []
    closed: list[tuple[int, int, int]] = []
    for brace in _BRACES.finditer(text):
        if not brace[3]:
            opened.append(brace.span() if brace[1] else None)
        elif opened and (box := opened.pop()):
            while closed and closed[-1][0] > box[0]:
                closed.pop()
            closed.append((box[0], brace.end(), box[1]))
    for start, end, inner in closed:
        yield start, end, text[inner : end - 1]


def bracketed(text: str, reader: Reader) -> Places:
    """``[[B]]``; not the format that was asked for, in quotes."""
    found = [
        _found(text, match.start(), match.end(), match[1], reader)
        for match in _BRACKETED.finditer(text)
    ]
    return agreed(found, text, reader.question.kind)


def tagged(text: str, reader: Reader) -> Places:
    """``<answer>B</answer>``; the last may be left open."""
    found = [_found(text, *tag, reader) for tag in tags(text)]
    return agreed(found, text, reader.question.kind)


def tags(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield what stands between tags of one name."""
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        if not tag[1]:
            opened = tag
        elif opened and opened[2].lower() == tag[2].lower():
            yield opened.start(), tag.end(), text[opened.end() : tag.start()]
            opened = None
    if opened:
        yield opened.start(), len(text), text[opened.end() :]


def mark_ends(text: str) -> Iterator[int]:
    """Yield where boxes, brackets and tags end that are closed."""
    yield from (end for _, end, _ in boxes(text))
    yield from (match.end() for match in _BRACKETED.finditer(text))
    yield from (tag.end() for tag in _TAG.finditer(text) if tag[1])


def open_tag(text: str) -> int | None:
    """Return where the last tag stands, if it is never closed."""
    last = None
    for tag in _TAG.finditer(text):
        last = tag
    return last.start() if last and not last[1] else None


def _found(text: str, start: int, end: int, inner: str, reader: Reader) -> Located:
    quoted = text[start - 1 : start] in (*_QUOTES,) and text[end : end + 1] in (*_QUOTES,)
    return Located(start, end, reader.said(inner), quoted)
