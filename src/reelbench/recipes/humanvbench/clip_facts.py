"""What the rules of tasks ask of labels: who is there when, how many, whether there is speech."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from reelbench.annotate.operator import Value
from reelbench.data.items import Span
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.rows import PERSON, Candidate
from reelbench.score.rounding import percent

SPEECH = "speech"


@dataclass(frozen=True, slots=True)
class TrackedSubject:
    """A person, or an object in the place of one, and when it is seen."""

    id: str
    spans: tuple[Span, ...]  # of its tracks
    confidence: float

    @property
    def seconds(self) -> float:
        """How long it is seen in all."""
        return sum(end - start for start, end in self.spans)


class ClipFacts:
    """A clip as a rule sees it; what is not certain enough rejects the candidate."""

    def __init__(self, row: Candidate, labels: Mapping[str, Value]) -> None:
        self.row, self.labels = row, labels
        self.seconds = row.seconds
        self.without_confidence: set[str] = set()  # labels that were used and did not say one

    def require_longer_than(self, seconds: float) -> None:
        """Reject a clip that lasts ``seconds`` or less."""
        if self.seconds <= seconds:
            raise Rejected("too short", f"It lasts {self.seconds:.2f} s, not over {seconds:g} s.")

    def require_seconds(self, seconds: float) -> None:
        """Reject a clip that lasts less than ``seconds``."""
        if self.seconds < seconds:
            raise Rejected("too short", f"It lasts {self.seconds:.2f} s, less than {seconds:g} s.")

    def require_speech(self) -> None:
        """Reject a clip without speech, or with less of it than of music or singing."""
        shares = self.label("sound")["shares"]
        heard = {kind: shares.get(kind, 0.0) for kind in (SPEECH, "singing", "music")}
        if not heard[SPEECH] or heard[SPEECH] < max(heard.values()):
            listed = ", ".join(
                f"{kind} {percent(share, 0)}" for kind, share in shares.items() if share
            )
            found = f"Heard are {listed}" if listed else "Nothing is heard"
            less = ", and speech is not the most" if heard[SPEECH] else ""
            raise Rejected("no speech", f"{found}{less}.")

    def subjects(self) -> list[TrackedSubject]:
        """Return all people, or objects of the subject's class, by their first appearance."""
        if self.row.subject == PERSON:
            people = self.label("tracks")["people"]
            return [
                TrackedSubject(
                    person["id"],
                    tuple((track["start"], track["end"]) for track in person["tracks"]),
                    self.certainty("tracks", person),
                )
                for person in people
            ]
        tracks = self.label("objects")["tracks"]
        return [
            TrackedSubject(t["id"], ((t["start"], t["end"]),), self.certainty("objects", t))
            for t in tracks
            if t["class"] == self.row.subject
        ]

    def most_seen(self) -> TrackedSubject:
        """Return the person with most frames."""
        subjects = self.subjects()
        if not subjects:
            raise Rejected("nobody is tracked", "No face was followed through the clip.")
        return max(subjects, key=lambda each: each.seconds)

    def longest(self, least: int, most: int, share: float) -> list[TrackedSubject]:
        """Return those seen as long as the one with most frames (EIC, T2H), or a share of it."""
        subjects = self.subjects()
        frames = {each.id: len(self.boxes(each.id)) for each in subjects}
        long = [each for each in subjects if frames[each.id] >= share * max(frames.values())]
        if not least <= len(long) <= most:
            detail = f"{len(long)} of {len(subjects)}, expected {least} to {most}."
            raise Rejected(f"number of {self._kind} seen longest", detail)
        return long

    def everyone(self, least: int, most: int) -> tuple[str, ...]:
        """Return the ids of all people; reject where someone is not followed by the face."""
        number = self.count(least, most)
        followed = tuple(each.id for each in self.subjects())
        if len(followed) != number:
            detail = f"There are {number}, and {len(followed)} faces were followed."
            raise Rejected("people without a letter", detail)
        return followed

    def boxes(self, who: str) -> list[Value]:
        """Return all boxes of a person, or an object, by time: ``time`` and ``box`` each."""
        tracks = boxes_of(self.labels, who, self.row.subject)
        return sorted((box for track in tracks for box in track), key=lambda box: box["time"])

    def face_height(self, who: str) -> float:
        """Return the height in pixels that a face has most of the time."""
        return float(median([box["box"][3] - box["box"][1] for box in self.boxes(who)] or [0]))

    def is_at_side(self, box: Sequence[float], widths: float) -> bool:
        """Whether a box is within so many of its widths of the left or right side."""
        reach = widths * (box[2] - box[0])
        return box[0] <= reach or box[2] >= self.label("format")["width"] - reach

    def count(self, least: int, most: int | None = None) -> int:
        """Return the number of people; reject where it is not certain or out of bounds.

        Of other things, it is the number of those that were followed.
        """
        if self.row.subject == PERSON:
            label = self.label("count")
        else:
            label = {"people": len(self.subjects())}
        number = label["people"]
        if number is None:
            detail = f"{label['guess']} at a confidence of {label['confidence']:.2f}"
            raise Rejected("number of people not certain", detail)
        if number < least or (most is not None and number > most):
            bounds = f"{least} to {most}" if most is not None else f"{least} or more"
            bounds = f"{least}" if most == least else bounds
            raise Rejected(f"number of {self._kind}", f"There are {number}, expected {bounds}.")
        return int(number)

    @property
    def _kind(self) -> str:
        """What the subjects are called, several of them."""
        return "people" if self.row.subject == PERSON else f"{self.row.subject}s"

    def confidence(self, label: str) -> float:
        """Return the confidence of a label as a whole."""
        return self.certainty(label, self.label(label))

    def certainty(self, label: str, statement: Value, *parts: str) -> float:
        """Return how certain a statement of a label is, or the least certain of some parts of it.

        An operator that was put in the place of ours may say none; that is 0, for nothing is known.
        """
        stated = statement.get("confidence")
        shares: list[Any] = [stated.get(part) for part in parts] if parts and stated else [stated]
        if None in shares:
            self.without_confidence.add(label)
            return 0.0
        return float(min(shares))

    def speakers(self) -> list[Value]:
        """Return what the label speaker says of each person."""
        people: list[Value] = self.label("speaker")["people"]
        return people

    def label(self, name: str) -> Value:
        """Return a label; reject a clip to which it does not apply."""
        try:
            return self.labels[name]
        except KeyError:
            raise Rejected(f"no {name}", "The label does not apply to this clip.") from None


def boxes_of(labels: Mapping[str, Value], who: str, subject: str = PERSON) -> list[list[Value]]:
    """Return the boxes of a face, or of an object, track by track: ``time`` and ``box`` each."""
    if subject != PERSON:
        tracks = labels["objects"]["tracks"]
        return [track["boxes"] for track in tracks if track["id"] == who]
    people: Sequence[Mapping[str, Any]] = labels["tracks"]["people"]
    return [
        track["boxes"] for person in people if person["id"] == who for track in person["tracks"]
    ]
