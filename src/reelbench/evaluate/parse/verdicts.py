"""A verdict behind each label: ``A. Blur - yes``, ``B: no``, or a table with a row for each."""

import re

from reelbench.evaluate.parse.letters import Reader
from reelbench.evaluate.parse.question import Places
from reelbench.evaluate.parse.text import ReplyText
from reelbench.evaluate.parse.vocabulary import lowered, pattern

_LABEL = pattern(
    r"[\s\"'*•–—-]{0,6}(?:option\s)?[(\[]?([A-Z])\s?[.):\]–—-]\s*(?=\S)", re.IGNORECASE
)
_YES = r"yes|true|correct|right|present|visible|✓|✔|✅|selected|applies"
_NO = (
    r"no|false|incorrect|wrong|absent|not (?:present|visible|correct|selected|applicable)"
    r"|invisible|✗|✘|❌|×"
)
_VERDICT = pattern(rf"\W{{0,4}}(?:is\s)?(?:(?P<no>{_NO})|(?P<yes>{_YES}))(?!\w)")

_ROW = pattern(r"\s*\|?[^|\n]+\|[^\n]*")
_CELL = pattern(rf"\W{{0,4}}(?:is\s)?(?:(?P<no>{_NO})|(?P<yes>{_YES}))\W{{0,4}}")
_CELL_LABEL = pattern(r"\W{0,3}(?:option\s)?([A-Z])(?:\W.*)?", re.IGNORECASE)
# A column of what is excluded says the contrary of what its cells do.
_OUT = pattern(r"\b(?:rule[ds]? out|wrong|incorrect|exclude\w*|eliminat\w+|reject\w*|false|not)\b")


def verdicts(reply: ReplyText, reader: Reader) -> Places:
    """The options that are called right, where every line is a label with a verdict."""
    found: dict[int, bool] = {}
    header: list[str] = []
    for _, line in reply.lines:
        if cells := _cells(line):
            header = header or cells
            verdict = _row(cells, header, reader)
        else:
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


def _cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table; none where it is no row."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if _ROW.match(line) else []


def _row(cells: list[str], header: list[str], reader: Reader) -> tuple[int, bool] | None:
    """What ``| B | a blue door | correct |`` says of its option: one cell is a verdict."""
    label = _CELL_LABEL.fullmatch(cells[0])
    place = reader.question.place(label[1]) if label else None
    found = [(at, _CELL.fullmatch(lowered(cell))) for at, cell in enumerate(cells) if at]
    verdicts_of = [(at, match["no"] is None) for at, match in found if match]
    if place is None or len(verdicts_of) != 1:
        return None
    ((at, is_right),) = verdicts_of
    names = lowered(header[at]) if at < len(header) else ""
    return None if _OUT.search(names) else (place, is_right)
