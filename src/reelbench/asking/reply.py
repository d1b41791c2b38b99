"""What a reply says once its dress is off: reasoning, Markdown, LaTeX and odd character forms."""

import re
import unicodedata

_THINKING = "think|thinking|thought|thoughts|reasoning|analysis|scratchpad"
_THOUGHT = re.compile(rf"<({_THINKING})>.*?</\1>|◁think▷.*?◁/think▷", re.DOTALL | re.IGNORECASE)
_OPENED = re.compile(rf"(?:<(?:{_THINKING})>|◁think▷).*\Z", re.DOTALL | re.IGNORECASE)
_CLOSED = re.compile(rf"\A.*(?:</(?:{_THINKING})>|◁/think▷)", re.DOTALL | re.IGNORECASE)
_WRAPPED = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|rm|bf)\s*\{([^{}]*)\}")
_MATHS = re.compile(r"\\[()\[\]]|\$+|\\[,;! ]")
_EMPHASIS = re.compile(r"\*+|__+|`+|^[ \t]*(?:#+|>)[ \t]*", re.MULTILINE)


def without_reasoning(reply: str) -> str:
    """Return what comes after the thinking aloud; nothing if that was cut off."""
    text = _THOUGHT.sub("", reply)
    text = _CLOSED.sub("", text)  # some models only close what they did not open
    return _OPENED.sub("", text).strip()


def undressed(text: str) -> str:
    """Return a text without Markdown and LaTeX, with letters and marks in their plain forms."""
    text = unicodedata.normalize("NFKC", text).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    text = _MATHS.sub(" ", text)
    while (inner := _WRAPPED.sub(r"\1", text)) != text:
        text = inner
    return _EMPHASIS.sub("", text).strip()


def plain(text: str) -> str:
    """Return a text as it is compared: no case, no marks around it, single spaces."""
    return " ".join(undressed(text).casefold().strip(MARKS).split())


MARKS = " \t\n.,;:!*_`'\"()[]{}<>$\\。、「」『』【】"
