"""Read what is said to be the answer: letters, a label with a text, an option's text, yes or no."""

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from reelbench.client.reply_text import MARKS, without_markup
from reelbench.evaluate.parse.assertion import (
    abbreviates,
    first_list,
    is_aside,
    is_rejected,
    is_unfit,
)
from reelbench.evaluate.parse.question import (
    NOTHING,
    ORDINALS,
    SEVERAL,
    ClosedQuestion,
    Places,
    Reading,
    opening_ordinal,
)
from reelbench.evaluate.parse.vocabulary import IN_WORD, apart, lowered, pattern, words

_AROUND = MARKS + "<>〈〉《》✅✔☑✓👉➡→-–—"  # what may stand around a letter
_BULLET = r"[\s\"'*•▪►➤→+–—-]{0,8}"
_NOUN = "‹option answer›"
_LETTERED = (
    r"[(\[]?(?P<letter>[A-Z]|[a-z](?=[.)]))\s?(?:\.(?![A-Za-z]\.|\s?[A-Z]\.\s?[A-Z])"
    r"|:(?![\\/])|[)\]]|\s[-–—](?=\s))\)?"
)
_NUMBERED = r"(?P<number>\d{1,2})\s?(?:[.:)]|[-–—](?=\s))"
_LABEL = pattern(
    rf"{_BULLET}(?:(?i:{_NOUN})\s?{_NUMBERED}|(?:(?i:{_NOUN})\s?)?{_LETTERED})\s*(?P<text>.*)",
    re.DOTALL,
)
_JOINT = r"(?:[,;&/、+|،؛]|‹joint›|AND|And)"
_JOIN = pattern(rf"\s*{_JOINT}\s*|\s+|(?<=\))(?=\()")
_SMALL_JOIN = pattern(r"[\s,;&/、+|،؛]+|(?<=\))(?=\()|\band\b")  # where e and y may be letters
_OR = r"(?:‹either›|OR|Or)"
_EITHER = pattern(
    rf"\W{{0,4}}(?:(?i:{_NOUN})\s?)?[A-Za-z]\W{{0,4}}{_OR}\W{{0,4}}(?:(?i:{_NOUN})\s?)?[A-Za-z](?![A-Za-z0-9'])"
)
_DECIDES = pattern(r"[,.;]\s(?:but|however|yet|though)\b[^\n]{0,200}?(?<!\w)\(?[A-Z](?!\w)")
_FILLER = pattern(rf"‹filler option›|‹answer›(?=\s?\(?[a-z]\)?(?!{IN_WORD}))")
_BEFORE_LETTER = pattern(r"\s*[(\[]?(?:[A-Z]|\d{1,2})(?![A-Za-z0-9])")
_NUMBERED_LINE = pattern(r"\s*1[.)]\s+(?=\(?[A-Z](?![A-Za-z0-9]))")
_NUMBERED_LINES = pattern(_NUMBERED_LINE.pattern.replace("1", r"\d{1,2}", 1))
_OPTION_NOUN = pattern(r"‹option›\s?$")
_LEADING = pattern(r"[(\[\s\"']{0,6}([A-Z])(?![A-Za-z0-9_])[)\]\"']{0,3}(?P<rest>.*)", re.DOTALL)
_VALUE = pattern(r"\s+[^\sA-Za-z=<>≈≤≥+*/-]")  # "D 24.3 kN"
_GOES_ON = pattern(
    r"\s{0,4}(?:$|[.:;(!?。।\n|]|[-–—]+(?=\s|$)|,?\s?(?:because|since|as|not|but not|rather"
    r"|instead|which|due|given)\b|\sover\s\(?[a-z]\)?(?![a-z])"
    r"|,?\s?(?:‹why›|‹ending›)|,?\s?(?:为|因|而|の|を|로|를|을))"
)
_NEGATED = pattern(r"\s*(?:‹negation›|不是|并非|n't)\s*[:,]?\s*")
_BUT = pattern("‹but›")
_BUT_AFTER = pattern(  # some languages negate behind: "AではなくC"
    r"[(「\"]?[A-Z][)」\"]?\s?(?:ではなく|じゃなく|이\s?아니라|가\s?아니라|이\s?아니고|가\s?아니고"
    r"|नहीं,?\s?बल्कि)て?、?,?\s?"
)
_NEXT_LABEL = pattern(r"(?<![A-Za-z0-9])[(\[]?([A-Z])\s?(?:\.(?!\s?[A-Z]\.\s?[A-Z])|[:)\]])\s*")
_JOINED_BEFORE = pattern(rf"(?:[,;/&+|.!?。]|{_JOINT}|{_OR})\s*$")
_DOT_LABEL = pattern(r"\W*(?:\w+\s)?[A-Z]\.")
_ALL_EXCEPT = pattern(
    r"(?i:all|everything)(?i:\s(?:of\s)?(?:the\s)?(?:above|them|these|options"
    r"|the options))?,?\s(?i:except|but|besides)"
    r"(?i:\sfor)?\s(?P<out>.{1,40})"
)
_AND_SINCE = pattern(r"([^.\n]{1,40}?),?\s(?:because|since|while|whereas|due to)\s")
_AND_NOT = pattern(
    r"(.{1,40}?)[\s,(;–—-]{1,4}(?i:(?:but|and|definitely|certainly|clearly)\s){0,2}"
    r"(?i:not|rather than|instead of|unlike)\s(?P<out>[^.\n]{1,40}?)[.)]{0,2}"
)
_ALSO_OUT = pattern(r",?\s(?:or|nor)\s")
_SHORT = 3


class Reader:
    """Reads pieces of one reply; a piece that comes again is not read again."""

    def __init__(self, question: ClosedQuestion) -> None:
        self.question = question
        self._window = 200 + question.longest
        self._own = [lowered(without_markup(option)).strip(MARKS) for option in question.options]
        self._read: dict[tuple[str, str], Reading] = {}

    def read_answer(self, text: str) -> Reading:
        """Read what was said to be the answer, whatever follows it."""
        steps = (
            self._exact, self._like_label, self._letter, self._option, self._ordinal, self._either,
            self._letters, self._list, self._run, self._all, self._left_out, self._yes_or_no,
            self._negated, self._labelled, self._leading,
        )  # fmt: skip
        return self._first("read_answer", text, steps)

    def only(self, text: str) -> Reading:
        """Read letters, an option's text or both, where there is nothing else."""
        steps = (
            self._exact, self._letter, self._option, self._either, self._letters, self._run,
            self._all, self._left_out, self._exact_labels, self._words,
            partial(self._ordinal, alone=True),
        )  # fmt: skip
        return self._first("only", text, steps)

    def letters(self, text: str) -> Reading:
        """Read letters and no other words."""
        return self._first("letters", text, (self._letter, self._letters))

    def label(self, text: str) -> Reading:
        """Read ``(B) the text`` at the start of a line."""
        return self._first("label", text, (self._exact, self._labelled))

    def _first(self, how: str, text: str, steps: tuple[Callable[[str], Reading], ...]) -> Reading:
        if how in ("only", "letters") and len(text) > self._window:
            return NOTHING
        key = how, text[: self._window]
        if key not in self._read:
            bare = without_markup(key[1])
            readings = (step(bare) for step in steps) if bare else iter(())
            self._read[key] = next((each for each in readings if each != NOTHING), NOTHING)
        return self._read[key]

    def _exact(self, text: str) -> Reading:
        """``B. the very text of option B``, which may itself be letters."""
        label = _LABEL.fullmatch(text)
        place = self._labelled_place(label) if label else None
        if label is None or place is None:
            return NOTHING
        return (
            Reading((place,)) if place in self.question.places_of_text(label["text"]) else NOTHING
        )

    def _like_label(self, text: str) -> Reading:
        """An option whose text itself looks like a label: ``E. coli``."""
        found = [
            place
            for place in self._begun(text)
            if _LABEL.match(self.question.options[place]) and len(self._own[place]) > _SHORT
        ]
        return Reading(tuple(found)) if len(found) == 1 else NOTHING

    def _letter(self, text: str) -> Reading:
        """``B``, ``(B)``, ``Option B``, ``It's B.``."""
        mark = self._stripped(text)[0]
        if len(mark) != 1 or not mark.isascii() or not mark.isalpha():
            return NOTHING
        place = self.question.place(mark)
        if place is not None:
            return Reading((place,))
        places = self.question.places_of_text(mark)  # the options may be letters themselves
        return Reading(places) if places else Reading(failure="no such option")

    def at(self, place: int) -> Reading:
        """Read the option at a place, if there is one."""
        known = place < len(self.question.options)
        return Reading((place,)) if known else Reading(failure="no such option")

    def _ordinal(self, text: str, alone: bool = False) -> Reading:
        """``the second option``; not where an option is called so itself."""
        word = opening_ordinal(lowered(text), alone)
        return self.at(ORDINALS[word]) if word and word not in self.question.texts else NOTHING

    def _option(self, text: str) -> Reading:
        places = self.question.places_of_text(text)
        return Reading(places) if places else NOTHING

    def _words(self, text: str) -> Reading:
        """An option's text that is punctuated otherwise: less sure than its very text."""
        places = self.question.places_of_words(text)
        return Reading(places) if places else NOTHING

    def _either(self, text: str) -> Reading:
        if self.question.kind == "multi" and "/" in text:
            text = text.replace("/", ",")
        found = _EITHER.match(text)
        return SEVERAL if found and not _DECIDES.search(text, found.end()) else NOTHING

    def _letters(self, text: str) -> Reading:
        """``A, C``, ``Options A and C``, ``(A)(C)``."""
        bare, numbers = self._stripped(text)
        small = not any(sign.isupper() for sign in bare)
        marks = [part.strip(_AROUND) for part in (_SMALL_JOIN if small else _JOIN).split(bare)]
        marks = [self._stripped(mark)[0] if len(mark) > 1 else mark for mark in marks if mark]
        if numbers and marks and all(mark.isdecimal() for mark in marks):
            return self._numbers(marks)
        if not marks or not all(
            len(mark) == 1 and mark.isascii() and mark.isalpha() for mark in marks
        ):
            return NOTHING
        if any(mark.islower() for mark in marks) and any(mark.isupper() for mark in marks):
            return NOTHING
        return self._places(marks) if len(marks) > 1 else self._letter(marks[0])

    def _list(self, text: str) -> Reading:
        """``A (its text) and C (its text). The others ...``."""
        reading = self._letters(first_list(text, self._is_of))
        return reading if len(reading.places) > 1 else NOTHING

    def _is_of(self, letter: str, text: str) -> bool:
        place = self.question.place(letter)
        return place is not None and self.owns(place, text)

    def _places(self, marks: list[str]) -> Reading:
        known = {self.question.place(mark) for mark in marks}
        if None not in known:
            return Reading(tuple(sorted(place for place in known if place is not None)))
        return Reading(failure="no such option") if marks[0].isupper() else NOTHING

    def _numbers(self, marks: list[str]) -> Reading:
        """``Option 2``; not where the options are numbers themselves."""
        places = {int(mark) - 1 for mark in marks}
        if any(text.isdecimal() for text in self.question.texts):
            return NOTHING
        if not places <= set(range(len(self.question.options))):
            return Reading(failure="no such option")
        return Reading(tuple(sorted(places)))

    def _run(self, text: str) -> Reading:
        """``AC``: options in their order; a word in capitals is none, nor is an option's text."""
        mark = self._stripped(text)[0]
        if len(mark) < 2 or not (mark.isascii() and mark.isalpha() and mark.isupper()):
            return NOTHING
        ordered = all(a < b for a, b in pairwise(mark))
        places = [self.question.place(letter) for letter in mark]
        known = [place for place in places if place is not None]
        word = (
            mark.lower() in words("affirmative", "negative") or mark.lower() in self.question.texts
        )
        return (
            Reading(tuple(known)) if ordered and len(known) == len(mark) and not word else NOTHING
        )

    def _all(self, text: str) -> Reading:
        """``All of the above``, where several may be right."""
        bare = lowered(text).strip(_AROUND)
        chosen = bare in words("all_of_them") and self.question.kind == "multi"
        return Reading(tuple(range(len(self.question.options)))) if chosen else NOTHING

    def _left_out(self, text: str) -> Reading:
        """``B (not A or C)``; of several ``All except D``, ``A and C, since B ...``."""
        several = self.question.kind == "multi"
        if several and (found := _AND_SINCE.match(text)):
            return self.letters(found[1])
        if several and (found := _ALL_EXCEPT.fullmatch(text.strip(_AROUND))):
            chosen = Reading(tuple(range(len(self.question.options))))
        elif found := _AND_NOT.fullmatch(text):
            chosen = self.letters(found[1])
        out = self.letters(_ALSO_OUT.sub(", ", found["out"])) if found else NOTHING
        if not out.places or not chosen.places:
            return NOTHING
        return Reading(tuple(place for place in chosen.places if place not in out.places))

    def _yes_or_no(self, text: str) -> Reading:
        places = self.question.yes_and_no
        if not places:
            return NOTHING
        first = re.split(r"[,.;:!。,،।\n(]|\s[-–—]\s", lowered(text).strip(_AROUND), maxsplit=1)[0]
        first = self._stripped(first.strip(_AROUND))[0]
        for name, place in (("affirmative", places[0]), ("negative", places[1])):
            if first in words(name):
                return Reading((place,))
        return NOTHING

    def _negated(self, text: str) -> Reading:
        """``not A but C``: what stands after the but, and nothing where there is none."""
        behind = _BUT_AFTER.match(text)
        if behind:
            return self.read_answer(text[behind.end() :])
        low = lowered(text)
        negated = _NEGATED.match(low)
        if not negated:
            return NOTHING
        but = _BUT.search(low, negated.end())
        return self.read_answer(text[but.end() :]) if but else NOTHING

    def _exact_labels(self, text: str) -> Reading:
        """``A. text, C. text`` with the options' own texts and nothing else."""
        label = _LABEL.match(text) if "\n" not in text else None
        place = self._labelled_place(label) if label else None
        if label is None or place is None or not self.owns(place, label["text"]):
            return NOTHING
        reading = self._labelled(text)
        return reading if len(reading.places) > 1 else NOTHING

    def _labelled(self, text: str) -> Reading:
        """``(B) the text``; the text may be in other words, but not another option's."""
        label = _LABEL.match(text)
        place = self._labelled_place(label) if label else None
        if label is None or place is None:
            return NOTHING
        text = label["text"]
        dotted = label["letter"] is not None and bool(_DOT_LABEL.match(label[0]))
        exact = self.question.places_of_text(text)
        if self.rejected(place, text) or (not exact and self._abbreviates(place, text, dotted)):
            return NOTHING
        others = exact or self._begun(text)
        if others and place not in others:
            return Reading(failure="letter and text differ")
        found = {place, *self._further_labels(place, text)}
        return Reading(tuple(sorted(found)))

    def _abbreviates(self, place: int, text: str, dotted: bool) -> bool:
        """Whether a letter and a full stop are a name's: ``E. coli``, or a speaker's: ``A: Hi``."""
        bare = all(len(option) == 1 for option in self._own)  # there are no texts to compare with
        return (
            not bare and not self.owns(place, text) and abbreviates(text, self._own[place], dotted)
        )

    def rejected(self, place: int, text: str) -> bool:
        """Whether what is said of a label is that it is wrong, not its option's own words."""
        return is_rejected(text, len(self._own[place]) if self.owns(place, text) else 0)

    def _labelled_place(self, label: re.Match[str]) -> int | None:
        if label["number"] is None:
            return self.question.place(label["letter"])
        place = int(label["number"]) - 1
        return place if 0 <= place < len(self.question.options) else None

    def _further_labels(self, place: int, text: str) -> set[int]:
        """Other labels on the line: of their own texts, or joined to the first."""
        found: set[int] = set()
        if _NEXT_LABEL.search(self._own[place].upper()):  # "A. 4.66%; B. 6.20%" is one option
            return found
        begin = len(self._own[place]) if self.owns(place, text) else 0
        several = self.question.kind == "multi"
        for label in _NEXT_LABEL.finditer(text, begin):
            other, behind = self.question.place(label[1]), text[label.end() :]
            if other is None or other == place or is_aside(text[begin : label.start()], several):
                continue
            owned = self.owns(other, behind)
            rest = behind[len(self._own[other]) :] if owned else behind
            if self.rejected(other, behind) or (not several and is_unfit(rest)):
                continue
            joined = _JOINED_BEFORE.search(text[max(0, label.start() - 12) : label.start()])
            if owned or (joined and behind):
                found.add(other)
        return found

    def owns(self, place: int, text: str) -> bool:
        """Whether a text begins with an option's."""
        own = self._own[place]
        rest = lowered(text[: len(own) + 24]).lstrip(MARKS)
        return bool(own) and rest.startswith(own) and not rest[len(own) : len(own) + 1].isalnum()

    def _begun(self, text: str) -> Places:
        """The options that a text begins with; the longest of those that begin alike."""
        found = [place for place in range(len(self.question.options)) if self.owns(place, text)]
        longest = max((len(self.question.texts[place]) for place in found), default=0)
        return tuple(place for place in found if len(self.question.texts[place]) == longest > 3)

    def _leading(self, text: str) -> Reading:
        """The letter of ``B because ...``; an A or I before a word may be one of English."""
        begin = self._filler_end(text)
        found = _LEADING.match(text, begin)
        if not found:
            return NOTHING
        value = found[1] not in "AI" and _VALUE.match(found["rest"])
        place, rest = self.question.place(found[1]), found["rest"]
        own = place is not None and self.owns(place, rest)
        if not value and not own and not _GOES_ON.match(lowered(rest)):
            return NOTHING
        if place is None or (
            rest.startswith(". ") and self._abbreviates(place, rest[2:], dotted=True)
        ):
            return NOTHING
        return Reading(tuple(sorted({place, *self._further_labels(place, found["rest"])})))

    def _stripped(self, text: str) -> tuple[str, bool]:
        """Return a text without what may stand around letters; and whether numbers count."""
        begin = self._filler_end(text)
        numbers = bool(_OPTION_NOUN.search(lowered(text[:begin]).rstrip(" :#")))
        bare = text[begin:].strip(_AROUND)
        for _ in range(3):
            low = lowered(bare)
            if not low.endswith(words("ending")):
                break
            found = (word for word in words("ending") if low.endswith(word))
            ending = next((w for w in found if apart(low, len(low) - len(w), len(low))), "")
            bare = bare[: len(bare) - len(ending)].strip(_AROUND) if ending else bare
        return bare or text.strip(_AROUND), numbers

    def _filler_end(self, text: str) -> int:
        low = lowered(text)
        several = self.question.kind == "multi"
        numbered = (_NUMBERED_LINES if several else _NUMBERED_LINE).match(text)
        place = numbered.end() if numbered else len(text) - len(text.lstrip(_AROUND))
        while found := _FILLER.match(low, place):
            alone = found.end() - place == 1  # "a B" in Portuguese, but "A B" is two letters
            capital = text[place].isascii() and text[place].isupper()
            if alone and (capital or not _BEFORE_LETTER.match(text, found.end())):
                break
            place = found.end()
            while place < len(text) and text[place] in _AROUND + "#":
                place += 1
        return place
