"""Answers between marks: JSON, boxes, brackets and tags; and tables with a verdict for each."""

import json
import re
from collections.abc import Iterator
from typing import Any

from reelbench.base.limits import decode_json
from reelbench.client.reply_text import ANSWER_TAGS
from reelbench.data.items import Kind
from reelbench.evaluate.parse.question import LocatedReading, Places, Reading, agreed
from reelbench.evaluate.parse.reader import Reader
from reelbench.evaluate.parse.segments import ReplyText
from reelbench.evaluate.parse.vocabulary import ends_of, lowered, pattern

_NAMES = (
    "answer", "answers", "final_answer", "finalanswer", "correct_answer", "choice", "option",
    "letter", "prediction", "selected_option", "correct_option", "selection",
)  # fmt: skip
_CORRECT = ("correct", "is_correct", "iscorrect", "right", "true")
_AHEAD = 40  # characters before an object in which it may be called a format
_FORMAT = pattern(
    r"\b(?:form|format|formatted|like|such as|e\.g\.|example|template|schema"
    r"|structure)\b[^.\n}]{0,20}$",
    re.IGNORECASE,
)
_AS_FORMAT = pattern(r"\s(?:is|as) (?:the|a|my|an) (?:\w+ )?(?:format|form|template|example)\b")
_PYTHON = pattern(
    r"""\"(?:[^"\\]|\\.)*\"|'(?P<single>(?:[^'\\]|\\.)*)'|\b(?:True|False|None)\b"""
    r"""|(?P<comma>,\s*(?=[}\]]))"""
)
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
_FLAT = pattern(r"\{[^{}]*\}")
_FENCED = pattern(r"```[a-z]*\n([^`]+)```")
_BRACES = pattern(r"(\\boxed\s{0,3}\{|\\fbox\s{0,3}\{)|(\{)|(\})")
_BRACKETED = pattern(r"\[\[([^\[\]\n]{1,300})\]\]")
_TAG = pattern(rf"<(/?)({ANSWER_TAGS})>", re.IGNORECASE)
_APART = pattern(r"\w{2,30}\W{1,9}\w")  # words between two marks
_QUOTES = "\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb\u201e\u300c\u300d"


def json_answer(text: str, reader: Reader) -> Places:
    """``{"answer": "B"}``, bare, in a list, in a fence, or amid a text."""
    if "{" not in text and not text.startswith("["):
        return ()
    for candidate in [text, *_FENCED.findall(text)[-1:]]:
        if places := _json_places([candidate], text, reader):
            return places
    return _json_places(_flat_objects(text), text, reader)


def _flat_objects(text: str) -> list[str]:
    """The objects amid a text, each once, the first and the last of very many."""
    found: dict[str, None] = {}
    for match in _FLAT.finditer(text):
        ahead = text[max(0, match.start() - _AHEAD) : match.start()]
        behind = text[match.end() : match.end() + _AHEAD]
        echo = (_FORMAT.search(ahead) and behind.strip()) or _AS_FORMAT.match(behind)
        if ":" in match[0] and not echo:
            found.pop(match[0], None)
            found[match[0]] = None
    return ends_of(list(found))


def _json_places(candidates: list[str], text: str, reader: Reader) -> Places:
    """What the objects that answer come to; unclear where they differ."""
    found: list[LocatedReading] = []
    chosen: set[int] = set()
    for candidate in candidates:
        try:
            value = _decoded(candidate)
        except (ValueError, RecursionError):
            continue
        verdicts = _verdicts(value, reader)
        if verdicts is not None:
            chosen |= verdicts
            continue
        readings = [LocatedReading(0, 0, reader.read_answer(part)) for part in _values(value)]
        if readings and reader.question.kind == "multi":
            places = _union(readings)
            found += [LocatedReading(0, 0, Reading(places))] if places else []
        else:
            found += readings
    if chosen:
        found.append(LocatedReading(0, 0, Reading(tuple(sorted(chosen)))))
    return agreed(found, text, "single")


def _decoded(text: str) -> Any:
    """What a text holds as JSON, or as the dictionary that Python prints: ``{'answer': 'B'}``."""
    try:
        return decode_json(text)
    except ValueError:
        return decode_json(_PYTHON.sub(_as_json, text))


def _as_json(found: re.Match[str]) -> str:
    if found["single"] is not None:
        return json.dumps(found["single"].replace("\\'", "'"))
    return _CONSTANTS.get(found[0], found[0]) if not found["comma"] else ""


def _verdicts(value: Any, reader: Reader) -> set[int] | None:
    """``{"A": true, "B": false}`` or ``{"option": "B", "correct": true}``: what is called right."""
    if isinstance(value, list) and value:
        every = [_verdicts(part, reader) for part in value]
        known = [each for each in every if each is not None]
        return set().union(*known) if len(known) == len(every) else None
    if not isinstance(value, dict) or not value:
        return None
    named = {str(name).casefold(): part for name, part in value.items()}
    verdict = next((named[name] for name in _CORRECT if name in named), None)
    if isinstance(verdict, bool):
        places = [reader.read_answer(part).places for part in _values(value)]
        return {place for each in places for place in each} if verdict else set()
    labels = [reader.letters(str(name)).places for name in value]
    if not all(len(label) == 1 for label in labels) or not all(
        isinstance(part, bool) for part in value.values()
    ):
        return None
    return {label[0] for label, part in zip(labels, value.values(), strict=True) if part}


def _union(found: list[LocatedReading]) -> Places:
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
    found = [_found(text, *box, reader) for box in ends_of(list(boxes(text)))]
    return _last_of(found, text, reader.question.kind)


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
        for match in ends_of(list(_BRACKETED.finditer(text)))
    ]
    return _last_of(found, text, reader.question.kind)


def tagged(text: str, reader: Reader) -> Places:
    """``<answer>B</answer>``; the last may be left open."""
    found = [_found(text, *tag, reader) for tag in ends_of(list(tags(text)))]
    return _last_of(found, text, reader.question.kind)


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


def _last_of(found: list[LocatedReading], text: str, kind: Kind) -> Places:
    """Return what marks say; the last of several, where words stand between them."""
    plain = [each for each in found if not each.quoted and each.reading.places]
    apart = len(plain) > 1 and _APART.search(text, plain[-2].end, plain[-1].start)
    return agreed(plain[-1:] if apart and kind != "multi" else found, text, kind)


def _found(text: str, start: int, end: int, inner: str, reader: Reader) -> LocatedReading:
    quoted = text[start - 1 : start] in (*_QUOTES,) and text[end : end + 1] in (*_QUOTES,)
    return LocatedReading(start, end, reader.read_answer(inner), quoted)


_LABEL = pattern(
    r"[\s\"'*•–—-]{0,6}(?:option\s)?[(\[]?([A-Z])\s?[.):\]–—-]\s*(?=\S)", re.IGNORECASE
)
_YES = r"yes|true|correct|right|present|visible|✓|✔|✅|selected|applies"
_NO = (
    r"no|false|incorrect|wrong|absent|not (?:present|visible|correct|selected|applicable)"
    r"|invisible|✗|✘|❌|×"
)
_VERDICT = pattern(rf"\W{{0,4}}(?:is\s)?(?:(?P<no>{_NO})|(?P<yes>{_YES}))(?!\w)")

_ROW = pattern(r"\s*\|?[^|\n]+\|[^\n]*")
_CELL = pattern(rf"\W{{0,4}}(?:is\s)?(?:(?P<no>{_NO})|(?P<yes>{_YES}))\W{{0,4}}")
_CELL_LABEL = pattern(r"\W{0,3}(?:option\s)?([A-Z])(?:\W.*)?", re.IGNORECASE)
# A column of what is excluded says the contrary of what its cells do.
_OUT = pattern(r"\b(?:rule[ds]? out|wrong|incorrect|exclude\w*|eliminat\w+|reject\w*|false|not)\b")


def verdicts(reply: ReplyText, reader: Reader) -> Places:
    """The options that are called right, where every line is a label with a verdict."""
    found: dict[int, bool] = {}
    header: list[str] = []
    for _, line in reply.lines:
        if cells := _cells(line):
            header = header or cells
            verdict = _row(cells, header, reader)
        else:
            verdict = _verdict(line, reader)
        if verdict is None and found:
            return ()
        if verdict is not None:
            found[verdict[0]] = verdict[1]
    right = tuple(sorted(place for place, is_right in found.items() if is_right))
    return right if len(found) > len(right) else ()


def _verdict(line: str, reader: Reader) -> tuple[int, bool] | None:
    label = _LABEL.match(line)
    place = reader.question.place(label[1]) if label else None
    if label is None or place is None:
        return None
    text = lowered(line[label.end() :])
    own = lowered(reader.question.options[place])
    if text.startswith(own):
        text = text[len(own) :]
    verdict = _VERDICT.match(text)
    return (place, verdict["no"] is None) if verdict else None


def _cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table; none where it is no row."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if _ROW.match(line) else []


def _row(cells: list[str], header: list[str], reader: Reader) -> tuple[int, bool] | None:
    """What ``| B | a blue door | correct |`` says of its option: one cell is a verdict."""
    label = _CELL_LABEL.fullmatch(cells[0])
    place = reader.question.place(label[1]) if label else None
    found = [(at, _CELL.fullmatch(lowered(cell))) for at, cell in enumerate(cells) if at]
    verdicts_of = [(at, match["no"] is None) for at, match in found if match]
    if place is None or len(verdicts_of) != 1:
        return None
    ((at, is_right),) = verdicts_of
    names = lowered(header[at]) if at < len(header) else ""
    return None if _OUT.search(names) else (place, is_right)
