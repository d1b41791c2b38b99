"""A file that was cut or damaged is not shown as if it were whole, and a whole one is not suspected."""

import random
import struct
from collections.abc import Callable
from pathlib import Path

import av
import pytest
from PIL import Image
from videos import X264, make_video, pictures, tone

from reelbench.media.decode.frames import FrameSpec, decoded_frames, frames_of
from reelbench.media.decode.integrity import integrity_fault
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio_export import sound_of
from reelbench.media.edit.video_export import footage_of
from reelbench.media.errors import MediaError

H264 = {**X264, "g": "20", "bf": "2"}
FRAGMENTS = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
M2TS = {"mpegts_m2ts_mode": "1"}
# name of the file -> codec, its options, seconds of sound, options of the container
WHOLE: dict[str, tuple[str, dict[str, str], float, dict[str, str]]] = {
    "fast.mp4": ("libx264", H264, 2.0, {"movflags": "+faststart"}),
    "fragments.mp4": ("libx264", H264, 2.0, FRAGMENTS),
    "long-sound.mp4": ("libx264", H264, 5.0, {"movflags": "+faststart"}),
    "long-sound.mkv": ("libx264", H264, 5.0, {}),
    "short-sound.mov": ("libx264", H264, 1.0, {"movflags": "+faststart"}),
    "live.mkv": ("libx264", H264, 2.0, {"live": "1"}),
    "vp8.webm": ("libvpx", {"cpu-used": "8", "deadline": "realtime"}, 0.0, {}),
    "mpeg4.avi": ("mpeg4", {"g": "12"}, 2.0, {}),
    "raw.avi": ("rawvideo", {"threads": "1"}, 0.0, {}),
    "a.ts": ("libx264", H264, 2.0, {}),
    "a.m2ts": ("libx264", H264, 2.0, M2TS),
    "a.flv": ("libx264", H264, 2.0, {}),
    "a.wmv": ("wmv2", {"g": "12"}, 0.0, {}),
    "a.ivf": ("libvpx", {"cpu-used": "8", "deadline": "realtime"}, 0.0, {}),
    "a.gif": ("gif", {}, 0.0, {}),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return whole files, each made once."""
    folder = tmp_path_factory.mktemp("whole")

    def find(name: str) -> Path:
        path = folder / name
        if path.exists():
            return path
        if name in WHOLE:
            codec, options, sound, container = WHOLE[name]
            long = 0.6 if codec == "libvpx" else 2.0  # which is slow
            return make_video(path, codec, options, seconds=long, sound=sound, container=container)
        if name.startswith("sound"):
            with av.open(str(path), "w") as target:
                codec = {".wav": "pcm_s16le", ".opus": "libopus", ".aiff": "pcm_s16be"}[path.suffix]
                voice = target.add_stream(codec, rate=16000, layout="mono")
                taken = "flt" if codec == "libopus" else "s16"
                resampler = av.AudioResampler(format=taken, layout="mono", rate=16000)
                for frame in tone(2.0):
                    target.mux([p for f in resampler.resample(frame) for p in voice.encode(f)])
                target.mux(voice.encode(None))
            return path
        Image.fromarray(pictures(1)[0]).save(path)
        return path

    return find


def refusal(path: Path) -> str:
    """Why a file would not be shown; "" where it would."""
    try:
        return probe(path).cut
    except MediaError as error:
        return error.reason


ALL = [*WHOLE, "sound.wav", "sound.opus", "sound.aiff", "a.jpg", "a.webp"]


@pytest.mark.parametrize("name", ALL)
def test_a_whole_file_is_not_suspected(name: str, whole: Callable[[str], Path]) -> None:
    assert probe(whole(name)).cut == ""


@pytest.mark.parametrize("name", ALL)
def test_a_file_that_was_cut_anywhere_is_refused(
    name: str, whole: Callable[[str], Path], tmp_path: Path
) -> None:
    data = whole(name).read_bytes()
    places = random.Random(name).sample(range(len(data) // 20, len(data) - 20), 12)
    for place in [len(data) // 2, *places]:
        if place % {"a.ts": 188, "a.m2ts": 192}.get(name, place + 1) == 0:
            continue  # a transport stream that ends between two packets is a shorter one
        path = tmp_path / name
        path.write_bytes(data[:place])
        assert refusal(path), place


REAL = sorted((Path(__file__).parents[2].parent / "shared" / "data" / "video").glob("*.*"))


@pytest.mark.skipif(not REAL, reason="no real videos in ../shared/data/video")
def test_real_videos_are_whole_and_noticed_when_cut(tmp_path: Path) -> None:
    for real in REAL:
        assert integrity_fault(real) == ""
        data = real.read_bytes()
        cut = tmp_path / real.name
        cut.write_bytes(data[: -len(data) // 50])
        assert "is cut" in integrity_fault(cut)


def test_a_short_clip_cut_in_half_shows_nothing(
    whole: Callable[[str], Path], tmp_path: Path
) -> None:
    """Two seconds of which one is missing: less than any tolerance in seconds would notice."""
    data = whole("fast.mp4").read_bytes()
    path = tmp_path / "a.mp4"
    path.write_bytes(data[: len(data) // 2])
    spec = FrameSpec("uniform:4")
    for show in (
        lambda: frames_of(path, spec),
        lambda: sound_of(path, spec, "wav"),
        lambda: footage_of(path, spec, cut=False, muted=False),
    ):
        with pytest.raises(MediaError, match=r"is cut: \d+ of its \d+ bytes are missing"):
            show()
    clip = frames_of(path, FrameSpec("uniform:4", accept_damage=True))
    assert "is cut" in clip.warnings[0]


def test_an_mp4_that_lists_more_than_it_holds(whole: Callable[[str], Path], tmp_path: Path) -> None:
    """Cut, and the size of its data put right: the table of samples still tells."""
    data = bytearray(whole("fast.mp4").read_bytes())
    place = data.index(b"mdat") - 4
    del data[len(data) * 3 // 4 :]
    data[place : place + 4] = struct.pack(">I", len(data) - place)
    path = tmp_path / "a.mp4"
    path.write_bytes(data)
    assert "is cut" in probe(path).cut


@pytest.mark.parametrize("trailing", [bytes(100), b"some words that a program left there " * 9])
def test_what_follows_the_last_box_is_no_fault(
    trailing: bytes, whole: Callable[[str], Path], tmp_path: Path
) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(whole("fast.mp4").read_bytes() + trailing)
    assert probe(path).cut == ""


class TestSpans:
    """Where a container does not say how long it is, the item does."""

    def test_an_end_well_past_the_file_is_refused(self, whole: Callable[[str], Path]) -> None:
        with pytest.raises(MediaError, match=r"ends at 2\.\d\d s, but is requested up to 4 s"):
            frames_of(whole("a.ts"), FrameSpec("uniform:2", end=4.0))
        clip = frames_of(whole("a.ts"), FrameSpec("uniform:2", end=4.0, accept_damage=True))
        assert "ends at" in clip.warnings[0]

    def test_an_end_that_was_rounded_up_is_not(self, whole: Callable[[str], Path]) -> None:
        assert len(frames_of(whole("a.ts"), FrameSpec("uniform:2", end=3.0)).pictures) == 2

    def test_nor_one_that_the_sound_reaches(self, whole: Callable[[str], Path]) -> None:
        assert (
            len(frames_of(whole("long-sound.mp4"), FrameSpec("uniform:2", end=5.0)).pictures) == 2
        )


def shown(path: Path) -> list[bytes]:
    return [frame.image.tobytes() for frame in decoded_frames(path, FrameSpec("uniform:6"))]


def flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 3, 10])):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


class TestFlippedBits:
    @pytest.mark.parametrize("name", ["long-sound.mkv", "sound.opus"])
    def test_checksums_of_the_container_tell(
        self, name: str, whole: Callable[[str], Path], tmp_path: Path
    ) -> None:
        data = whole(name).read_bytes()
        for number in range(40):
            path = tmp_path / name
            path.write_bytes(flipped(data[200:], random.Random(f"{name} {number}")))
            path.write_bytes(data[:200] + path.read_bytes())
            assert refusal(path), number

    def test_checksums_of_ffv1_tell(self, tmp_path: Path) -> None:
        options = {"level": "3", "slicecrc": "1", "threads": "1"}
        path = make_video(tmp_path / "a.avi", "ffv1", options, seconds=0.4)
        data = path.read_bytes()
        for number in range(10):
            rng = random.Random(number)
            place = rng.randrange(len(data) // 10, len(data) * 9 // 10)
            path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            with pytest.raises(MediaError, match="damaged at"):
                decoded_frames(path, FrameSpec("fps:25"))

    def test_a_frame_that_others_rest_on_counts_though_nobody_asked_for_it(
        self, tmp_path: Path
    ) -> None:
        """Damage in a key frame, of which the frame that is asked for is made."""
        path = make_video(tmp_path / "a.mp4", "libx264", {**X264, "g": "99", "bf": "0"}, seconds=1)
        right, data = shown(path), path.read_bytes()
        with av.open(str(path)) as container:
            key = next(p for p in container.demux(video=0) if p.size)
            begin, end = key.pos + key.size // 2, key.pos + key.size - 16
        silent = 0
        for number in range(12):
            place = random.Random(number).randrange(begin, end)
            path.write_bytes(data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :])
            try:
                silent += shown(path) != right
            except MediaError as error:
                assert "damaged" in error.reason  # noqa: PT017
        assert silent < 12 / 2
