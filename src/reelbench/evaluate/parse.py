"""Read an answer from a reply: options, or the reason why there are none. Never a guess.

The forms are tried from the surest to the least sure, and the first that is there decides: if it
names two options where one is asked for, a less sure form is not asked for a better answer.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reelbench.asking.reply import MARKS, plain, undressed, without_reasoning
from reelbench.items import LETTERS, Kind

Failure = Literal[
    "", "empty reply", "unfinished reasoning", "refusal", "several answers", "no such option",
    "letter and text differ", "no answer",
]  # fmt: skip
Options = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parsed:
    """The places of the chosen options and how they were read, or why nothing was."""

    places: tuple[int, ...] | None
    method: str = ""
    failure: Failure = ""


def parse_answer(reply: str, kind: Kind, options: Options, truncated: bool = False) -> Parsed:
    """Read a reply to a closed question whose options were shown in this order."""
    if not reply.strip():
        return Parsed(None, failure="empty reply")
    text = without_reasoning(reply)
    if not text:
        return Parsed(None, failure="unfinished reasoning")
    for method, form in _FORMS[:6] if truncated else _FORMS:
        try:
            places = form(text, kind, options)
        except _UnclearError as unclear:
            return Parsed(None, method, unclear.failure)
        if places:
            if kind != "multi" and len(places) > 1:
                return Parsed(None, method, "several answers")
            return Parsed(places, method)
    refused = _REFUSAL.match(undressed(text))
    return Parsed(None, failure="refusal" if refused else "no answer")


class _UnclearError(Exception):
    """Something is said, but not one thing."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure


Places = tuple[int, ...]
Form = Callable[[str, Kind, Options], Places]

_LETTER = r"[A-Za-z]"
_END = r"(?=\s*(?:$|\n))"
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})+)\}")
_BRACKETED = re.compile(r"\[\[\s*(.+?)\s*\]\]")
_TAGGED = re.compile(r"<(answer|choice|option)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_ANSWER_LINE = re.compile(
    r"(?:^|\n|[.!?。]\s|['\"({])[-\s]*(?P<final>final\s+)?(?:(?:the|my|your)\s+)?"
    r"(?:(?:correct\s+|best\s+)?answers?|(?:correct|best|chosen)\s+(?:option|choice)s?|答案|回答|正解)"
    r"(?:\s*(?:is|are|是|为|は))?\s*[:=]\s*(?!\W*(?:final\s+)?answers?\b)(?P<said>\S[^\n]*)",
    re.IGNORECASE,
)
_STATED = re.compile(
    r"\b(?:answers?|(?:correct|right|best|final)\s+(?:option|choice|letter)s?|option|choice)\s+"
    r"(?:is|are|would be|should be|must be|seems to be|appears to be)\s*:?\s*(?=(?P<a>[^\n]+))"
    r"|\b(?:is|to|matches|with)\s+(?:option|choice)\s*:?\s*(?=(?P<e>[A-Z(][^\n]*))"
    r"|\bI\s+(?:choose|pick|select|(?:would|will|'ll)\s+(?:go with|choose|pick|select))\s+"
    r"(?=(?P<b>[^\n]+))"
    r"|(?:答案|正确答案|正确选项|正解)(?:应该)?(?:是|为|は)?\s*[:]?\s*(?=(?P<c>[^\n。]+))"
    r"|(?:应该?|我)?选择?(?:选项)?\s*(?=(?P<d>[A-Za-z][^\n。]*))",
    re.IGNORECASE,
)
_CALLED_RIGHT = re.compile(
    rf"\b(?:option|choice|answer)?\s*\(?\b({_LETTER})\b\)?\s+(?:is|are)\s+(?:the\s+)?"
    r"(?:correct|right|best)\b(?!\s+(?:only|if))",
    re.IGNORECASE,
)
_LABEL = re.compile(rf"\W*(?:option|choice)?\s*\(?({_LETTER})\s*[.):]\s*(.*)", re.IGNORECASE)
_CONCLUDED = re.compile(
    r"\b(?:so|thus|therefore|hence)\b[^\n.]*?\(([A-Z])\)|(?:→|=>|⇒)\s*\(?([A-Z])\)?" + _END
)
_JOINED = re.compile(r"\s*(?:[,;&/、，+|]|\band\b|和|と|以及)\s*|\s+")
_EITHER = re.compile(rf"\W*{_LETTER}\W*(?:\bor\b|或|/)\W*{_LETTER}\b", re.IGNORECASE)
_GOES_ON = re.compile(
    r"\s*(?:$|['\".:;(!。|-]|[–—]|,?\s*(?:because|since|as|not|rather|instead|which|due|given)\b|,?\s*因为)"
)
_REFUSAL = re.compile(
    r"(?:i'?m |i am )?(?:so |very |really )?sorry\b|i (?:can'?t|cannot|can not|could not|couldn't|"
    r"do not|don't|am not able|am unable|won't|will not)\b|i'm (?:unable|not able)|unfortunately\b|"
    r"as an ai\b|my apologies|抱歉|对不起|很遗憾|我?无法|我不能|申し訳",
    re.IGNORECASE,
)


def _json(text: str, _: Kind, options: Options) -> Places:
    """``{"answer": "B"}``, bare, in a fence, or at the end of a text."""
    for candidate in reversed(re.findall(r"\{[^{}]*\}|\A\s*\[[^\[\]]*\]\s*\Z", text)):
        try:
            value: Any = json.loads(candidate)
        except ValueError:
            continue
        if isinstance(value, dict):
            named = {str(name).casefold().replace(" ", "_"): part for name, part in value.items()}
            value = next((named[name] for name in _JSON_NAMES if name in named), None)
        parts = value if isinstance(value, list) else [value]
        if parts and all(isinstance(part, str) for part in parts):
            return tuple(sorted({place for part in parts for place in _said(part, options)}))
    return ()


def _marked(pattern: re.Pattern[str]) -> Form:
    """What stands between marks that mean the answer."""

    def form(text: str, _: Kind, options: Options) -> Places:
        found = [match if isinstance(match, str) else match[-1] for match in pattern.findall(text)]
        return _agreed([_said(said, options) for said in found])

    return form


def _whole(text: str, _: Kind, options: Options) -> Places:
    """The reply is letters, the text of an option, or both: and nothing else."""
    said = undressed(text)
    return _first(said, options, _exact, _letters, _option_text)


def _answer_line(text: str, _: Kind, options: Options) -> Places:
    """``Answer: B``; one that is called final outweighs the others."""
    matches = list(_ANSWER_LINE.finditer(undressed(text)))
    final = [_said(match["said"], options) for match in matches if match["final"]]
    return _agreed(final) or _agreed([_said(match["said"], options) for match in matches])


def _stated(text: str, _: Kind, options: Options) -> Places:
    """``The answer is B because ...``, ``选B``, ``Option B is correct``."""
    bare = undressed(text)
    said = [next(filter(None, match.groups())) for match in _STATED.finditer(bare)]
    readings = [_said(part, options) for part in said]
    readings += [_letters(letter, options) for letter in _CALLED_RIGHT.findall(bare)]
    return _agreed(readings)


def _lettered_lines(text: str, kind: Kind, options: Options) -> Places:
    """Several lines such as ``B. the text of option B``; not the whole list again."""
    places = [_labelled(line, options) for line in _lines(text)] if kind == "multi" else []
    if not all(places):
        return ()
    read = tuple(sorted({place for part in places for place in part}))
    return read if len(read) < len(options) else ()


def _line_of_its_own(text: str, _: Kind, options: Options) -> Places:
    """``B`` alone on a line, before, after or amid an explanation."""
    return _agreed([_letters(line, options) for line in _lines(text)])


def _label(text: str, _: Kind, options: Options) -> Places:
    """``B. because it is blue``, first or last, and no other: several labels are a list."""
    lines = _lines(text)
    matches = [(line, _LABEL.match(line)) for line in lines]
    labels = [line for line, m in matches if m and _place(m[1], options) is not None]
    alone = len(labels) == 1 and labels[0] in (lines[0], lines[-1])
    return _labelled(labels[0], options) if alone else ()


def _concluded(text: str, _: Kind, options: Options) -> Places:
    """``... so (B)``."""
    found = [a or b for a, b in _CONCLUDED.findall(undressed(text))]
    return _agreed([_letters(letter, options) for letter in found])


def _yes_or_no(text: str, _: Kind, options: Options) -> Places:
    """``Yes, it does.`` where the options are yes and no."""
    words = [plain(option) for option in options]
    if sorted(words) != ["no", "yes"] and sorted(words) != ["否", "是"]:
        return ()
    bare = undressed(text)
    found = re.match(r"\W*(yes|no|是|否)(?![\w-])", bare, re.IGNORECASE) or re.search(
        r"\b(?:so|thus|therefore|hence|answer is)\W+(yes|no)\b", bare, re.IGNORECASE
    )
    return (words.index(found[1].casefold()),) if found and found[1].casefold() in words else ()


def _text_within(text: str, _: Kind, options: Options) -> Places:
    """One short sentence that holds the text of one option, and does not deny it."""
    bare = plain(text)
    if len(bare) > _SENTENCE or "\n" in text.strip():
        return ()
    texts = [plain(option) for option in options]
    inside = [t for t in texts if len(t) > 3 and re.search(rf"(?<!\w){re.escape(t)}(?!\w)", bare)]
    longest = [t for t in inside if not any(t in other for other in inside if other != t)]
    denied = re.search(r"\b(?:not|no|never|neither|nor|without|cannot|or)\b|n't\b|不|没", bare)
    if len(longest) != 1 or (denied and not re.search(denied.re, longest[0])):
        return ()
    return (texts.index(longest[0]),)


_SENTENCE = 200  # characters
_JSON_NAMES = ("answer", "answers", "final_answer", "choice", "option", "letter", "prediction")

_FORMS: Sequence[tuple[str, Form]] = (
    ("json", _json),
    ("boxed answer", _marked(_BOXED)),
    ("bracketed answer", _marked(_BRACKETED)),
    ("tagged answer", _marked(_TAGGED)),
    ("whole reply", _whole),
    ("answer line", _answer_line),
    ("stated answer", _stated),
    ("lettered lines", _lettered_lines),
    ("line of its own", _line_of_its_own),
    ("label", _label),
    ("conclusion", _concluded),
    ("yes or no", _yes_or_no),
    ("option text", _text_within),
)


def _agreed(readings: list[Places]) -> Places:
    """What all readings that say something say; unclear if they differ."""
    found = {reading for reading in readings if reading}
    if len(found) > 1:
        raise _UnclearError("several answers")
    return found.pop() if found else ()


def _said(said: str, options: Options) -> Places:
    """Read what was said to be the answer: letters, an option's text, or a letter that goes on."""
    bare = undressed(said)
    if _EITHER.match(bare):
        raise _UnclearError("several answers")
    return _first(bare, options, _exact, _letters, _option_text, _labelled, _leading)


def _first(said: str, options: Options, *readers: Callable[[str, Options], Places]) -> Places:
    return next((places for reader in readers if (places := reader(said, options))), ())


def _exact(said: str, options: Options) -> Places:
    """Read ``B. the very text of option B``, which may itself be letters."""
    label = _LABEL.fullmatch(said)
    place = _place(label[1], options) if label else None
    if label is None or place is None or place not in _option_text(label[2], options):
        return ()
    return (place,)


def _letters(said: str, options: Options) -> Places:
    """Read ``B``, ``(B)``, ``Option B``, ``A, C`` or ``A and C``: letters and no other words."""
    bare = re.sub(
        r"^(?:both\s+)?(?:options?|choices?|letters?|选项)\s*", "", said.strip(MARKS), flags=re.I
    )
    marks = [part.strip(MARKS) for part in re.split(r"\)\s*\(", bare)]
    marks = [mark.strip(MARKS) for part in marks for mark in _JOINED.split(part) if mark]
    if len(marks) == 1 and marks[0].isupper() and len(set(marks[0])) == len(marks[0]) > 1:
        marks = list(marks[0])  # "AC"; a word in capitals has other letters, or one twice
    if not marks or not all(re.fullmatch(_LETTER, mark) for mark in marks):
        return ()
    if any(mark.islower() for mark in marks) and any(mark.isupper() for mark in marks):
        return ()
    places = [_place(mark, options) for mark in marks]
    known = [place for place in places if place is not None]
    if len(known) < len(places):
        if len(marks) == 1 or all(mark.isupper() for mark in marks):
            raise _UnclearError("no such option")
        return ()
    return tuple(sorted(set(known)))


def _labelled(said: str, options: Options) -> Places:
    """Read ``(B) the text``; the text may be in other words, but not another option's."""
    label = _LABEL.match(said)
    place = _place(label[1], options) if label else None
    if label is None or place is None:
        return ()
    others = _option_text(label[2], options)
    if others and place not in others:
        raise _UnclearError("letter and text differ")
    return (place,)


def _leading(said: str, options: Options) -> Places:
    """Read the letter of ``B because ...``; an A or I before a word may be one of English."""
    found = re.match(r"[(\[\s]*([A-Z])\b[)\]]*(?P<rest>.*)", said, re.DOTALL)
    if not found:
        return ()
    value = found[1] not in "AI" and re.match(r"\s+[^\sA-Za-z]", found["rest"])  # "D 24.3 kN"
    if not value and not _GOES_ON.match(found["rest"]):
        return ()
    place = _place(found[1], options)
    return () if place is None else (place,)


def _option_text(said: str, options: Options) -> Places:
    bare = plain(said)
    return tuple(place for place, option in enumerate(options) if plain(option) == bare)


def _place(letter: str, options: Options) -> int | None:
    place = LETTERS.find(letter.upper())
    return place if 0 <= place < len(options) else None


def _lines(text: str) -> list[str]:
    return [line for line in undressed(text).splitlines() if line.strip()]
