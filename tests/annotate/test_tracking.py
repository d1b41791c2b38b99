"""Boxes joined into tracks: made-up things whose ways are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reelbench.annotate.common.identity import frontality, grouped
from reelbench.annotate.common.matching import matched
from reelbench.annotate.common.tracking import (
    Box,
    Detection,
    Track,
    join,
    linked,
    overlaps,
    shot_at,
)


def at(
    x: float, y: float = 100.0, side: float = 50.0, score: float = 0.9, name: str = ""
) -> Detection:
    return Detection((x, y, x + side, y + side), score, name)


def lefts(track: Track) -> list[float]:
    return [round(spot.box[0], 3) for spot in track.spots]


def test_overlap_is_the_share_of_what_both_cover():
    boxes: list[Box] = [(0, 0, 10, 10), (5, 0, 15, 10), (20, 20, 30, 30), (3, 3, 3, 3)]
    np.testing.assert_allclose(overlaps(boxes[:1], boxes), [[1, 1 / 3, 0, 0]])


def test_two_that_stand_still_are_two_tracks_from_left_to_right():
    looks = [(t / 8, [at(300), at(100)]) for t in range(10)]
    tracks = join(looks)
    assert [track.spots[0].box[0] for track in tracks] == [100, 300]
    assert all(len(track.found) == 10 for track in tracks)


def test_two_that_cross_keep_who_they_are():
    looks = [(t / 8, [at(10.0 * t), at(200 - 10.0 * t)]) for t in range(21)]
    first, second = join(looks)
    assert lefts(first) == [10.0 * t for t in range(21)]
    assert lefts(second) == [200 - 10.0 * t for t in range(21)]


def test_one_hidden_by_another_goes_on_behind_it():
    # For five looks only the one that stands in front is seen.
    looks = [(t / 8, [at(150)] + ([at(10.0 * t)] if not 13 <= t <= 17 else [])) for t in range(31)]
    walks, stands = join(looks)
    assert lefts(stands) == [150] * 31
    assert lefts(walks) == [10.0 * t for t in range(31)]
    assert len(walks.found) == 26


def test_a_gap_is_filled_on_a_line_and_marked():
    looks = [(float(t), [at(100 + 5.0 * t)] if t not in (3, 4) else []) for t in range(8)]
    (track,) = join(looks)
    assert lefts(track) == [100 + 5.0 * t for t in range(8)]
    assert [spot.found is None for spot in track.spots] == [t in (3, 4) for t in range(8)]


def test_one_missing_box_is_the_mean_of_its_neighbours():
    looks = [(0.0, [at(100)]), (1.0, [at(100)]), (2.0, []), (3.0, [at(110)])]
    (track,) = join(looks)
    assert track.spots[2].box == (105, 100, 155, 150)


def test_a_track_survives_eight_missing_looks_and_not_nine():
    def tracks(missing: int) -> int:
        looks = [(float(t), [at(100)] if t < 4 or t >= 4 + missing else []) for t in range(20)]
        return len(join(looks))

    assert [tracks(8), tracks(9)] == [1, 2]


def test_a_track_ends_at_a_cut_also_where_the_next_shot_shows_the_same_place():
    looks = [(t / 8, [at(100)]) for t in range(16)]
    tracks = join(looks, cuts=[1.0])
    assert [(track.shot, track.start, track.end) for track in tracks] == [
        (0, 0.0, 0.875),
        (1, 1.0, 1.875),
    ]


def test_the_frame_at_a_cut_belongs_to_the_shot_it_begins():
    assert [shot_at(t, [1.0, 2.0]) for t in (0.0, 0.99, 0.9999, 1.0, 1.5, 2.0)] == [
        0,
        0,
        1,
        1,
        1,
        2,
    ]


def test_overlap_of_exactly_a_half_does_not_join():
    # 30 of 60 pixels are shared.
    looks = [(0.0, [at(0, side=45)]), (1.0, [at(15, side=45)])]
    assert overlaps([looks[0][1][0].box], [(15, 100, 60, 145)])[0, 0] == 0.5
    assert len(join(looks, least=1)) == 2
    assert len(join(looks, overlap=0.49, least=1)) == 1


def test_noise_seen_once_or_twice_is_no_track():
    looks = [(t / 8, [at(100)] + ([at(400 + 60.0 * t)] if t % 3 == 0 else [])) for t in range(20)]
    assert [lefts(track)[0] for track in join(looks)] == [100]


def test_things_of_different_classes_never_join():
    looks = [(float(t), [at(100, name="dog" if t % 2 else "cat")]) for t in range(8)]
    assert sorted((track.name, len(track.found)) for track in join(looks)) == [
        ("cat", 4),
        ("dog", 4),
    ]


def test_a_track_just_seen_comes_before_one_long_lost():
    # A jolt of the camera: someone seen once at 130, then at 100, where a track begins.
    looks = [(0.0, [at(130)]), *((float(t), [at(100)]) for t in range(1, 6)), (6.0, [at(115)])]
    tracks = join(looks, least=1)
    assert [len(track.found) for track in tracks] == [1, 6]


def test_what_walks_out_of_its_box_between_looks_is_followed_within_reach():
    looks = [(t / 2, [Detection((40.0 * t, 0, 40.0 * t + 30, 100), 0.9)]) for t in range(6)]
    assert join(looks) == []
    (track,) = join(looks, reach=0.5)
    assert len(track.found) == 6
    assert join(looks, reach=0.3) == []


def test_fragments_of_one_person_become_one_track_unless_far_apart():
    times = [float(t) for t in range(40)]
    seen = [*range(5), *range(8, 12), *range(30, 34)]
    looks = [(t, [at(100 if t < 6 else 300)] if t in seen else []) for t in times]
    fragments = join(looks)
    assert len(fragments) == 3
    whole = linked(fragments, times)
    assert [(track.start, track.end) for track in whole] == [(0, 11), (30, 33)]
    assert lefts(whole[0])[4:9] == [100, 150, 200, 250, 300]


def test_those_seen_together_are_never_grouped_however_alike():
    alike = np.array([[1, 0.9, 0.8], [0.9, 1, 0.7], [0.8, 0.7, 1]])
    apart = np.ones((3, 3), dtype=bool)
    single = [[0], [1], [2]]
    assert grouped(single, alike, apart, 0.4) == [[0, 1, 2]]
    apart[0, 1] = apart[1, 0] = False
    assert grouped(single, alike, apart, 0.4) == [[0, 2], [1]]
    assert grouped(single, alike, apart, 0.85) == single
    assert grouped([], np.zeros((0, 0)), np.zeros((0, 0), dtype=bool), 0.4) == []


@pytest.mark.parametrize("rule", ["place", "paper"])
def test_a_face_gets_the_nearest_body_that_holds_it_and_of_two_the_smaller(rule):
    face: Box = (100, 50, 140, 100)
    wide = Detection((0, 40, 240, 400), 0.9)
    narrow = Detection((80, 40, 160, 400), 0.5)
    aside = Detection((90, 40, 260, 400), 0.9)
    elsewhere = Detection((300, 40, 380, 400), 0.9)
    assert matched([face], [wide, aside, narrow, elsewhere], rule) == [(0, 2)]
    assert matched([face], [elsewhere], rule) == []
    # One body is not the body of two.
    assert matched([face, (104, 50, 144, 100)], [narrow], rule) == [(0, 0)]


def test_a_face_from_the_side_is_less_frontal():
    straight = [(30.0, 0.0), (70.0, 0.0), (50.0, 20.0)]
    turned = [(30.0, 0.0), (70.0, 0.0), (65.0, 20.0)]
    assert frontality(straight) == 1.0
    assert frontality(turned) == 0.25
    assert frontality([(5.0, 0.0), (5.0, 9.0), (1.0, 3.0)]) == 0.0


side = st.integers(5, 60)
box = st.tuples(st.integers(0, 200), st.integers(0, 200), side, side).map(
    lambda b: (float(b[0]), float(b[1]), float(b[0] + b[2]), float(b[1] + b[3]))
)
found = st.builds(Detection, box, st.sampled_from([0.5, 0.9]), st.sampled_from(["", "dog"]))
scenes = st.lists(st.lists(found, max_size=5), max_size=25).map(
    lambda looks: [(number / 8, found) for number, found in enumerate(looks)]
)
cut_lists = st.lists(st.integers(0, 24).map(lambda number: number / 8), max_size=4)


@settings(max_examples=150, deadline=None)
@given(scenes, cut_lists, st.randoms(use_true_random=False), st.sampled_from([0.0, 0.6]))
def test_the_order_of_what_is_listed_does_not_matter(scene, cuts, random, reach):
    tracks = join(scene, least=1, cuts=cuts, reach=reach)
    mixed = [(time, random.sample(found, len(found))) for time, found in scene]
    random.shuffle(mixed)
    assert join(mixed, least=1, cuts=random.sample(cuts, len(cuts)), reach=reach) == tracks


@settings(max_examples=150, deadline=None)
@given(scenes, cut_lists, st.integers(0, 8))
def test_every_detection_is_in_one_track_and_no_track_goes_over_a_cut_or_a_long_gap(
    scene, cuts, gap
):
    tracks = join(scene, least=1, cuts=cuts, gap=gap)
    given = sorted((time, each.box, each.name) for time, found in scene for each in found)
    used = [
        (spot.time, spot.box, spot.found.name) for one in tracks for spot in one.spots if spot.found
    ]
    assert sorted(used) == given
    for track in tracks:
        times = [spot.time for spot in track.spots]
        assert times == [time for time, _ in scene if track.start <= time <= track.end]
        assert not any(track.start < cut <= track.end for cut in cuts)
        assert len({spot.found.name for spot in track.spots if spot.found}) == 1
        run = "".join("x" if spot.found else "." for spot in track.spots)
        assert run[0] == run[-1] == "x"
        assert "." * (gap + 1) not in run
