"""Writes previews of labels: a video with labels drawn in, and a contact sheet of all shots.

It works with any labels, also with none. This decodes in the calling process: for untrusted files,
call it in a worker.
"""

from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image as Pillow
from PIL import ImageDraw

from reelbench.annotate.operator import Labels
from reelbench.annotate.preview.draw import (
    DIM,
    INK,
    PALE,
    WHITE,
    Canvas,
    Timeline,
    fitting,
    stacked,
    subtitles,
    unit_of,
)
from reelbench.annotate.preview.fonts import font_for
from reelbench.annotate.preview.overlay import Scenes, sound_colour
from reelbench.base.files import write_atomically
from reelbench.media.decode.decode import iterate_frames
from reelbench.media.decode.probe import MediaInfo, probe
from reelbench.media.decode.stream import scan_frames
from reelbench.media.edit.audio import stream_audio
from reelbench.media.edit.clip import SOUND_RATE
from reelbench.media.edit.write import AudioTrack, even, video_writer
from reelbench.media.errors import MediaError

_LONGEST, _SHORTEST = 1280, 960  # pixels of the longer side of the picture in a preview
_QUALITY = 20  # x264's crf
_SHEET = 1560  # pixels of the width of a contact sheet
_FEWEST, _MOST = 6, 24  # pictures on it
_EDGE, _GUTTER, _CAPTION = 30, 18, 28  # pixels on it; captions are of one line or two


def write_preview(clip_path: Path, labels: Labels, out_video: Path, out_sheet: Path) -> None:
    """Write a video with the labels drawn in and its own sound, and a contact sheet as PNG."""
    info = probe(clip_path)
    if not info.has_video:
        raise MediaError(clip_path, "contains no video, so there is no preview")
    scenes = Scenes(labels, info)
    _write_video(clip_path, scenes, out_video)
    _write_sheet(clip_path, scenes, out_sheet)


def _write_video(path: Path, scenes: Scenes, out: Path) -> None:
    info, size, rows = scenes.info, _size(scenes.info), scenes.rows()
    timeline = Timeline(rows, info.duration, size[0], unit_of(size)) if rows else None
    sound = None
    if info.has_audio:
        sound = AudioTrack(stream_audio(path, SOUND_RATE, 2, 0.0, info.duration), SOUND_RATE, 2)
    shown = False
    with video_writer(out, info.frame_rate or 25, _QUALITY, sound) as writer:
        # Damaged frames are passed over: a preview of the rest is better than none.
        for time, image in scan_frames(path, longest=_LONGEST):
            canvas = Canvas(image, size)
            kind = scenes.sound(time)
            canvas.chips(_facts(scenes, time), kind, sound_colour(kind))
            canvas.marks(scenes.marks(time), _scale(info, size), time)
            parts = [canvas.picture]
            if "transcript" in scenes.labels:
                parts.append(subtitles(scenes.subtitle(time), size[0], canvas.unit))
            if timeline:
                parts.append(timeline.at([time]))
            writer.show(even(stacked(parts)), time)
            shown = True
        if not shown:
            raise MediaError(path, "none of its frames can be decoded")


def _facts(scenes: Scenes, time: float) -> list[str]:
    if "shots" not in scenes.labels:
        return [_clock(time)]
    return [_clock(time), f"shot {scenes.shot(time)} of {len(scenes.spans)}"]


def _size(info: MediaInfo) -> tuple[int, int]:
    """The width and height of a picture in a preview: neither too large nor too small to read."""
    side = max(info.width, info.height)
    scale = min(max(side, _SHORTEST), _LONGEST) / side
    width, height = (max(2, round(length * scale / 2) * 2) for length in (info.width, info.height))
    return width, height


def _scale(info: MediaInfo, size: tuple[int, int]) -> tuple[float, float]:
    return size[0] / info.width, size[1] / info.height


def _clock(time: float) -> str:
    minutes, tenths = divmod(round(time * 10), 600)
    return f"{minutes}:{tenths / 10:04.1f}"


class _Cell(NamedTuple):
    """A picture of the sheet: when, and of which shot."""

    time: float
    shot: int


def _cells(scenes: Scenes) -> list[_Cell]:
    """The middle of each shot; where shots are few, several times of the longest ones."""
    shots = list(enumerate(scenes.spans, 1))
    if len(shots) > _MOST:  # some of many, evenly
        shots = [shots[round(n * (len(shots) - 1) / (_MOST - 1))] for n in range(_MOST)]
    lengths = {number: end - start for number, (start, end) in shots}
    pieces = dict.fromkeys(lengths, 1)
    while sum(pieces.values()) < _FEWEST:
        longest = max(pieces, key=lambda number: (lengths[number] / pieces[number], -number))
        if lengths[longest] / pieces[longest] < 1.0:
            break
        pieces[longest] += 1
    return [
        _Cell(start + (end - start) * (piece + 0.5) / pieces[number], number)
        for number, (start, end) in shots
        for piece in range(pieces[number])
    ]


def _write_sheet(path: Path, scenes: Scenes, out: Path) -> None:
    info, cells = scenes.info, _cells(scenes)
    lines = -(-len(cells) // (3 if info.width >= info.height else 6))
    columns = -(-len(cells) // lines)  # as even as can be
    wide = (_SHEET - 2 * _EDGE - _GUTTER * (columns - 1)) // columns
    size = wide, max(2, round(wide * info.height / info.width))
    header, foot = _header(path, scenes, cells), _foot(scenes, cells)
    step = size[1] + _GUTTER + (2 if "transcript" in scenes.labels else 1) * _CAPTION
    sheet = Pillow.new("RGB", (_SHEET, header.height + lines * step + foot.height), INK)
    sheet.paste(header, (0, 0))
    sheet.paste(foot, ((_SHEET - foot.width) // 2, sheet.height - foot.height))
    places = {cell.time: number for number, cell in enumerate(cells)}
    for frame in iterate_frames(path, list(places), skip_damage=True):
        number = places[frame.time]
        left = _EDGE + number % columns * (wide + _GUTTER)
        top = header.height + number // columns * step
        canvas = Canvas(frame.image, size)
        canvas.marks(scenes.marks(frame.time), _scale(info, size), frame.time)
        sheet.paste(canvas.picture, (left, top))
        _caption(ImageDraw.Draw(sheet), (left, top + size[1]), wide, scenes, cells[number])
    data = BytesIO()
    sheet.save(data, "PNG")
    write_atomically(out, data.getvalue())


def _header(path: Path, scenes: Scenes, cells: list[_Cell]) -> Pillow.Image:
    """The name of the clip, and what there is to know of it."""
    lines = scenes.facts()
    shown = len({cell.shot for cell in cells})
    if shown < len(scenes.spans):
        lines[-1] += f"  ·  {shown} of {len(scenes.spans)} shots are shown"
    lines = [line for line in lines if line]
    picture = Pillow.new("RGB", (_SHEET, 84 + 30 * len(lines)), INK)
    draw, wide = ImageDraw.Draw(picture), _SHEET - 2 * _EDGE
    name = font_for(path.name, 34)
    draw.text((_EDGE, 44), fitting(path.name, name, wide), WHITE, name, anchor="lm")
    for number, line in enumerate(lines):
        font, colour = font_for(line, 20), PALE if number else DIM
        draw.text((_EDGE, 84 + 30 * number), fitting(line, font, wide), colour, font, anchor="lm")
    return picture


def _foot(scenes: Scenes, cells: list[_Cell]) -> Pillow.Image:
    """The timeline, with a line for each picture of the sheet."""
    rows = scenes.rows()
    if not rows:
        return Pillow.new("RGB", (_SHEET, 2), INK)
    # It keeps room at its sides, which makes it end where the pictures do.
    timeline = Timeline(rows, scenes.info.duration, _SHEET - 24, 1.0)
    return timeline.at([cell.time for cell in cells], lines=False)


def _caption(
    draw: ImageDraw.ImageDraw, at: tuple[int, int], wide: int, scenes: Scenes, cell: _Cell
) -> None:
    """Below a picture: when it is, its shot, the sound, and what is being said."""
    kind = scenes.sound(cell.time)
    facts = [*_facts(scenes, cell.time)[1:], *([kind] if kind else [])]
    clock, small = font_for("", 18), font_for("", 16)
    time = _clock(cell.time)
    draw.text((at[0], at[1] + 16), time, WHITE, clock, anchor="lm")
    left = clock.getlength(time) + 12
    words = fitting("  ·  ".join(facts), small, wide - left)
    draw.text((at[0] + left, at[1] + 16), words, DIM, small, anchor="lm")
    if subtitle := scenes.subtitle(cell.time):
        first = max(0, subtitle.begun - 3)  # the words around that moment
        text = ("... " if first else "") + " ".join(subtitle.words[first:])
        font = font_for(text, 16)
        draw.text((at[0], at[1] + 40), fitting(text, font, wide), PALE, font, anchor="lm")
