"""The part of a reply that is whole, where a token limit cut it off."""

import json
import re

from reelbench.client.reply_text import without_markup
from reelbench.data.items import LETTERS
from reelbench.evaluate.parse.letters import Reader
from reelbench.evaluate.parse.marks import mark_ends, open_tag
from reelbench.evaluate.parse.question import Places
from reelbench.evaluate.parse.vocabulary import lowered, occurrences, pattern, words

_FENCE = pattern(r"\s*```[a-z]*\s*")
_END = pattern(r"(?<![\d.])(?<!\n[A-Z])(?<!^[A-Z])[.!?](?=\s|\Z)|[。।؟\n]")
_LETTER_LINE = pattern(r"[^\n:=]{0,40}[:=]\s{0,3}(\(?[A-Za-z]\)?)[.]?")
_LIST_GOES_ON = pattern(r"[\s\W\d]*(?:[A-Za-z](?![A-Za-z])|\Z)")


def before_cut(text: str, reader: Reader) -> str:
    """Return the sentences, lines and marks of a text that were finished; nothing if in doubt."""
    start = _FENCE.match(text)
    if text[start.end() if start else 0 :].startswith(("{", "[{", '["')):
        return _whole_json(text[start.end() if start else 0 :])
    text = _closed(text)
    lines = text.rstrip().rpartition("\n")
    last = without_markup(lines[2])
    single = reader.question.kind != "multi"
    if single and (_is_letter(without_markup(text), reader) or _is_letter_line(last, reader)):
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


_DOUBT = pattern(
    r"[.!?\n]\s{0,3}(?:so,?\s|and\s)?(?:but|however|wait|hmm|hold on|let me|let's|let us|although"
    r"|on the other hand"
    r"|alternatively|then again|i need to|i should|to be sure|to confirm|aber|mais|pero|但"
    r"|しかし)(?!\w)"
)


def goes_on(text: str, places: Places) -> bool:
    """Whether a reply that was cut off had begun to think again behind the letter of its answer."""
    letters = "".join(LETTERS[place] for place in places)
    low = lowered(text)
    named = [found.start() for found in re.finditer(rf"(?<!\w)[{letters}](?!\w)", text)]
    return bool(_DOUBT.search(low, named[-1] if named else 0))
