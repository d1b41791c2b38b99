"""The parts of a reply: its text, its sentences, and the final part, which decides."""

import re
from dataclasses import dataclass
from functools import cached_property

from reelbench.client.reply_text import without_markup
from reelbench.data.items import LETTERS
from reelbench.evaluate.parse.assertion import is_asserted
from reelbench.evaluate.parse.question import Places
from reelbench.evaluate.parse.reader import Reader
from reelbench.evaluate.parse.vocabulary import ends_of, lowered, occurrences, pattern, words

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
    r"(?:[【〖〔《〈⟦⟨‹{]|==|<<?)[\s(\"']{0,3}([A-Z])[\s.)\"']{0,3}(?:[】〗〕》〉⟧⟩›}]|==|>>?)"
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


# The label of an option ends no sentence: "It is A. a cat."
_LAST_SENTENCES = pattern(
    r"(?<=[.!?।؟])(?<![^A-Za-z][A-Za-z]\.)(?<!^[A-Za-z]\.)[\"')\]]{0,3}\s+|(?<=[。！？])[\"')\]]{0,3}\s*|\n+"
    r"|(?<=[A-Z]\.)\s+(?=(?i:‹so but›)|(?:There|None|No)\s)"
)
_TAIL = 1_500  # characters
_COURTESY = pattern(r"(?![^\n]{0,80}(?<![A-Za-z])[A-Z]{2,9}(?![A-Za-z]))[^?!:\d\n]{2,80}[.!]?")
_CONTRAST = pattern(
    r"\b(?:but|however|although|though|yet|not|no)\b|n't|‹negation but›|‹negating faulty offered›"
)
_LONE_LETTER = pattern(
    r"(?<![A-Za-z0-9'])(?:[B-HJ-Z](?![A-Za-z0-9'_]|-\w|\.\s?[a-z])|[AI](?![A-Za-z0-9'])(?!-)(?=\W{0,3}$|[)\]}\"'*]|\s?[^\x00-\x7f]))"
)
_NAMED = pattern(
    r"(?<![A-Za-z0-9'])(?:\([A-Za-z]\)|[B-HJ-Z](?![A-Za-z0-9'])|A(?![A-Za-z0-9']|\s[a-z]))"
    r"|(?i:‹option›)\s\(?[A-Za-z](?![\w'])"
)
_VETO = pattern(r"‹negation›|n't\b|‹negating›|‹faulty›")
_OPTION = pattern("‹option answer offered›")
_OFFERED = pattern("‹offered›")
_OTHERS = pattern("‹others›")
_REJECTED = pattern(  # "Options B, C and D are wrong."
    r"(?i:‹option›\s?)?(?:\(?[A-Z]\)?(?![A-Za-z])\s?(?:[,、]\s?)?(?:‹joint›\s?)?){1,26}[^A-Z,;]{1,40}"
)
_HEADED = pattern(
    r"(?!(?:From|On|In|At|To|The|A|An)\b)[^\W\d_][^\d\n.:,]{1,40}?\s?[:=→]>?\s?\W{0,3}[A-Z]\W{0,3}"
)
_CAPITAL = pattern(r"(?<![A-Za-z0-9'])[A-HJ-Z](?![A-Za-z0-9'])")
# Quotation marks and brackets set a letter apart in a sentence, but for the plain ones.
_IN_MARKS = pattern(
    r"(?<![\w^}])(?:\*{1,3}|_{1,3}|`|\[|【|「|『|〔|〖|\{|“|«|<(?:b|strong|u|em|i|span|mark|code)[^<>]{0,60}>)"
    r"[\s(\\]{0,3}([A-Z])[\s.)\\]{0,3}(?:\*{1,3}|_{1,3}|`|\]|】|」|』|〕|〗|\}|”|»|</)"
)
_LETTER = pattern(r"(?<![A-Za-z0-9'])[A-Z](?![A-Za-z0-9'])")
_UNDECIDED = pattern(r"‹either›|\b(?:between|both|possible|unsure|undecided)\b")
_ALL_BUT = pattern(r"(?i:\b(?:anything|everything|all|nothing)\sbut)$")
_SEPARATED = pattern(r"[,;:.!?。，；：、—–(]|‹but so›")
_RAW = 2
_BRIEFLY = pattern(  # "... which brings me to B."
    r"[^\n]{0,100}\b(?:brings|leads|takes|points|leaves)\s(?:me|us)\s(?:to|with|at)\s\(?[A-Z]\)?\W{0,3}"
)
_SYMBOL = pattern(r"[^\w\s(\[{\"'*:.,;—–>→-]$")  # an angle D
_CUE = pattern("‹so answer right choose fits›")
_AHEAD = pattern("‹answer option be so right choose fits filler›$")
_OPEN = pattern(r"‹negation supposing either›|n't\b|‹negating faulty others›|[?？]")
_LAST_WORD = pattern(r"[^\W\d_]+$")
_BRIEF = 120
_NEAR_END = 3  # sentences
_LOOP = 40  # characters that come again
_LOOPS = 5
_LETTERS = 3


def sentences(text: str) -> list[str]:
    """Return the last sentences of a text."""
    return [part for part in _LAST_SENTENCES.split(text[-_TAIL:]) if part and part.strip()]


def last_sentence(reply: ReplyText, reader: Reader) -> tuple[str, str]:
    """Return what stands before the last sentence, and that sentence, courtesies left out."""
    parts = sentences(reply.bare)
    while len(parts) > 1 and _is_courtesy(parts[-1], reader):
        parts.pop()
    if not parts:
        return "", ""
    place = reply.bare.rfind(parts[-1])
    return reply.bare[:place], parts[-1]


def _is_courtesy(sentence: str, reader: Reader) -> bool:
    """Whether a sentence says nothing of options: "I hope this helps." """
    low = lowered(sentence)
    plain = bool(_COURTESY.fullmatch(sentence)) and not _CONTRAST.search(low)
    return (
        plain
        and not reader.only(sentence).places
        and not any(text in low for text in reader.question.texts if len(text) > _LETTERS)
        and not _CAPITAL.search(sentence)
        and not _CUE.search(low)
        and not any(occurrences(low, words("retraction")))
    )


def is_concluded(sentence: str) -> bool:
    """Whether a sentence says that it is a conclusion."""
    return any(occurrences(lowered(sentence), words("so")))


def letters_named(sentence: str, reader: Reader) -> set[int]:
    """Return the options whose letters stand by themselves."""
    letters = {match[0] for match in _LONE_LETTER.finditer(sentence)}
    found = {reader.question.place(letter) for letter in letters}
    return {place for place in found if place is not None}


def lone_letter(reply: ReplyText, sentence: str, reader: Reader) -> Places:
    """Return the one letter of the last sentence, where nothing is denied or left open.

    It is set apart by marks of its own, ``Wahl: **B**``, stands behind a colon at the end, or in a
    sentence that speaks of an answer.
    """
    low = lowered(sentence)
    texts = reader.question.texts
    lettered = any(
        text in texts and texts[at] != text for at, text in enumerate("abcdefg"[: len(texts)])
    )
    if len(sentence) > _BRIEF or lettered or _OPEN.search(low):
        return ()
    raw = reply.text[-len(sentence) * _RAW - _BRIEF :]
    wrapped = {match[1] for match in _IN_MARKS.finditer(raw)}
    found = [match for match in _LETTER.finditer(sentence) if match[0] in wrapped]
    set_apart = bool(found)
    found = [*found, *_LONE_LETTER.finditer(sentence)]
    if len({match[0] for match in found}) != 1:
        return ()
    letter, start = found[0][0], found[0].start()
    place = reader.question.place(letter)
    if place is None or letter in reader.question.names or _SYMBOL.search(sentence[:start]):
        return ()
    if not is_asserted(low, start):
        return ()
    ahead = low[:start].rstrip(" (\"'*:")
    cue = _CUE.search(low) and (_AHEAD.search(ahead) or not _LAST_WORD.search(ahead))
    brief = len(reply.sentences) > 1 and _BRIEFLY.fullmatch(sentence)
    return (place,) if set_apart or cue or brief or _HEADED.fullmatch(sentence) else ()


def veto(reply: ReplyText, reader: Reader) -> str | None:
    """Return what stands behind the words that no option is right; None if they are not said."""
    if reader.question.yes_and_no or any(_says_none(text) for text in reader.question.texts):
        return None
    parts = sentences(reply.bare)[-_NEAR_END:]
    for number in range(len(parts) - 1, -1, -1):
        if found := _says_none(parts[number]):
            rest = parts[number][found.end() :]
            letter = _LETTER.search(rest)
            if letter and not _SEPARATED.search(lowered(rest[: letter.start()])):
                return None
            return " ".join([rest, *parts[number + 1 :]])
    return None


def _says_none(sentence: str) -> re.Match[str] | None:
    """Where a sentence has said that all options are wrong, and has named none of them."""
    low = lowered(sentence)
    offered = _OFFERED.search(low)
    denied = _VETO.search(low)
    if not offered or not denied or _OTHERS.search(low):
        return None
    last = max(offered, denied, key=lambda found: found.end())
    return None if _NAMED.search(sentence, 0, last.end()) else last


def rejects_letters(sentence: str) -> bool:
    """Whether a sentence says of letters that they are wrong, and nothing else."""
    return bool(_REJECTED.fullmatch(sentence) and _VETO.search(lowered(sentence)))


def denies_options(sentence: str) -> bool:
    """Whether a sentence speaks of an option or an answer, and denies something."""
    low = lowered(sentence)
    return bool(_OPTION.search(low) and _VETO.search(low) and not _OTHERS.search(low))


def behind_contrast(sentence: str) -> str:
    """Return what stands behind the last "but" or "so" of a sentence."""
    contrasts = tuple(word for word in words("but", "so") if not word.startswith("it"))
    last = max((end for _, end in occurrences(lowered(sentence), contrasts)), default=None)
    return "" if last is None or _ALL_BUT.search(sentence[:last]) else sentence[last:]


def is_undecided(sentence: str, reader: Reader) -> bool:
    """Whether a sentence names several options between which it does not decide."""
    return len(letters_named(sentence, reader)) > 1 and bool(_UNDECIDED.search(lowered(sentence)))


def letter_behind(text: str, reader: Reader) -> Places:
    """Return the one option that is named behind a veto: "None fits exactly; the nearest is C." """
    places = letters_named(text, reader)
    return tuple(places) if len(places) == 1 and not _OPEN.search(lowered(text)) else ()


def is_loop(text: str) -> bool:
    """Whether a text ends with words that it has said many times."""
    last = text[-_LOOP:]
    if sum(sign.isalnum() for sign in last) < _LETTERS or len(text) < _LOOP * _LOOPS:
        return False
    start = max(0, len(text) - _TAIL * 4)
    return text.count(last, start) >= _LOOPS


def is_whole(bare: str) -> bool:
    """Whether a text of sentences ends with one."""
    parts = sentences(bare)
    ended = [bool(re.search(r"[.!?。！？।؟…:;)\]\"'|]\s*$", part)) for part in parts]
    return len(parts) < 2 or ended[-1] or not any(ended[:-1])
