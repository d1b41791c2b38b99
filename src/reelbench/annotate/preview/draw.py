"""Draws the parts of a preview: boxes, tags, chips, subtitles, a timeline."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw

from reelbench.annotate.preview.fonts import Font, font_for
from reelbench.media.decode.decode import Image

Colour = tuple[int, int, int]
Rect = tuple[float, float, float, float]

WHITE: Colour = (255, 255, 255)
PALE: Colour = (206, 212, 222)
DIM: Colour = (138, 147, 162)
INK: Colour = (16, 18, 24)  # dark text and grounds
TROUGH: Colour = (38, 42, 52)
SPOKEN: Colour = (255, 205, 86)  # the word that is being said
_VEIL = 168  # of 255, how much a dark panel hides


@dataclass(frozen=True, slots=True)
class Mark:
    """A box with a caption; ``kind`` is face, body, thing or text."""

    kind: str
    box: Rect  # in pixels of the full-size video
    colour: Colour
    words: str = ""
    speaks: bool = False


@dataclass(frozen=True, slots=True)
class Subtitle:
    """A subtitle: its words, how many of them have begun, and the colour of the speaker."""

    words: tuple[str, ...]
    begun: int
    colour: Colour | None = None
    timed: bool = True  # whether the times of single words are known


@dataclass(frozen=True, slots=True)
class Bar:
    """A span in a row of the timeline."""

    start: float
    end: float
    colour: Colour
    words: str = ""


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """A row of the timeline."""

    name: str
    bars: tuple[Bar, ...]
    colour: Colour = DIM  # of its name


def unit_of(size: tuple[int, int]) -> float:
    """Return the scale of drawings on a picture of this width and height: 1 at 1280x720."""
    return math.sqrt(size[0] * size[1]) / 960


class Canvas:
    """A picture to draw on; sizes of drawings scale with it."""

    def __init__(self, image: Image, size: tuple[int, int]) -> None:
        """Scale a picture to this width and height."""
        picture = Pillow.fromarray(image)
        if picture.size != size:
            picture = picture.resize(size, Pillow.Resampling.BICUBIC)
        self.picture = picture
        self.draw = ImageDraw.Draw(picture)
        self.unit = unit_of(size)
        self._taken: list[Rect] = []  # by words, which others keep off

    def px(self, length: float, least: int = 1) -> int:
        """Turn a length at 1280x720 into pixels of this picture."""
        return max(least, round(length * self.unit))

    def marks(self, marks: Sequence[Mark], scale: tuple[float, float], time: float) -> None:
        """Draw boxes, and then their words, so that no box crosses words."""
        placed = [(mark, _scaled(mark.box, scale)) for mark in marks]
        for mark, box in placed:
            if mark.kind == "body":
                self._corners(box, mark.colour)
            else:
                wide, least = {"face": (3, 2), "thing": (2, 1)}.get(mark.kind, (1, 1))
                louder = self.px(2) if mark.speaks else 0
                self._frame(box, mark.colour, self.px(wide, least) + louder)
        for mark, box in placed:
            if mark.words or mark.speaks:
                self._tag(mark, box, time)

    def _frame(self, box: Rect, colour: Colour, width: int) -> None:
        left, top, right, bottom = box
        if right - left < 2 * width + 2 or bottom - top < 2 * width + 2:
            return  # nothing of such a box would be seen
        radius = min(self.px(7), (right - left) / 2, (bottom - top) / 2)
        # A dark line around a light one is seen on light and on dark.
        around = (left - 1, top - 1, right + 1, bottom + 1)
        self.draw.rounded_rectangle(around, radius + 1, outline=INK, width=width + 2)
        self.draw.rounded_rectangle(box, radius, outline=colour, width=width)

    def _corners(self, box: Rect, colour: Colour) -> None:
        left, top, right, bottom = (round(side) for side in box)
        reach, wide = round(min(right - left, bottom - top) * 0.18), self.px(3)
        arms = []
        for x, inward in ((left, 1), (right - wide, -1)):
            for y, downward in ((top, 1), (bottom - wide, -1)):
                across, down = sorted((x, x + inward * reach)), sorted((y, y + downward * reach))
                arms.append((across[0], y, across[1] + wide, y + wide))
                arms.append((x, down[0], x + wide, down[1] + wide))
        for grow, ink in ((1, INK), (0, colour)):
            for x1, y1, x2, y2 in arms:
                self.draw.rectangle((x1 - grow, y1 - grow, x2 - 1 + grow, y2 - 1 + grow), ink)

    def _tag(self, mark: Mark, box: Rect, time: float) -> None:
        font = font_for(mark.words, self.px(19, 12))
        pad, high = self.px(7, 4), round(self.px(19, 12) * 1.5)
        icon = round(high * 0.7) if mark.speaks else 0
        wide = font.getlength(mark.words) + 2 * pad + icon
        left, top = self._place(box, wide, high)
        self.panel((left, top, left + wide, top + high), mark.colour, 235, self.px(5, 3))
        if mark.speaks:
            self._voice(left + pad, top + high / 2, high, time)
        at = (left + pad + icon, top + high / 2)
        self.draw.text(at, mark.words, fill=INK, font=font, anchor="lm")

    def _place(self, box: Rect, wide: float, high: float) -> tuple[float, float]:
        """Above a box, else below, else inside; never out of the picture, nor on other words."""
        width, height = self.picture.size
        left = min(max(box[0], 0), max(0, width - wide))
        gap = self.px(4, 2)
        tries = [box[1] - high - gap, box[3] + gap, box[1] + gap, box[3] - high - gap]
        inside = [top for top in tries if 0 <= top <= height - high] or [max(0.0, box[1])]
        rects = [(left, top, left + wide, top + high) for top in inside]
        free = [rect for rect in rects if not any(_meet(rect, other) for other in self._taken)]
        chosen = (free or rects)[0]
        self._taken.append(chosen)
        return chosen[0], chosen[1]

    def _voice(self, left: float, middle: float, high: float, time: float) -> None:
        """Three bars that dance: this one speaks."""
        wide = max(2, round(high * 0.1))
        for number in range(3):
            swing = 0.5 + 0.5 * math.sin(time * 11 + number * 2.1)
            reach = high * (0.12 + 0.2 * swing)
            x = left + number * wide * 2
            self.draw.rectangle((x, middle - reach, x + wide - 1, middle + reach), fill=INK)

    def chips(self, words: Sequence[str], kind: str, colour: Colour) -> None:
        """Write short texts into the corners: some on the left, a kind of sound on the right."""
        edge = self.px(14, 6)
        left = float(edge)
        for word in words:
            left = self._chip(left, edge, word) + self.px(6, 3)
        if kind:
            font = font_for(kind, self.px(18, 12))
            wide = font.getlength(kind) + 2 * self.px(9, 5) + self.px(20, 11)
            self._chip(self.picture.width - edge - wide, edge, kind, colour)

    def _chip(self, left: float, top: float, word: str, dot: Colour | None = None) -> float:
        """Write one; return where it ends."""
        font, pad, high = font_for(word, self.px(18, 12)), self.px(9, 5), self.px(32, 20)
        room = self.px(20, 11) if dot else 0
        right = left + font.getlength(word) + 2 * pad + room
        self.panel((left, top, right, top + high), INK, _VEIL, high // 2)
        self._taken.append((left, top, right, top + high))
        middle = top + high / 2
        if dot:
            radius, x = self.px(6, 3), left + pad + self.px(5, 3)
            self.draw.ellipse((x - radius, middle - radius, x + radius, middle + radius), dot)
        self.draw.text((left + pad + room, middle), word, WHITE, font, anchor="lm")
        return right

    def panel(self, box: Rect, colour: Colour, opacity: int, radius: int) -> None:
        """Lay a rounded veil of a colour over a part."""
        left, top = round(box[0]), round(box[1])
        wide, high = max(1, round(box[2]) - left), max(1, round(box[3]) - top)
        self.picture.paste(colour, (left, top), _mask(wide, high, radius, opacity))


def subtitles(subtitle: Subtitle | None, width: int, unit: float) -> Pillow.Image:
    """Return a strip with the two lines of the current word, or an empty one.

    It goes below the picture, so that it does not cover text at the bottom of the picture.
    """
    size = max(14, round(26 * unit))
    high, pad = size * 1.35, max(6, round(12 * unit))
    strip = Pillow.new("RGB", (width, round(2 * high + pad) // 2 * 2), INK)
    if subtitle is None:
        return strip
    font, draw = font_for(" ".join(subtitle.words), size), ImageDraw.Draw(strip)
    lines = _lines(subtitle.words, font, width * 0.9)
    now = max(0, subtitle.begun - 1)
    row = next((i for i, line in enumerate(lines) if now <= line[-1]), len(lines) - 1)
    shown = lines[row // 2 * 2 : row // 2 * 2 + 2]
    if subtitle.colour:
        draw.rectangle((0, 0, max(3, round(6 * unit)), strip.height), subtitle.colour)
    for number, line in enumerate(shown):
        x = (width - font.getlength(" ".join(subtitle.words[i] for i in line))) / 2
        y = strip.height / 2 + high * (number - (len(shown) - 1) / 2)
        for index in line:
            colour = WHITE if index < subtitle.begun or not subtitle.timed else DIM
            if subtitle.timed and index == subtitle.begun - 1:
                colour = SPOKEN
            draw.text((x, y), subtitle.words[index], colour, font, anchor="lm")
            x += font.getlength(subtitle.words[index] + " ")
    return strip


@dataclass(frozen=True)
class Timeline:
    """Rows of spans, drawn once; a line at the current time moves over them."""

    rows: tuple[TimelineRow, ...]
    seconds: float
    width: int
    unit: float

    def at(self, times: Sequence[float], lines: bool = True) -> Pillow.Image:
        """Return the timeline with a line, or only the head of one, at each of some times."""
        picture = self._background.copy()
        draw, top, bottom = ImageDraw.Draw(picture), self._px(6), picture.height - self._px(22, 15)
        for time in times:
            x = self._x(min(time, self.seconds))
            if lines:
                draw.line((x, top, x, bottom), WHITE, self._px(2, 2))
            head = self._px(5, 3)
            draw.polygon([(x - head, top), (x + head, top), (x, top + head * 1.4)], WHITE)
        return picture

    def _px(self, length: float, least: int = 1) -> int:
        return max(least, round(length * self.unit))

    @cached_property
    def _gutter(self) -> float:
        font = font_for("", self._size)
        return max(font.getlength(row.name) for row in self.rows) + self._px(28, 14)

    @property
    def _size(self) -> int:
        return self._px(16, 11)

    def _x(self, time: float) -> float:
        left, right = self._gutter, self.width - self._px(18, 9)
        return left + (right - left) * time / max(self.seconds, 1e-9)

    @cached_property
    def _background(self) -> Pillow.Image:
        high, gap, top = self._px(20, 13), self._px(5, 3), self._px(16, 9)
        height = top + len(self.rows) * (high + gap) + self._px(26, 18)
        height += height % 2
        picture = Pillow.new("RGB", (self.width, height), INK)
        draw, font = ImageDraw.Draw(picture), font_for("", self._size)
        for number, row in enumerate(self.rows):
            y = top + number * (high + gap)
            at = (self._gutter - self._px(12, 6), y + high / 2)
            draw.text(at, row.name, row.colour, font, anchor="rm")
            trough = (self._x(0), y, self._x(self.seconds), y + high)
            draw.rounded_rectangle(trough, self._px(4), fill=TROUGH)
            for bar in row.bars:
                self._bar(draw, bar, y, y + high)
        self._clock(draw, top + len(self.rows) * (high + gap))
        return picture

    def _bar(self, draw: ImageDraw.ImageDraw, bar: Bar, top: float, bottom: float) -> None:
        left = self._x(max(0.0, bar.start)) + 0.5
        right = max(left + 1, self._x(min(bar.end, self.seconds)) - 0.5)
        draw.rounded_rectangle((left, top, right, bottom), self._px(3), fill=bar.colour)
        font = font_for(bar.words, max(10, self._size - self._px(3)))
        if bar.words and font.getlength(bar.words) + 6 < right - left:
            middle = ((left + right) / 2, (top + bottom) / 2)
            draw.text(middle, bar.words, INK, font, anchor="mm")

    def _clock(self, draw: ImageDraw.ImageDraw, top: float) -> None:
        """Write times below, as many as have room."""
        font = font_for("", max(10, self._size - self._px(3)))
        room = font.getlength("00:00") * 2.2
        most = max(1.0, (self._x(self.seconds) - self._x(0)) / room)
        steps = [1, 2, 5, 10, 15, 30, *(60 * 2**n for n in range(16))]
        step = next(s for s in steps if self.seconds / s <= most or s == steps[-1])
        for tick in range(0, int(self.seconds) + 1, step):
            x = self._x(tick)
            draw.line((x, top, x, top + self._px(4, 2)), DIM)
            words = f"{tick // 60}:{tick % 60:02d}"
            draw.text((x, top + self._px(5, 3)), words, DIM, font, anchor="mt")


def stacked(pictures: Sequence[Pillow.Image]) -> Image:
    """Put pictures of one width under each other."""
    return np.concatenate([np.asarray(picture) for picture in pictures])


@lru_cache(maxsize=256)
def _mask(wide: int, high: int, radius: int, opacity: int) -> Pillow.Image:
    """How much a panel hides of each pixel; drawn larger and shrunk, for smooth corners."""
    large = Pillow.new("L", (wide * 4, high * 4), 0)
    corner = min(radius * 4, wide * 2, high * 2)
    area = (0, 0, wide * 4 - 1, high * 4 - 1)
    ImageDraw.Draw(large).rounded_rectangle(area, corner, fill=opacity)
    return large.resize((wide, high), Pillow.Resampling.BOX)


def fitting(text: str, font: Font, wide: float) -> str:
    """Return a text shortened to a width, with dots at its end."""
    if font.getlength(text) <= wide:
        return text
    while text and font.getlength(text + "...") > wide:
        text = text[:-1]
    return text.rstrip() + "..."


def _lines(words: Sequence[str], font: Font, wide: float) -> list[list[int]]:
    """Break words into lines of a width; return the indices of the words of each line."""
    lines: list[list[int]] = [[]]
    for number, word in enumerate(words):
        line = " ".join([*(words[i] for i in lines[-1]), word])
        if lines[-1] and font.getlength(line) > wide:
            lines.append([])
        lines[-1].append(number)
    return lines


def _scaled(box: Rect, scale: tuple[float, float]) -> Rect:
    left, right = sorted((box[0] * scale[0], box[2] * scale[0]))
    top, bottom = sorted((box[1] * scale[1], box[3] * scale[1]))
    return left, top, right, bottom


def _meet(one: Rect, other: Rect) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
