"""What the reasons are said to come to: ``The evidence points to B.``, ``That leaves B.``."""

from collections.abc import Iterator

from reelbench.evaluate.parse.agreement import LocatedReading, agreed
from reelbench.evaluate.parse.asserted import has_rival, is_asserted
from reelbench.evaluate.parse.letters import SEVERAL, Reader
from reelbench.evaluate.parse.question import Places
from reelbench.evaluate.parse.text import ReplyText
from reelbench.evaluate.parse.vocabulary import ends_of, pattern

# What may point to an option. A sign or an arrow that points to B does so in the video.
_REASONS = (
    r"(?:evidence|everything|clues?|cues|indications?|indicators|all signs|observations?|analysis"
    r"|facts|hints?|reasoning|features|details|characteristics|alles|todo|tout|tutto)"
    r"(?:\s\([^()\n]{0,80}\))?(?:\s(?:here|above|in the (?:video|clip|frames)|i see|we see)){0,2}"
)
_POINTS = (
    r"(?:(?:strongly|clearly|all|most|best|together)\s){0,2}"
    r"(?:(?:points?|leads?)\s(?:strongly\s|clearly\s|us\s|me\s)?(?:towards?|to)"
    r"|indicates?|suggests?|supports?|favou?rs?|deutet auf|spricht für|apunta a|indique|indica)"
)
_LEAVES = (
    r"(?:(?:that|this|which|it)\s(?:only\s)?leaves|leaving|we(?:'re| are) left with"
    r"|i(?:'m| am) left with|(?:damit |es |also |so )bleibt)"
    r"(?:\s(?:us|me|with|only|just|nur)){0,3}"
)
_POINTED = pattern(
    r"(?<![\w'])(?<!(?:some|part) of )(?<!(?:some|part) of the )(?<!(?:some|part) of this )"
    r"(?:(?:the|this|these|all)\s)?"
    rf"{_REASONS}\s{_POINTS}\s"
    rf"|(?<![\w']){_LEAVES}\s"
    r"|(?<=只剩下)|(?<=只剩)|(?<=指向)"
)
# A letter behind words that own the reply to be a guess: "If I had to choose: B".
_FORCED = pattern(
    r"(?<![\w'])(?:(?:if|were) (?:i|you) (?:had|have|must|were|am)\s[^.:,\n]{0,40}|forced to \w+"
    r"|(?:if )?pressed|(?:my |best |educated |only ){0,2}guess|(?:based on|judging (?:by|from)"
    r"|given|looking at|considering|going by)\s(?:the|these|this|what)\s[^.:,\n]{1,60}"
    r"|from (?:the |these |this |what |all ){0,2}(?:\w+ )?(?:frames?|video|clip|images?|footage"
    r"|pictures?|evidence|context|titles?|description|scene|captions?|i (?:can )?see))"
    r"[:,]\s{0,3}(?=(?:i'd say |it's |option )?\(?[a-z]\)?\s{0,3}(?:[.!\n]|$))"
)
_DISCARDS = pattern(r"\b(?:eliminat\w+|rule|exclude|discard|drop|reject|wrong|incorrect|least)\b")
_LENGTH = 400  # characters behind


def pointed_at(reply: ReplyText, reader: Reader) -> Places:
    """``The evidence points to B.``, ``This leaves us with B.``, ``If I had to choose: B``."""
    found = [*_evidence(reply, reader), *_forced(reply, reader)]
    return agreed(found, reply.bare, reader.question.kind)


def _evidence(reply: ReplyText, reader: Reader) -> Iterator[LocatedReading]:
    for match in ends_of(list(_POINTED.finditer(reply.low))):
        text = reply.bare[match.end() : match.end() + _LENGTH].partition("\n")[0]
        if is_asserted(reply.low, match.start()):
            reading = SEVERAL if has_rival(text) else reader.read_answer(text)
            yield LocatedReading(match.end(), match.end() + len(text), reading)


def _forced(reply: ReplyText, reader: Reader) -> Iterator[LocatedReading]:
    for match in ends_of(list(_FORCED.finditer(reply.low))):
        sentence = reply.low[max(0, match.start() - 20) : match.end()]
        if _DISCARDS.search(sentence):
            continue
        text = reply.bare[match.end() :].partition("\n")[0].partition(".")[0]
        yield LocatedReading(match.end(), match.end() + len(text), reader.letters(text))
