"""A scene is what happens in a synthesized video, exactly: actors, events, words and sounds.

Everything a question may ask about is stated here, in seconds and pixels, and written beside
the video as its truth file. Rendering adds nothing and hides nothing.
"""

from bisect import bisect_right
from dataclasses import asdict, dataclass
from typing import Any, Literal

WIDTH, HEIGHT, FRAME_RATE = 640, 360, 25

# Saturated, and apart in hue: a viewer and a camera name them alike.
COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (222, 38, 38),
    "orange": (245, 135, 20),
    "yellow": (244, 222, 32),
    "green": (40, 172, 60),
    "cyan": (30, 200, 214),
    "blue": (36, 84, 222),
    "purple": (136, 48, 200),
    "pink": (246, 70, 160),
}
SHAPES = ("circle", "ring", "square", "diamond", "triangle", "star", "cross", "heart")
# Pale or dark, and nearly grey, so that no background is mistaken for an actor.
BACKGROUNDS: dict[str, tuple[int, int, int]] = {
    "slate": (70, 76, 84),
    "sand": (206, 200, 188),
    "fog": (226, 229, 232),
    "night": (34, 36, 42),
    "stone": (140, 138, 134),
}
WORDS = ("RIVER", "LEMON", "TIGER", "CLOUD", "PIANO", "HOTEL", "WHEAT", "MARCH", "DELTA", "FABLE")

EventKind = Literal["appear", "vanish", "recolour", "resize", "meet", "cut", "word", "sound"]
SoundKind = Literal["click", "beep", "buzz"]
SOUND_LENGTH: dict[SoundKind, float] = {"click": 0.05, "beep": 0.3, "buzz": 0.4}


@dataclass(frozen=True, slots=True)
class Actor:
    """One shape; no two actors of a scene have the same one, so its shape is its name.

    ``colours`` and ``radii`` are steps: each holds from its time on. ``path`` is a polyline of
    (time, x, y); at a cut two points share a time and the actor jumps.
    """

    shape: str
    appears: float
    vanishes: float
    colours: tuple[tuple[float, str], ...]
    radii: tuple[tuple[float, int], ...]
    path: tuple[tuple[float, float, float], ...]

    def visible(self, time: float) -> bool:
        """Whether the actor is on the screen at a moment."""
        return self.appears <= time < self.vanishes

    def colour(self, time: float) -> str:
        """The name of its colour at a moment."""
        return self.colours[bisect_right(self.colours, time, key=lambda step: step[0]) - 1][1]

    def radius(self, time: float) -> int:
        """Half its width at a moment, in pixels."""
        return self.radii[bisect_right(self.radii, time, key=lambda step: step[0]) - 1][1]

    def position(self, time: float) -> tuple[float, float]:
        """The centre at a moment, on a straight line between two points of its path."""
        after = bisect_right(self.path, time, key=lambda point: point[0])
        if after == len(self.path):
            return self.path[-1][1:]
        (t0, x0, y0), (t1, x1, y1) = self.path[after - 1], self.path[after]
        share = (time - t0) / (t1 - t0)
        return x0 + share * (x1 - x0), y0 + share * (y1 - y0)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens at one moment, and what is heard, or no longer heard, just then."""

    time: float
    kind: EventKind
    actors: tuple[str, ...] = ()
    detail: str = ""  # the new colour, "larger" or "smaller", the word
    sound: SoundKind | None = None
    hush: bool = False  # whether the hum falls silent at that very moment


@dataclass(frozen=True, slots=True)
class Shot:
    """A stretch between two cuts."""

    start: float
    end: float
    background: str


@dataclass(frozen=True, slots=True)
class Scene:
    """The complete content of one synthesized video: shots, actors, events and sounds."""

    name: str
    duration: int
    shots: tuple[Shot, ...]
    actors: tuple[Actor, ...]
    events: tuple[Event, ...]
    word_length: float
    hum: tuple[tuple[float, float], ...]  # when the soft background hum is heard

    def actor(self, shape: str) -> Actor:
        """The actor of that shape."""
        return next(actor for actor in self.actors if actor.shape == shape)

    def of_kind(self, *kinds: EventKind) -> tuple[Event, ...]:
        """The events of these kinds, in the order they happen."""
        return tuple(event for event in self.events if event.kind in kinds)

    def truth(self) -> dict[str, Any]:
        """Return all of it as plain data, for the truth file."""
        facts = {"size": (WIDTH, HEIGHT), "frame_rate": FRAME_RATE}
        return asdict(self) | facts
