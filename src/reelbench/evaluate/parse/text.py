"""A reply as the forms look at it."""

import re
from dataclasses import dataclass
from functools import cached_property

from reelbench.client.reply_text import without_markup
from reelbench.data.items import LETTERS
from reelbench.evaluate.parse.letters import Reader
from reelbench.evaluate.parse.vocabulary import ends_of, lowered, occurrences, pattern

_SENTENCE_END = pattern(r"(?<=[.!?।؟])[\"')\]]{0,3}\s+|(?<=[。！？])[\"')\]]{0,3}\s*|\n+")
_LINE_LABEL = pattern(r"\W{0,4}([A-Za-z])\s?[.):]\W{0,4}")
_REFUSAL = pattern(r"[\s\"'(]*(?:‹refusal›)")
_UNSURE_BUT = pattern(
    r"[^.!?\n]{0,40}\b(?:for sure|for certain|with certainty|with confidence|be certain|be sure"
    r"|definitively)[^.!?\n]{0,40}"
    r"[,.;]\s(?:but|however|though)\b(?!,?\s(?:i|we)\s(?:can|am|do|could))"
)
# "I can't recognise people, but the man seems to sing", not "..., but I can help with".
_SAYS_ALL_THE_SAME = pattern(
    r"[^.!?\n]{0,120}[,.;]\s(?:but|however|nonetheless|nevertheless|yet|still|though)\b,?\s"
    r"(?!(?:an?|the|it|this|that)\s(?:typical|usual|common|would|could|might|may)"
    r"|if\b|please\b|feel\b|perhaps\b|(?:i|we|you)\b"
    r"(?!(?:'d|\swould|\scan)?\s(?:say|see|think|believe|guess)\b))"
)
_AROUND = 300  # characters


@dataclass(frozen=True)
class ReplyText:
    """A text without reasoning; bare, without its dress either; low, bare in lower case."""

    text: str
    bare: str

    @cached_property
    def low(self) -> str:
        """The bare text in lower case, every sign in its place."""
        return lowered(self.bare)

    @cached_property
    def lines(self) -> list[tuple[int, str]]:
        """The lines that are not blank, with where they begin."""
        return _spans(self.bare, re.compile("\n+"))

    @cached_property
    def sentences(self) -> list[tuple[int, str]]:
        """The sentences, roughly: a label such as ``B.`` ends one too."""
        return _spans(self.bare, _SENTENCE_END)

    def places_of(self, words: tuple[str, ...]) -> list[tuple[int, int]]:
        """Return where words stand: once where the same is said again, the ends of very many."""
        if words not in self._found:
            self._found[words] = ends_of(sorted(occurrences(self.low, words, _AROUND)))
        return self._found[words]

    @cached_property
    def _found(self) -> dict[tuple[str, ...], list[tuple[int, int]]]:
        return {}

    @cached_property
    def refuses(self) -> bool:
        """Whether it begins as those do who do not answer, and does not go on to answer."""
        return bool(_REFUSAL.match(self.low)) and not _UNSURE_BUT.match(self.low)

    @cached_property
    def refuses_throughout(self) -> bool:
        """Whether it begins so, and states nothing behind a "but"."""
        return self.refuses and not _SAYS_ALL_THE_SAME.match(self.low)


_LIMIT = 24_576  # characters; of a longer reply the head and the tail are read
_HEAD, _TAIL = 8_192, 16_384
_NEXT_TURN = pattern(
    r"\n[\s#*]{0,6}(?:question|human|user|q|instruction|next question"
    r"|new question)\s?\d{0,3}\s?[*]{0,2}:",
    re.IGNORECASE,
)
_ROLE = pattern(r"(?<!\s)\s*+(?:assistant|ai|bot|model|chatgpt)\s?:\s*(?=\S)", re.IGNORECASE)
# A letter in whatever signs: {B}, 【B】, ==B==.
_WRAPPED = pattern(
    r"(?:[【〖〔《〈⟦⟨‹{]|==)[\s(\"']{0,3}([A-Z])[\s.)\"']{0,3}(?:[】〗〕》〉⟧⟩›}]|==)"
)
# A heading in brackets, 【答案】 or [Answer]; not a letter in them.
_HEADING = pattern(
    r"\s*[【〖]\s?(?![A-Z\s]{1,8}[】〗])([^【】〖〗\n]{1,16}?)\s?[】〗]\s?[:.]?[ \t]?"
    r"|(?:^|(?<=\n))\[\s?((?i:(?:‹right›\s?)?‹answer›))\s?\]\s?[:.]?",
)
_ASKED = pattern(r"\s*Q\s?:")
_ANSWERED = pattern(r"(?<!\w)A\s?:(?=\s)")


def within_limit(text: str) -> str:
    """Return a text, or of a very long one its head and its tail, where answers stand."""
    if len(text) <= _LIMIT:
        return text
    return f"{text[:_HEAD].rpartition(' ')[0]}\n\n{text[-_TAIL:].partition(' ')[2]}"


def before_next_turn(text: str) -> str:
    """Return what stands before a question that a model goes on to ask itself; else nothing."""
    found = _NEXT_TURN.search(text, len(text) - len(text.lstrip()))
    return text[: found.start()].strip() if found else ""


def reply_of(text: str, reader: Reader) -> ReplyText:
    """Look at a text; a list of all options that it repeats is left out."""
    bare = _ROLE.sub("", without_markup(text), count=1)
    bare = _WRAPPED.sub(r"(\1)", bare)
    bare = _HEADING.sub(lambda found: f"\n{found[1] or found[2]}: ", bare).lstrip("\n")
    if _ASKED.match(bare):
        bare = _ANSWERED.sub("Answer:", bare)
    return ReplyText(text, _without_options(_without_option_line(bare, reader), reader))


def _spans(text: str, ends: re.Pattern[str]) -> list[tuple[int, str]]:
    found, place = [], 0
    for end in ends.finditer(text):
        found.append((place, text[place : end.start()]))
        place = end.end()
    found.append((place, text[place:]))
    return [(start, part) for start, part in found if part.strip()]


def _without_option_line(bare: str, reader: Reader) -> str:
    """Leave out all options in their order on one line, where something follows them."""
    place = 0
    for letter, option in zip(LETTERS, reader.question.options, strict=False):
        label = re.compile(rf"[\s,;]{{0,4}}[(\[]?{letter}\s?[.):\]]\s{{0,3}}").match(bare, place)
        own = without_markup(option)
        end = label.end() + len(own) if label else 0
        if not label or bare[label.end() : end].casefold() != own.casefold():
            return bare
        place = end
    return bare[place:].lstrip(" .;\n") or bare


def _without_options(bare: str, reader: Reader) -> str:
    """Leave out runs of lines that are all options in their order, each with its own text."""
    if len(reader.question.options) < 2:
        return bare
    kept: list[str] = []
    run: list[str] = []
    reached = 0
    for line in bare.split("\n"):
        if reached and not line.strip():
            run.append(line)
            continue
        if not _is_option(line, reached, reader):
            kept += run
            run, reached = [], 0
        if _is_option(line, reached, reader):
            run.append(line)
            reached += 1
        else:
            kept.append(line)
        if reached == len(reader.question.options):
            run, reached = [], 0
    return "\n".join([*kept, *run]).strip()


def _is_option(line: str, place: int, reader: Reader) -> bool:
    label = _LINE_LABEL.match(line)
    return bool(
        label
        and label[1].upper() == LETTERS[place]
        and reader.question.places_of_words(line[label.end() :]) == (place,)
    )
