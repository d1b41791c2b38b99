"""Exact frames: the same pixels as a full decode, whatever the codec, container and pace."""

from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import SHARED
from videos import (
    KINDS,
    X264,
    copy_from,
    decode_plainly,
    fingerprint,
    make_kind,
    make_video,
    on_screen,
    pictures,
)

from reelbench.media.decode import decode, seek
from reelbench.media.decode.decode import every_frame, frames_at, iterate_frames
from reelbench.media.decode.probe import probe
from reelbench.media.decode.stream import frame_before, scan_frames
from reelbench.media.decode.timeline import frame_times
from reelbench.media.errors import MediaError

Reference = tuple[Path, list[tuple[float, str]]]


@pytest.fixture(scope="module", params=KINDS)
def video(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reference:
    path = make_kind(tmp_path_factory.mktemp("video"), request.param)
    return path, decode_plainly(path)


class TestSamePixels:
    @settings(
        max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(times=st.lists(st.floats(0, 8), min_size=1, max_size=12).map(sorted))
    def test_at_any_moments(self, video: Reference, times: list[float]) -> None:
        path, reference = video
        found = frames_at(path, times)
        assert [frame.time for frame in found] == times
        assert [fingerprint(frame.image) for frame in found] == [
            on_screen(reference, t) for t in times
        ]

    def test_at_the_very_moment_of_each_frame(self, video: Reference) -> None:
        path, reference = video
        times = [time for time, _ in reference][::7]
        found = frames_at(path, times)
        assert [fingerprint(frame.image) for frame in found] == [frame for _, frame in reference][
            ::7
        ]
        assert [frame.shown_at for frame in found] == pytest.approx(times, abs=1e-4)

    def test_of_all_frames_in_order(self, video: Reference) -> None:
        path, reference = video
        everything = list(every_frame(path))
        assert [fingerprint(image) for _, image in everything] == [frame for _, frame in reference]

    def test_from_the_middle(self, video: Reference) -> None:
        path, reference = video
        part = list(every_frame(path, 1.03, 1.5))
        inside = [frame for time, frame in reference if 1.03 < time < 1.5 - 1e-6]
        assert [fingerprint(image) for _, image in part] == [on_screen(reference, 1.03), *inside]
        assert part[0][0] == 1.03

    @pytest.mark.parametrize("rate", [None, 7.3])
    def test_of_a_scan_in_parts(self, video: Reference, rate: float | None) -> None:
        path, _ = video
        whole = [(time, fingerprint(image)) for time, image in scan_frames(path, rate)]
        edges = [0.0, *(round(at * (rate or 1e3)) / (rate or 1e3) for at in (0.8, 1.7, 3.1)), inf]
        parts = [list(scan_frames(path, rate, None, False, *span)) for span in pairwise(edges)]
        assert [(time, fingerprint(image)) for part in parts for time, image in part] == whole
        before = frame_before(path, rate, None, False, edges[2]) if rate else None
        if before is not None:
            assert before[0] == [time for time, _ in whole if time < edges[2] - 1e-4][-1]

    def test_times_of_frames_without_decoding(self, video: Reference) -> None:
        path, reference = video
        assert frame_times(path) == pytest.approx([time for time, _ in reference], abs=1e-4)


@pytest.mark.skipif(
    not SHARED.exists(), reason="the folder of shared videos is not beside the repository"
)
@pytest.mark.parametrize(
    "name", ["video1.mp4", "speech_two_faces.mp4", "face_then_none.mov", "pedestrians.avi"]
)
def test_real_videos(name: str) -> None:
    path = SHARED / "data" / "video" / name
    reference = decode_plainly(path)
    times = [reference[-1][0] * share for share in (0, 0.11, 0.111, 0.5, 0.73, 0.99, 1.2)]
    assert [fingerprint(frame.image) for frame in frames_at(path, times)] == [
        on_screen(reference, t) for t in times
    ]


class TestLittleWork:
    @pytest.fixture
    def fed(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """For each packet that the decoder is given, the number of frames that come out."""
        fed: list[int] = []
        plain = decode._decode_or_skip

        def counting(*args: Any, skip: bool) -> list[av.VideoFrame]:
            frames = plain(*args, skip=skip)
            fed.append(len(frames))
            return frames

        monkeypatch.setattr(decode, "_decode_or_skip", counting)
        return fed

    def video(self, folder: Path, **options: str) -> Path:
        fixed = {"preset": "fast", "threads": "1", "g": "20", "bf": "0", "sc_threshold": "0"}
        return make_video(folder / "a.mp4", options={**fixed, **options})

    def test_only_from_the_key_frame_to_the_moment(self, tmp_path: Path, fed: list[int]) -> None:
        frames_at(self.video(tmp_path), [3.3])
        assert len(fed) == 3  # frame 82, two after the key frame 80

    def test_moments_in_one_stretch_share_a_pass(self, tmp_path: Path, fed: list[int]) -> None:
        frames_at(self.video(tmp_path), [3.2, 3.24, 3.24, 3.36])
        assert len(fed) == 5

    def test_what_nothing_refers_to_is_skipped(self, tmp_path: Path, fed: list[int]) -> None:
        path = self.video(
            tmp_path, g="100", bf="3", b_strategy="0", **{"x264-params": "b-pyramid=0"}
        )
        frames_at(path, [3.5])
        assert len(fed) > 85
        assert sum(fed) < len(fed) / 3  # of four frames, three are B-frames

    def test_a_scan_skips_what_comes_before_it_and_nothing_refers_to(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = self.video(
            tmp_path, g="60", bf="3", b_strategy="0", **{"x264-params": "b-pyramid=0"}
        )
        decoded: list[int] = []
        plain = decode._decode_packet

        def counting(*args: Any, skip: bool) -> tuple[list[av.VideoFrame], bool]:
            frames, damaged = plain(*args, skip=skip)
            decoded.append(len(frames))
            return frames, damaged

        monkeypatch.setattr(decode, "_decode_packet", counting)
        whole = {time: fingerprint(image) for time, image in every_frame(path)}
        decoded.clear()
        found = list(scan_frames(path, start=3.6, end=3.8))  # frame 90; the last key frame is 60
        assert [fingerprint(image) for _, image in found] == [whole[time] for time, _ in found]
        assert len(found) == 5
        assert sum(decoded) < 20, "a quarter of 30, those that are wanted, and one more"

    def test_a_dense_sampling_searches_little(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = self.video(tmp_path)  # five stretches
        searched = []
        plain = seek._key_before

        def counting(*args: Any) -> tuple[int, int] | None:
            searched.append(args)
            return plain(*args)

        monkeypatch.setattr(seek, "_key_before", counting)
        assert len(frames_at(path, [number / 100 for number in range(400)])) == 400
        assert len(searched) < 60


def test_a_phone_held_upright(tmp_path: Path) -> None:
    for degrees in (90, 180, 270):
        path = make_video(tmp_path / f"{degrees}.mov", rotation=degrees, seconds=0.4)
        (frame,) = frames_at(path, [0.0])
        original = pictures(1)[0]
        turned = np.rot90(original, round(degrees / 90))
        assert frame.image.shape == turned.shape
        assert np.abs(frame.image.astype(int) - turned).mean() < 12


def test_moments_outside_get_the_first_and_the_last_frame(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mp4", seconds=1.0)
    reference = decode_plainly(path)
    first, last = frames_at(path, [-5.0, 500.0])
    assert (fingerprint(first.image), fingerprint(last.image)) == (
        reference[0][1],
        reference[-1][1],
    )


def test_times_must_ascend(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ascend"):
        frames_at(make_video(tmp_path / "a.mp4", seconds=0.4), [2.0, 1.0])


def test_sound_without_pictures(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.wav"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 8000), np.int16), "s16", "mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with pytest.raises(MediaError, match="contains no video"):
        frames_at(tmp_path / "a.wav", [0.0])


class TestBroadcasts:
    """A transport stream may begin anywhere."""

    @pytest.fixture
    def stream(self, tmp_path: Path) -> Path:
        path = make_video(tmp_path / "a.ts", options={**X264, "g": "25", "sc_threshold": "0"})
        data = path.read_bytes()
        path.write_bytes(data[188 * (len(data) // 8 // 188) :])  # in the middle of a group
        return path

    def test_what_comes_before_the_first_key_frame_is_no_damage(self, stream: Path) -> None:
        reference = decode_plainly(stream)
        assert len(reference) < 90
        assert frame_times(stream) == pytest.approx([time for time, _ in reference], abs=1e-4)
        times = [time for time, _ in reference][::9]
        assert [fingerprint(frame.image) for frame in frames_at(stream, times)] == [
            image for _, image in reference
        ][::9]

    def test_damage_costs_its_own_group_alone(self, stream: Path) -> None:
        whole = frames_at(stream, [number / 5 for number in range(15)])
        data = bytearray(stream.read_bytes())
        middle = 188 * (len(data) // 2 // 188)
        stream.write_bytes(data[:middle] + data[middle + 5 * 188 :])  # lost on the way
        with pytest.raises(MediaError, match="damaged at"):
            frames_at(stream, [number / 5 for number in range(15)])
        left = list(iterate_frames(stream, [number / 5 for number in range(15)], skip_damage=True))
        good = {frame.time: fingerprint(frame.image) for frame in whole}
        assert all(fingerprint(frame.image) == good[frame.time] for frame in left)
        assert 10 <= len(left) < 15  # five of the 75 frames' groups of 25 are not whole
        assert left[-1].time == whole[-1].time

    def test_two_recordings_in_one_file(self, stream: Path) -> None:
        stream.write_bytes(stream.read_bytes() * 2)
        with pytest.raises(MediaError, match="its timestamps start again"):
            probe(stream)


def test_an_avi_that_was_another_file(tmp_path: Path) -> None:
    """Copied packets leave AVI with a rate that is not that of the frames."""
    whole = make_kind(tmp_path, "mpeg4.mp4")
    path = copy_from(whole, tmp_path / "a.avi", 0.0)
    shown = frames_at(path, [0.5, 1.5, 2.5, 3.5])
    assert [frame.shown_at for frame in shown] == pytest.approx([0.48, 1.48, 2.48, 3.48], abs=0.03)
    right = frames_at(whole, [frame.shown_at + 0.01 for frame in shown])
    assert [fingerprint(f.image) for f in shown] == [fingerprint(f.image) for f in right]


def test_a_screen_that_is_refreshed_in_parts(tmp_path: Path) -> None:
    """What is flagged as a key frame there is none: frames after it rest on those before."""
    options = {"preset": "veryfast", "threads": "1", "x264-params": "intra-refresh=1:keyint=30"}
    path = make_video(tmp_path / "a.mp4", options=options, seconds=5)
    reference = decode_plainly(path)
    for number in range(58, 75):
        (frame,) = frames_at(path, [reference[number][0]])
        assert fingerprint(frame.image) == reference[number][1]


def test_damage_that_a_checksum_tells(tmp_path: Path) -> None:
    params = "hash=1:keyint=15:log-level=none:pools=1:frame-threads=1"
    path = make_video(tmp_path / "a.mp4", "libx265", {"preset": "ultrafast", "x265-params": params})
    whole = path.read_bytes()
    with av.open(str(path)) as container:
        places = [(p.pos or 0) + p.size // 2 for p in container.demux(video=0) if p.size > 400]
    for place in places[10:40:3]:
        path.write_bytes(
            whole[:place] + bytes(b ^ 0x55 for b in whole[place : place + 3]) + whole[place + 3 :]
        )
        with pytest.raises(MediaError, match="damaged at"):
            frames_at(path, [number / 25 for number in range(100)])


def test_a_cut_in_the_order_of_storing(tmp_path: Path) -> None:
    """Its table of contents looks even, but the last frames shown are not those stored last."""
    whole = make_kind(tmp_path, "b-frames.mp4")
    with av.open(str(whole)) as source, av.open(str(tmp_path / "a.mp4"), "w") as target:
        copy = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None and packet.dts * packet.time_base < 1:
                packet.stream = copy
                target.mux(packet)
    times = [time for time, _ in decode_plainly(tmp_path / "a.mp4")]
    assert frame_times(tmp_path / "a.mp4") == pytest.approx(times, abs=1e-4)


def test_a_bare_stream_of_pictures(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.mjpeg"), "w", format="mjpeg") as target:
        stream = target.add_stream("mjpeg", rate=25)
        stream.width, stream.height, stream.pix_fmt = 320, 180, "yuvj420p"
        for picture in pictures(50):
            target.mux(stream.encode(av.VideoFrame.from_ndarray(picture, "rgb24")))
        target.mux(stream.encode(None))
    info = probe(tmp_path / "a.mjpeg")
    assert (info.is_image, info.frame_count) == (False, 50)
    assert (
        len({fingerprint(f.image) for f in frames_at(tmp_path / "a.mjpeg", [0.1, 0.9, 1.7])}) == 3
    )
