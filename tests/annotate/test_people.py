"""Who is one person, whose body is whose and how many there are: made-up boxes and faces."""

from collections.abc import Sequence

import numpy as np
import pytest

from reelbench.annotate.common.counting import (
    CountOverTime,
    FaceAt,
    confidence_of,
    count_over_time,
)
from reelbench.annotate.common.matching import fit_of, matched
from reelbench.annotate.common.people import MergeLimits, TrackFaces, merge_tracks
from reelbench.annotate.common.tracking import Box, Detection, Spot, Track

LIMITS = MergeLimits(same=0.4, again=0.25, soon=2.0)


def track(start: float, end: float, x: float = 100.0, shot: int = 0) -> Track:
    times = np.arange(start, end + 1e-9, 0.125).tolist()
    box = (x, 100.0, x + 50, 160.0)
    return Track(shot, tuple(Spot(time, box, Detection(box, 0.9)) for time in times))


def face(*parts: float, quality: float = 0.9) -> TrackFaces:
    """A face whose cosine with another is the sum of products of their parts."""
    vector = np.zeros(8)
    vector[: len(parts)] = parts
    vector[-1] = np.sqrt(max(0.0, 1 - np.square(vector).sum()))
    return TrackFaces((vector,), quality)


HOST, GUEST = face(1.0), face(0.0, 1.0)


def groups(
    tracks: Sequence[Track],
    faces: Sequence[TrackFaces | None],
    blends: Sequence[tuple[float, float]] = (),
) -> list[list[int]]:
    return [group for group, _ in merge_tracks(tracks, faces, LIMITS, blends)]


def test_one_who_comes_back_in_a_later_shot_is_the_same_person() -> None:
    tracks = [track(0, 3), track(3, 6, shot=1), track(6, 9, shot=2)]
    assert groups(tracks, [HOST, GUEST, face(0.8, 0.1)]) == [[0, 2], [1]]


def test_two_who_are_there_together_are_two_however_alike() -> None:
    assert groups([track(0, 6), track(0, 6, x=400)], [HOST, HOST]) == [[0], [1]]
    assert groups([track(0, 6), track(2, 4, x=400)], [HOST, HOST]) == [[0], [1]]


def test_a_face_seen_twice_while_one_picture_dissolves_into_the_next_is_one() -> None:
    unnoticed = [track(0, 5.5), track(5.0, 10, x=400)]
    assert groups(unnoticed, [HOST, HOST]) == [[0, 1]]
    assert groups(unnoticed, [HOST, GUEST]) == [[0], [1]]
    known = [track(0, 1.5), track(0.75, 1.75, x=400)]
    assert groups(known, [HOST, HOST]) == [[0], [1]]
    assert groups(known, [HOST, HOST], blends=[(0.7, 1.6)]) == [[0, 1]]


def test_one_unlike_track_keeps_two_people_apart() -> None:
    # The second is like both, the first and the third are not like each other.
    tracks = [track(0, 3), track(4, 7, shot=1), track(8, 11, shot=2)]
    between = face(0.7, 0.7)
    assert groups(tracks, [HOST, between, GUEST]) in ([[0, 1], [2]], [[0], [1, 2]])


def test_a_face_too_small_to_know_joins_what_was_lost_at_its_place() -> None:
    tracks = [track(0, 3), track(4, 7), track(4, 7, x=400)]
    assert groups(tracks, [HOST, None, None]) == [[0, 1], [2]]
    later = [track(0, 3), track(6, 9)]
    assert groups(later, [HOST, None]) == [[0], [1]]
    turned = face(0.1, 0.99, quality=0.2)
    assert groups(tracks[:2], [HOST, turned]) == [[0, 1]]
    assert groups(tracks[:2], [HOST, face(0.1, 0.99)]) == [[0], [1]]


def confidences(tracks: Sequence[Track], faces: Sequence[TrackFaces | None]) -> list[float]:
    return [confidence for _, confidence in merge_tracks(tracks, faces, LIMITS)]


def test_who_is_like_oneself_and_unlike_others_is_sure() -> None:
    tracks = [track(0, 3), track(3, 6, shot=1), track(6, 9, shot=2)]
    assert min(confidences(tracks, [HOST, GUEST, HOST])) > 0.9
    nearly = face(0.37, 0.929)  # just below the limit
    assert max(confidences(tracks[:2], [HOST, nearly])) < 0.5
    assert max(confidences(tracks[:2], [HOST, None])) < 0.7
    together = [track(0, 3), track(0, 3, x=400)]
    assert min(confidences(together, [None, None])) > 0.9


def test_few_small_faces_make_one_less_sure() -> None:
    tracks = [track(0, 3), track(3, 6, shot=1)]
    poor = [face(1.0, quality=0.1), face(0.2, 0.97, quality=0.1)]
    good = [face(1.0), face(0.2, 0.97)]
    assert max(confidences(tracks, poor)) < min(confidences(tracks, good))


# A girl in front of a man: her face lies before his chest, near the middle of his box.
GIRL, MAN = (300.0, 200.0, 340.0, 250.0), (310.0, 60.0, 360.0, 125.0)
HER_BODY = Detection((255.0, 185.0, 375.0, 360.0), 0.8, "person")
HIS_BODY = Detection((230.0, 40.0, 420.0, 360.0), 0.9, "person")


def test_a_girl_does_not_get_the_torso_of_the_man_behind_her() -> None:
    assert matched([GIRL], [HIS_BODY]) == []
    assert matched([GIRL, MAN], [HIS_BODY]) == [(1, 0)]
    assert matched([GIRL, MAN], [HIS_BODY, HER_BODY]) == [(0, 1), (1, 0)]
    # By the nearest middle she does, as hers is not found.
    assert matched([GIRL], [HIS_BODY], "paper") == [(0, 0)]


def test_bodies_are_given_to_faces_by_the_best_sum() -> None:
    # Both faces fit the left body, the left face fits no other.
    faces: list[Box] = [(100, 110, 140, 160), (135, 110, 175, 160)]
    left, right = Detection((70, 95, 180, 350), 0.9), Detection((105, 95, 215, 350), 0.9)
    assert matched(faces, [left, right]) == [(0, 0), (1, 1)]
    assert matched(faces, [right, left]) == [(0, 1), (1, 0)]


@pytest.mark.parametrize(
    ("body", "fits"),
    [
        ((60.0, 80.0, 180.0, 350.0), True),
        ((90.0, 90.0, 150.0, 170.0), True),  # a close view: little more than the head
        ((60.0, 10.0, 180.0, 350.0), False),  # the face is at the belly
        ((100.0, 80.0, 620.0, 350.0), False),  # a couch
        ((200.0, 80.0, 320.0, 350.0), False),  # beside it
    ],
)
def test_a_face_lies_in_the_upper_part_of_a_body_of_its_size(body: Box, fits: bool) -> None:
    fit = fit_of([(100.0, 100.0, 140.0, 150.0)], [Detection(body, 0.9)])[0, 0]
    assert bool(fit > 0) is fits


TIMES = [n * 0.4 for n in range(20)]


def body_track(box: Box, times: Sequence[float] = TIMES) -> Track:
    return Track(0, tuple(Spot(time, box, Detection(box, 0.9, "person")) for time in times))


def counted(
    faces: dict[str, tuple[Box, Sequence[float]]], bodies: Sequence[Track], *unsure: str
) -> CountOverTime:
    at = {
        time: [FaceAt(name, box) for name, (box, times) in faces.items() if time in times]
        for time in TIMES
    }
    return count_over_time(TIMES, at, bodies, 36.0, unsure)


def test_who_shows_face_and_body_is_counted_once_also_when_turned_away() -> None:
    count = counted({"p1": (GIRL, TIMES[:10])}, [body_track(HER_BODY.box)])
    assert list(count.numbers) == [1] * 20
    assert (count.most_at_once, count.bodies) == (1, 0)


def test_two_unsure_faces_on_one_body_are_one_person() -> None:
    faces = {"p1": (GIRL, TIMES[:10]), "p2": (GIRL, TIMES[12:])}
    body = body_track(HER_BODY.box)
    assert list(counted(faces, [body], "p2").numbers) == [1] * 20
    assert max(counted(faces, [body]).numbers) == 2, "who is sure is not taken for another"


def test_bodies_without_a_face_count() -> None:
    far = body_track((500.0, 100.0, 560.0, 330.0))
    count = counted({"p1": (GIRL, TIMES)}, [body_track(HER_BODY.box), far])
    assert (count.most_at_once, list(count.faceless)) == (2, [1] * 20)


def test_small_and_doubled_boxes_do_not_count() -> None:
    tiny = body_track((500.0, 100.0, 510.0, 120.0))
    double = body_track((260.0, 190.0, 370.0, 300.0))
    count = counted({"p1": (GIRL, TIMES)}, [body_track(HER_BODY.box), tiny, double])
    assert list(count.numbers) == [1] * 20


def test_a_number_that_lasts_a_moment_is_not_the_most_at_once() -> None:
    brief = body_track((500.0, 100.0, 560.0, 330.0), TIMES[:2])
    assert counted({"p1": (GIRL, TIMES)}, [body_track(HER_BODY.box), brief]).most_at_once == 1


def test_doubts_make_a_count_less_sure() -> None:
    steady = counted({"p1": (GIRL, TIMES)}, [])
    unsteady = counted({"p1": (GIRL, TIMES), "p2": (MAN, TIMES[::3])}, [])
    assert confidence_of(steady, 1, 1, 1) > 0.9
    assert confidence_of(steady, 1, 1, 1) > confidence_of(steady, 1, 1, 2)
    assert confidence_of(unsteady, 2, 2, 2) < confidence_of(steady, 2, 2, 2)
    assert confidence_of(steady, 5, 5, 5) < confidence_of(steady, 2, 2, 2)
