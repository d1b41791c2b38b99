"""Where a text says that something is not so: rules of thumb about English words."""

import re

from reelbench.base.text import plain

_VERBS = "is|are|was|were|do|does|did|has|have|had|ca|could|wo|would|should|must"
_NEGATION = re.compile(
    r"\b(?:"
    r"not|never|no|none|nobody|nothing|nowhere|neither|nor|cannot|\w+n't"
    rf"|(?:{_VERBS})nt"  # an apostrophe left out
    r"|without|sans|lack(?:s|ed|ing)?|(?:devoid|absence|short|opposite|reverse|contrary) of"
    r"|(?:fail(?:s|ed|ing|ure)?|refus(?:e|es|ed|ing)|ceas(?:e|es|ed|ing)) to"
    r"|stop(?:s|ped|ping)? being|far from|other than|anything but"
    r"|den(?:y|ies|ied)|disagrees?|doubt(?:s|ful)?|disput(?:e|es|ed)"
    r")\b"
    r"|\b(?:non|un)-(?=\w)"  # non-natural, un-blurred
)


def negations(text: str) -> list[str]:
    """Return the words of a text that negate, in their order."""
    return _NEGATION.findall(plain(text).replace("’", "'"))


def is_negated(text: str) -> bool:
    """Whether a text says that something is not so."""
    return bool(negations(text))
