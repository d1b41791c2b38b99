"""Scenes: who is there when, who speaks, in whose voice; planned by a seed, and rendered."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from people_rendered.heads import Head
from people_rendered.voices import RATE, SENTENCES, VOICES, openings, spoken
from reelbench.base.seeds import rng_for
from reelbench.media.decode.decode import Image
from reelbench.media.edit.write import AudioTrack, video_writer

WIDTH, HEIGHT, FRAME_RATE = 1280, 480, 25.0
SLIDE = 2.0  # seconds in which someone comes in or leaves
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """One person of a scene: a head, a place, when it is there, and what its mouth does."""

    head: int
    x: float  # of the middle, in pixels
    start: float = 0.0
    end: float = 1e9
    speaks: bool = False
    yawns_at: float | None = None
    side: int = 1  # where it comes from and goes to: -1 left, 1 right


@dataclass(frozen=True)
class Scene:
    """A scene, with all that is true of it."""

    name: str
    seconds: float
    parts: tuple[Part, ...]
    sentences: tuple[str, ...] = ()
    voices: tuple[str, ...] = ()  # of espeak-ng, one for each sentence
    voice_looks: tuple[str, ...] = ()  # male or female, likewise


def planned(heads: Sequence[Head], seed: int, counts: dict[str, int]) -> list[Scene]:
    """Plan so many scenes of each kind."""
    makers = {"panel": _panel, "voice-over": _voice_over, "both": _both, "alone": _alone,
              "comes": _comes, "crowd": _crowd}  # fmt: skip
    return [
        makers[kind](f"{kind}-{number}", heads, rng_for(seed, kind, number))
        for kind, count in counts.items()
        for number in range(count)
    ]


def _places(count: int) -> list[float]:
    return [WIDTH * (number + 0.5) / count for number in range(count)]


def _speech(looks: str, count: int, rng: Random) -> tuple[tuple[str, ...], tuple[str, ...]]:
    voice = rng.choice(VOICES[looks])
    return tuple(rng.sample(SENTENCES, count)), (voice,) * count


def _panel(name: str, heads: Sequence[Head], rng: Random) -> Scene:
    """Two to four people, one of whom speaks; sometimes another yawns."""
    chosen = rng.sample(range(len(heads)), rng.choice([2, 3, 4]))
    who = rng.randrange(len(chosen))
    yawns = rng.random() < 0.4
    parts = tuple(
        Part(head, x, speaks=n == who, yawns_at=rng.uniform(1, 5) if yawns and n != who else None)
        for n, (head, x) in enumerate(zip(chosen, _places(len(chosen)), strict=True))
    )
    looks = heads[chosen[who]].looks
    sentences, voices = _speech(looks, 3, rng)
    return Scene(name, 9.0, parts, sentences, voices, (looks,) * 3)


def _voice_over(name: str, heads: Sequence[Head], rng: Random) -> Scene:
    """Two or three people, none of whom speaks, and a voice."""
    chosen = rng.sample(range(len(heads)), rng.choice([2, 3]))
    looks = rng.choice(["male", "female"])
    sentences, voices = _speech(looks, 3, rng)
    parts = tuple(Part(h, x) for h, x in zip(chosen, _places(len(chosen)), strict=True))
    return Scene(name, 9.0, parts, sentences, voices, (looks,) * 3)


def _both(name: str, heads: Sequence[Head], rng: Random) -> Scene:
    """A man and a woman who speak in turn."""
    sides = [[n for n, head in enumerate(heads) if head.looks == each] for each in VOICES]
    chosen = [rng.choice(side) for side in sides]
    sentences = tuple(rng.sample(SENTENCES, 4))
    voices = [rng.choice(VOICES[heads[head].looks]) for head in chosen]
    parts = tuple(
        Part(h, x, speaks=True) for h, x in zip(chosen, _places(len(chosen)), strict=True)
    )
    looks = tuple(heads[chosen[n % 2]].looks for n in range(4))
    return Scene(name, 11.0, parts, sentences, (voices[0], voices[1]) * 2, looks)


def _alone(name: str, heads: Sequence[Head], rng: Random) -> Scene:
    """One person who speaks."""
    head = rng.randrange(len(heads))
    sentences, voices = _speech(heads[head].looks, 3, rng)
    part = Part(head, rng.uniform(400, 880), speaks=True)
    return Scene(name, 9.0, (part,), sentences, voices, (heads[head].looks,) * 3)


def _comes(name: str, heads: Sequence[Head], rng: Random) -> Scene:
    """One or two who stay, and one who is there for a part of the time."""
    seconds = rng.uniform(8.0, 12.0)
    chosen = rng.sample(range(len(heads)), rng.choice([2, 3]))
    places = _places(len(chosen))
    there = seconds * rng.uniform(0.36, 0.64)
    start = rng.choice([0.0, seconds - there, rng.uniform(1.0, seconds - there - 1.0)])
    side = rng.choice([-1, 1])
    rng.shuffle(places)
    outer = max(places) if side > 0 else min(places)
    places.remove(outer)
    stay = [Part(head, x) for head, x in zip(chosen[1:], places, strict=True)]
    end = start + there if start + there < seconds - 0.05 else 1e9
    comes = Part(chosen[0], outer, start, end, side=side)
    return Scene(name, round(seconds, 2), (comes, *stay))


def _crowd(name: str, heads: Sequence[Head], rng: Random) -> Scene:
    """Four to six people who stay."""
    chosen = rng.sample(range(len(heads)), rng.choice([4, 5, 6]))
    parts = tuple(Part(h, x) for h, x in zip(chosen, _places(len(chosen)), strict=True))
    return Scene(name, 6.0, parts)


def render(scene: Scene, heads: Sequence[Head], out: Path, folder: Path) -> None:
    """Write a scene as a video."""
    sounds = [
        spoken([text], voice, folder)
        for text, voice in zip(scene.sentences, scene.voices, strict=True)
    ]
    heard, mouths = _mixed(scene, heads, sounds)
    ground = _ground(rng_for("ground", scene.name))
    sound = AudioTrack([heard[None]], RATE) if sounds else None
    frames = round(scene.seconds * FRAME_RATE)
    with video_writer(out, FRAME_RATE, sound=sound) as writer:
        for number in range(frames):
            time = number / FRAME_RATE
            picture = ground.copy()
            for part, mouth in zip(scene.parts, mouths, strict=True):
                place = place_at(part, heads[part.head], time)
                if place is not None:
                    opening = mouth[number] + _yawn(part, time)
                    _paste(picture, heads[part.head], place, opening)
            writer.show(picture, time)


def _mixed(
    scene: Scene, heads: Sequence[Head], sounds: Sequence[NDArray[np.float32]]
) -> tuple[NDArray[np.float32], list[Floats]]:
    """Return the sound of a scene, and the openings of each mouth, frame by frame."""
    size = round(scene.seconds * RATE)
    whole = np.zeros(size, np.float32)
    own = [np.zeros(size, np.float32) for _ in scene.parts]
    at = round(0.4 * RATE)
    for looks, sound in zip(scene.voice_looks, sounds, strict=True):
        piece = sound[: max(0, size - at)]
        whole[at : at + len(piece)] += piece
        speakers = [n for n, part in enumerate(scene.parts) if part.speaks]
        if len(speakers) > 1:
            speakers = [n for n in speakers if heads[scene.parts[n].head].looks == looks]
        for number in speakers:
            own[number][at : at + len(piece)] += piece
        at += len(sound)
    mouths = [openings(each, scene.seconds, FRAME_RATE) for each in own]
    return whole, mouths


def place_at(part: Part, head: Head, time: float) -> tuple[float, float] | None:
    """Return where the left upper corner of a head is at a time; None where it is not there."""
    if not part.start <= time <= part.end:
        return None
    wide, high = head.pixels.shape[1], head.pixels.shape[0]
    sway = 4 * np.sin(2 * np.pi * (0.35 * time + part.head / 7))
    left, top = part.x - wide / 2 + sway, HEIGHT * 0.5 - high / 2 + sway / 2
    away = (WIDTH - left) if part.side > 0 else -(left + wide)
    coming = max(0.0, 1 - (time - part.start) / SLIDE) if part.start > 0 else 0.0
    leaving = max(0.0, 1 - (part.end - time) / SLIDE) if part.end < 1e8 else 0.0
    return left + away * max(coming, leaving), top


def _yawn(part: Part, time: float) -> float:
    if part.yawns_at is None or not part.yawns_at <= time <= part.yawns_at + 2.5:
        return 0.0
    return 0.14 * float(np.sin(np.pi * (time - part.yawns_at) / 2.5))


def _paste(picture: Image, head: Head, place: tuple[float, float], opening: float) -> None:
    left, top = round(place[0]), round(place[1])
    pixels = head.with_mouth(opening)
    high, wide = pixels.shape[:2]
    x0, x1 = max(0, left), min(WIDTH, left + wide)
    y0, y1 = max(0, top), min(HEIGHT, top + high)
    if x0 >= x1 or y0 >= y1:
        return
    inner = pixels[y0 - top : y1 - top, x0 - left : x1 - left]
    alpha = head.alpha[y0 - top : y1 - top, x0 - left : x1 - left, None]
    under = picture[y0:y1, x0:x1]
    picture[y0:y1, x0:x1] = np.clip(under * (1 - alpha) + inner * alpha, 0, 255)


def _ground(rng: Random) -> Image:
    """A wall: two colours that run into each other."""
    one, other = (np.array([rng.uniform(60, 200) for _ in range(3)]) for _ in range(2))
    share = np.linspace(0, 1, HEIGHT)[:, None, None]
    wall = np.broadcast_to(one * (1 - share) + other * share, (HEIGHT, WIDTH, 3))
    return wall.astype(np.uint8)
