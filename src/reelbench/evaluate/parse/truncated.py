"""The part of a reply that is whole, where a token limit cut it off."""

import json
import re

from reelbench.asking.reply import undressed
from reelbench.evaluate.parse.letters import Reader
from reelbench.evaluate.parse.lookup import lowered, occurrences, words
from reelbench.evaluate.parse.marks import mark_ends, open_tag

_FENCE = re.compile(r"\s*```[a-z]*\s*")
_END = re.compile(r"(?<![\d.])(?<!\n[A-Z])(?<!^[A-Z])[.!?](?=\s|\Z)|[。।؟\n]")
_LETTER_LINE = re.compile(r"[^\n:=]{0,40}[:=]\s{0,3}(\(?[A-Za-z]\)?)[.]?")
_LIST_GOES_ON = re.compile(r"[\s\W\d]*(?:[A-Za-z](?![A-Za-z])|\Z)")


def before_cut(text: str, reader: Reader) -> str:
    """Return the sentences, lines and marks of a text that were finished; nothing if in doubt."""
    start = _FENCE.match(text)
    if text[start.end() if start else 0 :].startswith(("{", "[{", '["')):
        return _whole_json(text[start.end() if start else 0 :])
    text = _closed(text)
    lines = text.rstrip().rpartition("\n")
    last = undressed(lines[2])
    single = reader.question.kind != "multi"
    if single and (_is_letter(undressed(text), reader) or _is_letter_line(last, reader)):
        return text
    end = max([0, *(found.end() for found in _END.finditer(text)), *mark_ends(text)])
    head, tail = text[:end], text[end:]
    if next(occurrences(lowered(tail), words("retraction")), None):
        return ""
    if not single and (_LIST_GOES_ON.match(tail) or "\n" not in head):
        return head.rpartition("\n\n")[0]
    return head


def _whole_json(text: str) -> str:
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return ""
    return text[:end]


def _closed(text: str) -> str:
    """Leave out what begins with a brace or a tag that is never closed."""
    for opened, closed in (("{", "}"), ("[[", "]]")):
        if text.rfind(opened) > text.rfind(closed):
            text = text[: text.rfind(opened)].removesuffix("\\boxed")
    tag = open_tag(text)
    return text if tag is None else text[:tag]


def _is_letter(bare: str, reader: Reader) -> bool:
    """Whether a text is one letter, what it stands in closed."""
    balanced = all(bare.count(a) == bare.count(b) for a, b in ("()", "[]", "{}"))
    return len(bare) <= 12 and balanced and bool(reader.letters(bare).places)


def _is_letter_line(line: str, reader: Reader) -> bool:
    found = _LETTER_LINE.fullmatch(line)
    return bool(found and reader.letters(found[1]).places)
