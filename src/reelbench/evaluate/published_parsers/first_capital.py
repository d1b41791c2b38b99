"""Parsers that take the first capital letter of a reply: Video-MME and LongVideoBench."""

from collections.abc import Sequence

from reelbench.evaluate.published_parsers.reading import Choices, ParserReading, chosen

# The two last pairs lack a comma between them in the source, so that they never occur in a reply.
_VIDEO_MME = (
    "The best answer is", "The correct answer is", "The answer is", "The answer",
    "The best option isThe correct option is", "Best answer:Best option:",
)  # fmt: skip
_LONG_VIDEO_BENCH = (
    "The best answer is", "The correct answer is", "The answer is", "The answer",
    "The best option is", "The correct option is", "Best answer:", "Best option:",
)  # fmt: skip


def read_videomme(reply: str, choices: Choices) -> ParserReading:
    """Video-MME and LVBench before the shared extractor; EgoPlan, MMWorld and LongVT still.

    1. Phrases such as "The answer is" are cut out, wherever they stand.
    2. The first capital letter from A to D is the answer, be it a label, the article "A" or the
       beginning of a word ("Based on the video" is B).
    3. Without one, there is no answer.
    """
    return first_capital(reply, choices, _VIDEO_MME, "ABCD")


def read_longvideobench(reply: str, choices: Choices) -> ParserReading:
    """LongVideoBench: as Video-MME, with A to E, more phrases, and a guess at the end.

    1. Phrases such as "The best option is" are cut out, wherever they stand.
    2. The first capital letter from A to E is the answer, wherever it stands.
    3. Without one, an option is drawn by chance.
    """
    found = first_capital(reply, choices, _LONG_VIDEO_BENCH, "ABCDE")
    if found.rule == NO_CAPITAL:
        return ParserReading(None, "a guess", draw=len(choices))
    return found


NO_CAPITAL = "no capital letter of an option"


def first_capital(
    reply: str, choices: Choices, phrases: Sequence[str], letters: str
) -> ParserReading:
    """Return the first of these letters once phrases are cut out."""
    text = reply.strip()
    for phrase in phrases:
        text = text.replace(phrase, "")
    letter = next((character for character in text if character in letters), "")
    return chosen(letter, choices, "first capital") if letter else ParserReading(None, NO_CAPITAL)
