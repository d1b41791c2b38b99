"""Counts people over time by their faces and bodies, and says how sure the number is."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reelbench.annotate.common.matching import matched, shared
from reelbench.annotate.common.tracking import Box, Detection, Track

_COVERED = 0.7  # share of the smaller of two bodies that the other holds: they are one
_OWNED = 0.3  # share of the looks at which both are there, from which on a body is a face's
_LASTING = 3  # looks for which a number of people must be there at least


@dataclass(frozen=True, slots=True)
class FaceAt:
    """The face of a person at a moment."""

    person: str
    box: Box


@dataclass(frozen=True, slots=True)
class CountOverTime:
    """How many people are there at each look, and what speaks for and against it."""

    times: Sequence[float]
    numbers: Sequence[int]  # at each look
    faceless: Sequence[int]  # of these, bodies that belong to no face
    bodies: int  # different tracks of bodies without a face

    @property
    def most_at_once(self) -> int:
        """The most people who are there together for more than a moment."""
        lasting = min(_LASTING, len(self.numbers))
        return max((sorted(self.numbers, reverse=True)[lasting - 1]) if lasting else 0, 0)

    @property
    def steadiness(self) -> float:
        """The share of looks at which as many are there as at those around them."""
        if not self.numbers:
            return 0.0
        return float(np.mean([n == _usual(self.numbers, at) for at, n in enumerate(self.numbers)]))

    @property
    def turnover(self) -> int:
        """Bodies without a face beyond those that are there together: some may be one person."""
        return self.bodies - max(self.faceless, default=0)


def count_over_time(
    times: Sequence[float],
    faces: Mapping[float, Sequence[FaceAt]],
    bodies: Sequence[Track],
    least_height: float,
    unsure: Collection[str] = (),
) -> CountOverTime:
    """Return how many people are there at each look.

    A body that belongs to a face at some looks stands for that person where the face is not seen.
    Who has the body of another at other looks, and is among the ``unsure``, is that other. Bodies
    without a face count, but for those lower than ``least_height`` and those that lie in others.
    """
    there = {
        time: [(n, box) for n, track in enumerate(bodies) if (box := _at(track, time))]
        for time in times
    }
    owners, same = _owners(times, faces, there, unsure)
    numbers, faceless, used = [], [], set()
    for time in times:
        people = {same.get(face.person, face.person) for face in faces.get(time, ())}
        people |= {owners[n] for n, _ in there[time] if n in owners}
        others = [(n, box) for n, box in there[time] if n not in owners]
        known = [box for n, box in there[time] if n in owners]
        high = [(n, box) for n, box in others if box[3] - box[1] >= least_height]
        own = _distinct(high, known, [face.box for face in faces.get(time, ())])
        numbers.append(len(people) + len(own))
        faceless.append(len(own))
        used |= set(own)
    return CountOverTime(times, numbers, faceless, len(used))


def confidence_of(count: CountOverTime, guess: int, sure: int, identities: int) -> float:
    """Return how likely a number of people is right.

    It is the surer the steadier the number is, the fewer people there are, and the fewer of them
    are told apart by a face that is hard to know again, or have no face.
    """
    unsure = identities - sure
    one_by_one = max(0, guess - count.most_at_once)  # known only as their faces differ
    faceless = float(np.mean(count.faceless)) if count.faceless else 0.0
    doubt = (
        0.35 * max(0, guess - 1)
        + 4.0 * (1 - count.steadiness)
        + 1.0 * unsure
        + 0.3 * one_by_one
        + 1.0 * min(faceless, 2.0)
        + 0.5 * count.turnover
    )
    return round(float(1 / (1 + np.exp(doubt - 3.5))), 3)


def _usual(numbers: Sequence[int], at: int) -> int:
    around = numbers[max(0, at - 2) : at + 3]
    return Counter(around).most_common(1)[0][0]


def _at(track: Track, time: float) -> Box | None:
    return next((spot.box for spot in track.spots if abs(spot.time - time) < 1e-3), None)


def _owners(
    times: Sequence[float],
    faces: Mapping[float, Sequence[FaceAt]],
    there: Mapping[float, Sequence[tuple[int, Box]]],
    unsure: Collection[str],
) -> tuple[dict[int, str], dict[str, str]]:
    """The person of each body that belongs to a face at enough of the looks that show both.

    Also who of the unsure is someone else: the one with the same body at other looks.
    """
    votes: dict[int, Counter[str]] = {}
    looks: Counter[tuple[int, str]] = Counter()
    for time in times:
        here, shown = there[time], faces.get(time, ())
        looks.update((n, face.person) for n, _ in here for face in shown)
        boxes = [Detection(box, 1.0) for _, box in here]
        for face, body in matched([each.box for each in shown], boxes):
            votes.setdefault(here[body][0], Counter())[shown[face].person] += 1
    owners: dict[int, str] = {}
    same: dict[str, str] = {}
    for body, each in votes.items():
        (person, count), *others = each.most_common()
        if count >= _OWNED * looks[body, person]:
            owners[body] = person
            same |= {
                other: person
                for other, number in others
                if other in unsure and number >= _OWNED * looks[body, other]
            }
    return {body: same.get(person, person) for body, person in owners.items()}, same


def _distinct(
    bodies: Sequence[tuple[int, Box]], known: Sequence[Box], faces: Sequence[Box]
) -> list[int]:
    """The bodies that are nobody else's: each beside those of known people and larger ones."""
    kept: list[tuple[int, Box]] = []
    for number, box in sorted(bodies, key=lambda each: -_area(each[1])):
        others = [*known, *(other for _, other in kept)]
        doubled = any(
            shared(box, other) > _COVERED * min(_area(box), _area(other)) for other in others
        )
        # A box that holds a face that has no body of its own is a rough one of that person.
        holds = any(shared(box, face) > _COVERED * _area(face) for face in faces)
        if not doubled and not holds:
            kept.append((number, box))
    return [number for number, _ in kept]


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
