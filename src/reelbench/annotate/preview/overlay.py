"""The labels of a clip at each time, as boxes and texts for a preview."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.annotate.operator import Labels, Value
from reelbench.annotate.preview.draw import Bar, Colour, Mark, Rect, Subtitle, TimelineRow
from reelbench.media.decode.probe import MediaInfo

PEOPLE: tuple[Colour, ...] = (
    (255, 183, 77), (77, 208, 190), (179, 157, 255), (255, 128, 130),
    (110, 180, 255), (174, 213, 98), (246, 152, 208), (222, 196, 150),
)  # fmt: skip
_SOUNDS: dict[str, Colour] = {
    "speech": (110, 180, 255),
    "singing": (179, 157, 255),
    "music": (246, 152, 208),
    "silence": (96, 104, 120),
}
_OTHER: Colour = (222, 196, 150)
_THING: Colour = (236, 240, 246)
_TEXT: Colour = (255, 236, 130)
_SHOTS: tuple[Colour, Colour] = (128, 138, 156), (98, 108, 126)
_GAP = 1.0  # seconds; boxes further apart are not one movement
_READ = 3.0  # seconds that words in the picture are believed to stay
_LINGER = 0.15  # seconds that a box stays after its last moment, and a subtitle
_PIECE = 16  # letters; longer words are rare where there are blanks between them
_MOST_ROWS = 6  # of people on the timeline


class Scenes:
    """Looks up the labels of a clip by time."""

    def __init__(self, labels: Labels, info: MediaInfo) -> None:
        self.labels, self.info = labels, info
        self.cuts: list[float] = labels.get("shots", {}).get("cuts", [])
        self.spans: list[tuple[float, float]] = [
            (start, end) for start, end in labels.get("shots", {}).get("shots", [])
        ] or [(0.0, info.duration)]
        self._tracks, self._bodies = _people(labels, "tracks"), _people(labels, "bodies")
        everyone = enumerate(self._tracks | self._bodies)
        self.colours = {person: PEOPLE[number % len(PEOPLE)] for number, person in everyone}
        self._speaking = {
            person: value["spans"] for person, value in _people(labels, "speaker").items()
        }
        self._demographics, self._moods = (
            _people(labels, "demographics"),
            _people(labels, "emotion"),
        )

    def marks(self, time: float) -> list[Mark]:
        """Return the boxes at a time, objects first, faces last."""
        faces = dict(self._faces(time))
        bodies = {
            person: box
            for person, value in self._bodies.items()
            if (box := self._box(value["boxes"], time))
        }
        marks = [*self._things(time)]
        for person, box in bodies.items():
            alone = person not in faces
            marks.append(self._person(person, "body", box, time, alone))
        marks += [self._person(person, "face", box, time, True) for person, box in faces.items()]
        if "tracks" not in self.labels:
            marks += self._nameless(time)
        return marks

    def shot(self, time: float) -> int:
        """Return the number of the shot, from 1."""
        return bisect_right(self.cuts, time + 1e-3) + 1

    def sound(self, time: float) -> str:
        """Return the kind of sound at a time, or ""."""
        spans = self.labels.get("sound", {}).get("spans", [])
        return next((str(s["kind"]) for s in spans if s["start"] <= time < s["end"]), "")

    def speakers(self, time: float) -> list[str]:
        """Return the visible people who speak at a time."""
        return [
            person
            for person, spans in self._speaking.items()
            if any(start <= time <= end for start, end in spans)
        ]

    def subtitle(self, time: float) -> Subtitle | None:
        """Return the subtitle at a time, or None."""
        segments = self.labels.get("transcript", {}).get("segments", [])
        begun = [each for each in segments if each["start"] <= time]
        if not begun or time > begun[-1]["end"] + _LINGER or not begun[-1]["text"].strip():
            return None
        segment, who = begun[-1], self.speakers(time)
        colour = self.colours.get(who[0]) if len(who) == 1 else None
        words = [each for each in segment.get("words") or [] if each["word"].strip()]
        if words:
            begun = sum(each["start"] <= time for each in words)
            return Subtitle(tuple(each["word"].strip() for each in words), begun, colour)
        plain = tuple(_words(segment["text"]))
        length = max(segment["end"] - segment["start"], 1e-3)
        reached = round(len(plain) * min(1.0, (time - segment["start"]) / length))
        return Subtitle(plain, reached, colour, timed=False)

    def rows(self) -> tuple[TimelineRow, ...]:
        """Return the rows of the timeline."""
        rows = []
        if "shots" in self.labels:
            shots = [
                Bar(start, end, _SHOTS[number % 2], str(number + 1))
                for number, (start, end) in enumerate(self.spans)
            ]
            rows.append(TimelineRow("shots", tuple(shots)))
        if "sound" in self.labels:
            spans = self.labels["sound"]["spans"]
            kinds = [Bar(s["start"], s["end"], sound_colour(s["kind"]), s["kind"]) for s in spans]
            rows.append(TimelineRow("sound", tuple(kinds)))
        if "turns" in self.labels:
            rows.append(TimelineRow("voices", tuple(_turns(self.labels["turns"]["turns"]))))
        people = self._tracks
        longest = sorted(people, key=lambda person: -_seen(people[person]))[:_MOST_ROWS]
        rows += [self._row(person, people[person]) for person in people if person in longest]
        return tuple(rows)

    def facts(self) -> list[str]:
        """Return a summary of the clip in two lines: of the file and of its labels."""
        info = self.info
        size = f"{info.width} x {info.height}"
        file = [f"{info.duration:.1f} s", size, f"{info.frame_rate:.4g} fps", info.codec]
        file += [f"{each.codec} {each.sample_rate / 1000:g} kHz" for each in info.audio[:1]]
        return ["  ·  ".join(file if info.has_audio else [*file, "no sound"]), self._summary()]

    def _summary(self) -> str:
        labels, parts = self.labels, []
        if "shots" in labels:
            parts.append(_plural(len(self.spans), "shot", "shots"))
        if "tracks" in labels or "count" in labels:
            counted = labels.get("count", {"people": len(self.colours)})
            number = counted["people"]
            unsure = "" if number is not None else " (unsure)"
            shown = counted["guess"] if number is None else number
            parts.append(_plural(shown, "person", "people") + unsure)
        speak = [p for p, value in _people(labels, "speaker").items() if value["speaks"]]
        if speak:
            parts.append(f"{', '.join(speak)} {'speaks' if len(speak) == 1 else 'speak'}")
        shares = sorted(labels.get("sound", {}).get("shares", {}).items(), key=lambda s: -s[1])
        parts += [f"{share:.0%} {kind}" for kind, share in shares if share >= 0.005]
        if labels.get("motion"):
            parts.append(f"motion {labels['motion']['score']:.2%}")
        spoken = labels.get("language", labels.get("transcript", {}))
        if language := spoken.get("spoken") or spoken.get("language"):
            parts.append(f"language {language}")
        if labels.get("unsafe", {}).get("mean", 0) > 0.5:
            parts.append("may be unsafe")
        return "  ·  ".join(parts)

    def _faces(self, time: float) -> Iterator[tuple[str, Rect]]:
        for person, value in self._tracks.items():
            for track in value["tracks"]:
                if track["start"] - _LINGER <= time <= track["end"] + _LINGER:
                    box = self._box(track["boxes"], time)
                    if box:
                        yield person, box
                        break

    def _nameless(self, time: float) -> Iterator[Mark]:
        """Faces of the last sampled frame, where there is no label of tracks."""
        frames = self.labels.get("faces", {}).get("frames", [])
        place = bisect_right(frames, time + 1e-3, key=lambda frame: frame["time"]) - 1
        if place >= 0 and time - frames[place]["time"] <= _GAP:
            for face in frames[place]["faces"]:
                yield Mark("face", tuple(face["box"]), PEOPLE[0])

    def _things(self, time: float) -> Iterator[Mark]:
        for track in self.labels.get("objects", {}).get("tracks", []):
            if box := self._box(track["boxes"], time):
                doubt = "?" if track["class"] is None else ""
                yield Mark("thing", box, _THING, f"{track['id']}{doubt}")
        frames = self.labels.get("text", {}).get("frames", [])
        place = bisect_right(frames, time + 1e-3, key=lambda frame: frame["time"]) - 1
        same = place >= 0 and self.shot(frames[place]["time"]) == self.shot(time)
        if same and time - frames[place]["time"] <= _READ:
            for line in frames[place]["lines"]:
                yield Mark("text", tuple(line["box"]), _TEXT)

    def _person(self, person: str, kind: str, box: Rect, time: float, named: bool) -> Mark:
        words = self._words(person, time) if named else ""
        speaks = named and person in self.speakers(time)
        return Mark(kind, box, self.colours[person], words, speaks)

    def _words(self, person: str, time: float) -> str:
        words = [person]
        if who := self._demographics.get(person):
            age = "" if who.get("age") is None else f"{who['age']:.0f}"
            words.append(" ".join(filter(None, [who.get("gender") or "", age])))
        if (feels := self._moods.get(person)) and feels["emotion"]:
            near = min(feels.get("at") or [], key=lambda each: abs(each[0] - time), default=None)
            close = near is not None and abs(near[0] - time) <= _GAP
            words.append(str(near[1] if near is not None and close else feels["emotion"]))
        return " · ".join(filter(None, words))

    def _box(self, boxes: Sequence[Value], time: float) -> Rect | None:
        """The box at a moment: between two that are near each other, on the way."""
        place = bisect_right(boxes, time, key=lambda box: box["time"])
        before = boxes[place - 1] if place else None
        after = boxes[place] if place < len(boxes) else None
        shot = self.shot(time)
        if before and (self.shot(before["time"]) != shot or time - before["time"] > _GAP):
            before = None
        if after and (self.shot(after["time"]) != shot or after["time"] - time > _GAP):
            after = None
        if before and after and after["time"] - before["time"] <= _GAP:
            share = (time - before["time"]) / (after["time"] - before["time"])
            corners = zip(before["box"], after["box"], strict=True)
            left, top, right, bottom = (a + (b - a) * share for a, b in corners)
            return left, top, right, bottom
        near = [box for box in (before, after) if box and abs(box["time"] - time) <= _LINGER]
        return tuple(near[0]["box"]) if near else None

    def _row(self, person: str, value: Value) -> TimelineRow:
        """Faint where someone is seen, bright where someone speaks."""
        colour = self.colours[person]
        faint: Colour = (colour[0] * 2 // 5, colour[1] * 2 // 5, colour[2] * 2 // 5)
        bars = [Bar(track["start"], track["end"], faint) for track in value["tracks"]]
        bars += [Bar(start, end, colour, "speaks") for start, end in self._speaking.get(person, [])]
        return TimelineRow(person, tuple(bars), colour)


def _people(labels: Labels, name: str) -> dict[str, Value]:
    return {person["id"]: person for person in labels.get(name, {}).get("people", [])}  # by id


def _words(text: str) -> Iterator[str]:
    """Split a text into words, and what has no blanks into pieces that fit on a line."""
    for word in text.split():
        yield from (word[at : at + _PIECE] for at in range(0, len(word), _PIECE))


def _seen(person: Value) -> float:
    return sum(float(track["end"] - track["start"]) for track in person["tracks"])


def _turns(turns: Sequence[Mapping[str, Any]]) -> Iterator[Bar]:
    names = list(dict.fromkeys(turn["speaker"] for turn in turns))
    for turn in turns:
        colour = PEOPLE[-1 - names.index(turn["speaker"]) % len(PEOPLE)]
        yield Bar(turn["start"], turn["end"], colour, turn["speaker"])


def sound_colour(kind: str) -> Colour:
    """The colour of a kind of sound."""
    return _SOUNDS.get(kind, _OTHER)


def _plural(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
