"""Findings about one item's question, options and answer."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import combinations
from statistics import median

from reelbench.base.text import (
    bare,
    html_in,
    is_none_of_them,
    mentions,
    plain,
    refers_to_others,
    width,
    words,
)
from reelbench.data.items import LETTERS, Item, Json
from reelbench.data.question_rules import (
    TO_REPLACE,
    are_letters,
    asks_for_order,
    inline_options,
)
from reelbench.lint.findings import Finding

PREFIX = 50  # characters after which a reader has stopped comparing
SIMILAR_SHARE = 0.5  # of all pairs of options
PROMPT_SHARE = 0.3  # what MuseBench's writers are told (Table 6); no tag of its own
PARAPHRASE = 0.5  # likeness of an answer in other words; an explanation is less alike

# Where benchmarks write the right option out in full. Ours has `reference`, which may also hold
# an explanation, so that it counts only where it resembles an option.
ANSWER_TEXT_FIELDS = ("correct_answer", "correct_answers", "answer_text", "reference")


def option_findings(item: Item, line: int) -> Iterator[Finding]:
    """Yield findings about the question and options of an item, whatever its answer."""
    yield from _prefixes(item, line)
    yield from _duplicates(item, line)
    yield from _embedded(item, line)
    yield from _references(item, line)
    if any(text.startswith(TO_REPLACE) for text in (item.question, item.reference or "")):
        yield Finding.of("NOT_REPLACED", f"the question is {item.question!r}", item, line)
    reference = item.reference or ""
    if item.kind == "open" and are_letters(reference) and "letter" not in item.question.lower():
        message = f"the reference is {reference!r}, and the question has no options"
        yield Finding.of("LETTER_AS_REFERENCE", message, item, line)
    for text in (item.question, *item.options, item.reference or ""):
        if markup := html_in(text):
            message = f"{markup!r} in {text[:80]!r}: write the text itself"
            yield Finding.of("HTML_IN_TEXT", message, item, line)
            break
    loose = [text for text in (item.question, *item.options) if text != text.strip()]
    if loose:
        yield Finding.of("LOOSE_WHITESPACE", f"blanks around {loose[0]!r}", item, line)


def answer_findings(item: Item, line: int) -> Iterator[Finding]:
    """Yield findings about the answer of a valid item."""
    if item.kind == "open":
        return
    if item.kind == "multi" and len(item.answer) == 1:
        yield Finding.of("MULTI_1_ANSWER", f"only {item.answer[0]} is right", item, line)
    if item.kind == "multi" and len(item.answer) == len(item.options):
        yield Finding.of("MULTI_ALL_ANSWERS", "every option is right", item, line)
    yield from _answer_in_question(item, line)
    if message := standing_out(item):
        yield Finding.of("KEY_STANDS_OUT", message, item, line)
    for field, found, right, tag in _answer_texts(item):
        verb = "the option is" if tag == "ANSWER_TEXT_MISMATCH" else "the answer is"
        yield Finding.of(tag, f"{field} says {found!r}, {verb} {right!r}", item, line)


def _prefixes(item: Item, line: int) -> Iterator[Finding]:
    alike, pairs = shared_prefixes(item)
    if pairs and alike == pairs:
        start = item.options[0][:PREFIX]
        yield Finding.of("ALL_SAME_PREFIX", f"all options begin with {start!r}", item, line)
    elif pairs and alike / pairs > SIMILAR_SHARE:
        share = f"{alike} of {pairs} pairs of options share their first {PREFIX} characters"
        yield Finding.of("MANY_OPTS_SIMILAR", share, item, line)


def shared_prefixes(item: Item) -> tuple[int, int]:
    """Return how many pairs of options share their first fifty characters, and of how many."""
    pairs = list(combinations(item.options, 2))
    alike = sum(a[:PREFIX] == b[:PREFIX] and len(a) >= PREFIX for a, b in pairs)
    return alike, len(pairs)


def _duplicates(item: Item, line: int) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for letter, option in zip(LETTERS, item.options, strict=False):
        earlier = first.setdefault(plain(option), letter)
        if earlier != letter:
            same = f"{earlier} and {letter} are both {option!r}"
            yield Finding.of("DUPLICATE_OPTS", same, item, line)


def _embedded(item: Item, line: int) -> Iterator[Finding]:
    lists = bool(item.options) and not asks_for_order(item.question)
    inline = inline_options(item.question) if lists else {}
    if not inline or _name_parts(item.options, set(inline)):
        return
    texts, options = [bare(t) for t in inline.values()], [bare(o) for o in item.options]
    if texts == options:
        yield Finding.of("EMBEDDED_OPTIONS", "the question repeats its options", item, line)
        return
    # Two labels alone may be two speakers, or two teams: then one must be an option at least.
    if len(inline) >= 3 or set(texts) & set(options):
        listed = ", ".join(f"{letter} {text!r}" for letter, text in inline.items())
        message = f"the question lists {listed}; the options are {', '.join(item.options)}"
        yield Finding.of("EMBEDDED_MISMATCH", message, item, line)


def _name_parts(options: Sequence[str], labels: set[str]) -> bool:
    """Whether options are orders or sets of what a question lists, such as "(c)(a)(b)."."""
    named = [re.findall(r"[^\W\d_]+", re.sub(r"\b(?:and|then)\b", " ", o)) for o in options]
    letters = ["".join(words).upper() for words in named]
    several = any(len(text) > 1 for text in letters)
    return several and all(text and set(text) <= labels for text in letters)


def _references(item: Item, line: int) -> Iterator[Finding]:
    lists = _name_parts(item.options, set(inline_options(item.question)))
    for place, option in enumerate(item.options):
        if refers_to_others(option) and not lists:
            message = f"{LETTERS[place]} is {option!r}, which is wrong in another order of options"
            yield Finding.of("ALL_OF_THE_ABOVE", message, item, line)
        if is_none_of_them(option) and place < len(item.options) - 1:
            message = f"{LETTERS[place]} is {option!r}, and other options follow"
            yield Finding.of("NONE_NOT_LAST", message, item, line)


def _answer_in_question(item: Item, line: int) -> Iterator[Finding]:
    """A question that names its answer, unless it names another option as well."""
    if item.kind == "yesno":
        return
    named = {option for option in item.options if mentions(item.question, option)}
    telling = all(map(_says_something, item.correct))
    if telling and named == set(item.correct):
        message = ", ".join(repr(option) for option in item.correct)
        yield Finding.of("ANSWER_IN_QUESTION", f"the question says {message}", item, line)


def _says_something(option: str) -> bool:
    """Whether an option has a word of some length; a number may stand in any question."""
    return any((len(word) > 2 or not word.isascii()) and word.isalpha() for word in words(option))


TWICE, STILL, LETTERS_MORE = 2.0, 1.5, 10  # the median option; the nearest one; in any case


def standing_out(item: Item) -> str:
    """Return how far the key is longer or shorter than all other options; empty if it is not."""
    if item.kind != "single":
        return ""
    (letter,) = item.answer
    key = width(item.correct[0])
    places = [place for place, option in enumerate(item.options) if not is_none_of_them(option)]
    lengths = [width(item.options[place]) for place in places if LETTERS[place] != letter]
    if len(lengths) < 2 or len(lengths) == len(places):
        return ""
    usual, nearest, low = median(lengths), max(lengths), min(lengths)
    message = f"{letter} is {key} characters long, the others {low} to {nearest}"
    if key >= TWICE * usual and key >= STILL * nearest and key - nearest >= LETTERS_MORE:
        return message
    if key * TWICE <= usual and key * STILL <= low and low - key >= LETTERS_MORE:
        return message
    return ""


def _answer_texts(item: Item) -> Iterator[tuple[str, Json, Json, str]]:
    """Yield each field that writes the answer out wrongly: name, what it says, should say, tag."""
    for field in ANSWER_TEXT_FIELDS:
        found = item.reference if field == "reference" else item.extra.get(field)
        texts = (found,) if isinstance(found, str) else found
        right = (
            item.correct[0] if isinstance(found, str) and len(item.answer) == 1 else item.correct
        )
        if not isinstance(texts, tuple) or not all(isinstance(s, str) and s.strip() for s in texts):
            continue
        if set(texts) != set(item.correct) and set(texts) != set(item.answer):
            tag = _judge_answer_text(item, field, texts)
            if tag:
                yield field, found, right, tag


def _judge_answer_text(item: Item, field: str, texts: tuple[str, ...]) -> str | None:
    """Tell other words for the right option from the words of a wrong one."""
    letters = set(item.letters)
    for text in texts:
        nearest, likeness = _nearest_option(item, text)
        if text in letters - set(item.answer) or (likeness == 1 and nearest not in item.correct):
            return "ANSWER_TEXT_CONTRADICTS"
        if field == "reference" and (likeness < PARAPHRASE or nearest not in item.correct):
            return None
        if nearest not in item.correct and likeness >= PARAPHRASE:
            return "ANSWER_TEXT_CONTRADICTS"
    return "ANSWER_TEXT_MISMATCH"


def _nearest_option(item: Item, text: str) -> tuple[str, float]:
    likeness = {
        option: SequenceMatcher(None, bare(text), bare(option), autojunk=False).ratio()
        for option in item.options
    }
    nearest = max(item.options, key=lambda option: (likeness[option], option in item.correct))
    return nearest, likeness[nearest]


def misaligned_texts(item: Item) -> Iterator[tuple[str, Json]]:
    """Yield the fields that ``--fix`` aligns, with the exact text of the option."""
    for field, _, right, tag in _answer_texts(item):
        if tag == "ANSWER_TEXT_MISMATCH":
            yield field, right
