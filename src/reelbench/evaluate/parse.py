"""Read an answer from a reply: options or the reason why not, never a guess."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reelbench.items import LETTERS, Kind

_THOUGHTS = re.compile(r"<(think|thinking)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{\s*(?:\\text\s*\{)?\s*([^{}]+?)\s*\}")
_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_STATED = re.compile(
    r"(?:\b(?:answers?|correct (?:options?|choices?))\b\**\s*(?:is|are)?|答案(?:是|为)?|选(?:择)?)"
    r"\s*[:：=]?\s*([^\n。]+)",
    re.IGNORECASE,
)
_MARKS = " \t\n.,;:!*_`'\"()[]{}<>$\\。，、：；（）"
_PAUSE = r"\s*(?:$|[.:;(!*，。-]|,? (?:because|since|as|not|rather)\b)"
_JOINED = re.compile(r"\s*(?:[,;&/、，]|\band\b|和)\s*|\s+")


@dataclass(frozen=True, slots=True)
class Parsed:
    """The places of the chosen options and how they were read, or why nothing was."""

    places: tuple[int, ...] | None
    method: str = ""
    failure: str = ""


def parse_answer(reply: str, kind: Kind, options: tuple[str, ...]) -> Parsed:
    """Read a reply to a closed question whose options were shown in this order."""
    text = _THOUGHTS.sub("", reply).strip()
    if not text:
        return Parsed(None, failure="empty reply")
    for method, places in _readings(text, options):
        if places and (kind == "multi" or len(places) == 1):
            return Parsed(places, method)
        if places:
            return Parsed(None, failure=f"{len(places)} answers to a question with one")
    return Parsed(None, failure="no option in it")


def _readings(text: str, options: tuple[str, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield what can be read in a reply, the surest way first; often nothing."""
    yield "whole reply", _read(text, options, _letters, _option_text)
    for name, marked in (("boxed answer", _BOXED), ("tagged answer", _TAGGED)):
        if found := marked.findall(text):
            yield name, _read(found[-1], options, _letters, _option_text)
    if stated := _STATED.findall(text):
        forms = (_letters, _option_text, _labelled, _leading)
        yield "stated answer", _read(stated[-1], options, *forms)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    yield "lettered lines", _lettered_lines(lines, options)
    yield "first line", _letters(lines[0], options) if len(lines) > 1 else ()
    yield "first word", _read(text, options, _yes_or_no, _labelled)


Form = Callable[[str, tuple[str, ...]], tuple[int, ...]]


def _read(said: str, options: tuple[str, ...], *forms: Form) -> tuple[int, ...]:
    return next((places for form in forms if (places := form(said, options))), ())


def _yes_or_no(text: str, options: tuple[str, ...]) -> tuple[int, ...]:
    """Read ``Yes, it does.`` where the options are yes and no."""
    plain = [_plain(option) for option in options]
    word = re.match(r"\W*(yes|no)\b", text, re.IGNORECASE)
    return (plain.index(word[1].lower()),) if word and sorted(plain) == ["no", "yes"] else ()


def _labelled(text: str, options: tuple[str, ...]) -> tuple[int, ...]:
    """Read ``B - the text of option B`` on one line: letter and text must agree."""
    found = re.match(r"\W*([A-Z])\W+(.+)", text, re.DOTALL)
    if not found or found[1] not in LETTERS[: len(options)]:
        return ()
    place = LETTERS.index(found[1])
    return (place,) if _plain(found[2]) == _plain(options[place]) else ()


def _letters(said: str, options: tuple[str, ...]) -> tuple[int, ...]:
    """Read ``B``, ``(B)``, ``**B.**``, ``Option B``, ``A, C`` or ``A and C``: no other words."""
    bare = re.sub(r"^(?:options?|choices?)\s+", "", said.strip(_MARKS), flags=re.IGNORECASE)
    marks = [part.strip(_MARKS) for part in _JOINED.split(bare)]
    letters = list(LETTERS[: len(options)])
    if len(marks) == 1 and len(marks[0]) == 1:
        marks = [marks[0].upper()]
    elif len(marks) == 1 and marks[0].isupper() and len(set(marks[0])) == len(marks[0]):
        marks = list(marks[0])  # "AC"; a word in capitals has other letters, or one twice
    if all(mark in letters for mark in marks):
        return tuple(sorted({letters.index(mark) for mark in marks}))
    return ()


def _leading(said: str, options: tuple[str, ...]) -> tuple[int, ...]:
    """Read the letter of ``B because ...``; an A or I before a word may be one of English."""
    found = re.match(r"[(\[*\s]*([A-Z])[)\]*]*(?P<rest>.*)", said, re.DOTALL)
    if not found or found[1] not in LETTERS[: len(options)]:
        return ()
    goes_on = re.match(
        r"\s*(?:$|[.:;(!*，。-]|,? (?:because|since|as|not|rather)\b)", found["rest"]
    )
    return (LETTERS.index(found[1]),) if goes_on else ()


def _lettered_lines(lines: list[str], options: tuple[str, ...]) -> tuple[int, ...]:
    """Read lines such as ``B. the text of option B``: letter and text must agree."""
    places = []
    for line in lines:
        found = re.match(r"[-*\s]*\(?([A-Z])[.):]\**\s*(.+)", line)
        if not found or found[1] not in LETTERS[: len(options)]:
            return ()
        place = LETTERS.index(found[1])
        if _plain(found[2]) != _plain(options[place]):
            return ()
        places.append(place)
    # A reply that repeats the whole list has chosen nothing.
    return tuple(sorted(set(places))) if len(places) < len(options) else ()


def _option_text(said: str, options: tuple[str, ...]) -> tuple[int, ...]:
    plain = _plain(said)
    return tuple(place for place, option in enumerate(options) if _plain(option) == plain)


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip(_MARKS).split())
