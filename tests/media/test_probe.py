"""A probe believes packets, not headers."""

import struct
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest
from av.stream import Disposition
from PIL import Image
from videos import KINDS, decode_plainly, make_kind, make_video, tone

from reelbench.base.workers import GIGABYTE
from reelbench.media.decode.decode import frames_at
from reelbench.media.decode.probe import probe
from reelbench.media.errors import MediaError


@pytest.mark.parametrize("name", KINDS)
def test_every_kind(name: str, tmp_path: Path) -> None:
    path = make_kind(tmp_path, name)
    info = probe(path)
    reference = decode_plainly(path)
    assert info.has_video
    assert info.has_audio == name.startswith("late")
    assert (info.width, info.height) == ((160, 90) if name.endswith("gif") else (320, 180))
    assert info.duration == pytest.approx(reference[-1][0] + 0.04, abs=0.1)
    assert not info.cut
    assert info.frame_count == len(reference)
    if not name.startswith(("uneven", "cut")):
        rate = 10 if name.endswith("gif") else 30 if name.startswith("late") else 25
        assert info.frame_rate == pytest.approx(rate, abs=0.1)


def test_sound_colour_and_depth(tmp_path: Path) -> None:
    info = probe(make_video(tmp_path / "a.mp4", sound=4.0))
    assert info.audio[0].codec == "aac"
    assert (info.audio[0].sample_rate, info.audio[0].channels) == (16000, 1)
    assert (info.codec, info.pixel_format, info.bit_depth) == ("h264", "yuv420p", 8)


def test_a_phone_held_upright(tmp_path: Path) -> None:
    info = probe(make_video(tmp_path / "a.mov", rotation=90))
    assert (info.width, info.height, info.rotation) == (180, 320, 90)


class TestFrameCount:
    """It is counted where the header has none, or a wrong one."""

    def test_fragments(self, tmp_path: Path) -> None:
        options = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
        path = make_video(tmp_path / "a.mp4", container=options, sound=4.2)
        info = probe(path)
        assert info.duration == pytest.approx(4.0, abs=0.1)
        assert info.frame_count == 100

    def test_a_wrong_number_in_the_header(self, tmp_path: Path) -> None:
        path = make_video(tmp_path / "a.avi", "mpeg4", {"g": "20"})
        data = bytearray(path.read_bytes())
        for chunk, offset in ((b"avih", 24), (b"strh", 40)):  # where each has a number of frames
            place = data.index(chunk) + offset
            data[place : place + 4] = struct.pack("<I", 37)
        path.write_bytes(data)
        assert probe(path).frame_count == 100
        assert probe(path, counting=False).frame_count == 0


def test_sound_that_goes_on_after_the_video(tmp_path: Path) -> None:
    for name in ("a.mkv", "a.mp4"):
        info = probe(make_video(tmp_path / name, sound=10.0))
        assert info.duration == pytest.approx(4.0, abs=0.1)
        assert not info.cut


def test_a_wrong_duration_in_the_header(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mkv")
    data = bytearray(path.read_bytes())
    place = data.index(b"\x44\x89\x88")  # Matroska's Duration, a float of eight bytes
    data[place + 3 : place + 11] = struct.pack(">d", 3_600_000.0)
    path.write_bytes(data)
    info = probe(path)
    assert info.declared_duration == pytest.approx(3600)
    assert info.duration == pytest.approx(4.0, abs=0.05)
    assert info.cut


def test_a_clock_that_cannot_be(tmp_path: Path) -> None:
    """Packets that claim to lie weeks away: nothing is sampled over, or filled up to, that end."""
    late = 30 * 24 * 3600 * 1000
    path = make_video(tmp_path / "a.mkv", times=lambda i: i * 40 + (late if i > 70 else 0))
    with pytest.raises(MediaError, match="over the limit of a week"):
        probe(path)


def test_half_a_download(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mp4", seconds=8, container={"movflags": "+faststart"})
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    info = probe(path)
    assert info.declared_duration == pytest.approx(8.0, abs=0.05)
    assert 2 < info.duration < 6
    assert info.cut


def test_a_picture(tmp_path: Path) -> None:
    for name in ("a.png", "b.jpg"):
        Image.fromarray(np.zeros((30, 40, 3), np.uint8)).save(tmp_path / name)
        info = probe(tmp_path / name)
        assert info.is_image
        assert (info.width, info.height, info.frame_count) == (40, 30, 1)


def test_a_moving_picture_of_one_frame(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((30, 40, 3), np.uint8)).save(tmp_path / "a.gif")
    assert probe(tmp_path / "a.gif").is_image
    assert not probe(make_kind(tmp_path, "picture.gif")).is_image


@pytest.mark.parametrize("cover", [False, True])
def test_sound_alone_and_with_a_cover(cover: bool, tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.m4a"), "w", format="mp4") as container:
        voice = container.add_stream("aac", rate=16000, layout="mono")
        if cover:
            picture = container.add_stream("mjpeg")
            picture.width, picture.height, picture.pix_fmt = 64, 64, "yuvj420p"
            picture.disposition = Disposition.attached_pic
            image = av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), "rgb24")
            container.mux(picture.encode(image))
            container.mux(picture.encode(None))
        for frame in tone(2.0):
            container.mux(voice.encode(frame))
        container.mux(voice.encode(None))
    with av.open(str(tmp_path / "a.m4a")) as container:
        assert len(container.streams.video) == cover
    info = probe(tmp_path / "a.m4a")
    assert info.has_audio
    assert not info.has_video
    assert info.duration == pytest.approx(2.0, abs=0.1)


def test_titles_in_other_encodings(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mkv", seconds=0.4)
    data = path.read_bytes()
    place = data.index(b"Lavf")
    path.write_bytes(data[:place] + b"\xe9\xff\xfe\xe9" + data[place + 4 :])
    assert probe(path).has_video


@pytest.mark.parametrize(("content", "words"), [
    (None, "no such file"),
    (b"", "is empty"),
    (b"just text, many times over. " * 99, "cannot be decoded"),
    (bytes(5000), "cannot be decoded"),
])  # fmt: skip
def test_what_is_no_media(content: bytes | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / "konkat:a b.mp4"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(MediaError, match=words) as caught:
        probe(path)
    assert str(path) in str(caught.value)


def test_a_folder_and_a_name_without_end(tmp_path: Path) -> None:
    (tmp_path / "x.mp4").mkdir()
    with pytest.raises(MediaError, match="not a file"):
        probe(tmp_path / "x.mp4")
    with pytest.raises(MediaError, match=r"name too long|no such file"):
        probe(tmp_path / ("x" * 300 + ".mp4"))


@pytest.mark.parametrize("sides", [(100_000, 100_000), (20_000, 100), (9000, 9000)])
def test_absurd_sizes_are_refused_before_they_are_allocated(
    sides: tuple[int, int], tmp_path: Path
) -> None:
    """An AVI without compression, so that nothing but its header tells a size."""
    with av.open(str(tmp_path / "a.avi"), "w") as target:
        stream = target.add_stream("rawvideo", rate=25)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
        target.mux(stream.encode(av.VideoFrame(32, 32, "yuv420p")))
        target.mux(stream.encode(None))
    data = bytearray((tmp_path / "a.avi").read_bytes())
    strf = data.index(b"strf") + 8
    data[strf + 4 : strf + 12] = struct.pack("<ii", *sides)
    (tmp_path / "a.avi").write_bytes(data)
    for work in (probe, lambda path: frames_at(path, [0.0])):
        with pytest.raises(MediaError, match=r"pixels are too large|no valid size"):
            work(tmp_path / "a.avi")


PEAK = """
import resource, sys
from pathlib import Path
from reelbench.media.decode.frames import FrameSpec, _decode
assert len(_decode(Path(sys.argv[1]), FrameSpec("uniform:2", size="long:64")).pieces) == 2
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def test_the_largest_frames_fit_into_half_of_a_workers_memory(tmp_path: Path) -> None:
    """As docs/media.md states it."""
    side = 8000
    spot = b"\x21\xf9\x04\x04\x64\x00\x00\x00\x2c" + struct.pack("<4H", 0, 0, 1, 1)
    frames = (spot + b"\x00\x02\x02\x44\x01\x00") * 2
    head = b"GIF89a" + struct.pack("<2H", side, side) + b"\x80\x00\x00" + b"\x00" * 3 + b"\xff" * 3
    (tmp_path / "large.gif").write_bytes(head + frames + b"\x3b")
    command = [sys.executable, "-c", PEAK, str(tmp_path / "large.gif")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 2 * GIGABYTE
