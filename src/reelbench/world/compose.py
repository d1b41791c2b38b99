"""Generates scenes from a seed, with events far enough apart to be told from each other."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from reelbench.base.seeds import rng_for
from reelbench.world.scene import (
    BACKGROUNDS,
    COLOURS,
    SHAPES,
    SOUND_LENGTH,
    WORDS,
    Actor,
    Event,
    EventKind,
    Scene,
    Shot,
    SoundKind,
)

LANES = (74, 160, 246)  # y of the three rows; the band below them is kept for words
LEFT, RIGHT = (56, 262), (378, 584)  # x ranges in which the two actors of a row move
RADIUS, LARGE, SMALL = 34, 42, 24
WORD_LENGTH = 1.4
APPROACH, TOGETHER = 0.8, 0.8  # seconds two actors need to meet, and stay together
GAPS = (1.6, 1.8, 2.0, 2.2)  # between events: never two within what a viewer tells apart
SILENCE = 2.0


def compose(seed: int, name: str) -> Scene:
    """Return the scene of a seed and a name; the same ones give the same scene."""
    rng = rng_for(seed, "scene", name)
    duration = rng.randint(10, 20)
    cast = rng.sample(SHAPES, rng.randint(4, 6))
    palette = rng.sample(list(COLOURS), len(COLOURS))
    kinds = _event_kinds(rng, times := _event_times(rng, duration))
    stage = _Stage(rng, cast, hide=kinds.count("appear"), spare_colours=palette[len(cast) :])
    chosen = [stage.perform(kind, time) for kind, time in zip(kinds, times, strict=True)]
    events = _add_hush(rng, _add_sounds(rng, chosen), duration)
    shots = _shots(rng, events, duration)
    return Scene(
        name=name,
        duration=duration,
        shots=shots,
        actors=tuple(
            _actor(rng, shape, colour, place, events, shots)
            for place, (shape, colour) in enumerate(zip(cast, palette, strict=False))
        ),
        events=events,
        word_length=WORD_LENGTH,
        hum=_hum(rng, events, duration),
    )


def _event_times(rng: random.Random, duration: int) -> list[float]:
    times, time = [], 1.4
    while time <= duration - 1.8:
        times.append(round(time, 2))
        time += rng.choice(GAPS)
    return times


def _event_kinds(rng: random.Random, times: Sequence[float]) -> list[EventKind]:
    """As many cuts as chance wants, some of everything else, and a shuffle."""
    cuts = rng.randint(0, min(4, len(times) // 2))
    wanted: list[EventKind] = ["appear", "recolour", "vanish", "meet", "appear", "word", "resize"]
    more: list[EventKind] = ["appear", "vanish", "recolour", "resize", "word", "sound"]
    others = wanted + rng.choices(more, k=len(times))
    kinds: list[EventKind] = ["cut"] * cuts
    kinds += others[: len(times) - cuts]
    rng.shuffle(kinds)
    return kinds


class _Stage:
    """Who is on the screen while events are chosen; one that cannot happen becomes a sound."""

    def __init__(
        self, rng: random.Random, cast: list[str], hide: int, spare_colours: list[str]
    ) -> None:
        self.rng, self.cast, self.spare_colours = rng, cast, spare_colours
        self.hidden = cast[2:][-hide:] if hide else []
        self.visible = [shape for shape in cast if shape not in self.hidden]
        self.words = rng.sample(WORDS, len(WORDS))
        self.changed: set[str] = set()

    def perform(self, kind: EventKind, time: float) -> Event:
        match kind:
            case "appear" if self.hidden:
                shape = self.hidden.pop(0)
                self.visible.append(shape)
                return Event(time, kind, (shape,))
            case "vanish" if len(self.visible) > 2:
                shape = self.rng.choice(self.visible)
                self.visible.remove(shape)
                return Event(time, kind, (shape,))
            case "recolour" if self.spare_colours and self._unchanged():
                shape = self._change()
                return Event(time, kind, (shape,), self.spare_colours.pop())
            case "resize" if self._unchanged():
                return Event(time, kind, (self._change(),), self.rng.choice(["larger", "smaller"]))
            case "meet" if self._pairs():
                return Event(time, kind, self.rng.choice(self._pairs()))
            case "cut":
                return Event(time, kind)
            case "word":
                return Event(time, kind, detail=self.words.pop())
        return Event(time, "sound")

    def _unchanged(self) -> list[str]:
        return [shape for shape in self.visible if shape not in self.changed]

    def _change(self) -> str:
        """Choose one that has not changed yet: "the star turns blue" then names one event."""
        shape = self.rng.choice(self._unchanged())
        self.changed.add(shape)
        return shape

    def _pairs(self) -> list[tuple[str, str]]:
        """Only the two actors of a row can meet: their paths cross nobody else's."""
        rows = [(a, b) for a, b in zip(self.cast[::2], self.cast[1::2], strict=False)]
        return [row for row in rows if set(row) <= set(self.visible)]


def _add_sounds(rng: random.Random, events: list[Event]) -> tuple[Event, ...]:
    """Give one beep and one buzz to events, clicks to some others, and a sound to bare ones."""
    sounds: dict[float, SoundKind] = {}
    for kind in ("beep", "buzz"):
        free = [event.time for event in events if event.time not in sounds]
        seen = [e.time for e in events if e.time in free and e.kind not in ("sound", "word")]
        if seen:
            sounds[rng.choice(seen)] = kind
    for event in events:
        if event.time not in sounds and (event.kind == "sound" or rng.random() < 0.4):
            sounds[event.time] = "click"
    return tuple(replace(event, sound=sounds.get(event.time)) for event in events)


def _shots(rng: random.Random, events: Sequence[Event], duration: int) -> tuple[Shot, ...]:
    edges = [0.0, *(event.time for event in events if event.kind == "cut"), float(duration)]
    shots: list[Shot] = []
    for start, end in pairwise(edges):
        others = [name for name in BACKGROUNDS if not shots or name != shots[-1].background]
        shots.append(Shot(start, end, rng.choice(others)))
    return tuple(shots)


def _actor(
    rng: random.Random,
    shape: str,
    colour: str,
    place: int,
    events: Sequence[Event],
    shots: Sequence[Shot],
) -> Actor:
    own = [event for event in events if shape in event.actors]
    moments = {event.kind: event for event in own}
    recolour, resize = moments.get("recolour"), moments.get("resize")
    radii = [(0.0, RADIUS)]
    if resize:
        radii.append((resize.time, LARGE if resize.detail == "larger" else SMALL))
    return Actor(
        shape=shape,
        appears=moments["appear"].time if "appear" in moments else 0.0,
        vanishes=moments["vanish"].time if "vanish" in moments else shots[-1].end,
        colours=((0.0, colour), *([(recolour.time, recolour.detail)] if recolour else [])),
        radii=tuple(radii),
        path=_path(rng, place, [event.time for event in own if event.kind == "meet"], shots),
    )


def _path(
    rng: random.Random, place: int, meets: Sequence[float], shots: Sequence[Shot]
) -> tuple[tuple[float, float, float], ...]:
    """Let an actor wander in its half of a row, and meet its neighbour in the middle in time."""
    points: list[tuple[float, float, float]] = []
    for number, shot in enumerate(shots):
        y = LANES[(place // 2 + number) % len(LANES)]
        on_left = (place + number) % 2 == 0
        low, high = LEFT if on_left else RIGHT
        time = shot.start
        while time < shot.end:
            if not any(at - APPROACH < time < at + TOGETHER + APPROACH for at in meets):
                points.append((time, float(rng.randint(low, high)), y))
            time = round(time + rng.choice((1.2, 1.6, 2.0)), 2)
        for at in meets:
            if shot.start <= at < shot.end:
                # Overlapping: outlines such as a star's and a triangle's would not touch otherwise.
                x = 320 + (-SMALL if on_left else SMALL)
                points += [(at, x, y), (round(at + TOGETHER, 2), x, y)]
        points.append((shot.end, float(rng.randint(low, high)), y))
    return tuple(sorted(points, key=lambda point: point[0]))


def _add_hush(rng: random.Random, events: tuple[Event, ...], duration: int) -> tuple[Event, ...]:
    """In every second scene, let the hum fall silent at the moment of one quiet event."""
    quiet = [e for e in events if e.sound is None and 2 < e.time < duration - SILENCE - 1]
    if not quiet or rng.random() < 0.4:
        return events
    chosen = rng.choice(quiet)
    return tuple(replace(event, hush=event == chosen) for event in events)


def _hum(
    rng: random.Random, events: Sequence[Event], duration: int
) -> tuple[tuple[float, float], ...]:
    """A soft hum throughout but for its silence, or none at all."""
    for event in events:
        if event.hush:
            return (0.0, event.time), (round(event.time + SILENCE, 2), float(duration))
    return ((0.0, float(duration)),) if rng.random() < 0.5 else ()


assert all(length < min(GAPS) for length in SOUND_LENGTH.values())
