"""A probe believes packets, not headers."""

import struct
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from videos import KINDS, decode_plainly, make_kind, make_video

from reelbench.media.errors import MediaError
from reelbench.media.probe import probe


@pytest.mark.parametrize("name", KINDS)
def test_every_kind(name: str, tmp_path: Path) -> None:
    path = make_kind(tmp_path, name)
    info = probe(path)
    reference = decode_plainly(path)
    assert info.has_video
    assert not info.has_audio
    assert (info.width, info.height) == ((160, 90) if name.endswith("gif") else (320, 180))
    assert info.duration == pytest.approx(reference[-1][0] + 0.04, abs=0.1)
    assert not info.is_cut
    if not name.startswith("uneven"):
        assert info.frame_count == len(reference)
        assert info.frame_rate == pytest.approx(10 if name.endswith("gif") else 25, abs=0.1)


def test_sound_colour_and_depth(tmp_path: Path) -> None:
    info = probe(make_video(tmp_path / "a.mp4", sound=True))
    assert info.audio[0].codec == "aac"
    assert (info.audio[0].sample_rate, info.audio[0].channels) == (16000, 1)
    assert (info.codec, info.pixel_format, info.bit_depth) == ("h264", "yuv420p", 8)


def test_a_phone_held_upright(tmp_path: Path) -> None:
    info = probe(make_video(tmp_path / "a.mov", rotation=90))
    assert (info.width, info.height, info.rotation) == (180, 320, 90)


def test_fragments(tmp_path: Path) -> None:
    options = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
    path = make_video(tmp_path / "a.mp4", container=options)
    info = probe(path)
    assert info.duration == pytest.approx(4.0, abs=0.05)
    assert info.frame_count == 100


def test_a_wrong_duration_in_the_header(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mkv")
    data = bytearray(path.read_bytes())
    place = data.index(b"\x44\x89\x88")  # Matroska's Duration, a float of eight bytes
    data[place + 3 : place + 11] = struct.pack(">d", 3_600_000.0)
    path.write_bytes(data)
    info = probe(path)
    assert info.declared_duration == pytest.approx(3600)
    assert info.duration == pytest.approx(4.0, abs=0.05)
    assert info.is_cut


def test_half_a_download(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mp4", seconds=8, container={"movflags": "+faststart"})
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    info = probe(path)
    assert info.declared_duration == pytest.approx(8.0, abs=0.05)
    assert 2 < info.duration < 6
    assert info.is_cut


def test_a_picture(tmp_path: Path) -> None:
    for name in ("a.png", "b.jpg"):
        Image.fromarray(np.zeros((30, 40, 3), np.uint8)).save(tmp_path / name)
        info = probe(tmp_path / name)
        assert info.is_image
        assert (info.width, info.height, info.frame_count) == (40, 30, 1)


def test_sound_alone_and_with_a_cover(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.m4a"), "w") as container:
        voice = container.add_stream("aac", rate=16000, layout="mono")
        for begin in range(0, 32000, 1024):
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
            frame.sample_rate, frame.pts = 16000, begin
            container.mux(voice.encode(frame))
        container.mux(voice.encode(None))
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
    (b"", "cannot be decoded"),
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
    with pytest.raises(MediaError, match="name too long"):
        probe(tmp_path / ("x" * 300 + ".mp4"))


def test_absurd_sizes_are_refused_before_they_are_allocated(tmp_path: Path) -> None:
    """An uncompressed AVI whose header claims frames of 100,000 x 100,000 pixels."""
    path = make_video(tmp_path / "a.avi", "mpeg4", {})
    data = bytearray(path.read_bytes())
    strf = data.index(b"strf") + 8
    data[strf + 4 : strf + 12] = struct.pack("<ii", 100_000, 100_000)
    path.write_bytes(data)
    try:
        info = probe(path)
    except MediaError as error:
        assert "100000 x 100000" in str(error)  # noqa: PT017
    else:  # the stream itself says better
        assert info.width == 320
