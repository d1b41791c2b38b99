"""Cells of anyone's file: what is blank, what is text, and options in the many ways people write.

The one parser of foreign options in the package; answers are read in ``answers.py``, times in
``spans.py``. Each function reads one value and raises ``ValueError`` with half a sentence.
"""

import ast
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.limits import check_depth
from reelbench.base.progress import counted
from reelbench.base.text import plain
from reelbench.data.items import LETTERS, shown
from reelbench.interop.imports.alphabets import OTHER_LETTERS, half_width, in_sequence, longest_run

_BLANK = frozenset({"", "nan", "<na>"})  # what pandas writes where there is nothing
# White space, and signs without width that come along when cells are copied.
_UNSEEN = " \t\r\n\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + (
    "".join(map(chr, range(0x2000, 0x2010))) + "\u2060\ufeff"
)
MOST_LITERAL = 2**20  # characters of a list that is written as text


@dataclass(frozen=True, slots=True)
class OptionList:
    """The options of a question: their texts by position, and their labels where they have some."""

    texts: tuple[str, ...]
    labels: tuple[str, ...] = ()  # as written: A, B, C, or 1, 2, 3, or the keys of an object
    names: tuple[str, ...] = ()  # of columns or keys that they stand in, such as option_1

    @property
    def letters(self) -> str:
        """The letters by position."""
        return LETTERS[: len(self.texts)]

    @property
    def first_number(self) -> int | None:
        """The number of the first option, where they are numbered."""
        return int(self.labels[0]) if self.labels and self.labels[0].isdecimal() else None


def is_blank(value: Any) -> bool:
    """Whether a cell holds nothing: None, NaN, an empty text, list or object."""
    if isinstance(value, str):
        return value.strip(_UNSEEN).casefold() in _BLANK
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, Mapping | list | tuple) and not value)


def text_of(value: Any) -> str:
    """Return a cell as text, a whole number without its ``.0``; lists and objects as JSON."""
    if is_blank(value):
        return ""
    if isinstance(value, str):
        return value.strip(_UNSEEN)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def literal_of(text: str) -> Any:
    """Return the list or object that a text spells in JSON or Python; None where it spells none."""
    text = text.strip()
    if text[:1] not in ("[", "{", "(") or text[-1:] not in ("]", "}", ")"):
        return None
    if len(text) > MOST_LITERAL:
        return None
    try:
        check_depth(text)
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _python_literal(text)
    if isinstance(value, tuple):
        value = list(value)
    return value if isinstance(value, list | Mapping) else None


def _python_literal(text: str) -> Any:
    # An array printed by NumPy has no commas, and Python would join its texts into one.
    if text.startswith("[") and re.search(r"""(?<![,\s])\s+(?=['"])""", text[1:]):
        parts = _QUOTED.findall(text)
        rest = _QUOTED.sub("", text)
        if len(parts) > 1 and not rest.strip("[] \n\t"):
            return [ast.literal_eval(part) for part in parts]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\"""")


def read_options(value: Any, separator: str = "") -> OptionList:
    """Return the options in a cell: a list, an object by labels, or one text.

    ``separator`` is what stands between unlabelled options in one text, if the file has shown it.
    """
    if isinstance(value, str):
        literal = literal_of(value)
        if literal is not None and len(literal) > 1:
            value = literal
    if is_blank(value):
        found = OptionList(())
    elif isinstance(value, str):
        found = options_in_text(value, separator)
    elif isinstance(value, Mapping):
        found = _by_label(value)
    elif isinstance(value, list | tuple):
        found = _listed(value)
    else:
        raise ValueError("options are neither a text, nor a list, nor an object by letters")
    return checked_options(found)


def checked_options(found: OptionList) -> OptionList:
    """Return options without braces and without blank ones at the end; raise for what is none."""
    texts = [without_braces(text) for text in found.texts]
    while len(texts) > 2 and not texts[-1]:
        texts.pop()
    if not 2 <= len(texts) <= len(LETTERS):
        filled = sum(map(bool, texts))
        count = counted(filled, "option") if filled else "no option"
        raise ValueError(f"{count}, where there must be 2 to {len(LETTERS)}")
    if not all(texts):
        raise ValueError(f"option {LETTERS[texts.index('')]} has no text")
    return OptionList(tuple(texts), found.labels[: len(texts)], found.names[: len(texts)])


def without_braces(text: str) -> str:
    """Return a text without white space and without a pair of braces around all of it."""
    text = text.strip()
    return text[1:-1].strip() if text.startswith("{") and text.endswith("}") else text


def even(text: str) -> str:
    """Return a text as it is compared: plain, without marks at its ends unless it has no others."""
    return plain(text).strip(" .,;:!?'\"") or plain(text)


# How labels are written in lists and texts, the label in the first group that took part.
_LABEL = re.compile(
    r"\s*+(?:option|choice|caption|sentence|description)?+\s*+(?:[(\[]\s*([A-Za-z]|\d{1,2})\s*[)\]]\s*[:.：]?"
    r"|([A-Za-z]|\d{1,2})\s*[:：.)、．])\s*(?=\S)",
    re.I,
)


def label_of(text: str) -> tuple[str, str]:
    """Return the label that a text begins with, such as B of "(B) dog", and the rest of it."""
    found = _LABEL.match(text)
    # "3.5 seconds" and "10:30" begin with a number, not with a label.
    if not found or (found[2] and found[2].isdecimal() and text[found.end() :][:1].isdecimal()):
        return "", text
    return found[1] or found[2], text[found.end() :]


def _listed(value: Sequence[Any]) -> OptionList:
    """The options of a list, without labels where all have theirs in order."""
    if value and all(isinstance(part, Mapping) for part in value):
        return _listed_objects(value)
    for part in value:
        if isinstance(part, Mapping | list | tuple):
            raise ValueError(f"an option is neither text nor number: {shown(text_of(part))}")
    texts = [text_of(part) for part in value]
    while texts and not texts[-1]:
        texts.pop()
    pairs = [label_of(text) for text in texts]
    labels = [label for label, _ in pairs]
    if len(pairs) > 1 and labels == in_sequence(labels[0], len(labels)):
        return OptionList(tuple(rest for _, rest in pairs), tuple(labels))
    _refuse_other_letters(labels)
    return OptionList(tuple(texts))


def _refuse_other_letters(labels: Sequence[str]) -> None:
    """Raise for A B C in another order, or with a gap: is an answer a label or a place?"""
    letters = [label.upper() for label in labels if len(label) == 1 and label.isalpha()]
    if len(letters) < max(3, len(labels)):  # of two, names may begin so
        return
    ordered = sorted(set(letters))
    if ordered == list(LETTERS[: len(letters)]) or (letters == ordered and letters[0] == "A"):
        raise ValueError(f"options have the letters {' '.join(labels)}, not A, B and on")


_TEXTS = ("text", "option", "choice", "answer")
_WITH_LABELS = (*_TEXTS, "value", "content")  # which other objects have as well
_LABELS = ("label", "key", "letter", "id", "index")


def _listed_objects(value: Sequence[Mapping[str, Any]]) -> OptionList:
    """The options of a list of objects, each with a text and perhaps a label."""
    if all(len(part) == 1 for part in value):  # [{"A": "..."}, {"B": "..."}]
        return _by_label({key: text for part in value for key, text in part.items()})
    label = next((n for n in _LABELS if all(n in part for part in value)), None)
    texts = _WITH_LABELS if label else _TEXTS
    name = next((n for n in texts if all(n in part for part in value)), None)
    if name is None:
        raise ValueError("options are objects without a text")
    labels = [text_of(part[label]) for part in value] if label else []
    return _in_order([text_of(part[name]) for part in value], labels)


def _in_order(texts: Sequence[str], labels: Sequence[str]) -> OptionList:
    """Options in the order of their labels, where these are A, B, C or 1, 2, 3 in another one."""
    first = min(labels, default="")
    if len(labels) == len(texts) and sorted(labels) == sorted(in_sequence(first, len(labels))):
        places = sorted(range(len(labels)), key=lambda n: (len(labels[n]), labels[n]))
        texts, labels = [texts[n] for n in places], [labels[n] for n in places]
    elif all(len(label) == 1 and label.isalpha() for label in labels) and labels:
        raise ValueError(f"options have the letters {' '.join(labels)}, not A, B and on")
    return OptionList(tuple(texts), tuple(labels))


def _by_label(value: Mapping[Any, Any]) -> OptionList:
    """The options of an object: in the order of letters or numbers, where these are its keys."""
    columns = [value.get(name) for name in ("text", "label")]
    if all(isinstance(column, list | tuple) for column in columns) and len(value) == 2:
        return _in_order(*([text_of(part) for part in column or ()] for column in columns))
    parts = [(_short_label(text_of(key)), text_of(text), str(key)) for key, text in value.items()]
    labels = [part[0] for part in parts]
    if all(label.isdecimal() for label in labels):
        parts.sort(key=lambda part: int(part[0]))
    elif all(len(label) == 1 and label.isascii() and label.isalpha() for label in labels):
        parts.sort(key=lambda part: part[0].upper())
    labels = [part[0] for part in parts]
    ours = bool(labels) and labels == in_sequence(labels[0], len(labels))
    if labels and not ours and all(len(label) == 1 and label.isalpha() for label in labels):
        raise ValueError(f"options have the letters {' '.join(labels)}, not A, B and on")
    return OptionList(tuple(part[1] for part in parts), tuple(labels), tuple(p[2] for p in parts))


def _short_label(key: str) -> str:
    """The letter or number at the end of "option_B" or "choice 2"; any other key as it is."""
    found = re.fullmatch(r"(?:option|choice|answer|opt|ans)?[\s_.-]*([A-Za-z]|\d{1,2})", key, re.I)
    return found[1] if found else key


_MARKS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^[ \t]*(?:Option|Choice|Caption|Sentence|Description)\s+([A-Z]|\d{1,2})\s*[:：.)]"
        r"|\bOption\s+([A-Z])\s*[:：]\s*(?=\{)",
        r"^[ \t]*[(\[]?([A-Za-z]|\d{1,2})[)\]]?[ \t]*(?:[:：.)\]、．](?!\d)|[-–] )",
        r"(?:^|(?<=[\s;,|/]))[(\[（【]\s*([A-Za-z]|\d{1,2})\s*[)\]）】][:.：]?(?=\s|\S)",
        r"[(（【]([A-Z])[)）】](?=\S)",
        r"(?:^|(?<=[\s;,|/，；]))([A-Z])\s?[.)．、](?=\s|[^\s.])",
        r"(?:^|(?<=[\s;,|/，；]))([A-Z])\s?[:：](?=\s|\S)",
        r"(?:^|(?<=[\s;,|/]))([a-z]|\d{1,2})[.):](?=\s)",
        rf"(?:^|(?<=[\s;,|/，；]))[(（]?([{OTHER_LETTERS}])\s?[.):：．、](?=\s|\S)",
        r"([①-⑩])(?=\s|\S)",
    )
)
_HEADING = re.compile(
    r"\s*+(?:options?|choices?|candidates?|answers?)?+\s*+[:：]?+\s*+[-*]?+\s*+", re.I
)
_HEADING_AT_END = re.compile(r"(?<!\s)\s*+(?:options?|choices?)\s*+[:：]?+\s*+$", re.I)


def options_in_text(text: str, separator: str = "") -> OptionList:
    """Return the options of one text, between labels or between separators; none without."""
    found = [chain for marks in _MARKS if (chain := _chain(marks, text))]
    if found:
        # Labels at the beginnings of lines are no initials of names; else the first of the longest.
        best = found[0] if "\n" in text[: found[0][1][1] + 1] else max(found, key=len)
        ends = [start for _, start, _ in best[1:]] + [len(text)]
        parts = [text[end:stop] for (_, _, end), stop in zip(best, ends, strict=True)]
        labels = tuple(label for label, _, _ in best)
        return OptionList(tuple(part.strip().rstrip(";|,；，").strip() for part in parts), labels)
    _refuse_odd_labels(text)
    if re.match(r"""\s*[\[{(]\s*(?:['"\[{]|$)""", text):
        raise ValueError(f"a list that cannot be read: {shown(text)}")
    return OptionList(tuple(_separated(text, separator or separator_in(text))))


def _refuse_odd_labels(text: str) -> None:
    """Raise for lines with labels that do not follow each other: one was forgotten, or twice."""
    for marks in _MARKS[:2]:
        found = [(next(filter(None, m.groups())), m.start()) for m in marks.finditer(text)]
        begins = found and _HEADING.fullmatch(text[: found[0][1]]) is not None
        if begins and (len(found) > 1 or marks is _MARKS[0]):
            labels = " ".join(label for label, _ in found)
            raise ValueError(f"options have the letters {labels}, not A, B and on")


_MOST_STARTS = 50  # marks that options may begin at: no question has so many, and each is tried


def split_question(text: str) -> tuple[str, OptionList | None]:
    """Return a question without the options that it lists under labels, and these; None without."""
    for marks in _MARKS[:5]:
        found = [m.start() for m in marks.finditer(text) if (m[1] or m[m.lastindex or 1]) in "A1"]
        for start in found[:_MOST_STARTS]:
            stem = _HEADING_AT_END.sub("", text[:start])
            options = options_in_text(text[start:].strip())
            if stem.strip() and len(options.labels) > 1 and all(options.texts):
                return stem.strip(), options
    return text, None


def _chain(marks: re.Pattern[str], text: str) -> list[tuple[str, int, int]]:
    """The marks of a text that follow each other, A B C or 1 2 3: label, start and end of each."""
    read = half_width(text)  # of the same length
    found = [(next(filter(None, m.groups())), m.start(), m.end()) for m in marks.finditer(read)]
    if not found or _HEADING.fullmatch(text[: found[0][1]]) is None:
        return []
    chain: list[tuple[str, int, int]] = []
    begun = longest_run({label for label, _, _ in found})
    wanted = iter(begun if begun[:1] == [found[0][0]] else in_sequence(found[0][0], len(LETTERS)))
    label = next(wanted, None)
    for mark in found:
        if mark[0] == label:
            chain.append(mark)
            label = next(wanted, None)
    return chain if len(chain) > 1 else []


SEPARATORS = ("\n", "||", "|", "\t", ";", "；", " / ", "<sep>", "[SEP]", ",", "，", "、", "/")


COMMA = SEPARATORS.index(",")  # this one and those behind it stand within options as well


def separator_in(*texts: str) -> str:
    """Return what stands between the options of texts: in most of them, the first one in order."""
    counts = {mark: sum(_is_split(text, mark) for text in texts) for mark in SEPARATORS}
    return max(SEPARATORS, key=counts.__getitem__) if any(counts.values()) else ""


def _is_split(text: str, mark: str) -> bool:
    return mark in text and len(list(_separated(text, mark))) > 1


def _separated(text: str, mark: str) -> Iterator[str]:
    parts = text.strip().strip(mark if len(mark) == 1 else "").split(mark) if mark else [text]
    bullets = [re.sub(r"^\s*[-*•]\s+", "", part).strip() for part in parts]
    return (part for part in bullets if part or mark != "\n")
