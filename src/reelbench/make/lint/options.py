"""What can be wrong with one item's question, options and answer."""

import re
from collections.abc import Iterator
from itertools import combinations

from reelbench.items import LETTERS, Item, Json
from reelbench.make.lint.findings import Finding
from reelbench.make.lint.text import REFERS_TO_OTHERS, is_none_of_them, plain, words

PREFIX = 50  # characters after which a reader has stopped comparing
SIMILAR_SHARE = 0.5  # of all pairs of options

# Where benchmarks write the right option out in full; the first is ours.
ANSWER_TEXT_FIELDS = ("reference", "correct_answer", "correct_answers", "answer_text")

_INLINE = re.compile(
    r"(?:^|[\s(\[])\(?(?P<letter>[A-Z])[).:]\s*(?P<text>\S.*?)\s*"
    r"(?=[\s(\[,;]\(?[A-Z][).:]\s*\S|$)",
    re.DOTALL,
)


def option_findings(item: Item, line: int) -> Iterator[Finding]:
    """Look at question and options alone, whatever the answer says."""
    yield from _prefixes(item, line)
    yield from _duplicates(item, line)
    yield from _embedded(item, line)
    yield from _references(item, line)
    loose = [text for text in (item.question, *item.options) if text != text.strip()]
    if loose:
        yield Finding.of("LOOSE_WHITESPACE", f"blanks around {loose[0]!r}", item, line)


def answer_findings(item: Item, line: int) -> Iterator[Finding]:
    """Look at the answer of an item that keeps the contract."""
    if item.kind == "open":
        return
    if item.kind == "multi" and len(item.answer) == 1:
        yield Finding.of("MULTI_1_ANSWER", f"only {item.answer[0]} is right", item, line)
    if item.kind == "multi" and len(item.answer) == len(item.options):
        yield Finding.of("MULTI_ALL_ANSWERS", "every option is right", item, line)
    yield from _answer_in_question(item, line)
    for field, found, right in answer_texts(item):
        finding = _compare_answer_text(item, field, found, right)
        if finding:
            yield Finding.of(finding[0], finding[1], item, line)


def _prefixes(item: Item, line: int) -> Iterator[Finding]:
    pairs = list(combinations(item.options, 2))
    alike = sum(a[:PREFIX] == b[:PREFIX] and len(a) >= PREFIX for a, b in pairs)
    if pairs and alike == len(pairs):
        start = item.options[0][:PREFIX]
        yield Finding.of("ALL_SAME_PREFIX", f"all options begin with {start!r}", item, line)
    elif pairs and alike / len(pairs) > SIMILAR_SHARE:
        share = f"{alike} of {len(pairs)} pairs of options share their first {PREFIX} characters"
        yield Finding.of("MANY_OPTS_SIMILAR", share, item, line)


def _duplicates(item: Item, line: int) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for letter, option in zip(LETTERS, item.options, strict=False):
        earlier = first.setdefault(plain(option), letter)
        if earlier != letter:
            same = f"{earlier} and {letter} are both {option!r}"
            yield Finding.of("DUPLICATE_OPTS", same, item, line)


def _embedded(item: Item, line: int) -> Iterator[Finding]:
    inline = {match["letter"]: match["text"] for match in _INLINE.finditer(item.question)}
    if len(inline) < 2 or list(inline) != list(LETTERS[: len(inline)]):
        return
    same = list(inline) == list(item.letters) and all(
        plain(text).strip(" ,;.?") == plain(option).strip(" ,;.?")
        for text, option in zip(inline.values(), item.options, strict=True)
    )
    if same:
        yield Finding.of("EMBEDDED_OPTIONS", "the question repeats its options", item, line)
    else:
        listed = ", ".join(f"{letter} {text!r}" for letter, text in inline.items())
        message = f"the question lists {listed}; the options are {', '.join(item.options)}"
        yield Finding.of("EMBEDDED_MISMATCH", message, item, line)


def _references(item: Item, line: int) -> Iterator[Finding]:
    for place, option in enumerate(item.options):
        if REFERS_TO_OTHERS.search(option):
            message = f"{LETTERS[place]} is {option!r}: wrong once options change places"
            yield Finding.of("ALL_OF_THE_ABOVE", message, item, line)
        if is_none_of_them(option) and place < len(item.options) - 1:
            message = f"{LETTERS[place]} is {option!r}, and others follow"
            yield Finding.of("NONE_NOT_LAST", message, item, line)


def _answer_in_question(item: Item, line: int) -> Iterator[Finding]:
    """A question that names its answer, unless it names another option as well."""
    question = f" {' '.join(words(item.question))} "
    named = [f" {' '.join(words(option))} " in question for option in item.options]
    right = [LETTERS.index(letter) for letter in item.answer]
    telling = [len(item.options[place]) >= 4 and item.kind != "yesno" for place in right]
    if all(telling) and all(named[p] for p in right) and sum(named) == len(right):
        told = ", ".join(repr(option) for option in item.correct)
        yield Finding.of("ANSWER_IN_QUESTION", f"the question says {told}", item, line)


def answer_texts(item: Item) -> Iterator[tuple[str, Json, Json]]:
    """Yield each field that writes the answer out: its name, what it says, what it should say."""
    for field in ANSWER_TEXT_FIELDS:
        found = item.reference if field == "reference" else item.extra.get(field)
        if isinstance(found, str) and len(item.answer) == 1:
            yield field, found, item.correct[0]
        elif isinstance(found, tuple) and all(isinstance(text, str) for text in found):
            yield field, found, item.correct


def _compare_answer_text(
    item: Item, field: str, found: Json, right: Json
) -> tuple[str, str] | None:
    said = (found,) if isinstance(found, str) else found
    meant = (right,) if isinstance(right, str) else right
    if set(said) == set(meant) or set(said) == set(item.answer):
        return None
    other = [text for text in said if text in item.options or text in item.letters]
    if any(text not in meant and text not in item.answer for text in other):
        return "ANSWER_TEXT_CONTRADICTS", f"{field} says {found!r}, the answer is {right!r}"
    return "ANSWER_TEXT_MISMATCH", f"{field} says {found!r}, the option is {right!r}"


def misaligned_texts(item: Item) -> Iterator[tuple[str, Json]]:
    """Yield the fields that ``--fix`` aligns, with the exact text of the option."""
    for field, found, right in answer_texts(item):
        finding = _compare_answer_text(item, field, found, right)
        if finding and finding[0] == "ANSWER_TEXT_MISMATCH":
            yield field, right
