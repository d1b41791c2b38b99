"""Options that are named by their number in the list: ``I'd pick the second option``."""

from collections.abc import Iterator

from reelbench.evaluate.parse.agreement import LocatedReading
from reelbench.evaluate.parse.asserted import is_asserted
from reelbench.evaluate.parse.letters import Reader
from reelbench.evaluate.parse.ordinal_words import CALLED, ORDINALS, WORDS
from reelbench.evaluate.parse.text import ReplyText
from reelbench.evaluate.parse.vocabulary import pattern

_ORDINAL = pattern(
    rf"(?<!\w)the ({WORDS}) {CALLED} (?:is|seems|appears to be|must be"
    rf"|would be) (?:the )?"
    r"(?:(?:most )?(?:correct|right|best|accurate)|most (?:likely|plausible))(?! \w+ (?:not|wrong))"
    rf"|answer is:? (?:the )?({WORDS}) (?:one|{CALLED})(?!\w)"
    # The trailer (second choice); not "(second choice) is wrong".
    rf"|\((?:the )?({WORDS}) {CALLED}\)(?=\s?(?:[.,;!\n]|$))"
)


def ordinals(reply: ReplyText, reader: Reader) -> Iterator[LocatedReading]:
    """``The second option is correct.``."""
    for match in _ORDINAL.finditer(reply.low):
        word = match[1] or match[2] or match[3]
        if word in reader.question.texts or not is_asserted(reply.low, match.start()):
            continue
        reading = reader.at(ORDINALS[word])
        yield LocatedReading(match.start(), match.end(), reading)
