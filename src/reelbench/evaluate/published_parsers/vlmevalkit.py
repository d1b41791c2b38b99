"""How VLMEvalKit reads multiple-choice replies where no judge model is asked, or it fails."""

from reelbench.data.items import LETTERS
from reelbench.evaluate.published_parsers.first_capital import first_capital
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
    4. Else, in a reply at most twice as long as all options together, the one option whose text
       stands in it, whatever the case.
    5. Without one, there is no answer: it counts as Z, which is wrong.
    """
    long = len(reply.lower()) > 2 * sum(map(len, choices))
    return _matched(reply, choices, _LAST_WORDS, texts=not long)


def read_earlier(reply: str, choices: Choices) -> ParserReading:
    """The exact-matching mode of earlier versions.

    1. As exact matching, but that the one letter may stand anywhere in the reply ("I'm afraid
       that I cannot" is option I), and that texts are looked for in replies of any length.
    """
    return _matched(reply, choices, len(reply) + 1, texts=True)


def _matched(reply: str, choices: Choices, last_words: int, *, texts: bool) -> ParserReading:
    if _FAILED not in reply:
        found = _letter_among_words(reply, LETTERS[: len(choices)], last_words)
        if found:
            return chosen(found, choices, "letter among the words")
    text = reply.lower()
    places = [place for place, choice in enumerate(choices) if texts and choice.lower() in text]
    if len(places) == 1:
        return ParserReading(places[0], "option's text")
    return ParserReading(None, "neither a letter nor a text")


def _letter_among_words(reply: str, letters: str, last_words: int) -> str:
    if any(phrase in reply for phrase in _REFUSALS):
        return _NONE
    words = reply.translate(_SPACED).split()
    first = {word: place for place, word in reversed([*enumerate(words)])}
    found = [letter for letter in letters if letter in first]
    if len(found) == 1 and first[found[0]] >= len(words) - last_words:
        return found[0]
    return _NONE if not found and _NONE in first else ""


def read_failed_judge(reply: str, choices: Choices) -> ParserReading:
    """With a judge that gives nothing usable three times: as exact matching, then a guess.

    1. As exact matching, rules 1 to 4. (A judge that works reads the rest, which is not reproduced
       here: it costs calls, and depends on the judge.)
    2. Without an answer, one is drawn by chance among the options and "none of them".
    """
    found = read_exact_matching(reply, choices)
    refused = found.rule.startswith("letter")
    if found.place is not None or refused:
        return found
    return ParserReading(None, "a guess", draw=len(choices) + 1)


def read_videomme_first(reply: str, choices: Choices) -> ParserReading:
    """Video-MME there, and video tasks like it: the first capital letter, in exact matching.

    1. Phrases such as "The answer is" and "Answer:" are cut out, wherever they stand.
    2. The first capital letter from A to D is the answer, wherever it stands.
    3. Without one, there is no answer (a judge is asked, where there is one).
    """
    return first_capital(reply, choices, _PHRASES, 4)
