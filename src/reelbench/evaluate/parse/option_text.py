"""Answers in the words of an option, in whatever sentence.

An option's text can be stated, denied ("not a red door", "unlike a red door", "if it were red"),
one of alternatives ("red or blue") or part of a question. The reply answers with an option if it
states that one and no other; if others come up too, only where its first sentence states one and
the rest explains that, or where a sentence concludes with one.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from reelbench.evaluate.parse.clauses import (
    CONCLUDES,
    EITHER,
    ENDS,
    EXPLAINS,
    NEGATION,
    is_stated,
    needle,
    tokens,
)
from reelbench.evaluate.parse.letters import Reader
from reelbench.evaluate.parse.question import ClosedQuestion, Places
from reelbench.evaluate.parse.text import ReplyText

_LONG = 1500  # characters; in a longer text an option may come up without being the answer
_MANY = 60  # mentions
_FEW = 3  # sentences, of which any may state an option of one word
_SOME = 6  # sentences, of which any may state a longer one
_BRIEF = 30  # words of a sentence that may state an option of one word
_SEEN = 300  # characters of a sentence on either side of a mention
_COMMON = frozenset({  # too common to be an answer amid a sentence
    "i", "it", "he", "she", "they", "we", "you", "this", "that", "who", "what", "which", "one",
    "all", "both", "none", "no", "yes", "not", "is", "are", "other", "others", "some", "any",
    "more", "less", "most", "same", "there", "here",
})  # fmt: skip
_NUMBERED = frozenset({
    "frame", "frames", "image", "figure", "step", "second", "seconds", "minute", "minutes", "video",
    "clip", "line", "option",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Mention:
    start: int
    end: int
    place: int
    stated: bool
    sentence: int


class _Scan:
    """A reply as words between single spaces, and where its sentences and mentions are."""

    def __init__(self, bare: str, question: ClosedQuestion) -> None:
        found = tokens(bare)
        self.question = question
        self.text = f" {' '.join(found)} "
        self._ends = [-1]  # where in the text the marks are that end sentences
        place = 1
        for token in found:
            if token in ENDS:
                self._ends.append(place)
            place += len(token) + 1
        self.last = len(self._ends) - (2 if found and found[-1] in ENDS else 1)

    @cached_property
    def mentions(self) -> list[_Mention]:
        """Every option that comes up, in order; of one within another, the longer."""
        outer: list[tuple[int, int, int]] = []
        for each in sorted(self._found(), key=lambda one: (one[0], -one[1])):
            if not outer or each[1] > outer[-1][1] or each[:2] == outer[-1][:2]:
                outer.append(each)
        if len(outer) > _MANY:
            return []
        joined = [pair for pair in pairwise(outer) if self._between(*pair) in (" o ", " u ")]
        either = {each for pair in joined for each in pair}
        return [self._mention(*each, each in either) for each in outer]

    def _found(self) -> list[tuple[int, int, int]]:
        found: list[tuple[int, int, int]] = []
        for option, words in enumerate(map(needle, self.question.options)):
            place = self.text.find(words) if words else -1
            while place >= 0 and len(found) <= _MANY * len(self.question.options):
                found.append((place, place + len(words), option))
                place = self.text.find(words, place + len(words) - 1)
        return found

    def _between(self, first: tuple[int, int, int], second: tuple[int, int, int]) -> str:
        return self.text[first[1] - 1 : second[0] + 1]

    def _mention(self, start: int, end: int, option: int, either: bool) -> _Mention:
        number = bisect_right(self._ends, start) - 1
        begin, stop = self._span(number)
        before = self.text[max(begin, start - _SEEN) : start + 1]
        after = self.text[end - 1 : min(stop, end + _SEEN)]
        return _Mention(start, end, option, not either and is_stated(before, after), number)

    def _span(self, number: int) -> tuple[int, int]:
        begin = self._ends[number] + 1 if number else 0
        return begin, (
            self._ends[number + 1] + 2 if number < len(self._ends) - 1 else len(self.text)
        )

    def sentence(self, number: int) -> str:
        """One sentence, with the mark that ends it and spaces around."""
        begin, stop = self._span(number)
        return self.text[begin:stop]

    def around(self, mention: _Mention) -> set[str]:
        """The words right before and behind a mention."""
        before = self.text[max(0, mention.start - 20) : mention.start + 1].split()[-1:]
        return {*before, *self.text[mention.end - 1 : mention.end + 20].split()[:1]}


def option_text(reply: ReplyText, reader: Reader) -> Places:
    """``The man is dunking a basketball.``: one option's text is stated, and no other's."""
    if reply.refuses or not _may_mention(reply, reader.question):
        return ()
    scan = _Scan(reply.bare, reader.question)
    stated = [mention for mention in scan.mentions if mention.stated]
    chosen = {mention.place for mention in stated}
    decided = _concluded(scan, stated) | _explained(scan, stated)
    if decided:
        chosen = decided
    elif reader.question.kind == "multi" and len(chosen) > 1:
        return _several(scan, stated)
    elif len(reply.bare) > _LONG or _has_alternatives(scan, chosen):
        return ()
    told = len(chosen) == 1 and _is_told(scan, stated, next(iter(chosen)))
    return tuple(chosen) if told else ()


def _may_mention(reply: ReplyText, question: ClosedQuestion) -> bool:
    low = reply.low.casefold()
    found = [needle(option).split() for option in question.options]
    return any(words and max(words, key=len) in low for words in found)


def _concluded(scan: _Scan, stated: list[_Mention]) -> set[int]:
    """What is stated in sentences that open with a word such as therefore."""
    numbers = {mention.sentence for mention in stated}
    concluding = {number for number in numbers if CONCLUDES.match(scan.sentence(number))}
    return {mention.place for mention in stated if mention.sentence in concluding}


def _explained(scan: _Scan, stated: list[_Mention]) -> set[int]:
    """What the first sentence states, if it states one option and the next gives the reason."""
    first = {mention.place for mention in scan.mentions if mention.sentence == 0}
    told = {mention.place for mention in stated if mention.sentence == 0}
    explained = scan.last > 0 and EXPLAINS.match(scan.sentence(1))
    return told if explained and len(first) == len(told) == 1 else set()


def _has_alternatives(scan: _Scan, chosen: set[int]) -> bool:
    """Whether another option is one of alternatives, and not denied."""
    others = [mention for mention in scan.mentions if mention.place not in chosen]
    sentences = [scan.sentence(mention.sentence) for mention in others if not mention.stated]
    return any(EITHER.search(each) and not NEGATION.search(each) for each in sentences)


def _several(scan: _Scan, stated: list[_Mention]) -> Places:
    """The options of one sentence, where several may be right and the reply is brief."""
    one_sentence = len({mention.sentence for mention in stated}) == 1
    clear = one_sentence and len(stated) == len(scan.mentions) and scan.last <= _FEW
    return tuple(sorted({mention.place for mention in stated})) if clear else ()


def _is_told(scan: _Scan, stated: list[_Mention], place: int) -> bool:
    """Whether an option stands where answers do: one of one word in a short sentence."""
    word = needle(scan.question.options[place]).strip()
    mentions = [mention for mention in stated if mention.place == place]
    if " " in word:
        return any(_is_near_an_end(scan, mention) for mention in mentions)
    if word in _COMMON or (len(word) == 1 and word.isascii() and not word.isdecimal()):
        return False
    if word[0].isdecimal():
        return scan.last == 0 and not any(_NUMBERED & scan.around(each) for each in mentions)
    return any(_stands_out(scan, mention) for mention in mentions)


def _is_near_an_end(scan: _Scan, mention: _Mention) -> bool:
    concludes = CONCLUDES.match(scan.sentence(mention.sentence))
    return mention.sentence in (0, 1, scan.last) or scan.last <= _SOME or bool(concludes)


def _stands_out(scan: _Scan, mention: _Mention) -> bool:
    sentence = scan.sentence(mention.sentence)
    if CONCLUDES.match(sentence):
        return True
    at_an_end = mention.sentence in (0, scan.last) or scan.last <= _FEW
    return at_an_end and sentence.count(" ") <= _BRIEF
