"""Exact frames: the same pixels as a full decode, whatever the codec, container and pace."""

from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import SHARED
from videos import KINDS, decode_plainly, fingerprint, make_kind, make_video, on_screen, pictures

from reelbench.media import decode
from reelbench.media.decode import every_frame, frames_at
from reelbench.media.errors import MediaError
from reelbench.media.timeline import frame_times

Reference = tuple[Path, list[tuple[float, str]]]


@pytest.fixture(scope="module", params=KINDS)
def video(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reference:
    path = make_kind(tmp_path_factory.mktemp("video"), request.param)
    return path, decode_plainly(path)


class TestSamePixels:
    @settings(
        max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
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
    def counted(self, path: Path, times: list[float], monkeypatch: pytest.MonkeyPatch) -> int:
        """How many packets are decoded in full for these moments."""
        decoded = 0
        plain = decode._served

        def counting(*args: object) -> tuple[int, int]:
            nonlocal decoded
            decoded += 1
            return plain(*args)

        monkeypatch.setattr(decode, "_served", counting)
        frames_at(path, times)
        return decoded

    def test_only_from_the_key_frame_to_the_moment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = make_video(
            tmp_path / "a.mp4",
            options={"preset": "fast", "threads": "1", "g": "20", "bf": "0", "sc_threshold": "0"},
        )
        assert self.counted(path, [3.3], monkeypatch) == 3  # frame 82, two after the key frame 80

    def test_moments_in_one_stretch_share_a_pass(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = make_video(
            tmp_path / "a.mp4",
            options={"preset": "fast", "threads": "1", "g": "20", "bf": "0", "sc_threshold": "0"},
        )
        assert self.counted(path, [3.2, 3.24, 3.24, 3.36], monkeypatch) == 5


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
    with pytest.raises(MediaError, match="no video in it"):
        frames_at(tmp_path / "a.wav", [0.0])
