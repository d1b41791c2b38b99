"""Subtitles in the picture that repeat what the narrator says."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import ClassVar

from reelbench.annotate.common.ocr import letters_of
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.data.items import Span

_AROUND = 1.5  # seconds: text is looked at once a second, and subtitles come early or stay late
_LONGEST = 12.0  # seconds; what stays longer is a title, a label or a quotation, no subtitle
_TOGETHER = 0.5  # seconds; lines that appear within them are one screen of text
_GAP = 6.0  # seconds between two screens of the same subtitles
_BLOCK = 4  # letters in a row that agree by more than chance; two of scripts without blanks


@dataclass(frozen=True)
class TextScreen:
    """Lines that appear together: when, what they say, and how much of it is spoken then."""

    start: float
    end: float
    text: str
    letters: int
    spoken: int  # letters

    @property
    def share(self) -> float:
        """The share of its letters that are spoken while it is seen."""
        return self.spoken / max(1, self.letters)


@dataclass(frozen=True)
class NarrationText(Operator):
    """Finds spans in which text on the screen follows the narrator's words."""

    name: ClassVar[str] = "narration_text"
    needs: ClassVar[tuple[str, ...]] = ("text", "transcript", "narrator")
    # Of 3000 draws of other sentences, 99 % had at most .33 of their letters in the speech around
    # them; of 1000 of the same, one word in ten misheard and 5 % of letters misread, 95 % over .54.
    least_share: float = 0.5  # of the letters of a screen that are spoken then
    least_screens: int = 3  # a title or a quotation is one or two
    least_letters: int = 24  # about five words

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the spans in which text repeats the narration."""
        del clip
        lines, words = labels["text"]["lines"], labels["narrator"]["words"]
        return repeated_narration(
            lines, words, self.least_share, self.least_screens, self.least_letters
        )


def repeated_narration(
    lines: Sequence[Value],
    words: Sequence[Value],
    least_share: float = NarrationText.least_share,
    least_screens: int = NarrationText.least_screens,
    least_letters: int = NarrationText.least_letters,
) -> Value:
    """Return the spans in which lines of the label ``text`` repeat words with their times.

    Subtitles go on: a span has several screens of text in a row, most of whose letters are spoken
    while they are seen, in this order. A title that is read out, or one quoted line, is none.
    """
    spoken = [screen for screen in _screens(lines, words) if screen.share >= least_share]
    runs: list[list[TextScreen]] = []
    for screen in spoken:
        if runs and screen.start - max(each.end for each in runs[-1]) <= _GAP:
            runs[-1].append(screen)
        else:
            runs.append([screen])
    found = [
        run
        for run in runs
        if len(run) >= least_screens and sum(each.letters for each in run) >= least_letters
    ]
    spans = [(run[0].start, max(each.end for each in run)) for run in found]
    return {
        "spans": [[round(start, 4), round(end, 4)] for start, end in spans],
        "shares": [
            round(sum(each.spoken for each in run) / sum(each.letters for each in run), 4)
            for run in found
        ],
        "texts": [" ".join(each.text for each in run) for run in found],
        "seconds": round(sum(end - start for start, end in spans), 4),
    }


def _screens(lines: Sequence[Value], words: Sequence[Value]) -> list[TextScreen]:
    """Return lines that appear together, as one text each, in order of time."""
    together: list[list[Value]] = []
    for line in sorted(lines, key=lambda each: each["start"]):
        if line["end"] - line["start"] > _LONGEST:
            continue
        if together and line["start"] - together[-1][0]["start"] <= _TOGETHER:
            together[-1].append(line)
        else:
            together.append([line])
    return [_screen(group, words) for group in together]


def _screen(lines: Sequence[Value], words: Sequence[Value]) -> TextScreen:
    """Return a screen with the lines that are spoken, or all of them where none is."""
    span = (min(line["start"] for line in lines), max(line["end"] for line in lines))
    heard = _heard(words, span)
    texts = [line["text"] for line in lines]
    counted = [(text, len(letters_of(text)), _agreement(text, heard)) for text in texts]
    # A watermark or a sign beside subtitles does not make them others.
    own = [each for each in counted if 2 * each[2] >= each[1]] or counted
    text = " ".join(text for text, _, _ in own)
    return TextScreen(*span, text, sum(n for _, n, _ in own), sum(n for _, _, n in own))


def _heard(words: Sequence[Value], span: Span) -> str:
    start, end = span[0] - _AROUND, span[1] + _AROUND
    return letters_of("".join(w["word"] for w in words if w["start"] < end and w["end"] > start))


def _agreement(shown: str, heard: str) -> int:
    """Return how many letters of what is shown are in what is heard, in order and in a row."""
    letters = letters_of(shown)
    least = min(_BLOCK if letters.isascii() else 2, len(letters))
    blocks = SequenceMatcher(None, letters, heard, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks if block.size >= max(1, least))
