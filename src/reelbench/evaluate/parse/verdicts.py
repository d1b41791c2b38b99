"""A verdict behind each label: ``A. Blur - yes``, ``B: no``."""

import re

from reelbench.evaluate.parse.letters import Reader
from reelbench.evaluate.parse.lookup import lowered
from reelbench.evaluate.parse.pattern import pattern
from reelbench.evaluate.parse.question import Places
from reelbench.evaluate.parse.text import ReplyText

_LABEL = pattern(
    r"[\s\"'*•–—-]{0,6}(?:option\s)?[(\[]?([A-Z])\s?[.):\]–—-]\s*(?=\S)", re.IGNORECASE
)
_YES = r"yes|true|correct|right|present|visible|✓|✔|✅|selected|applies"
_NO = (
    r"no|false|incorrect|wrong|absent|not (?:present|visible|correct|selected|applicable)"
    r"|invisible|✗|✘|❌|×"
)
_VERDICT = pattern(rf"\W{{0,4}}(?:is\s)?(?:(?P<no>{_NO})|(?P<yes>{_YES}))(?!\w)")


def verdicts(reply: ReplyText, reader: Reader) -> Places:
    """The options that are called right, where every line is a label with a verdict."""
    found: dict[int, bool] = {}
    for _, line in reply.lines:
        verdict = _verdict(line, reader)
        if verdict is None and found:
            return ()
        if verdict is not None:
            found[verdict[0]] = verdict[1]
    right = tuple(sorted(place for place, is_right in found.items() if is_right))
    return right if len(found) > len(right) else ()


def _verdict(line: str, reader: Reader) -> tuple[int, bool] | None:
    label = _LABEL.match(line)
    place = reader.question.place(label[1]) if label else None
    if label is None or place is None:
        return None
    text = lowered(line[label.end() :])
    own = lowered(reader.question.options[place])
    if text.startswith(own):
        text = text[len(own) :]
    verdict = _VERDICT.match(text)
    return (place, verdict["no"] is None) if verdict else None
