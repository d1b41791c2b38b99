"""Text on the screen: read in frames that changed, and merged over time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from itertools import chain
from typing import Any, ClassVar

from reelbench.annotate.common.ocr import LANGUAGES, TextLine, letters_of, read_lines
from reelbench.annotate.common.tracking import overlaps
from reelbench.annotate.operator import Clip, Labels, NotApplicable, PartOperator, Value
from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Span
from reelbench.media.decode.stream import scan_frames
from reelbench.media.measure import metrics as measures

_THIN = 4  # of how many pixels one is compared, to see whether there is anything new to read


@dataclass(frozen=True)
class ScreenText(PartOperator):
    """Reads text by PP-OCR (through rapidocr, with the models in its package), ``rate`` a second.

    Frames are read at no more than ``size`` pixels a side; small print in large ones needs more.
    A frame is read if it differs somewhere by over ``changed`` levels from the one read last, and
    once a minute in long clips; otherwise the last reading is kept. ``lines`` merges the readings
    of one line: the text that most of them have, from the frame in which it appears to the one in
    which it is gone, so times are as coarse as the rate. ``languages`` adds those
    that its model does not know: ko.
    """

    name: ClassVar[str] = "text"
    version: ClassVar[int] = 3
    weights: ClassVar[tuple[str, ...]] = tuple(name for name in LANGUAGES.values() if name)
    rate: float = 1.0
    size: int = 960
    changed: float = 12.0
    least_score: float = 0.7
    languages: tuple[str, ...] = ()

    @property
    def uses(self) -> tuple[str, ...]:
        """The weights of the languages that the usual model does not know."""
        unknown = [each for each in self.languages if each not in LANGUAGES]
        if unknown:
            raise ReelbenchError(
                f"text.languages: {', '.join(map(repr, unknown))} cannot be read; write some of "
                f"{', '.join(LANGUAGES)}."
            )
        return tuple(dict.fromkeys(LANGUAGES[each] for each in self.languages if LANGUAGES[each]))

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the label of a clip; in one piece, too, what is read does not outlast a part."""
        return self.merge(clip, labels, [self.part(clip, labels, x) for x in self.spans(clip)])

    def part(self, clip: Clip, labels: Labels, span: Span) -> list[Any]:
        """Return what is written at each look, and whether it was read then or earlier."""
        if not clip.info.has_video:
            raise NotApplicable("The clip has no video, so there is no text on the screen.")
        return [
            [time, [asdict(line) for line in lines], is_new]
            for time, lines, is_new in self._readings(clip, span)
        ]

    def merge(self, clip: Clip, labels: Labels, parts: Sequence[list[Any]]) -> Value:
        """Return the text of each frame that was read, and the lines over time."""
        readings = [
            (time, [_line(line) for line in lines], is_new) for time, lines, is_new in chain(*parts)
        ]
        if not readings:
            raise NotApplicable("No frame of the clip can be decoded.")
        end = max(clip.info.duration, readings[-1][0])
        frames = [
            {"time": round(time, 4), "lines": [_plain(line) for line in lines]}
            for time, lines, is_new in readings
            if is_new
        ]
        return {
            "rate": self.rate,
            "frames": frames,
            "lines": merged([(time, lines) for time, lines, _ in readings], end),
        }

    def _readings(self, clip: Clip, span: Span) -> Iterator[tuple[float, list[TextLine], bool]]:
        """What is written at each look, and whether it was read then or earlier."""
        read: measures.Grey | None = None
        lines: list[TextLine] = []
        for time, image in scan_frames(clip.path, self.rate, self.size, False, *span):
            thin = measures.luma(image[::_THIN, ::_THIN])
            is_new = read is None or _differ(read, thin, self.changed)
            if is_new:
                read = thin
                scale = clip.info.width / image.shape[1], clip.info.height / image.shape[0]
                found = read_lines(image, scale, self.uses)
                lines = [line for line in found if line.score >= self.least_score]
            yield time, lines, is_new


def _differ(before: measures.Grey, after: measures.Grey, by: float) -> bool:
    return before.shape != after.shape or measures.change(before, after) > by


def merged(readings: Sequence[tuple[float, Sequence[TextLine]]], end: float) -> list[Value]:
    """Return lines merged from the readings of consecutive frames; one frame may be missed."""
    times = [time for time, _ in readings]
    open_lines: list[_Line] = []
    closed: list[_Line] = []
    for index, (_, found) in enumerate(readings):
        closed += [line for line in open_lines if index - line.last > 2]
        open_lines = [line for line in open_lines if index - line.last <= 2]
        for written in found:
            same = next((line for line in open_lines if line.goes_on(written, index)), None)
            if same is None:
                same = _Line(index)
                open_lines.append(same)
            same.readings.append(written)
            same.last = index
    lines = sorted(closed + open_lines, key=lambda line: (line.first, line.readings[0].box[1::-1]))
    return [line.value([*times, end]) for line in lines]


@dataclass(slots=True, eq=False)
class _Line:
    """A line that stays on the screen for a while, and may be read differently each time."""

    first: int
    last: int = -1
    readings: list[TextLine] = field(default_factory=list)

    def goes_on(self, written: TextLine, index: int) -> bool:
        """Whether this is the same line, in the same place and nearly the same words."""
        before = self.readings[-1]
        if self.last == index or overlaps([before.box], [written.box])[0, 0] < 0.3:
            return False
        texts = SequenceMatcher(
            None, letters_of(before.text), letters_of(written.text), autojunk=False
        )
        return texts.ratio() >= 0.6

    def value(self, times: Sequence[float]) -> Value:
        """The reading with the most weight, with the best score it got."""
        weights: Counter[str] = Counter()
        for reading in self.readings:
            weights[reading.text] += round(reading.score * 10_000)  # whole, so order cannot matter
        text = min(weights, key=lambda one: (-weights[one], one))
        score = max(reading.score for reading in self.readings if reading.text == text)
        return {
            "text": text,
            "start": round(times[self.first], 4),
            "end": round(times[self.last + 1], 4),
            "score": round(score, 4),
        }


def _line(plain: Value) -> TextLine:
    left, top, right, bottom = plain["box"]
    return TextLine(plain["text"], (left, top, right, bottom), plain["score"])


def _plain(line: TextLine) -> Value:
    return {
        "text": line.text,
        "box": [round(side, 1) for side in line.box],
        "score": round(line.score, 4),
    }
