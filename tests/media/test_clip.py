"""Clips and sound: cut, joined, cropped and re-sounded, with times that stay true."""

import wave
from pathlib import Path

import av
import numpy as np
import pytest
from videos import make_kind, make_video, pictures

from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.decode import every_frame, frames_at
from reelbench.media.decode.probe import probe
from reelbench.media.decode.timeline import frame_times
from reelbench.media.edit.audio import (
    loudness,
    read_audio,
    reversed_before,
    stream_audio,
    write_wav,
)
from reelbench.media.edit.clip import (
    crop_to_track,
    cut_exactly,
    edit,
    fitted,
    join,
    with_sound,
)
from reelbench.media.edit.write import AudioTrack, video_writer
from reelbench.media.errors import MediaError

RATE = 16_000


def chirp(seconds: float) -> np.ndarray:
    """A tone that rises, so that every moment of it sounds different."""
    time = np.arange(int(seconds * RATE)) / RATE
    return (0.4 * np.sin(2 * np.pi * (300 + 200 * time) * time)).astype(np.float32)[None]


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("v") / "a.mp4"
    with video_writer(path, 25, quality=12, sound=AudioTrack([chirp(4.0)], RATE)) as writer:
        for number, picture in enumerate(pictures(100)):
            writer.show(picture, number / 25)
    return path


def likeness(one: np.ndarray, other: np.ndarray) -> float:
    length = min(one.shape[1], other.shape[1])
    return float(np.corrcoef(one[0, :length], other[0, :length])[0, 1])


def difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one.astype(int) - other).mean())


class TestCutting:
    def test_exactly(self, video: Path, tmp_path: Path) -> None:
        cut_exactly(video, 1.0, 2.5, tmp_path / "c.mp4")
        assert probe(tmp_path / "c.mp4").duration == pytest.approx(1.5, abs=0.05)
        assert len(frame_times(tmp_path / "c.mp4")) == 38
        for time in (0.0, 0.6, 1.4):
            (here,), (there,) = (
                frames_at(tmp_path / "c.mp4", [time]),
                frames_at(video, [1.0 + time]),
            )
            assert difference(here.image, there.image) < 12  # its neighbours differ by 60
        assert (
            likeness(read_audio(tmp_path / "c.mp4"), chirp(4.0)[:, RATE : int(2.5 * RATE)]) > 0.98
        )

    def test_outside_the_video(self, video: Path, tmp_path: Path) -> None:
        with pytest.raises(MediaError, match="lasts 4"):
            cut_exactly(video, 9.0, 12.0, tmp_path / "c.mp4")
        for start, end in ((1.0, 0.0), (50.0, 60.0)):
            with pytest.raises(MediaError, match="lasts 4"):
                cut_exactly(video, start, end, tmp_path / "c.mp4")
        assert list(tmp_path.iterdir()) == []


class TestOutOfOrder:
    """Matroska leaves out the times of decoding of the first packets."""

    @pytest.fixture
    def video(self, tmp_path: Path) -> Path:
        options = {"preset": "fast", "threads": "1", "g": "25", "bf": "3", "sc_threshold": "0"}
        return make_video(tmp_path / "a.mkv", options=options)

    def test_all_pictures_get_their_sound(self, video: Path, tmp_path: Path) -> None:
        with_sound(video, AudioTrack([chirp(4.0)], RATE), tmp_path / "b.mp4")
        assert len(frame_times(tmp_path / "b.mp4")) == 100

    def test_sound_in_step_with_a_video_that_begins_late(self, tmp_path: Path) -> None:
        source = make_video(tmp_path / "a.ts")
        with_sound(source, AudioTrack([chirp(4.0)], RATE), tmp_path / "b.mp4")
        assert frame_times(tmp_path / "b.mp4")[0] == pytest.approx(0.0, abs=0.03)
        assert likeness(read_audio(tmp_path / "b.mp4"), chirp(4.0)) > 0.98


class TestOddSources:
    def test_packets_that_do_not_tell_their_times(self, tmp_path: Path) -> None:
        source = make_kind(tmp_path, "h264.avi")
        with pytest.raises(MediaError, match="re-encode it"):
            with_sound(source, AudioTrack([chirp(1.0)], RATE), tmp_path / "b.mp4")
        cut_exactly(source, 1.0, 2.0, tmp_path / "b.mp4")
        assert len(frame_times(tmp_path / "b.mp4")) == 25

    def test_frames_that_an_edit_hides_stay_hidden(self, tmp_path: Path) -> None:
        source = make_kind(tmp_path, "cut-h264.mp4")
        with pytest.raises(MediaError, match=r"write a \.mp4 or \.mov"):
            with_sound(source, AudioTrack([chirp(1.0)], RATE), tmp_path / "b.mkv")
        with_sound(source, AudioTrack([chirp(1.0)], RATE), tmp_path / "b.mp4")
        assert len(frame_times(tmp_path / "b.mp4")) == len(frame_times(source))

    def test_nothing_to_show_is_no_video(self, video: Path, tmp_path: Path) -> None:
        with pytest.raises(MediaError, match="contains no frame"):
            edit(video, tmp_path / "b.mp4", lambda *_: None)
        assert list(tmp_path.iterdir()) == []


class TestWrongArguments:
    def test_sound_that_is_none(self, video: Path, tmp_path: Path) -> None:
        for samples, channels in (
            (np.full((1, 9), np.nan), 1),
            (np.zeros((2, 9)), 1),
            (np.zeros((6, 9)), 6),
        ):
            with pytest.raises(ReelbenchError, match="one or two channels"):
                with_sound(video, AudioTrack([samples], RATE, channels), tmp_path / "b.mp4")
        with pytest.raises(ReelbenchError, match="cannot be written"):
            write_wav(tmp_path / "none" / "a.wav", chirp(0.1), RATE)

    def test_rates_and_boxes(self, video: Path, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match="frame rate"):
            join([video], tmp_path / "b.mp4", rate=0)
        for corner in (float("nan"), 1e9):
            with pytest.raises(ReelbenchError, match="is not a number or beyond"):
                crop_to_track(video, [(0.0, (0, 0, corner, 9))], tmp_path / "b.mp4", (64, 64))


class TestOutputs:
    """What cannot be written is blamed on the output, in a sentence."""

    @pytest.mark.parametrize("name", ["none/b.mp4", "b.txt", "b", "b.gif", "b.webm"])
    def test_they_are_named(self, name: str, video: Path, tmp_path: Path) -> None:
        for work in (
            lambda out: cut_exactly(video, 1.0, 2.0, out),
            lambda out: with_sound(video, AudioTrack([chirp(1.0)], RATE), out),
            lambda out: join([video], out),
        ):
            with pytest.raises(ReelbenchError, match=f"{name} cannot be written"):
                work(tmp_path / name)
        assert list(tmp_path.iterdir()) == []

    def test_nothing_to_join(self, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match="name at least one"):
            join([], tmp_path / "b.mp4")


def test_joining_keeps_offsets(video: Path, tmp_path: Path) -> None:
    silent = make_video(tmp_path / "s.mkv", seconds=1.5)
    tall = make_video(tmp_path / "t.mov", rotation=90, seconds=1.0)
    joined = join([video, silent, tall], tmp_path / "j.mp4")
    assert joined.offsets == pytest.approx((0.0, 4.0, 5.48), abs=0.02)
    assert probe(tmp_path / "j.mp4").duration == pytest.approx(joined.duration, abs=0.05)
    for source, offset, time in (
        (video, joined.offsets[0], 3.0),
        (silent, joined.offsets[1], 1.0),
        (tall, joined.offsets[2], 0.5),
    ):
        (here,) = frames_at(tmp_path / "j.mp4", [offset + time])
        (there,) = frames_at(source, [time])
        assert difference(here.image, fitted(there.image, (180, 320))) < 10
    sound = read_audio(tmp_path / "j.mp4")
    assert likeness(sound, chirp(4.0)) > 0.98
    assert np.abs(sound[:, int(4.2 * RATE) :]).max() < 0.01


class TestSound:
    def test_it_is_read_on_the_clock_of_the_video(self, video: Path) -> None:
        assert likeness(read_audio(video), chirp(4.0)) > 0.99
        part = read_audio(video, start=1.5, end=2.0)
        assert part.shape == (1, RATE // 2)
        assert likeness(part, chirp(4.0)[:, int(1.5 * RATE) :]) > 0.98
        beyond = read_audio(video, start=3.5, end=6.0)
        assert beyond.shape == (1, int(2.5 * RATE))
        assert np.abs(beyond[:, RATE:]).max() == 0

    def test_long_silence_comes_in_pieces(self, video: Path) -> None:
        pieces = stream_audio(video, 48_000, 2, 0.0, 3600.0)
        assert max(piece.shape[1] for piece in pieces) <= 48_000

    def test_a_gap_stays_a_gap(self, tmp_path: Path) -> None:
        with av.open(str(tmp_path / "a.mkv"), "w") as target:
            stream = target.add_stream("pcm_s16le", rate=RATE, layout="mono")
            for begin in (0, 2 * RATE):
                tone = (chirp(1.0) * 32767).astype(np.int16)
                frame = av.AudioFrame.from_ndarray(tone, "s16", "mono")
                frame.sample_rate, frame.pts = RATE, begin
                target.mux(stream.encode(frame))
            target.mux(stream.encode(None))
        sound = read_audio(tmp_path / "a.mkv")
        assert sound.shape[1] == pytest.approx(3 * RATE, abs=40)
        assert np.abs(sound[:, RATE + 40 : 2 * RATE - 40]).max() == 0
        assert likeness(sound[:, 2 * RATE :], chirp(1.0)) > 0.98
        later = read_audio(tmp_path / "a.mkv", start=2.25, end=2.5)
        assert likeness(later, chirp(1.0)[:, RATE // 4 : RATE // 2]) > 0.98

    def test_none_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(MediaError, match="contains no sound"):
            read_audio(make_video(tmp_path / "a.mp4", seconds=0.4))

    def test_wav(self, tmp_path: Path) -> None:
        write_wav(tmp_path / "a.wav", chirp(1.0), RATE)
        with wave.open(str(tmp_path / "a.wav")) as file:
            assert (file.getframerate(), file.getnchannels(), file.getnframes()) == (RATE, 1, RATE)
        assert np.abs(read_audio(tmp_path / "a.wav") - chirp(1.0)).max() < 1e-4

    def test_backwards_before_a_moment(self) -> None:
        sound = chirp(2.0)
        turned = reversed_before(sound, RATE, 0.5)
        assert np.array_equal(turned[:, : RATE // 2], sound[:, : RATE // 2][:, ::-1])
        assert np.array_equal(turned[:, RATE // 2 :], sound[:, RATE // 2 :])

    def test_replaced_with_the_pictures_as_they_are(self, video: Path, tmp_path: Path) -> None:
        other = reversed_before(chirp(4.0), RATE, 2.0)
        with_sound(video, AudioTrack([other], RATE), tmp_path / "b.mp4")
        assert likeness(read_audio(tmp_path / "b.mp4"), other) > 0.98
        for (_, one), (_, two) in zip(
            every_frame(video, 1, 1.2), every_frame(tmp_path / "b.mp4", 1, 1.2), strict=True
        ):
            assert np.array_equal(one, two)

    def test_loudness_of_the_standard(self) -> None:
        """A stereo sine of 997 Hz at -23 dBFS is -23 LUFS; ten decibels less are ten less."""
        time = np.arange(5 * 48_000) / 48_000
        sine = np.repeat((10 ** (-23 / 20) * np.sin(2 * np.pi * 997 * time))[None], 2, axis=0)
        assert loudness(sine.astype(np.float32), 48_000) == pytest.approx(-23.0, abs=0.05)
        assert loudness((sine / 10**0.5).astype(np.float32), 48_000) == pytest.approx(
            -33.0, abs=0.05
        )
        gated = np.concatenate([sine, np.zeros_like(sine)], axis=1).astype(np.float32)
        assert loudness(gated, 48_000) == pytest.approx(-23.0, abs=0.3)
        assert loudness(np.zeros((1, 48_000), np.float32), 48_000) == float("-inf")


def test_cropping_to_a_track(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    with video_writer(path, 25, quality=8) as writer:
        for number in range(50):
            picture = np.zeros((180, 320, 3), np.uint8)
            picture[60:100, 20 + 4 * number : 60 + 4 * number] = (200, 40, 40)
            writer.show(picture, number / 25)
    track = [(0.4, (60.0, 60.0, 100.0, 100.0)), (1.6, (180.0, 60.0, 220.0, 100.0))]
    crop_to_track(path, track, tmp_path / "c.mp4", (64, 64))
    info = probe(tmp_path / "c.mp4")
    assert (info.width, info.height) == (64, 64)
    assert info.duration == pytest.approx(1.2, abs=0.09)
    for _, image in every_frame(tmp_path / "c.mp4"):
        assert np.abs(image[16:48, 16:48].mean(axis=(0, 1)) - (200, 40, 40)).max() < 25


def test_a_track_in_disorder(video: Path, tmp_path: Path) -> None:
    for track in ([], [(1.0, (0.0, 0.0, 9.0, 9.0)), (0.5, (0.0, 0.0, 9.0, 9.0))]):
        with pytest.raises(ReelbenchError, match="not sorted by time"):
            crop_to_track(video, track, tmp_path / "c.mp4", (64, 64))
