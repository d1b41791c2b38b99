"""Boxes and letters on videos: at their place, in their time, and nowhere else."""

from pathlib import Path

import numpy as np

from reelbench.media.decode.decode import every_frame
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import read_audio
from reelbench.media.edit.draw import BoxTrack, mark_video
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


def test_it_moves_between_its_times(tmp_path: Path) -> None:
    there = (160.0, 80.0, 220.0, 160.0)
    frames = marked(tmp_path, BoxTrack((0.0, 2.0), (SIDE, there)))
    middle = next(image for time, image in frames if abs(time - 1.0) < 0.01)
    _, columns = np.nonzero(red(middle))
    assert abs(columns.min() - 110) <= 3
    assert abs(columns.max() - 170) <= 3


def test_letters_stand_on_their_boxes_and_differ(tmp_path: Path) -> None:
    left, right = (
        BoxTrack((0.0, 3.0), (SIDE, SIDE), "A"),
        BoxTrack((0.0, 3.0), ((200.0, 80.0, 260.0, 160.0),) * 2, "B"),
    )
    (_, image), *_ = marked(tmp_path, left, right)
    signs = []
    for column in (60, 200):
        ground = image[64:79, column : column + 13]
        assert red(ground).mean() > 0.4, "a red ground above the box"
        white = ground.min(axis=2) > 170
        assert white.any(), "a white letter on it"
        signs.append(white)
    assert (signs[0] != signs[1]).any()


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
