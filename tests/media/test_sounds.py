"""The sound of a clip: the right part of it, at 16 kHz, silence where there is none."""

import io
import wave
from pathlib import Path

import av
import numpy as np
import pytest
from videos import make_video, tone

from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.frames import FrameSpec
from reelbench.media.edit.audio_export import AudioClip, sound_of
from reelbench.media.errors import MediaError

RATE = 16_000


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four seconds of video, with sound in the first three."""
    return make_video(tmp_path_factory.mktemp("sound") / "a.mp4", seconds=4.0, sound=3.0)


def heard(path: Path, encoding: str = "wav", **spec: object) -> AudioClip:
    found = sound_of(path, FrameSpec(**{"sampling": "uniform:1", **spec}), encoding)
    assert found is not None
    return found


def samples(found: AudioClip) -> np.ndarray:
    """Decode it the plain way."""
    assert found.media_type == "audio/wav"
    with wave.open(io.BytesIO(found.data)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32767


def pitch(sound: np.ndarray) -> float:
    return float(np.argmax(np.abs(np.fft.rfft(sound))) * RATE / len(sound))


@pytest.mark.parametrize(("start", "end", "seconds"), [
    (None, None, 4.0), (0.0, 4.0, 4.0), (1.0, 2.0, 1.0), (0.5, None, 3.5), (None, 0.25, 0.25),
    (2.5, 5.0, 1.5), (1.25, 1.375, 0.125),
])  # fmt: skip
def test_the_window(start: float | None, end: float | None, seconds: float, video: Path) -> None:
    found = heard(video, start=start, end=end)
    assert found.seconds == pytest.approx(seconds, abs=0.001)
    assert len(samples(found)) == pytest.approx(seconds * RATE, abs=16)


def test_it_is_what_is_heard_there(video: Path) -> None:
    sound = samples(heard(video, start=2.0, end=4.0))
    assert pitch(sound[: RATE // 2]) == pytest.approx(440, abs=3)
    assert np.abs(sound[: RATE // 2]).max() == pytest.approx(0.25, abs=0.03)
    assert np.abs(sound[int(1.2 * RATE) :]).max() == 0  # the sound has ended, the video has not


def test_only_the_evidence(video: Path) -> None:
    evidence = ((0.5, 1.0), (3.5, 4.0))
    only = heard(video, sampling="uniform:4,evidence=only", evidence=evidence)
    assert only.seconds == pytest.approx(1.0, abs=0.001)
    loud = np.abs(samples(only)).reshape(2, -1).max(axis=1)
    assert loud[0] > 0.2
    assert loud[1] == 0
    rest = heard(video, sampling="uniform:4,evidence=except", evidence=evidence)
    assert rest.seconds == pytest.approx(3.0, abs=0.001)


def test_the_sampling_does_not_change_what_is_heard(video: Path) -> None:
    assert heard(video, sampling="fps:2") == heard(video, sampling="uniform:64,ends")


def test_mp3(video: Path) -> None:
    found = heard(video, "mp3", start=0.0, end=2.0)
    assert (found.media_type, found.seconds) == ("audio/mp3", pytest.approx(2.0, abs=0.001))
    assert len(found.data) < len(heard(video, start=0.0, end=2.0).data) / 4
    with av.open(io.BytesIO(found.data)) as container:
        assert container.format.name == "mp3"
        frames = [frame.to_ndarray()[0] for frame in container.decode(audio=0)]
        assert container.streams.audio[0].rate == RATE
    sound = np.concatenate(frames)
    assert len(sound) / RATE == pytest.approx(2.0, abs=0.15)
    assert pitch(sound[RATE // 2 : RATE]) == pytest.approx(440, abs=3)


@pytest.mark.parametrize(("name", "codec"), [("a.wav", "pcm_s16le"), ("a.mp3", "libmp3lame"), ("a.m4a", "aac")])  # fmt: skip
def test_of_a_file_of_sound_alone(name: str, codec: str, tmp_path: Path) -> None:
    with av.open(str(tmp_path / name), "w") as target:
        stream = target.add_stream(codec, rate=RATE, layout="mono")
        for frame in tone(2.0):
            target.mux(stream.encode(frame))
        target.mux(stream.encode(None))
    found = heard(tmp_path / name, start=0.5, end=1.5)
    assert found.seconds == pytest.approx(1.0, abs=0.001)
    assert pitch(samples(found)) == pytest.approx(440, abs=2)


def test_a_video_without_sound_has_none(tmp_path: Path) -> None:
    path = make_video(tmp_path / "silent.mp4", seconds=1.0)
    assert sound_of(path, FrameSpec("uniform:1"), "wav") is None


def test_what_cannot_be_heard(video: Path, tmp_path: Path) -> None:
    with pytest.raises(MediaError, match=r"lasts 4\.\d\d s, so there is nothing from 9"):
        heard(video, start=9.0)
    with pytest.raises(MediaError, match="selects no part of it"):
        heard(video, sampling="uniform:4,evidence=only", evidence=((8.0, 9.0),))
    (tmp_path / "text.mp4").write_text("not a video")
    for name in ("text.mp4", "absent.mp4"):
        with pytest.raises(MediaError, match=name):
            heard(tmp_path / name)
    with pytest.raises(
        ReelbenchError, match="The sound encoding 'ogg' is not valid: write wav or mp3"
    ):
        heard(video, "ogg")
