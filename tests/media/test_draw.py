"""Boxes and letters on videos: at their place, in their time, and nowhere else."""

from pathlib import Path

import numpy as np
import pytest

from reelbench.media.decode.decode import every_frame
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import read_audio
from reelbench.media.edit.clip import Box
from reelbench.media.edit.draw import mark_video
from reelbench.media.edit.letters import BoxTrack, NoRoomError, place_letters
from reelbench.media.edit.write import AudioTrack, video_writer

WIDTH, HEIGHT = 320, 240
SIDE = (60.0, 80.0, 120.0, 160.0)


def grey(out: Path, seconds: float = 3.0, sound: bool = True) -> Path:
    """A grey video with noise as sound."""
    rng = np.random.default_rng(1)
    samples = rng.uniform(-0.3, 0.3, (1, round(seconds * 16_000))).astype(np.float32)
    with video_writer(out, 10, sound=AudioTrack([samples], 16_000) if sound else None) as writer:
        for number in range(round(seconds * 10)):
            writer.show(np.full((HEIGHT, WIDTH, 3), 128, np.uint8), number / 10)
    return out


def red(image: np.ndarray) -> np.ndarray:
    """Where a picture is red."""
    wide = image.astype(int)
    return (wide[..., 0] > 180) & (wide[..., 1] < 90) & (wide[..., 2] < 90)


def marked(
    tmp_path: Path, *tracks: BoxTrack, seconds: float = 3.0
) -> list[tuple[float, np.ndarray]]:
    source = grey(tmp_path / "source.mp4", seconds)
    mark_video(source, tmp_path / "out.mp4", tracks)
    return list(every_frame(tmp_path / "out.mp4"))


def test_a_box_is_drawn_along_its_edges_and_not_inside(tmp_path: Path) -> None:
    frames = marked(tmp_path, BoxTrack((0.0, 3.0), (SIDE, SIDE)))
    assert len(frames) == 30
    for _, image in frames:
        where = red(image)
        rows, columns = np.nonzero(where)
        assert abs(rows.min() - 80) <= 2
        assert abs(rows.max() - 160) <= 2
        assert abs(columns.min() - 60) <= 2
        assert abs(columns.max() - 120) <= 2
        assert not where[88:152, 68:112].any()


def test_it_is_there_in_its_time_only(tmp_path: Path) -> None:
    frames = marked(tmp_path, BoxTrack((1.0, 2.0), (SIDE, SIDE)))
    shown = {round(time, 1): bool(red(image).sum() > 50) for time, image in frames}
    assert all(shown[time / 10] for time in range(10, 21))
    assert not any(there for time, there in shown.items() if time < 0.8 or time > 2.2)


@pytest.mark.parametrize("end", [5.05, 6.25, 6.75])  # steps from the start land just past the end
def test_a_letter_finds_its_place_however_long_its_track_is(end: float) -> None:
    (placed,) = place_letters([BoxTrack((0.25, end), (SIDE, SIDE), "A")], [], (WIDTH, HEIGHT))
    assert placed.place.size >= 12


def test_it_moves_between_its_times(tmp_path: Path) -> None:
    there = (160.0, 80.0, 220.0, 160.0)
    frames = marked(tmp_path, BoxTrack((0.0, 2.0), (SIDE, there)))
    middle = next(image for time, image in frames if abs(time - 1.0) < 0.01)
    _, columns = np.nonzero(red(middle))
    assert abs(columns.min() - 110) <= 3
    assert abs(columns.max() - 170) <= 3


def boxes_at(track: BoxTrack, rate: float = 200.0) -> np.ndarray:
    """The boxes of a track, far more often than they are sampled."""
    return track.at(np.arange(track.times[0], track.times[-1], 1 / rate))


def letters_at(track: BoxTrack) -> np.ndarray:
    return track.place.of(boxes_at(track))


def share(some: np.ndarray, others: np.ndarray) -> bool:
    """Whether two boxes overlap at any moment."""
    begin, end = np.maximum(some[:, :2], others[:, :2]), np.minimum(some[:, 2:], others[:, 2:])
    return bool((begin < end).all(axis=1).any())


def face(*boxes: Box, letter: str = "", until: float = 3.0) -> BoxTrack:
    """A face that goes from box to box in three seconds."""
    times = np.linspace(0, until, max(2, len(boxes))).tolist()
    return BoxTrack(tuple(times), boxes if len(boxes) > 1 else boxes * 2, letter)


RIGHT = (200.0, 80.0, 260.0, 160.0)
CASES: dict[str, list[BoxTrack]] = {
    "two": [face(SIDE, letter="A"), face(RIGHT, letter="B")],
    "at the top": [face((60, 0, 120, 80), letter="A")],
    "at all sides of the picture but one": [face((2, 2, 300, 200), letter="A")],
    "side by side": [face((40 + 62 * n, 90, 100 + 62 * n, 170), letter="ABCD"[n]) for n in range(4)],
    "one above the other": [face((100, y, 160, y + 60), letter="ABC"[n]) for n, y in enumerate((5, 90, 175))],
    "one who passes another": [
        face((10, 90, 70, 170), (250, 90, 310, 170), letter="A"), face((130, 10, 180, 70), letter="B"),
    ],
    "beside one without a letter": [face(SIDE, letter="A"), face((60, 5, 120, 65))],
    "one who comes near": [face((140, 100, 160, 125), (60, 60, 220, 230), letter="A")],
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_letters_cover_no_face_and_no_letter_at_any_moment(case: str) -> None:
    faces = CASES[case]
    placed = place_letters([track for track in faces if track.letter], faces, (WIDTH, HEIGHT))
    for number, track in enumerate(placed):
        ground = letters_at(track)
        assert not any(share(ground, boxes_at(each)) for each in faces)
        assert not any(share(ground, letters_at(each)) for each in placed[:number])
        assert ground.min() >= 0
        assert (ground[:, 2] < WIDTH).all()
        assert (ground[:, 3] < HEIGHT).all()


def test_a_letter_is_as_large_as_its_face_asks_for_and_smaller_where_it_has_no_room() -> None:
    def size(*faces: BoxTrack) -> int:
        return place_letters(faces[:1], faces, (1280, 720))[0].place.size

    small, large = face((600, 300, 660, 380), letter="A"), face((500, 200, 650, 400), letter="A")
    assert size(small) < size(large)
    walls = [(400, 100, 1280, 265), (400, 470, 1280, 720), (0, 0, 540, 720), (720, 0, 1280, 720)]
    assert size(small, *map(face, walls)) < size(small)


def test_a_letter_without_room_is_refused() -> None:
    tracks = [face((0, 0, WIDTH, HEIGHT), letter="A")]
    with pytest.raises(NoRoomError, match="The letter A would cover a face wherever it is put"):
        place_letters(tracks, tracks, (WIDTH, HEIGHT))
    placed = place_letters(tracks, tracks, (WIDTH, HEIGHT), inside=True)
    assert placed[0].place.size >= 12, "a thing is no face: its letter may stand in its corner"


def test_letters_are_drawn_where_they_are_placed_and_differ(tmp_path: Path) -> None:
    tracks = place_letters(CASES["two"], CASES["two"], (WIDTH, HEIGHT))
    (_, image), *_ = marked(tmp_path, *tracks)
    signs = []
    for track in tracks:
        left, top, right, bottom = letters_at(track)[0].round().astype(int)
        ground = image[top + 1 : bottom, left + 1 : right]
        assert red(ground).mean() > 0.4, "a red ground"
        white = ground.min(axis=2) > 170
        assert white.any(), "a white letter on it"
        signs.append(white)
    assert signs[0].shape != signs[1].shape or (signs[0] != signs[1]).any()


def test_a_box_beyond_the_picture_is_drawn_at_its_edge(tmp_path: Path) -> None:
    outside = (-50.0, -20.0, 40.0, 90.0)
    (_, image), *_ = marked(tmp_path, BoxTrack((0.0, 3.0), (outside, outside), "A"))
    assert red(image)[:95, :45].any()
    assert not red(image)[100:, 50:].any()


def test_without_tracks_nothing_is_drawn(tmp_path: Path) -> None:
    assert not any(red(image).any() for _, image in marked(tmp_path))


def test_sound_is_kept_or_replaced(tmp_path: Path) -> None:
    source = grey(tmp_path / "source.mp4")
    tracks = [BoxTrack((0.0, 3.0), (SIDE, SIDE), "A")]
    mark_video(source, tmp_path / "kept.mp4", tracks)
    before, after = (read_audio(path)[0] for path in (source, tmp_path / "kept.mp4"))
    size = min(len(before), len(after))
    assert np.corrcoef(before[:size], after[:size])[0, 1] > 0.8
    silence = AudioTrack([np.zeros((1, 48_000), np.float32)], 16_000)
    mark_video(source, tmp_path / "other.mp4", tracks, silence)
    assert np.abs(read_audio(tmp_path / "other.mp4")).max() < 0.01


def test_a_video_without_sound_stays_without(tmp_path: Path) -> None:
    source = grey(tmp_path / "silent.mp4", sound=False)
    mark_video(source, tmp_path / "out.mp4", [BoxTrack((0.0, 1.0), (SIDE, SIDE))])
    assert not probe(tmp_path / "out.mp4").has_audio
