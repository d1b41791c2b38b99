"""How texts compare by their words: what a polished one keeps, what a caption supports.

These are rules of thumb about English words. They find what is plainly wrong, and no more; whether
an option is right or wrong is for people to say.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import combinations

from reelbench.base.text import is_none_of_them, plain, refers_to_others, word_set, words
from reelbench.make.parts.near_duplicates import contrasting

ALIKE = 0.9  # share of characters that two options may have in common at most
TYPING_ERROR = 0.8  # likeness above which one word is another with a slip corrected


_GRAMMAR = word_set(
    "a an the and that which who is are was were be been being has have had do does did it there "
    "this to of then so as"
)
_FILLERS = word_set(
    "actually also basically guess i just kind know like literally quite really simply sort think "
    "uh um very well you"
)
_COMMON = _GRAMMAR | word_set(
    "he she they we his her their its him them in on at by with from for into onto out up down off "
    "over under while when where what how or but not no if than because after before during about "
    "one some"
)
_ENGLISH = word_set(
    "the and of to is are with it that as on by for he she they this from while when then there "
    "who which into out up down off before after where what but about their its were been being "
    "nobody nothing someone"
)
_LEAST_ENGLISH = 0.08  # of the words of a text; about 0.3 is usual, and 0.02 in other languages
_LONG_RUN = 6  # words of an answer that a question does not have in a row by chance
_MOST_SHARED = 2 / 3  # of the words of an answer that a question may have
# Not after an initial or a title: "Dr. No" and "J. S. Bach" end no sentence.
_SENTENCE_END = re.compile(r"(?<!\b[A-Z])(?<!\b(?:Mr|Ms|Dr|St|vs))(?<!\bMrs)[.!?]+[\"')]*(?=\s|$)")
_ENDINGS = ("ingly", "edly", "ing", "ed", "es", "ly", "s")
_SPEAKS_OF_OPTIONS = re.compile(
    r"\b(?:option|choice|answer)s? \(?[A-Z]\)?(?![\w'])"
    r"|\b(?:all|none|any|both|either|neither) of the (?:above|below|other|others|options)\b"
    r"|\b(?:previous|above|other|preceding) (?:option|choice|answer)s?\b",
    re.IGNORECASE,
)


def stem(word: str) -> str:
    """Return a word without the endings of plural, tense and adverb."""
    for ending, instead in (("ies", "y"), ("ied", "y")):
        if word.endswith(ending) and len(word) > 4:
            return word.removesuffix(ending) + instead
    ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= 3), "")
    word = word.removesuffix(ending)
    if ending and len(word) > 3 and word[-1] == word[-2]:  # running, stopped
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that say what it is about."""
    return frozenset(stem(word) for word in words(text) if word not in _COMMON)


def light_polish_fault(old: str, new: str) -> str:
    """Return why a key was changed in more than grammar and filler words; "" where it was not."""
    before, after = _by_stem(old), _by_stem(new)
    fillers = {stem(each) for each in _FILLERS}
    dropped = {word for each, word in before.items() if each not in after.keys() | fillers}
    added = {word for each, word in after.items() if each not in before}
    for word in sorted(added):
        slips = sorted(each for each in dropped if _is_slip(each, word))
        if slips:
            added, dropped = added - {word}, dropped - {slips[0]}
    moved = _in_order(old, after, fillers) != _in_order(new, before, fillers)
    if not dropped and not added and not moved and not contrasting(old, new):
        return ""
    changes = [f"drops {', '.join(sorted(dropped))}"] if dropped else []
    changes += [f"adds {', '.join(sorted(added))}"] if added else []
    other = "puts its words into another order" if moved else "turns it into its opposite"
    how = " and ".join(changes) or other
    return f"the right answer may change in grammar and filler words alone, but {new!r} {how}"


def _by_stem(text: str) -> dict[str, str]:
    return {stem(word): word for word in words(text) if word not in _GRAMMAR}


def _in_order(text: str, other: Mapping[str, str], fillers: Collection[str]) -> list[str]:
    """Return the words that another text has too, in their order, which may be what is asked for.

    Of a text of single letters, such as (A.) (D.) (B.), all count: "a" is no article there.
    """
    found = words(text)
    if all(len(word) == 1 for word in found):
        return list(found)
    return [each for each in _by_stem(text) if each in other and each not in fillers]


def _is_slip(one: str, other: str) -> bool:
    return one[:1] == other[:1] and SequenceMatcher(None, one, other).ratio() > TYPING_ERROR


def share_supported(option: str, question: str, caption: str) -> float | None:
    """Return the share of an option's own words that a caption has; None where it has none.

    Words that the question has already are not its own.
    """
    own = content_words(option) - content_words(question)
    return len(own & content_words(caption)) / len(own) if own else None


def revealed_fault(
    question: str, answer: str, decisive: Sequence[str] = (), known: str = ""
) -> str:
    """Return how a question gives its answer away; "" where it does not.

    ``decisive`` are the words of the answer that decide it, none of which the question may have;
    ``known`` is a text whose words it may have, such as how someone looks.
    """
    asked = content_words(question) - content_words(known)
    for each in decisive:
        if own := content_words(each) & asked:
            return f"the question has {each!r} of the answer ({', '.join(sorted(own))})"
    there, sought = f" {' '.join(words(question))} ", words(answer)
    for place in range(len(sought) - _LONG_RUN + 1):
        run = " ".join(sought[place : place + _LONG_RUN])
        if f" {run} " in there and run not in " ".join(words(known)):
            return f"the question repeats {run!r} of the answer"
    of_answer = content_words(answer) - content_words(known)
    if of_answer and len(of_answer & asked) > _MOST_SHARED * len(of_answer):
        return "the question has most of the words of the answer"
    return ""


def one_sentence_fault(text: str) -> str:
    """Return why a text is not one sentence; "" where it is."""
    ends = _SENTENCE_END.findall(text.strip().rstrip(".!?\"') ") + ".")
    return "it must be one sentence" if len(ends) > 1 or "\n" in text.strip() else ""


def self_contained_fault(options: Sequence[str]) -> str:
    """Return which option speaks of others; "" where each can be read alone."""
    # Where all are such lists, they are of things that the question names: "B, A, C".
    of_letters = all(map(refers_to_others, options))
    for option in options:
        referring = refers_to_others(option) and not of_letters
        if referring or is_none_of_them(option) or _SPEAKS_OF_OPTIONS.search(option):
            return f"{option!r} speaks of other options"
    return ""


def alike_fault(options: Sequence[str]) -> str:
    """Return which two options are too alike; those that differ in a number or contrast are not."""
    for one, other in combinations(options, 2):
        likeness = SequenceMatcher(None, plain(one), plain(other), autojunk=False).ratio()
        if likeness >= ALIKE and not contrasting(one, other):
            return f"{one!r} and {other!r} are too alike"
    return ""


def other_language(text: str) -> str:
    """Return why a text is not English prose; "" where it is."""
    letters = [letter for letter in text if letter.isalpha()]
    if not letters:
        return "it has no words"
    if sum(letter.isascii() for letter in letters) < 0.8 * len(letters):
        return "it is not in English: most of its letters are of another script"
    found = words(text)
    if sum(word in _ENGLISH for word in found) < _LEAST_ENGLISH * len(found):
        return "it is not in English prose: it has hardly any of the usual small words"
    return ""
