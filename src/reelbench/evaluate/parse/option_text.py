"""Answers in the words of an option, in whatever sentence.

An option's text can be stated, denied ("not a red door", "unlike a red door", "if it were red"),
one of alternatives ("red or blue") or part of a question. The reply answers with an option if it
states that one and no other; if others come up too, only where its first sentence states one and
the rest explains that, or where a sentence concludes with one.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

from reelbench.evaluate.parse.clauses import (
    BEYOND,
    CONCLUDES,
    EITHER,
    ENDS,
    EXPLAINS,
    NEGATION,
    is_stated,
    needle,
    searched,
    tokens,
)
from reelbench.evaluate.parse.lines import unfinished_analysis
from reelbench.evaluate.parse.question import ClosedQuestion, Places, UnclearError
from reelbench.evaluate.parse.reader import Reader
from reelbench.evaluate.parse.segments import ReplyText
from reelbench.evaluate.parse.vocabulary import lowered, pattern, words

_LONG = 1500  # characters; in a longer text an option may come up without being the answer
_MANY = 60  # mentions
_FEW = 3  # sentences, of which any may state an option of one word
_SOME = 6  # sentences, of which any may state a longer one
_BRIEF = 30  # words of a sentence that may state an option of one word
_LETTERS = 2  # of words that say little
_SEEN = 300  # characters of a sentence on either side of a mention
_COMMON = frozenset({  # too common to be an answer amid a sentence
    "i", "it", "he", "she", "they", "we", "you", "this", "that", "who", "what", "which", "one",
    "all", "both", "none", "no", "yes", "not", "is", "are", "other", "others", "some", "any",
    "more", "less", "most", "same", "there", "here",
})  # fmt: skip
# Words that mostly do other work in a sentence: they count where they end a clause behind a verb.
_WEAK = frozenset({
    "up", "down", "left", "right", "may", "march", "us", "will", "first", "second", "third", "last",
    "after", "before", "during", "never", "always", "good", "bad", "poor", "fair", "clear",
    "well", "in",
    "out", "on", "off", "over", "under", "back", "forward", "can", "might", "must", "like",
    "then", "now",
    "still", "even", "only", "again", "high", "low", "fast", "slow", "mark", "bill", "grace",
    "hope",
    "close", "open", "light", "dark", "top", "bottom", "front", "behind", "inside", "outside",
    "often",
    "sometimes", "once", "twice", "later", "earlier", "average", "sound", "normal", "true", "false",
})  # fmt: skip
_WEAK_BEHIND = frozenset({
    "is", "are", "was", "be", "being", "looks", "seems", "appears", "remains", "stays", "to",
    "towards",
    "toward", "from", "goes", "moves", "moving", "moved", "going", "turns", "turning", "turned",
    "pans",
    "panning", "tilts", "tilting", "looking", "walks", "walking", "runs", "running", "points",
    "pointing",
    "faces", "facing", "heads", "heading", "drives", "driving", "slides", "sliding", "swipes",
    "scrolls",
    "flies", "flying", "falls", "falling", "very", "quite", "rather", "fairly", "relatively",
    "pretty",
    "overall", "as", "called", "considered", "rated", "named", "answer", "direction", "quality",
    "on", "at", "and",
    "person",
    "in", ",", ":", "(", "month",
})  # fmt: skip
_CLAUSE_ENDS = frozenset({
    ".", "!", ",", ";", ":", ")", "(", "because", "since", "with", "as", "。", "\n", "direction",
    "side",
    "quality", "due", "throughout", "overall",
})  # fmt: skip
_INTRODUCES = frozenset({"on", "to", "in", "at", "for"})
_COMPOUNDS = frozenset(
    {"hot dog", "sea lion", "guinea pig", "teddy bear", "police dog", "fire truck"}
)
_FUNCTION = frozenset(
    {"with", "from", "that", "this", "into", "onto", "over", "their", "there", "and"}
)
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
        found = tokens(_without_names(bare, question))
        self.question = question
        self.needles = [needle(option) for option in question.options]
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
        most = _MANY * len(self.question.options) + 1
        for option, own in enumerate(self.needles):
            matches = re.finditer(searched(own), self.text) if own else iter(())
            found += [(m.start(), m.end() + 1, option) for m in islice(matches, most - len(found))]
        return found

    def _between(self, first: tuple[int, int, int], second: tuple[int, int, int]) -> str:
        return self.text[first[1] - 1 : second[0] + 1]

    def _mention(self, start: int, end: int, option: int, either: bool) -> _Mention:
        number = bisect_right(self._ends, start) - 1
        begin, stop = self._span(number)
        before = self.text[max(begin, start - _SEEN) : start + 1]
        after = self.text[end - 1 : min(stop, end + _SEEN)]
        beyond = self.text[start + 1].isdecimal() and BEYOND.search(before)
        following = self.sentence(number + 1)[:_SEEN] if number < self.last else ""
        is_asserted = not either and not beyond and is_stated(before, after, following)
        return _Mention(start, end, option, is_asserted, number)

    def _span(self, number: int) -> tuple[int, int]:
        begin = self._ends[number] + 1 if number else 0
        return begin, (
            self._ends[number + 1] + 2 if number < len(self._ends) - 1 else len(self.text)
        )

    def begin(self, number: int) -> int:
        """Where a sentence begins."""
        return self._span(number)[0]

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
    if reply.refuses_throughout or not _may_mention(reply, reader.question):
        return ()
    scan = _Scan(reply.bare, reader.question)
    stated = [mention for mention in scan.mentions if mention.stated]
    chosen = {mention.place for mention in stated}
    decided = _concluded(scan, stated) | _explained(scan, stated)
    if decided:
        chosen = decided
    elif reader.question.kind == "multi" and len(chosen) > 1:
        return _several(scan, stated)
    elif (
        unfinished_analysis(reply, reader)
        or len(reply.bare) > _LONG
        or _has_alternatives(scan, chosen)
    ):
        return ()
    is_sure = len(chosen) == 1 and _is_asserted(scan, stated, next(iter(chosen)))
    return tuple(chosen) if is_sure else ()


def _without_names(bare: str, question: ClosedQuestion) -> str:
    """Join what is part of a name or of another word: the red of "a Red Bull", "a hot dog"."""
    words = [text for text in question.texts if text.isalpha()]
    if not words or len(bare) > _LONG:
        return bare
    one = "|".join(words)
    every = " ".join(question.texts)

    def joined(found: re.Match[str]) -> str:
        return found[0] if found[0].lower() in every else found[0].replace(" ", "")

    bare = re.sub(
        rf"(?<=[a-z] )(?-i:(?=[A-Z]))(?:{one}) (?-i:[A-Z])[a-z]+", joined, bare, flags=re.I
    )
    return re.sub("|".join(_COMPOUNDS), joined, bare, flags=re.I)


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
    places = {mention.place for mention in stated if mention.sentence == 0}
    explained = scan.last > 0 and EXPLAINS.match(scan.sentence(1))
    return places if explained and len(first) == len(places) == 1 else set()


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


def _is_asserted(scan: _Scan, stated: list[_Mention], place: int) -> bool:
    """Whether an option stands where answers do: one of one word in a short sentence."""
    word = needle(scan.question.options[place]).strip()
    mentions = [mention for mention in stated if mention.place == place]
    mentions = [mention for mention in mentions if not _may_be_longer(scan, mention)]
    if " " in word:
        return any(_is_near_an_end(scan, mention) for mention in mentions)
    if word in _COMMON or (len(word) == 1 and word.isascii() and not word.isdecimal()):
        return False
    if word[0].isdecimal():
        return scan.last == 0 and not any(_NUMBERED & scan.around(each) for each in mentions)
    if word in _WEAK:
        return any(_is_predicate(scan, mention) for mention in mentions)
    return any(_stands_out(scan, mention) for mention in mentions)


def _is_predicate(scan: _Scan, mention: _Mention) -> bool:
    """Whether a word that is often no answer is what a short sentence says: "He moves left."."""
    sentence = scan.sentence(mention.sentence)
    before = scan.text[max(0, mention.start - 20) : mention.start + 1].split()[-1:]
    after = scan.text[mention.end - 1 : mention.end + 20].split()[:1]
    ends = not after or after[0] in _CLAUSE_ENDS
    alone = sentence.strip(" .!") == scan.text[mention.start : mention.end].strip()
    behind = bool(before) and before[0] in _WEAK_BEHIND
    opens = scan.text[scan.begin(mention.sentence) : mention.start].split()
    if (
        after[:1] == [","] and opens[:1] and opens[0] in _INTRODUCES
    ):  # "On average, ...", "To be clear, ..."
        return False
    if opens[:1] in (["you"], ["that"], ["that's"], ["you're"]):  # "You are right."
        return False
    return ends and (alone or behind) and sentence.count(" ") <= _BRIEF


def _may_be_longer(scan: _Scan, mention: _Mention) -> bool:
    """Whether a longer option that holds this one may be meant: "a man wearing a hat"."""
    own = scan.needles[mention.place]
    words = set(scan.sentence(mention.sentence).split())
    for other in scan.needles:
        if own != other and own.strip() and own in other:
            rest = set(other.replace(own, " ", 1).split()) - _FUNCTION
            if any(len(word) > _LETTERS and word in words for word in rest):
                return True
    return False


def _is_near_an_end(scan: _Scan, mention: _Mention) -> bool:
    concludes = CONCLUDES.match(scan.sentence(mention.sentence))
    return mention.sentence in (0, 1, scan.last) or scan.last <= _SOME or bool(concludes)


def _stands_out(scan: _Scan, mention: _Mention) -> bool:
    sentence = scan.sentence(mention.sentence)
    if CONCLUDES.match(sentence):
        return True
    at_an_end = mention.sentence in (0, scan.last) or scan.last <= _FEW
    return at_an_end and sentence.count(" ") <= _BRIEF


_WORD = r"[\s\"'(*-]{0,6}(?P<word>‹affirmative negative›)"
# What may follow: "No, it ..." and "No it ...", but "No video ..." has no answer in it.
_TAIL = (
    r"(?=\s{0,3}(?:$|[,.;:!)\"'\n。、،।–—]|-\s)"
    r"|\s(?:it|there|he|she|they|the|this|that|i|we|you|because|since|as|based|according)\b)"
)
_OPENING = pattern(_WORD + _TAIL)
_NOT_ONE = pattern(r"\s{0,3}[,/-]?\s?(?:‹joint either›|/)\s?‹affirmative negative›")
_NO_ANSWER = pattern(
    r"[\s,.;:!-]{0,4}(?:‹refusal›)[^.\n]{0,60}"
    r"(?:tell|determine|answer|say|know|help|assist|sure|certain|confirm|provided|given|shown"
    r"|attached"
    r"|available)\b"
)
_CANNOT_TELL = pattern(
    r"[^.!?\n]{0,80}(?:can't|cannot|can not|couldn't|unable to|impossible to|not possible to"
    r"|n't enough|not enough"
    r"|insufficient|no way to)\b[^.!?\n]{0,60}\b(?:tell|determine|answer|say|know|sure|certain"
    r"|confirm|information"
    r"|conclude|verify)\b"
)
_OFFER = pattern(
    r"[\s,.!]{0,4}(?:of course,?\s|sure,?\s)?i (?:can|could|will|would|am able to"
    r"|do)\s(?:\w+\s)?(?:help|assist|do that|understand|answer"
    r"|(?:see|view|watch|analy[sz]e) (?:the|your|this|these) (?:video|image|frame|clip"
    r"|picture)s?)\b[^.!?\n]{0,80}[.!?]?\s{0,3}"
    r"(?:$|please|what|could you|can you|let me|how|which|do you|just|if you)"
)
_CONTRARY = pattern(rf"\s?[.!,]\s{{0,3}}(?:but\s|actually,?\s){{0,3}}{_WORD}\s?(?:[.!]|$)")
_BASED = pattern(
    rf"(?:based on|in|from|according to|judging (?:by|from)|looking at"
    rf"|given)\s[^.,\n]{{1,60}},{_WORD}{_TAIL}"
)
_LAST = pattern(rf"(?:[^,\n]{{1,80}},\s?)?(?:‹but›\s)?{_WORD}[.!。]{{0,2}}\s*")
_AFTER_SO = pattern(rf"[\s,:]{{0,4}}{_WORD}{_TAIL}")

_NO_ANSWERS = (_NOT_ONE, _NO_ANSWER, _CANNOT_TELL, _OFFER)


def yes_or_no(reply: ReplyText, reader: Reader) -> Places:
    """``Yes, it does.``; ``... Therefore, no.``."""
    places = reader.question.yes_and_no
    if not places or reply.refuses_throughout:
        return ()
    claimed = {_place(match, reply, places) for match in _claims(reply)} - {None}
    if len(claimed) > 1:
        raise UnclearError("several answers")
    return tuple(place for place in claimed if place is not None)


def yes_or_no_opens(reply: ReplyText) -> bool:
    """Whether a reply begins with yes or no."""
    return bool(_OPENING.match(reply.low))


def _claims(reply: ReplyText) -> list[re.Match[str]]:
    found = [_OPENING.match(reply.low) or _BASED.match(reply.low)]
    if not any(found) and len(reply.sentences) > 1:
        found.append(_LAST.fullmatch(lowered(reply.sentences[-1][1])))
    for _, end in reply.places_of((*words("so"), "answer is", "answer would be")):
        found.append(_AFTER_SO.match(reply.low, end))
    return [match for match in found if match]


def _place(match: re.Match[str], reply: ReplyText, places: tuple[int, int]) -> int | None:
    end = match.end()
    if any(each.match(reply.low, end) for each in _NO_ANSWERS):
        return None
    contrary = _CONTRARY.match(reply.low, end)
    if contrary and (contrary["word"] in words("affirmative")) != (
        match["word"] in words("affirmative")
    ):
        raise UnclearError("several answers")
    return places[0] if match["word"] in words("affirmative") else places[1]
