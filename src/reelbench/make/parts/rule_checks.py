"""Checks of rules: what code can decide about a question and its options.

A check compares words, not meanings, and rather rejects a good draft, which costs one more call,
than accepts a bad one.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from reelbench.base.text import (
    bare,
    is_none_of_them,
    mentions,
    plain,
    refers_to_others,
    words,
)
from reelbench.data.fields import is_text
from reelbench.data.items import LETTERS
from reelbench.data.question_rules import lists_options
from reelbench.lint.options import PREFIX
from reelbench.make.parts.names import (
    WORD,
    begins_with_a_name,
    is_shortened_name,
    mixed_alphabets,
    named_in,
)
from reelbench.make.parts.perceptible import lead_of, leads_with_seen_or_heard

SLACK = 2  # words by which options may differ in length, however short they are
STANDS_OUT = 1.25  # times as long as the next option, or as short: then a key is seen at a glance
FIRST_WORDS = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was written, with all its options and the right ones among them."""

    question: str
    options: tuple[str, ...]
    keys: tuple[str, ...]
    names: tuple[str, ...] = ()  # in the texts about its source; see ``names.py``

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the name and normalised text of the question and of each option."""
        named = [("the question", self.question)]
        named += [(f"option {a}", o) for a, o in zip(LETTERS, self.options, strict=False)]
        for where, text in named:
            seen = "".join(sign for sign in text if unicodedata.category(sign) != "Cf")
            yield where, re.sub(r"[^\S\n]+", " ", unicodedata.normalize("NFKC", seen)).strip()

    def find(self, pattern: re.Pattern[str]) -> str:
        """Return where a pattern is found in the question or an option; empty where it is not."""
        found = ((where, pattern.search(text)) for where, text in self.texts())
        return next((f"{where} says {hit[0].strip()!r}" for where, hit in found if hit), "")


_NUMBERS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_ORDINALS = r"second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|(?!1st)\d+(?:st|nd|rd|th)"
# "In scene two", but not "in the scene two men fight": a number that is a name has no article.
_NAMED = r"(?:^|[.!?:;,(]\s*|\b(?:in|from|of|between|during|after|before|to|and|is|does)\s+)"
# "The third scene" is one that has to be counted; "the third scene with the dog" is hinted at.
_HINT = r"\s+(?:with|at|between|on|involving|set|in(?!\s+(?:the|this)\s+(?:film|movie|video)))\b"
_SCENE_NUMBER = re.compile(
    r"(?i:\bscenes?[\s(\[-]*(?:(?:no|nr|numbers?)\b\.?\s*)?#?\s*\d{1,3}\b)"
    rf"|(?i:\bscenes?\s+(?:no\.|nr\.|numbers?)\s+(?:{_NUMBERS})\b)"
    rf"|(?i:{_NAMED}scenes?\s+(?:{_NUMBERS})\b(?!\s+of\b))"
    r"|\b(?i:scenes?)\s+[IVX]{2,}\b"
    r"|(?<![\w-])S\d{1,2}(?![\w-])"
    rf"|(?i:(?<![\w-])(?:{_ORDINALS})\s+scenes?\b(?!-|{_HINT}))"
    r"|第\s*[\d一二三四五六七八九十]+\s*[个個の]?\s*(?:[场場][景戏戲]|幕|シーン)|(?:[场場]景|シーン)\s*\d+"
)


def no_scene_numbers(asked: Asked) -> str:
    """No scene goes by its number; the first, the opening and the final one have none."""
    return asked.find(_SCENE_NUMBER)


_CLOCK = r"(?<![\d:.])\d{1,2}:[0-5]\d(?::[0-5]\d)?(?![\d:])(?!\s?(?:[ap]\.?m\b|o.clock))"
_AT_A_TIME = re.compile(
    rf"(?i)\bat (?:about |around |exactly )?{_CLOCK}"
    r"|\b\d+(?:st|nd|rd|th)?[- ](?:minute|second|min|sec)s?[- ]mark\b"
    r"|\b\d+ ?m(?:in)?\.? ?\d+ ?s(?:ec)?\b"
    r"|\btime[- ]?(?:code|stamp)s? \d|\b(?:minutes? \d+|at seconds? \d+)\b"
    r"|\bat \d+ (?:minutes|seconds|min|sec)\b(?! (?:to|past|before|after|per)\b)"
    r"|\b\d+ (?:minutes|seconds) (?:in(?=[,.?!]|$)|into the (?:film|movie|video|scene|clip))"
    r"|第\s*\d+\s*[秒分]"
)
_ANY_TIME = re.compile(rf"(?i){_CLOCK}")
_ON_A_CLOCK = re.compile(r"(?i)\b(?:clocks?|wristwatch|stopwatch|timer|alarm|what time)\b")


def no_time_codes(asked: Asked) -> str:
    """No moment goes by its place in the file; the time that a clock in the film shows may."""
    return asked.find(_AT_A_TIME) or ("" if asked.find(_ON_A_CLOCK) else asked.find(_ANY_TIME))


_OURS = r"(?:(?:closed|visual|provided|given|above|scene|film|movie|plot|overall|full)(?:['’]s)? )*"
# Films have descriptions of their own ("of the thief", "by the witness"): those may be asked about.
_SOURCE = (
    r"(?:context(?! of)|(?:captions?|subtitles?|descriptions?|transcripts?|summary|summaries|"
    r"synopsis|log-?lines?)(?! (?:under|on|below|beneath|beside|by|given|read|he|she|they|"
    r"of (?!(?:the|this|each|a) (?:scene|film|movie|video|clip|plot|story)))))\b"
)
_SAYS = r"(?:say|state|mention|describe|indicate|suggest|note|reveal|tell|show|impl(?:y|ies))"
_MENTION = re.compile(
    r"(?i)\b(?:according to|based (?:up)?on|judging (?:by|from)|per) (?:(?:the|this|these|all) )?"
    rf"{_OURS}{_SOURCE}"
    rf"|\b(?:in|from|within) (?:the|these) {_OURS}{_SOURCE}"
    # One caption may be seen on the screen, and its words asked for; the captions are ours.
    rf"|\bthe {_OURS}(?:captions|subtitles|descriptions?|transcript|context|summary) {_SAYS}"
    r"|\b(?:closed captions?|log-?lines?|(?:visual|plot|film|scene) (?:summary|descriptions?))\b"
    r"|\bthe (?:provided|given|supplied) (?:context|texts?|materials?|information|details?)\b"
    r"|(?:根据|根據|依据|按照)[^,。?]{0,6}(?:字幕|描述|摘要|上下文|简介)"
)


def no_mention_of_sources(asked: Asked) -> str:
    """Nothing speaks of the texts that the question was written from: who answers has none."""
    return asked.find(_MENTION)


_LABEL = re.compile(r"\W*(?:\(?(?:[A-Ha-h]|\d+)[.):])?\W*")
_ABBREVIATED = re.compile(r"(?:^|\W)(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Mt|Prof|Capt|Sgt|Lt|Jr|Sr|vs)\.$")


def no_proper_nouns(asked: Asked, accepted: Sequence[str] = ()) -> str:
    """No word has a capital letter but where a sentence begins; some words may be accepted.

    A name that begins a sentence is not seen. Not for German, which writes nouns with capitals.
    """
    known = {part.casefold() for name in accepted for part in WORD.findall(name)}
    for where, text in asked.texts():
        for word in WORD.finditer(text):
            name = re.sub(r"['’]s$", "", word[0])
            named = _is_name(name) and name.casefold() not in known
            if named and not _begins(text[: word.start()]):
                return f"{where} names {name!r}"
    return ""


def no_names(asked: Asked, accepted: Sequence[str] = ()) -> str:
    """No name of the source, and no other proper noun; some terms of the art may be accepted.

    An accepted word is never a name. An accepted term such as "Rembrandt lighting" is none either,
    unless the source is about one who is called that. Of the names that begin a sentence and are
    not the source's, those are found that an English noun could not stand for.
    """
    single = {term.casefold() for term in accepted if WORD.fullmatch(term)}
    names = [name for name in asked.names if name.casefold() not in single]
    known = re.compile("|".join(map(re.escape, sorted(accepted, key=len, reverse=True))) or "(?!)")
    terms = re.compile(rf"(?i)(?<!\w)(?:{known.pattern})(?!\w)")
    for where, text in asked.texts():
        others = terms.sub(lambda term: term[0].lower(), text)
        name = mixed_alphabets(text) or named_in(text, names) or _other_name(others)
        if name:
            return f"{where} names {name!r}"
    return ""


def _other_name(text: str) -> str:
    """Return a word that is a name by its capitals or its place; empty where there is none."""
    for word in WORD.finditer(text):
        name = re.sub(r"['’]s$", "", word[0])
        anywhere = re.search("[a-z][A-Z]", name) or is_shortened_name(name)
        if anywhere or (_is_name(name) and not _begins(text[: word.start()])):
            return name
    return begins_with_a_name(text)


def _is_name(word: str) -> bool:
    """Whether a word has capitals as names have: "Anna", "iPhone", "O'Brien"; not "TV", "I'm"."""
    parts = [part for part in re.split("['’]", word) if len(part) > 1]
    return any(part != part.lower() and not part.removesuffix("s").isupper() for part in parts)


def _begins(before: str) -> bool:
    """Whether the word after this text would have a capital letter anyway."""
    line = before.rpartition("\n")[2]
    if _LABEL.fullmatch(line) or line[-1] in "\"'“‘«「『。":
        return True
    end = line.rstrip().rstrip("'\")]”’»")
    ended = line.endswith(" ") and end.endswith((".", "!", "?", "…", ":"))
    return ended and not _ABBREVIATED.search(end)


def similar_length(asked: Asked, factor: float = 2.0) -> str:
    """No option has more than so many times the words of another, and no key stands out."""
    counts = sorted(len(words(option)) for option in asked.options)
    if len(counts) > 1 and exceeds(counts[-1], counts[0], factor):
        return f"the options have {counts[0]} to {counts[-1]} words"
    if len(counts) > 2 and len(asked.keys) == 1:
        key = len(words(asked.keys[0]))
        if exceeds(key, counts[-2], STANDS_OUT):
            return f"the key is the longest option, {key} words to {counts[-2]}"
        if exceeds(counts[1], key, STANDS_OUT):
            return f"the key is the shortest option, {key} words to {counts[1]}"
    return ""


def exceeds(long: int, short: int, factor: float) -> bool:
    """Whether a number of words is more than so many times another, and more than two above it."""
    return long > short * factor and long - short > SLACK


def no_shared_prefix(asked: Asked) -> str:
    """No two options begin with the same 50 characters, nor all with the same four words."""
    for one, other in combinations(map(plain, asked.options), 2):
        if len(one) >= PREFIX and one[:PREFIX] == other[:PREFIX]:
            return f"two options begin with {one[:PREFIX]!r}"
    # A Chinese character is less than a word.
    begins = {words(o)[: FIRST_WORDS * (1 if o[:1].isascii() else 2)] for o in asked.options}
    if len(asked.options) > 1 and len(begins) == 1 and len(begin := begins.pop()) >= FIRST_WORDS:
        return f"all options begin with {' '.join(begin)!r}"
    return ""


def distinct_options(asked: Asked) -> str:
    """No two options say the same but for case, spaces, labels and marks at their ends."""
    for one, other in combinations(asked.options, 2):
        if (bare(one) or plain(one)) == (bare(other) or plain(other)):
            return f"{one!r} and {other!r} are the same"
    return ""


def no_all_of_the_above(asked: Asked) -> str:
    """No option speaks of the others; "None" may be an answer, "None of them" is not."""
    for option in asked.options:
        forms = {plain(option), bare(option)} - {"none", "none."}
        if any(refers_to_others(form) or is_none_of_them(form) for form in forms):
            return f"{option!r} speaks of the other options"
    return ""


def answer_not_in_question(asked: Asked) -> str:
    """The question does not say the key, unless it says another option as well."""
    mentioned = {option for option in asked.options if mentions(asked.question, option)}
    return (
        f"the question says {asked.keys[0]!r}" if mentioned and mentioned == set(asked.keys) else ""
    )


def least_words(asked: Asked, least: int = 5) -> str:
    """The question has so many words at least: fewer do not lead to one moment of a film."""
    count = len(words(asked.question)) if asked.question.strip() else 0
    return f"the question has {count} words, not {least}" if count < least else ""


_CLIP_NUMBER = re.compile(r"(?i)\b(?:clip|segment)s?[\s(\[-]*(?:no\.?\s*|number\s+)?#?\d+\b")


def no_clip_numbers(asked: Asked) -> str:
    """No part of a video goes by the number that it has in what the question was written from."""
    return asked.find(_CLIP_NUMBER)


_NUMBERED = re.compile(
    r"(?m)(?:^|(?<=[\s(]))\(?(?:([1-9])|(i{1,3}|iv|v))[).](?=\s)|^\s*[-*•]\s+(?=\S)"
)
_SMALL_LETTERS = re.compile(r"(?:^|(?<=[\s(]))\(?([a-h])[).](?=\s)")
_CHOICES = re.compile(
    r"(?i)\b(?:(?:the |your )?(?:options|choices)(?: are| include)?:|"
    r"(?:choose|select|pick) (?:one |two |all )?(?:from|of|between|among)\b)"
)


def no_inline_options(asked: Asked) -> str:
    """The question lists no options; "is it fear, grief or anger?" is no list."""
    question = next(text for _, text in asked.texts())
    labels = [found[1] or found[2] for found in _NUMBERED.finditer(question)]
    numbered = labels[:2] in (["1", "2"], ["i", "ii"]) or labels[:2] == [None, None]
    numbered = numbered or _SMALL_LETTERS.findall(question)[:2] == ["a", "b"]
    listed = lists_options(question) or numbered or _CHOICES.search(question)
    return "the question lists options" if listed else ""


_COMMENTARY = (
    r"(?:narrat(?:or|ion|ors)|commentary|commentators?|voice-?\s?overs?|essayists?|"
    r"(?:video )?essays?|youtubers?|vloggers?|transcripts?)"
)
_SPEAKING = (
    r"(?:say|state|mention|explain|argue|claim|point|describe|note|suggest|discuss|analy[sz]e)"
)
_NARRATED = re.compile(
    rf"(?i)\b(?:the|this|a|an|its|their|our) (?:\w+ )?{_COMMENTARY}\b"
    rf"|\b(?:according to|as (?:said|explained|argued|described|noted|discussed) (?:by|in)) "
    r"(?:the |this )?(?:speaker|host|presenter|critic|analyst|reviewer|video|analysis|author)\b"
    rf"|\bthe (?:speaker|host|presenter|critic|analyst|reviewer|video|analysis) {_SPEAKING}\w*"
    r"|\b(?:video essay|narrated|the narration)\b"
    r"|旁白|解说|解說|讲解|視頻作者|视频作者"
)


def no_mention_of_narration(asked: Asked) -> str:
    """Nothing speaks of a narrator, a commentary or an essay: who answers does not hear it."""
    return asked.find(_NARRATED)


def leads_with_perceptible(asked: Asked) -> str:
    """The question first describes something seen or heard, then asks; for English questions."""
    question = next(text for _, text in asked.texts())
    if not re.search("[A-Za-z]{3}", question) or leads_with_seen_or_heard(question):
        return ""
    lead = lead_of(question)
    if not lead:
        return "the question asks before it describes anything seen or heard"
    return f"{lead!r} describes nothing seen or heard"


MOST_KEYS = 4
_SAME_POINT = 0.8  # share of the words of a key that another has as well


def independent_keys(asked: Asked) -> str:
    """Several right options are at most four, and none of them says what another says."""
    if len(asked.keys) > MOST_KEYS:
        return f"there are {len(asked.keys)} right options, not 2 to {MOST_KEYS}"
    for one, other in combinations(asked.keys, 2):
        short, long = sorted((set(words(one)), set(words(other))), key=len)
        if mentions(one, other) or mentions(other, one):
            return f"{one!r} and {other!r} are not independent: one contains the other"
        if len(short & long) >= _SAME_POINT * len(short):
            return f"{one!r} and {other!r} are not independent: they have the same words"
    return ""


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A check returns what is wrong with a draft, or an empty string; some take a setting."""

    run: Callable[..., str]
    fits: Callable[[Any], bool] = lambda _: False
    expected: str = "no setting"

    def held(self, asked: Asked, setting: Any) -> str:
        """Run the check, with a setting unless it is None."""
        return self.run(asked) if setting is None else self.run(asked, setting)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and 1 <= value <= 100


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


CHECKS: dict[str, RuleCheck] = {
    "no_scene_numbers": RuleCheck(no_scene_numbers),
    "no_time_codes": RuleCheck(no_time_codes),
    "no_mention_of_sources": RuleCheck(no_mention_of_sources),
    "no_proper_nouns": RuleCheck(no_proper_nouns, _are_words, "a list of accepted words"),
    "no_names": RuleCheck(no_names, _are_words, "a list of accepted words and terms"),
    "similar_length": RuleCheck(similar_length, _is_number, "a number from 1 to 100"),
    "no_shared_prefix": RuleCheck(no_shared_prefix),
    "distinct_options": RuleCheck(distinct_options),
    "no_all_of_the_above": RuleCheck(no_all_of_the_above),
    "answer_not_in_question": RuleCheck(answer_not_in_question),
    "least_words": RuleCheck(least_words, _is_number, "a number from 1 to 100"),
    "no_clip_numbers": RuleCheck(no_clip_numbers),
    "no_inline_options": RuleCheck(no_inline_options),
    "no_mention_of_narration": RuleCheck(no_mention_of_narration),
    "leads_with_perceptible": RuleCheck(leads_with_perceptible),
    "independent_keys": RuleCheck(independent_keys),
}
