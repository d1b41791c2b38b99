"""Render a scene as a video with sound: 640x360, H.264 and AAC, and its truth beside it."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from reelbench.base.files import digest_of_file, pretty_json, write_atomically
from reelbench.base.seeds import seed_for
from reelbench.media.decode.decode import Image
from reelbench.media.edit.write import AudioTrack, video_writer
from reelbench.world.scene import (
    BACKGROUNDS,
    COLOURS,
    FRAME_RATE,
    HEIGHT,
    SOUND_LENGTH,
    WIDTH,
    Scene,
    SoundKind,
)
from reelbench.world.shapes import shape_mask

RENDERER_VERSION = 2  # raise it when a change alters what is drawn or heard
SAMPLE_RATE = 32_000
_WORD_BAND = slice(HEIGHT - 62, HEIGHT - 14)


def synthesize(video: Path, scene: Scene, truth: Path) -> None:
    """Write the video of a scene, and then its truth file, which holds the hash of the video.

    It is a worker's job as it is: what a recipe imports would cost each worker half a second.
    """
    sound = AudioTrack([play(scene)[None]], SAMPLE_RATE)
    with video_writer(video, FRAME_RATE, quality=20, sound=sound) as writer:
        for number in range(scene.duration * FRAME_RATE):
            time = number / FRAME_RATE
            writer.show(draw_frame(scene, time), time)
    write_atomically(truth, _truth_text(scene, video))


def is_synthesized(scene: Scene, video: Path, truth: Path) -> bool:
    """Whether this scene has been rendered to these files already, and the video is unchanged."""
    return video.is_file() and truth.is_file() and truth.read_text() == _truth_text(scene, video)


def _truth_text(scene: Scene, video: Path) -> str:
    facts = {"renderer": RENDERER_VERSION, "video_sha256": digest_of_file(video)}
    return pretty_json(scene.truth() | facts)


def draw_frame(scene: Scene, time: float) -> Image:
    """Return the frame of a scene at a time."""
    shot = next(shot for shot in scene.shots if shot.start <= time < shot.end)
    frame = _background(shot.background).copy()
    for actor in scene.actors:
        if actor.visible(time):
            x, y = actor.position(time)
            sprite = _sprite(actor.shape, actor.radius(time), actor.colour(time))
            _paste(frame, *sprite, round(x), round(y))
    for event in scene.of_kind("word"):
        if event.time <= time < event.time + scene.word_length:
            frame[_WORD_BAND] = _word(event.detail, shot.background)
    return frame


@lru_cache(maxsize=16)
def _background(name: str) -> Image:
    """A soft vertical gradient, as a wall in even light would be."""
    shade = np.linspace(1.06, 0.92, HEIGHT)[:, None, None]
    column = np.clip(np.array(BACKGROUNDS[name]) * shade, 0, 255).astype(np.uint8)
    return np.repeat(column, WIDTH, axis=1)


@lru_cache(maxsize=256)
def _sprite(shape: str, radius: int, colour: str) -> tuple[NDArray[np.float32], Image]:
    """Return a shape's coverage of each pixel, and its colours, lit a little from above."""
    mask = shape_mask(shape, radius)
    light = np.linspace(1.08, 0.92, mask.shape[0])[:, None, None]
    paint = np.clip(np.array(COLOURS[colour]) * light, 0, 255).astype(np.uint8)
    return mask[..., None], np.repeat(paint, mask.shape[1], axis=1)


def _paste(frame: Image, mask: NDArray[np.float32], paint: Image, x: int, y: int) -> None:
    half = mask.shape[0] // 2
    window = frame[y - half : y - half + mask.shape[0], x - half : x - half + mask.shape[1]]
    window[:] = (window + mask * (paint.astype(np.float32) - window) + 0.5).astype(np.uint8)


@lru_cache(maxsize=32)
def _word(text: str, background: str) -> Image:
    band = Pillow.fromarray(_background(background)[_WORD_BAND].copy())
    draw = ImageDraw.Draw(band)
    font = ImageFont.load_default(34)
    draw.rounded_rectangle((WIDTH / 2 - 96, 0, WIDTH / 2 + 96, band.height - 1), 10, (20, 20, 22))
    draw.text((WIDTH / 2, band.height / 2), text, (250, 250, 250), font=font, anchor="mm")
    return np.asarray(band)


def play(scene: Scene) -> NDArray[np.float32]:
    """Return the sound of a scene as mono samples between -1 and 1."""
    samples = np.zeros(scene.duration * SAMPLE_RATE, np.float32)
    for start, end in scene.hum:
        span = slice(round(start * SAMPLE_RATE), round(end * SAMPLE_RATE))
        samples[span] += _hum(span.stop - span.start)
    for event in scene.events:
        if event.sound:
            sound = _sound(event.sound)
            start = round(event.time * SAMPLE_RATE)
            samples[start : start + len(sound)] += sound
    return samples


def _seconds(length: int) -> NDArray[np.float32]:
    return np.arange(length, dtype=np.float32) / np.float32(SAMPLE_RATE)


def _hum(length: int) -> NDArray[np.float32]:
    time = _seconds(length)
    chord = sum(np.sin(2 * np.pi * pitch * time) for pitch in (196.0, 246.9, 293.7))
    return np.asarray(0.02 * chord * _soft_ends(length), np.float32)


def _soft_ends(length: int, ramp: float = 0.01) -> NDArray[np.float32]:
    """Fade in and out within ten milliseconds, or a tone would begin and end with a click."""
    time = _seconds(length)
    return np.asarray(np.minimum(time, time[::-1]) / ramp, np.float32).clip(0, 1)


@lru_cache(maxsize=4)
def _sound(kind: SoundKind) -> NDArray[np.float32]:
    length = round(SOUND_LENGTH[kind] * SAMPLE_RATE)
    time = _seconds(length)
    if kind == "click":
        noise = np.random.Generator(np.random.PCG64(seed_for("click"))).random(length) * 2 - 1
        wave = noise * np.exp(-time * 90)
    elif kind == "beep":
        wave = 0.5 * np.sin(2 * np.pi * 1000.0 * time) * _soft_ends(length)
    else:
        wave = 0.35 * np.sign(np.sin(2 * np.pi * 110.0 * time)) * _soft_ends(length)
    return np.asarray(0.6 * wave, np.float32)
