"""How HumanVBench's published Evaluation.py compares a reply with the key."""

from reelbench.data.items import LETTERS
from reelbench.evaluate.published_parsers.reading import Choices, ParserReading, chosen

_ANNOUNCED = ("best answer is Option ", "best answer is option ")
_SWAPPED = str.maketrans({",": "-", "-": ","})
_LONG = 20  # characters from which an option's text may differ
_MISSING = 2  # characters that may be missing at its ends


def read_humanvbench(reply: str, choices: Choices) -> ParserReading:
    """The script of the benchmark's present release.

    1. The word "Answer" is cut out, wherever it stands.
    2. The character behind "best answer is Option " is the answer, whatever it is.
    3. Else the first option whose text stands in the reply, to the letter: one of more than 20
       characters may lack two at its ends, and a shorter one may have commas for hyphens.
    4. Else the first capital letter that an option has, wherever it stands, in words too; of a
       reply that begins with "Based", not the B of that.
    5. Without one, there is no answer.
    """
    text = reply.replace("Answer", "")
    for words in _ANNOUNCED:
        _, found, after = text.partition(words)
        if found:
            # Where nothing follows, the script fails; we say that there is no answer.
            return chosen(after[:1], choices, "announced option")
    for place, choice in enumerate(choices):
        if _stands_in(choice, text):
            return ParserReading(place, "option's text")
    if text.split(" ", 1)[0] == "Based":
        text = text[5:]
    wanted = frozenset(LETTERS[: len(choices)])
    letter = next((character for character in text if character in wanted), "")
    if not letter:
        return ParserReading(None, "no capital letter of an option")
    return chosen(letter, choices, "first capital")


def _stands_in(choice: str, text: str) -> bool:
    if choice in text:
        return True
    if len(choice) <= _LONG:
        return choice.translate(_SWAPPED) in text
    # The longest text that both have lacks two characters at most: so one of these stands there.
    least = len(choice) - _MISSING
    return any(choice[start : start + least] in text for start in range(_MISSING + 1))
