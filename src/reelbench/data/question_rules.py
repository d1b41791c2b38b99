"""What a written question must not be, by rules that ask nobody.

They hold for who writes on a page, for files of questions, and for what is imported.
"""

import re
from collections.abc import Sequence

from reelbench.data.items import LETTERS, Span

TO_REPLACE = "Replace this by"  # the beginning of texts that a new benchmark leaves to its author
LAST_FRAME = 0.1  # seconds by which a playhead may stand behind the last frame

_AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)(?:n['’]t)?"
_OPENING = r"(?:when|while|after|before|as|if|in|at|during|once|near|towards?)"
# "Is the man tall?", and "When the bell rings, does the dog bark?"
_YES_NO = re.compile(rf"\s*(?:{_OPENING}\b[^,?]*,\s*)?{_AUXILIARY}\b", re.I)
_ASKS = r"(?:how|why|what|who|whom|whose|which|when|where)"
_AND_MORE = re.compile(rf",?\s(?:and|then)\s(?:if so,?\s)?{_ASKS}\b[^?]*\?\s*$", re.I)
_ORDER = re.compile(
    r"\b(?:order(?! to\b)|sequence|arrange|sort|chronolog\w*|first to last|earliest to latest)\b",
    re.I,
)
# "A) ", "(B) ", "C. ", "(D.) ", "[E] " anywhere, "a) " too, and "A: " where a line begins.
_LABEL = re.compile(
    r"(?:(?:^|(?<=[\s(]))\(?([A-Z])(?:\.\)|[).])(?=\s|\()|\[([A-Z])\]"
    r"|(?:^|(?<=\s))\(?([a-z])\)(?=\s)|^([A-Z]):(?=\s))",
    re.MULTILINE,
)


def asks_yes_no(question: str) -> bool:
    """Whether yes or no would answer a question in full."""
    return _YES_NO.match(question) is not None and _AND_MORE.search(question) is None


def asks_for_order(question: str) -> bool:
    """Whether a question asks in which order things occur."""
    return _ORDER.search(question) is not None


def lists_options(question: str) -> bool:
    """Whether a question lists options to choose from; things to be put in order are none."""
    return bool(inline_options(question)) and not asks_for_order(question)


def inline_options(question: str) -> dict[str, str]:
    """Return what a question lists within itself under letters, by letter."""
    labels = list(_LABEL.finditer(question))
    letters = "".join(label[label.lastindex or 0].upper() for label in labels)
    if len(letters) < 2 or letters != LETTERS[: len(letters)]:
        return {}
    ends = [label.start() for label in labels[1:]] + [len(question)]
    texts = [question[label.end() : end].strip() for label, end in zip(labels, ends, strict=True)]
    return dict(zip(letters, texts, strict=True)) if all(texts) else {}


_BETWEEN = re.compile(r"[\s,;/&+|、，；]+(?:and\s+)?", re.I)
_ONE_LETTER = re.compile(r"[(\[]?(?:[A-Za-z]|[IVXivx]{2,4})[)\].:]*")


def are_letters(text: str) -> bool:
    """Whether a text is nothing but letters of options, such as b, (B), A,C or AC."""
    text = re.sub(r"^(?:option|answer|choice)s?\s+", "", text.strip(), flags=re.I)
    if re.fullmatch(r"(?=..)A?B?C?D?E?F?", text):
        return True
    return all(_ONE_LETTER.fullmatch(part) for part in _BETWEEN.split(text))


def evidence_outside(evidence: Sequence[Span], seconds: float) -> str:
    """Return a sentence if evidence ends after a video of this length; "" where it does not."""
    last = max((end for _, end in evidence), default=0)
    if last <= seconds + LAST_FRAME:
        return ""
    return f"The evidence ends at {last:g} s, but the video at {seconds:.2f} s."
