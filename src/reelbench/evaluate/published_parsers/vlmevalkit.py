"""How VLMEvalKit reads multiple-choice replies where no judge model is asked, or it fails."""

import re

from reelbench.data.items import LETTERS
from reelbench.evaluate.published_parsers.first_capital import NO_CAPITAL, first_capital
from reelbench.evaluate.published_parsers.reading import Choices, ParserReading, chosen

_SPACED = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))
_REFUSALS = (
    "Sorry, I can't help with images of people yet.",
    "I can't process this file.",
    "I'm sorry, but without the image provided",
    "Cannot determine the answer",
)
_FAILED = "Failed to obtain answer via API"
_NONE = "Z"  # its letter for none of the options
_LAST_WORDS = 4
_ANNOUNCED = re.compile(r"answer\s+is\s+\**([ABCD])", re.IGNORECASE)
_PHRASES = (
    "The best answer is", "The correct answer is", "The answer is", "The answer",
    "The best option isThe correct option is", "Best answer:Best option:", "Answer:", "Option:",
)  # fmt: skip


def read_exact_matching(reply: str, choices: Choices) -> ParserReading:
    """The exact-matching mode, and what is tried before a judge is asked.

    1. Some set phrases of refusals are no answer.
    2. Brackets, full stops and the like become spaces. Where exactly one option's letter is a word
       of the reply, and stands among its last four words, it is the answer ("A" the article too).
    3. A reply with the word Z and no option's letter is no answer.
    4. Else the letter from A to D behind the first "answer is" that has one, small or not: "the
       answer is clearly the dog" is C.
    5. Else, in a reply at most twice as long as all options together, the one option whose text
       stands in it, whatever the case.
    6. Without one, there is no answer: it counts as Z, which is wrong.
    """
    return _exact_matching(reply, choices, announced=True)


def read_unannounced(reply: str, choices: Choices) -> ParserReading:
    """The exact-matching mode from August 2025 to June 2026.

    1. As the present one, but without its rule 4: "answer is" makes no difference.
    """
    return _exact_matching(reply, choices)


def read_anywhere(reply: str, choices: Choices) -> ParserReading:
    """The exact-matching mode until August 2025.

    1. As the one after it, but that the one letter may stand anywhere in the reply ("I'm afraid
       that I cannot" is option I), and that texts are looked for in replies of any length.
    """
    return _exact_matching(reply, choices, anywhere=True)


NOTHING = "neither a letter nor a text"


def _exact_matching(
    reply: str, choices: Choices, *, announced: bool = False, anywhere: bool = False
) -> ParserReading:
    letter = _letter_among_words(reply, choices, len(reply) + 1 if anywhere else _LAST_WORDS)
    if letter:
        return chosen(letter, choices, "letter among the words")
    if announced and _FAILED not in reply and (behind := _ANNOUNCED.search(reply)):
        found = chosen(behind[1].upper(), choices, "letter behind 'answer is'")
        if found.place is not None:
            return found
    text = reply.lower()
    is_short = len(text) <= 2 * sum(map(len, choices))
    places = [place for place, choice in enumerate(choices) if choice.lower() in text]
    if len(places) == 1 and (anywhere or is_short):
        return ParserReading(places[0], "option's text")
    return ParserReading(None, NOTHING)


def _letter_among_words(reply: str, choices: Choices, last_words: int) -> str:
    """The option that is the only letter of its words, Z where it says none; else empty."""
    if _FAILED in reply:
        return ""
    if any(phrase in reply for phrase in _REFUSALS):
        return _NONE
    words = reply.translate(_SPACED).split()
    first = {word: place for place, word in reversed([*enumerate(words)])}
    found = [letter for letter in LETTERS[: len(choices)] if letter in first]
    if len(found) == 1 and first[found[0]] >= len(words) - last_words:
        return found[0]
    return _NONE if not found and _NONE in first else ""


def read_failed_judge(reply: str, choices: Choices) -> ParserReading:
    """With a judge that gives nothing usable three times: as exact matching, then a guess.

    1. As exact matching, rules 1 to 5. (A judge that works reads the rest, which is not reproduced
       here: it costs calls, and depends on the judge.)
    2. Without an answer, one is drawn by chance among the options and "none of them".
    """
    found = read_exact_matching(reply, choices)
    if found.rule != NOTHING:
        return found
    return ParserReading(None, "a guess", draw=len(choices) + 1)


def read_videomme_first(reply: str, choices: Choices) -> ParserReading:
    """Video-MME there, without a judge: the first capital letter, then exact matching.

    1. Phrases such as "The answer is" and "Answer:" are cut out, wherever they stand.
    2. The first capital letter from A to D is the answer, wherever it stands.
    3. Else as exact matching, with the full stops at the ends of the options taken off.
    """
    found = first_capital(reply, choices, _PHRASES, "ABCD")
    if found.rule != NO_CAPITAL:
        return found
    return read_exact_matching(reply, [choice.strip(". \n") for choice in choices])
